/* pe.h - the contract between a position encoding and the network that hosts it.
 *
 * This is the only header that an encoding includes. An encoding is one file that ends in one `const
 * pe_descriptor`; a plug-in is the same file built outside the tree (see PE_PLUGIN at the end).
 *
 * Where can a position enter a transformer? At six stages, each a forward/backward pair:
 *
 *   embed    token vectors x           x += ...              learned, sinusoidal
 *   gate     a layer's input x         save = f(x)           forget gates, slopes, a sequence's position keys
 *   rotate   q or k                    in place              RoPE, xPos, PoPE, learned frequencies
 *   score    scaled q.k, whole rows    in place              Shaw keys, Transformer-XL, CoPE, DAPE, temperatures
 *   bias     positions only            s += ...              ALiBi, T5, KERPLE, FIRE, Sandwich, windows
 *   value    attention weights p       o += ...              Shaw values
 *
 * A layer runs:  gate, project, rotate, s = scale q.k, score (members in stack order), s += bias, mask, softmax,
 * o = p.v, value. The backward pass runs the exact reverse. `embed` runs once, before the first layer.
 *
 * Rules for every hook
 *  - It cannot fail, allocate, print, draw random numbers or keep state: all checks are made when options are parsed.
 *  - An absent hook (NULL) means that the encoding does nothing at that stage; absent backward hooks are allowed only
 *    where the stage passes the gradient unchanged and owns no parameter (`embed`, `bias` of a fixed formula).
 *  - Gradients of parameters are accumulated (+=). So are gradients of inputs, unless a comment says "in place".
 *  - Positions are real-valued, at least 0 and, under all maps but those that say otherwise (pe_map's `unordered`),
 *    non-decreasing; by default 0, 1, 2 ... A formula must say what it does with fractions (Shaw rounds, T5 floors,
 *    learned interpolates). Hooks that rely on the order say so (`needs_order`) and are refused with such a map.
 *  - Everything is row-major; `real` is float in the product and double in its twin, in which gradients are checked.
 */
#ifndef PE_H
#define PE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pe_option.h"

/* Numbers, and whole numbers as wide as they are. */
#ifdef PE_REAL_DOUBLE
typedef double real;
typedef int64_t pe_integer;
#else
typedef float real;
typedef int32_t pe_integer;
#endif

/* Raised whenever a struct below changes its layout or a hook its meaning. Fields are only ever appended. */
#define PE_ABI 6

/* ------------------------------------------------------------------------------------------------ the host's facts */

/* What is fixed for the life of a model. */
typedef struct pe_shape {
    int width;     /* of a token vector; = heads * head_dim */
    int heads;
    int head_dim;
    int layers;
    int train_len; /* tokens of the longest training sequence: some defaults scale to it */
    int causal;    /* 1: key j is visible to query i when j <= i; 0: all keys are visible */
} pe_shape;

/* What every hook is told. Pointers are valid during the call only. */
typedef struct pe_context {
    const pe_shape *shape;
    const void *options;       /* the encoding's options struct, filled and checked by the host */
    int layer;                 /* 0 .. layers-1; -1 in embed and in shared parameters' init */
    int len;                   /* tokens of this sequence */
    int total_len;             /* tokens that it will have when it is complete: = len except while decoding */
    const double *pos;         /* [len] >= 0 */
    const void *cache;         /* what prepare wrote for these positions; NULL when cache_bytes is 0 */
    const real *const *theta;  /* theta[i]: values of parameter i of `params`; NULL when there are none */
    real *const *dtheta;       /* dtheta[i]: gradient of parameter i, +=; NULL in forward hooks */
} pe_context;

typedef enum pe_role { PE_QUERY, PE_KEY } pe_role;

/* A block of query rows against keys 0 .. keys-1, all heads. Element (h, r, j) of s, p, ds, dp and bias is at
 * [h*plane + r*stride + j]; r counts from row_begin, j is the key's index. With a causal shape only j <= row_begin+r
 * counts: entries beyond are finite garbage on entry, are masked afterwards, and their gradients are 0; a hook may
 * skip them. A hook must not touch j >= keys. */
typedef struct pe_tile {
    int row_begin, rows;
    int keys;                  /* causal: row_begin + rows; else len */
    int stride;                /* >= keys */
    int plane;                 /* >= rows * stride */
    /* After rotate; (r, h) at q + r*token_stride + h*head_stride, (j, h) likewise in k, [rotated_dim]. NULL in bias. */
    const real *q, *k;
    int token_stride, head_stride;
    int rotated_dim;           /* reals of each head in q and k: head_dim unless the stack's rotation widens them */
    real scale;                /* what q.k was multiplied by: 1/sqrt(head_dim) */
    const real *gate;          /* what this member's gate hook saved for the whole sequence; NULL without one */
    const real *bias;          /* sum of the stack's biases for this tile, if this member has reads_bias; else NULL */
} pe_tile;

/* Where score_bwd puts gradients; all +=. dq, dk: laid out like q, k. dgate: like gate. dbias: like bias. */
typedef struct pe_tile_grad {
    real *dq, *dk;
    real *dgate;               /* NULL without a gate hook */
    real *dbias;               /* NULL without reads_bias */
} pe_tile_grad;

/* ------------------------------------------------------------------------------------------------ describing hooks */

typedef enum pe_init { PE_INIT_NORMAL, PE_INIT_UNIFORM } pe_init;

/* One learned parameter, [rows][cols] row-major (rows = 1 for a vector). Values start at
 * mean + deviation * N(0,1), or mean + deviation * U(-1,1); `init` may then overwrite them. */
typedef struct pe_param {
    const char *name;          /* "table": the host prints encoding.table */
    int rows, cols;
    double mean, deviation;
    pe_init init;
    int per_layer;             /* 1: each layer has its own; 0: one, shared by all layers */
    int per_position;          /* 1: a row belongs to one position; not met in training, it stays as it was */
    /* least < most: values beyond are read as the nearer bound, and gradients pass as if they were not (straight through):
     * differences can be taken between the bounds only. Both 0: there are none. */
    double least, most;
} pe_param;

enum { PE_PARAMS_MAX = 8 };

typedef struct pe_sizes {
    size_t cache_bytes;        /* of what prepare writes, for `len` positions */
    size_t gate_reals;         /* of what gate saves for a sequence of `len` tokens */
    size_t save_reals;         /* of what score saves for a tile of `rows` rows and `keys` keys */
} pe_sizes;

/* ------------------------------------------------------------------------------------------------ claims */

/* Statements that tests check in both directions (a claim must hold; a claim that holds must be made). */
typedef enum pe_claim {
    PE_SHIFT_INVARIANT = 1 << 0, /* adding a constant to all positions changes no attention output (embed: none) */
    PE_POSITION_BLIND = 1 << 1,  /* the hooks' results do not depend on `pos` at all */
    PE_PARAMETER_FREE = 1 << 2,  /* params declares nothing */
    PE_ANY_LENGTH = 1 << 3,      /* last_position is infinite */
    PE_ZERO_AT_INIT = 1 << 4     /* a freshly initialised model computes what nope computes */
} pe_claim;

/* Hooks of scores that have nothing to do. */
typedef enum pe_idle { PE_IDLE_SCORE = 1 << 0, PE_IDLE_VALUE = 1 << 1 } pe_idle;

/* ------------------------------------------------------------------------------------------------ extensions */

/* One way in which a trained encoding is stretched to longer sequences: options that it gets under its trained parameters.
 * {factor} in their text stands for the new length over that of training, in tokens. */
typedef struct pe_extension {
    const char *name;          /* one word, what people call it: "linear"; NULL ends the table */
    const char *options;       /* "scaling=linear,factor={factor}"; those of the encoding that are not named stay */
    const char *unless;        /* an option that takes the meaning away when it is not at its default; NULL: none does */
} pe_extension;

/* ------------------------------------------------------------------------------------------------ the encoding */

typedef struct pe_descriptor {
    int abi;                    /* PE_ABI */
    size_t real_size;           /* sizeof(real) */
    size_t struct_size;         /* sizeof(pe_descriptor) */

    const char *name;           /* one word, the same in file, symbol, command line, CSV and plot */
    const char *family;         /* none | absolute | bias | relative | rotary | contextual | temperature | window */
    const char *title;          /* "Rotary position embedding (RoPE)" */
    const char *source;         /* "Su et al. 2021, RoFormer, eq. 14-16" */
    const char *formula;        /* ASCII, with what fractions of positions mean */
    const char *notes;          /* variants, choices among peers, known faults of reference code; may be NULL */
    unsigned claims;            /* of pe_claim, for the default options and every example; see also claims_with */
    int causal_only;            /* 1: has no meaning without a causal mask; the host refuses it there */
    int reads_bias;             /* 1: score wants tile->bias */
    int reads_heads;            /* 1: score or value takes q or k for vectors of head_dim reals; refused beside a
                                 * rotation that widens them */
    int needs_order;            /* 1: hooks rely on positions that do not decrease; refused with an unordered map */
    const pe_option *options;   /* ends with a NULL name; NULL: no options */
    size_t options_size;        /* sizeof the options struct; 0: none */
    /* Option strings besides the default that check, speed, docs and tests run; NULL-ended. */
    const char *const *examples;

    /* Optional; absent: `claims`. What is claimed under these options, where an option changes it (frequencies that are
     * learned are no longer parameter-free). For the default options it must return `claims`. */
    unsigned (*claims_with)(const void *options);

    /* Optional. Refuses options that do not fit each other or the shape (odd head_dim for a rotation). Returns 0, or -1
     * with one sentence in message. Runs at parse time, before anything is allocated. */
    int (*check)(const void *options, const pe_shape *shape, char *message, size_t size);

    /* Optional; absent: no parameters. Fills out[0 .. n-1], returns n <= PE_PARAMS_MAX. */
    int (*params)(const void *options, const pe_shape *shape, pe_param *out);

    /* Optional. Overwrites start values that are not random (slopes, frequencies). values: [rows][cols] of
     * parameter i. */
    void (*init)(const pe_context *c, int i, real *values);

    /* Optional; absent: infinite. The largest position that has a meaning; the host records points past it as
     * undefined. */
    double (*last_position)(const void *options, const pe_shape *shape);

    /* Optional; absent: all 0. Reads c->shape, options, len, total_len only. */
    void (*sizes)(const pe_context *c, int rows, int keys, pe_sizes *out);

    /* Optional. Writes cache (=) from c->pos, total_len, options; c->cache and theta are not yet set. Called when
     * positions change. */
    void (*prepare)(const pe_context *c, void *cache);

    /* Optional; absent: head_dim. Reals per head that rotate leaves in q and k (PoPE doubles them). */
    int (*rotated_dim)(const void *options, const pe_shape *shape);

    /* embed: x[len][width] +=. embed_bwd: dx[len][width] is read; dtheta +=. */
    void (*embed)(const pe_context *c, real *x);
    void (*embed_bwd)(const pe_context *c, const real *dx);

    /* gate: x[len][width], the (normalised) vectors that q, k, v are projected from -> save (=).
     * gate_bwd: reads x, save, dsave; dx +=, dtheta +=. */
    void (*gate)(const pe_context *c, const real *x, real *save);
    void (*gate_bwd)(const pe_context *c, const real *x, const real *save, const real *dsave, real *dx);

    /* rotate: token t, head h at u + t*token_stride + h*head_stride. head_dim reals hold the projection on entry,
     * rotated_dim reals the result on exit.
     * rotate_bwd: u is what rotate left; du holds the gradient of the rotated_dim results on entry and that of the
     * head_dim inputs on exit (in place); dtheta +=. At most one member of a stack rotates. */
    void (*rotate)(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride);
    void (*rotate_bwd)(const pe_context *c, pe_role role, const real *u, real *du, int token_stride, int head_stride);

    /* score: s in place, save (=). Sees what earlier members of the stack made of s: order is meaning.
     * score_bwd: ds: gradient of the result on entry, of the input on exit (in place); g and dtheta +=.
     * save is as score left it for the same tile. */
    void (*score)(const pe_context *c, const pe_tile *t, real *s, real *save);
    void (*score_bwd)(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g);

    /* bias: s += a function of positions and parameters; may add -INFINITY, but never to a query's own key.
     * bias_bwd: ds, summed over the batch, is read; dtheta +=. Absent backward: no parameters. */
    void (*bias)(const pe_context *c, const pe_tile *t, real *s);
    void (*bias_bwd)(const pe_context *c, const pe_tile *t, const real *ds);

    /* value: o[(r, h)] at o + r*o_stride + h*head_dim, += from the weights p; masked weights are exactly 0.
     * value_bwd: reads p and d_o (same layout as o); dp +=, dtheta +=. */
    void (*value)(const pe_context *c, const pe_tile *t, const real *p, real *o, int o_stride);
    void (*value_bwd)(const pe_context *c, const pe_tile *t, const real *p, const real *d_o, int o_stride, real *dp);

    /* Optional. Whole BibTeX entries, one behind the other, of works that `source` names: what a report cites. Each is
     * "@type{key, name = {value}, ...}" with balanced braces; a work that others cite too has the same entry there. */
    const char *bibtex;

    /* Optional; absent: none of its own (position maps stretch every encoding that reads positions). */
    const pe_extension *extensions;

    /* Optional; absent: none. Of pe_idle: hooks that leave everything as it is under these options. The host keeps whole rows
     * of scores for those that do not, and may leave the others out. */
    unsigned (*idle_with)(const void *options);
} pe_descriptor;

/* ------------------------------------------------------------------------------------------------ position maps */

/* A map makes positions: where the token with index t is said to stand. It is attached with `@` to a stack and may
 * differ between training and evaluation. Random maps draw nothing: the host hands them uniform numbers. */
typedef enum pe_map_scope { PE_MAP_PER_BATCH, PE_MAP_PER_LAYER, PE_MAP_PER_SEQUENCE } pe_map_scope;

typedef struct pe_map_context {
    const void *options;
    int len;                   /* tokens to place */
    int total_len;             /* as in pe_context */
    int train_len;             /* tokens of the longest training sequence */
    int training;              /* 1 in training, 0 in evaluation */
    double last_position;      /* of the stack: the largest position that has a meaning there; may be INFINITY */
    const double *uniform;     /* [draws] in [0,1); with the largest of them the last token stands farthest */
    const double *given;       /* [len] positions that the task proposes; NULL when it proposes none */
    double *scratch;           /* [scratch] doubles */
} pe_map_context;

typedef struct pe_map {
    int abi;
    size_t struct_size;
    const char *name, *title, *source, *formula, *notes;
    const pe_option *options;
    size_t options_size;
    const char *const *examples;
    int gives_meaning;         /* 1: made to give points past the definition a meaning; they are drawn hollow */
    int needs_given;           /* 1: only works with tasks that propose positions */
    int unordered;             /* 1: positions may decrease along a sequence; refused for encodings that need order */

    /* Optional, as in pe_descriptor; max_len: the longest sequence that will be asked for. */
    int (*check)(const void *options, int train_len, int max_len, char *message, size_t size);
    /* Optional; absent: PE_MAP_PER_BATCH. */
    pe_map_scope (*scope)(const void *options);
    /* Optional; absent: 0. Uniform numbers and scratch doubles wanted for c->len tokens of c->total_len. Reads these two
     * and options only, and must not fall when a length grows: memory is taken once, for the longest sequence. */
    void (*needs)(const pe_map_context *c, size_t *draws, size_t *scratch);
    /* pos[len] (=), >= 0, non-decreasing unless `unordered`. In evaluation the first len tokens of total_len stand where
     * they will stand when all are there. */
    void (*place)(const pe_map_context *c, double *pos);
    /* Optional. As check, for what the stack decides: last_position is that of pe_map_context. */
    int (*check_last)(const void *options, double last_position, char *message, size_t size);
    /* Optional, as in pe_descriptor. */
    const char *bibtex;
    /* Optional; absent: its defaults. The options with which it stretches a trained stack to longer sequences: {ends}
     * stands for the last position of the longest new sequence over that of the longest one of training. */
    const char *extension;
} pe_map;

/* ------------------------------------------------------------------------------------------------ plug-ins */

/* A plug-in is a shared object that exports this record as data, so that the host can refuse a foreign layout before
 * any of the plug-in's code runs. Build the source into two object files, one with -DPE_REAL_DOUBLE, and link both: the
 * product reads pe_plugin_f32, `posbench check` reads pe_plugin_f64 from its double-precision twin. */
typedef struct pe_plugin {
    int abi;
    size_t real_size;
    size_t descriptor_size;
    size_t map_size;
    const pe_descriptor *const *encodings; /* NULL-ended; NULL: none */
    const pe_map *const *maps;             /* NULL-ended; NULL: none */
} pe_plugin;

#ifdef PE_REAL_DOUBLE
#define PE_PLUGIN_SYMBOL pe_plugin_f64
#else
#define PE_PLUGIN_SYMBOL pe_plugin_f32
#endif

#define PE_PLUGIN(encoding_list, map_list)                                                                             \
    __attribute__((visibility("default"))) extern const pe_plugin PE_PLUGIN_SYMBOL;                                    \
    const pe_plugin PE_PLUGIN_SYMBOL = { PE_ABI, sizeof(real), sizeof(pe_descriptor), sizeof(pe_map),                  \
                                         encoding_list, map_list }

#define PE_DESCRIPTOR_HEAD .abi = PE_ABI, .real_size = sizeof(real), .struct_size = sizeof(pe_descriptor)
#define PE_MAP_HEAD .abi = PE_ABI, .struct_size = sizeof(pe_map)

#include "pe_vector.h"
#include "pe_product.h"

/* Where an option row's value lands in the options struct. */
#define PE_OFFSET(type, field) offsetof(type, field)

#endif

/* model.h - the network: a decoder- or encoder-only transformer, pre-norm, with the hooks of its encodings.
 *
 *   h = token[id] (* sqrt(width) if asked) + embed hooks
 *   each layer:  h += proj(attention(norm1(h)));  h += fc2(gelu(fc1(norm2(h))))
 *   logits = head(norm_f(h)), at the scored tokens only
 *
 * Linear maps are y = W x + b, W: [out][in]; qkv.w: rows of q, then k, then v; head n owns rows n*head_dim ... of each.
 * All parameters stand in one flat block, described by one table; gradients and Adam's moments have the same layout.
 * Sequences of a batch may differ in length: tokens stand behind each other, there is no padding anywhere.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#include "arena.h"
#include "attention.h"
#include "breakdown.h"
#include "config.h"
#include "error.h"
#include "placement.h"
#include "registry.h"

typedef struct model_param {
    char name[96];            /* "layer0.qkv.w", "t5.table", "layer1.shaw.k" */
    size_t offset;            /* in the flat block, a multiple of 64 bytes */
    int rows, cols;           /* length = rows * cols; 1 row: a vector */
    double mean, deviation;
    pe_init init;
    double least, most;       /* an encoding's: as in pe_param */
    int matrix;               /* 1: weight matrix of a linear map */
    int per_position;         /* 1: a row belongs to one position (pe_param) */
    const attention_member *owner; /* the encoding that it belongs to; NULL: the network's own */
    int owner_layer, owner_index;  /* layer (-1: shared) and index in the owner's params */
} model_param;

/* Offsets of one layer's own parameters. */
typedef struct model_layer {
    size_t norm1_w, norm1_b, qkv_w, qkv_b, proj_w, proj_b, norm2_w, norm2_b, fc1_w, fc1_b, fc2_w, fc2_b;
} model_layer;

typedef struct model {
    pe_shape shape;
    int vocab, hidden;        /* hidden: of the MLP */
    int norm_kind, gelu_exact, tied_head, share_layers, scale_embedding;
    double init_deviation;
    const layered_stack *stacks;
    int params_count, params_room;
    model_param *params;
    size_t length;            /* reals in the flat block, with what fills its cache lines */
    real *value, *grad;       /* [length]; grad NULL in a model that only evaluates */
    real *turned;             /* [length]; the matrices of linear maps transposed, [in][out], at the same offsets */
    size_t token, norm_f_w, norm_f_b, head_w, head_b;
    model_layer *layer;       /* [layers] */
    attention_layer *attention; /* [layers] */
    attention_layer embed;    /* the distinct members with an embed hook, layer -1 */
    double last_position;     /* the smallest of the stacks' */
} model;

/* Lays out parameters of a network for `vocab` tokens; stacks must have passed layered_check and outlive the model.
 * train_tokens: tokens of the longest training sequence. training: with gradients. Values are zero until model_init. */
int model_create(model *m, arena *a, const run_config *c, const layered_stack *stacks, int vocab, int train_tokens,
                 int training, error *e);

/* Start values. Each parameter has a stream of its own, named by (seed, its name): models that share a parameter start with
 * the same values of it, whatever else they have. */
void model_init(model *m, uint64_t seed);

/* To be called after values were changed, before the next forward pass: turns the matrices anew. model_init and adamw_update
 * call it. */
void model_changed(model *m);
/* 0: a matrix was seen to differ from its transpose, so model_changed was forgotten. Looks at three elements of each. */
int model_is_current(const model *m);

/* The same network and the same values under stacks that differ from the model's in options only, for evaluation. The view
 * owns nothing; m and stacks must outlive it. -1: no memory. */
int model_view(model *view, arena *a, const model *m, const layered_stack *stacks);

const model_param *model_find(const model *m, const char *name);
static inline size_t model_param_length(const model_param *p)
{
    return (size_t)p->rows * (size_t)p->cols;
}
/* Numbers that are trained, in all and of encodings. */
long model_parameters(const model *m);
long model_encoding_parameters(const model *m);

/* Reals from one row of the MLP's hidden layer to the next. Rows 4096 bytes apart would fall into the same few lines of the
 * first-level cache, where products that walk down a column lose a tenth: they have one line more. */
static inline int model_hidden_stride(const model *m)
{
    int page = 4096 / (int)sizeof(real);
    return m->hidden % page == 0 ? m->hidden + page / 64 : m->hidden;
}

/* ------------------------------------------------------------------------------------------------ a batch */

typedef struct batch {
    int sequences;
    const int *start;         /* [sequences + 1]; tokens of sequence n: start[n] .. start[n+1]-1 */
    const int *input;         /* [tokens] */
    const int *target;        /* [tokens]; TASK_NOT_SCORED (-1): not scored */
    const double *given;      /* [tokens] positions that the task proposes, or NULL */
    int total_len;            /* tokens that each sequence will have when complete, while decoding; 0: its own length */
    uint64_t seed, map_index; /* stream of random position maps */
    int first_sequence;       /* number of sequence 0 in the whole batch, when this is a part of it */
    int every_token;          /* 1: outputs of all tokens are read; 0: those of the scored ones, see outputs.h */
    int training;
} batch;

/* Rows of activations that are worked off together, so that what one operation leaves is near the core when the next one reads
 * it. A part of a training step is about as large; a long sequence is larger. */
enum { MODEL_TOGETHER_REALS = 1 << 15 };
static inline int model_rows_together(const model *m)
{
    return m->shape.width < MODEL_TOGETHER_REALS ? MODEL_TOGETHER_REALS / m->shape.width : 1;
}

/* Saved activations of one layer. */
typedef struct layer_activations {
    /* from mid on, in the last layer: rows of the kept tokens only */
    real *in;                 /* [tokens][width] residual stream at the layer's entry */
    real *norm1, *stats1;     /* [tokens][width], [tokens][2] */
    real *qkv;                /* [tokens][3 width] */
    real *q, *k;              /* [tokens][heads * rotated_dim] when rotation widens, else NULL */
    real *o;                  /* [tokens][width] */
    softmax_row *rows;        /* [heads][tokens] of attention, in training */
    real *mid;                /* [tokens][width] residual stream before the MLP */
    real *norm2, *stats2;
    /* [tokens][model_hidden_stride]: of GELU its slope, which fc1's product turns into, and its value; when not training both
     * are one buffer of [model_rows_together][model_hidden_stride] */
    real *slope, *act;
    real *gate[STACK_MEMBERS_MAX];
} layer_activations;

/* Buffers for one pass over at most max_tokens tokens in at most max_sequences sequences of at most max_len tokens. */
typedef struct workspace {
    int max_sequences, max_tokens, max_len, training;
    placements placements;
    const placement **place;  /* [layers][max_sequences] */
    attention_scratch scratch;
    const attention_watch *watch; /* borrowed; NULL: nobody looks at attention weights */
    layer_activations *layer; /* [layers]; all the same buffers when not training */
    size_t *gate_at[STACK_MEMBERS_MAX]; /* [max_sequences] */
    int *kept, kept_count;    /* [tokens] the tokens whose outputs are read, ascending: see outputs.h */
    int *first_row;           /* [max_sequences] within each sequence the first of them; its length when there is none */
    real *h;                  /* [kept][width] residual stream after the last layer */
    int *scored;              /* [kept] rows of h that belong to scored tokens */
    int scored_count;
    int head_rows;            /* rows of the buffers below */
    real *head_in, *head_norm, *head_stats, *logits; /* [head_rows][...] */
    /* training only */
    real *dh, *dwork, *dhidden, *dqkv, *dq, *dk;
    real *dgate[STACK_MEMBERS_MAX];
    breakdown *breakdown;     /* where passes tell their time; NULL: nowhere */
} workspace;

/* map, map_options: replace the stacks' own position map when map is not NULL. */
int workspace_create(workspace *w, arena *a, const model *m, const pe_map *map, const void *map_options,
                     int max_sequences, int max_tokens, int max_len, int training, error *e);

/* From now on passes through w tell b where their time goes; b may be NULL. */
static inline void workspace_time(workspace *w, breakdown *b)
{
    w->breakdown = w->scratch.breakdown = b;
}

/* The trunk: token ids to w->h, at the tokens whose outputs are read. */
void model_forward(const model *m, workspace *w, const batch *b);

/* Head and loss over the scored tokens after model_forward: returns the sum of -log p(target) in nats. factor: what the
 * gradient of each token's loss is multiplied by (1 / scored tokens of the whole step); used in training only. loss, guess:
 * [tokens] per token (written at scored tokens only), or NULL. In training, w->logits holds d loss / d logits afterwards. */
double model_loss(const model *m, workspace *w, const batch *b, double factor, double *loss, int *guess);

/* After model_loss in training: grad += . */
void model_backward(const model *m, workspace *w, const batch *b);

/* Logits of token t after model_forward; out[vocab]. t must be one whose output is read: any with every_token. */
void model_logits(const model *m, workspace *w, int t, real *out);

/* The positions at which sequence n would stand, pos[len]. */
void model_positions(const model *m, workspace *w, const batch *b, int n, int layer, double *pos);

#endif

/* config.h - everything that decides a run's result, as one plain struct and one table of rows.
 *
 * The spec's checker, --set, the canonical text, the run's key, `posbench help config` and the record all walk
 * config_rows: adding a row adds it everywhere.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "pe_option.h"
#include "registry.h"

enum { CONFIG_NORM_LAYER, CONFIG_NORM_RMS };
enum { CONFIG_GELU_TANH, CONFIG_GELU_EXACT };
enum { CONFIG_DECAY_MATRICES, CONFIG_DECAY_TWO_DIM, CONFIG_DECAY_ALL };
enum { CONFIG_SCHEDULE_CONSTANT, CONFIG_SCHEDULE_COSINE, CONFIG_SCHEDULE_LINEAR };
enum { CONFIG_LENGTHS_UNIFORM, CONFIG_LENGTHS_FIXED, CONFIG_LENGTHS_GEOMETRIC, CONFIG_LENGTHS_WEIGHTS };
enum { CONFIG_SELECT_LAST, CONFIG_SELECT_BEST };

typedef struct run_config {
    char encoding[PE_TEXT_MAX]; /* a stack, or [stack,stack,...] */
    char task[PE_TEXT_MAX];     /* "mqar(pairs=8)" */
    int seed;
    struct {
        int width, layers, heads, mlp; /* mlp: hidden width as a multiple of width */
        int norm, gelu;
        int causal, tied_head, share_layers;
        int scale_embedding;   /* token vectors times sqrt(width) */
        double init_deviation; /* of all matrices and the token table */
    } model;
    struct {
        int min_len, len;  /* task lengths, one for each sequence, from the distribution that follows (lengths.h) */
        int lengths;
        double length_ratio;    /* geometric: P(l + 1) / P(l) */
        pe_list length_weights; /* weights: of equally wide bands of min_len .. len, in order */
        int steps, batch;  /* batch: sequences in a step */
        double lr, min_lr; /* min_lr: what the schedule ends at, as a share of lr */
        int warmup, schedule;
        double weight_decay;
        int decay; /* which parameters shrink */
        double clip, beta1, beta2, epsilon;
        int check_every; /* steps between validations in distribution; 0: only at the end */
        double stop_at;  /* stops once validation exact match reaches this; 0: never */
        int select;      /* the last step's weights, or the best in distribution */
        int positions;   /* what each position met is recorded (exposure.h) */
        int data;        /* distinct sequences (answer tasks) or tokens of text that training meets; 0: no limit */
    } train;
    struct {
        pe_list ratios;         /* test lengths as multiples of train.len */
        char bins[PE_TEXT_MAX]; /* "1-50;51-100": ranges of lengths instead of ratios; empty: none */
        int items;              /* sequences for each length (answer tasks) */
        int tokens;             /* scored tokens for each length at most (language tasks) */
        int decode;             /* answers are also decoded greedily (answer tasks, causal) */
        int stride;             /* sliding window's step in tokens (language tasks); 0: no sliding evaluation */
        char map[PE_TEXT_MAX];  /* position map in evaluation, "clamp"; empty: the stack's own */
        char encoding_options[PE_TEXT_MAX]; /* other options in evaluation, "rope(scaling=yarn)"; empty: none */
        double fit;             /* a run has fitted when it scores this in distribution */
        int probe;              /* positions are read off hidden states and tables (probe.h) */
        int shuffle;            /* the loss behind windows in order and shuffled (texts, causal; probe.h) */
    } eval;
    struct {                    /* what follows training (extend.h) */
        char methods[PE_TEXT_MAX]; /* "interpolate;none": how positions are stretched; empty: nothing follows */
        pe_list factors;        /* target lengths as multiples of train.len */
        pe_list steps;          /* of fine-tuning after which it is tested */
        double lr;              /* of fine-tuning; PE_AUTO_REAL: see extend_rate */
        char task_options[PE_TEXT_MAX]; /* "depth=0;depth=1": under each of these it is tested once more */
    } extend;
} run_config;

extern const pe_option config_rows[];

/* The row of that name, or NULL with e set to the nearest name. It knows the other words of the field: learning_rate is
 * lr. */
const pe_option *config_row(const char *name, error *e);

/* The row's name that a word means ("learning_rate" -> "train.lr", "model.lr" -> "train.lr"), or the nearest one, or
 * NULL. more[count] are further words that may be meant (a spec's own keys); such a word is returned as it is. */
const char *config_suggest(const char *word, const char *const *more, int count);

void config_defaults(run_config *c);

/* Whether a row's value is a list, written with semicolons: of numbers (PE_OPTION_LIST) or of words. */
int config_row_is_list(const pe_option *row);

/* Sets "model.width" to "64". Unknown names and values out of bounds are ERROR_USAGE with the nearest name. */
int config_set(run_config *c, const char *name, const char *value, error *e);

/* Brings one row that is a text or a list (encoding, task, eval.map, eval.bins, eval.ratios, extend.methods ...) to its canonical form and
 * refuses what is wrong with it whatever the rest says: an unknown encoding, a malformed range. Other rows: nothing. */
int config_canonical(run_config *c, const char *name, const registry *r, error *e);

/* Brings encoding, task, eval.map, eval.ratios and eval.bins to canonical text, puts numbers where `auto` stands, and
 * refuses what cannot run: heads that do not divide width, a stack without meaning here, lengths in the wrong order and
 * so on. A length at which an encoding has no value is no error: the run records that point as undefined. Messages
 * begin with the row's name. No file is read: a corpus that is missing is found when the run opens its task. */
int config_check(run_config *c, const registry *r, error *e);

/* The same; on failure *row is the name of the row to blame and the message does not repeat it. */
int config_check_row(run_config *c, const registry *r, const char **row, error *e);

/* The encoding as it is evaluated: trained parameters under eval.encoding_options, positions by eval.map. The stacks have
 * the same members in the same order as those of `encoding`. Free with layered_free. */
int config_eval_stacks(const run_config *c, const registry *r, layered_stack *out, error *e);

/* Refuses stacks under which the values of `trained` do not fit: parameters of another number or size. They have the same
 * members in the same order. ERROR_USAGE. */
int config_check_same(const layered_stack *trained, const layered_stack *tested, const pe_shape *shape, error *e);

/* Refuses a map that takes positions from the task, beside a task that has none. ERROR_USAGE. */
struct task;
int config_check_given(const layered_stack *s, const struct task *t, error *e);

/* The canonical text: "format=1\n" and one line "name=value\n" for each row that differs from its default, in table
 * order. A default may therefore never change without a new format number. Returns the length. */
int config_print(const run_config *c, char *text, size_t size);

/* Reads what config_print wrote. */
int config_read(run_config *c, const char *text, error *e);

enum { CONFIG_KEY_SIZE = 65, CONFIG_TEXT_MAX = 16384 };

/* SHA-256 (OpenSSL) of the canonical text, in hex. */
void config_key(const run_config *c, char key[CONFIG_KEY_SIZE]);

/* The ranges of lengths that are tested, from ratios (rounded to whole lengths) or bins, in ascending order. Ranges
 * that overlap and ratios that round to the same length are refused. Returns their number, or -1. */
typedef struct length_bin {
    int min_len, max_len;
    double ratio; /* max_len / train.len */
} length_bin;
enum { CONFIG_BINS_MAX = 64 };
int config_bins(const run_config *c, length_bin out[CONFIG_BINS_MAX], error *e);

#endif

/* analytic.c - the list of measurements, and the network that they are taken of. */
#include "analytic.h"

#include <math.h>
#include <string.h>

#include "options.h"
#include "profile_network.h"

enum { ANALYTIC_VOCAB = 16 };

static const analytic analytic_rows[] = {
    {"dot_by_distance",
     "mean dot product of what two positions add to token vectors, over that of a position with itself",
     "distances in tokens", 0, 1024, 0, analytic_dot_by_distance},
    {"dot_spread", "largest standard deviation over positions of that dot product at one distance (128 positions)",
     NULL, 0, 0, 0, analytic_dot_spread},
    {"dot_minimum", "distance of the first local minimum of that dot product, in tokens", NULL, 0, 0, 0,
     analytic_dot_minimum},
    {"position_error",
     "mean absolute error in tokens of reading positions 0 .. 511 off their rows by linear regression, "
     "5 folds",
     NULL, 0, 0, 0, analytic_position_error},
    {"order_error", "share of pairs of positions whose order logistic regression tells wrong, 512 pairs, 5 folds", NULL,
     0, 0, 0, analytic_order_error},
    {"rotation_spread", "largest difference of q.k between pairs of tokens at one distance, over |q| |k|", NULL, 0, 0,
     0, analytic_rotation_spread},
    {"rotation_norm", "largest relative change of a vector's norm by rotation", NULL, 0, 0, 0, analytic_rotation_norm},
    {"rotation_bound", "RoFormer's bound of q.k, the mean of |S_j|, by distance", "distances in tokens", 0, 1024, 0,
     analytic_rotation_bound},
    {"rotation_mean",
     "largest |mean| of q.k over distances below train.len, for independent normal q and k, in standard "
     "errors",
     NULL, 0, 0, 0, analytic_rotation_mean},
    {"rotation_elsewhere", "share of independent normal pairs whose largest q.k below train.len is not at distance 0",
     NULL, 0, 0, 0, analytic_rotation_elsewhere},
    {"rotation_choice", "share of normal queries for which a key can be chosen whose largest q.k is at that distance",
     "distances in tokens", 0, 255, 0, analytic_rotation_choice},
    {"rotation_gap",
     "largest distance of q.k between whole positions from the straight line between them, over head_dim "
     "times the largest |h_j|; 32 queries and keys of numbers 1 and -1",
     NULL, 0, 0, 0, analytic_rotation_gap},
    {"rotation_gap_same", "the same where key and query are equal, so that all h_j are", NULL, 0, 0, 0,
     analytic_rotation_gap_same},
    {"rotation_kept",
     "share that the fastest plane keeps of its own frequency, where the slowest is interpolated in full "
     "(1: untouched), against the encoding beside it",
     NULL, 0, 0, 1, analytic_rotation_kept},
    {"bias_slope", "what one token of distance takes from a score, by head", NULL, 0, 0, 0, analytic_bias_slope},
    {"bias_edges", "distances between the two given at which the bias changes", "the least and the most distance", 0,
     1024, 0, analytic_bias_edges},
    {"bias_unmet", "values that the bias takes from that distance to 1023 and at no shorter one", "distances in tokens",
     1, 1023, 0, analytic_bias_unmet},
    {"constant_attention", "largest |weight times visible keys - 1| when all tokens are the same (first layer)", NULL,
     0, 0, 0, analytic_constant_attention},
    {"constant_output",
     "largest difference of the last layer's output between positions when all tokens are the same, "
     "over its largest value",
     NULL, 0, 0, 0, analytic_constant_output},
    {"constant_gradient",
     "norm of the gradient of all query and key matrices, over that of all value matrices, when all "
     "tokens of a sequence are the same",
     NULL, 0, 0, 0, analytic_constant_gradient},
    {"previous_token",
     "mean weight of the token before, over queries from the 9th on, when all tokens are the same and "
     "one key is chosen for a normal query",
     NULL, 0, 0, 0, analytic_previous_token},
};
enum { ANALYTIC_ROWS = sizeof analytic_rows / sizeof analytic_rows[0] };

const analytic *analytic_row(int i)
{
    return i < ANALYTIC_ROWS ? &analytic_rows[i] : NULL;
}

const analytic *analytic_find(const char *name, error *e)
{
    const char *names[ANALYTIC_ROWS];
    for (int i = 0; i < ANALYTIC_ROWS; i++) {
        names[i] = analytic_rows[i].name;
        if (strcmp(name, names[i]) == 0)
            return &analytic_rows[i];
    }
    const char *near = nearest_word(name, names, ANALYTIC_ROWS);
    if (near)
        error_set(e, ERROR_USAGE, "unknown measurement '%.64s'; did you mean '%s'?", name, near);
    else
        error_set(e, ERROR_USAGE, "unknown measurement '%.64s'; 'posbench claims --measurements' lists them", name);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ the network */

static int analytic_shape(const run_config *c, const layered_stack *stacks, int len, error *e)
{
    if (c->model.width % c->model.heads)
        return error_set(e, ERROR_USAGE, "model.heads=%d does not divide model.width=%d", c->model.heads,
                         c->model.width);
    pe_shape shape = {.width = c->model.width,
                      .heads = c->model.heads,
                      .head_dim = c->model.width / c->model.heads,
                      .layers = c->model.layers,
                      .causal = c->model.causal,
                      .train_len = c->train.len};
    if (stacks->pattern[0].map->needs_given)
        return error_set(e, ERROR_USAGE, "@%s takes positions from a task", stacks->pattern[0].map->name);
    return layered_check(stacks, &shape, len, e);
}

static int analytic_open_as(analytic_network *n, const run_config *c, const registry *r, int len, int training,
                            error *e)
{
    *n = (analytic_network){.memory = {NULL, 0}};
    if (layered_parse(r, c->encoding, &n->stacks, e) < 0) {
        n->stacks = (layered_stack){0};
        return -1;
    }
    profile_network_begin();
    int status = analytic_shape(c, &n->stacks, len, e);
    if (status == 0)
        status = model_create(&n->m, &n->memory, c, &n->stacks, ANALYTIC_VOCAB, c->train.len, training, e);
    if (status == 0) {
        model_init(&n->m, (uint64_t)c->seed);
        n->opened = 1;
        status = look_open(&n->k, &n->m, NULL, NULL, len, e);
    }
    if (status == 0)
        status = profile_network_place(&n->k, len, e);
    if (status < 0) {
        analytic_close(n);
        return error_prefix(e, "%.200s", c->encoding);
    }
    return 0;
}

int analytic_open(analytic_network *n, const run_config *c, const registry *r, int len, error *e)
{
    return analytic_open_as(n, c, r, len, 0, e);
}

int analytic_open_training(analytic_network *n, const run_config *c, const registry *r, int len, error *e)
{
    return analytic_open_as(n, c, r, len, 1, e);
}

void analytic_close(analytic_network *n)
{
    if (n->opened)
        look_close(&n->k);
    layered_free(&n->stacks);
    arena_free(&n->memory);
    *n = (analytic_network){.memory = {NULL, 0}};
}

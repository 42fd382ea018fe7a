/* Can the checks fail? Sound specimens must pass them; each fault planted in one must be named by the check that looks
 * for it. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "refhost.h"
#include "specimens.h"

/* ------------------------------------------------------------------------------------------------ a check without a
 * registry */

typedef enum fault_finder { BY_PROTOCOL = 1, BY_CLAIMS = 2, BY_GRADIENT = 4, BY_ALL = 7 } fault_finder;

static void checked(const pe_descriptor *const *members, int count, fault_finder finder, check_line *line)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r);
    pe_stack stack = {.count = count, .map = registry_find_map(r, "identity", &e)};
    for (int i = 0; i < count; i++)
        stack.member[i].encoding = members[i];
    *line = (check_line){.with_gradient = sizeof(real) == sizeof(double)};
    int status = 0;
    if (finder & BY_PROTOCOL)
        status = protocol_check(&stack, &line->protocol, &e);
    if (status == 0 && finder & BY_CLAIMS)
        status = claims_check(&stack, &line->claims, &e);
    if (status == 0 && finder & BY_GRADIENT && line->with_gradient)
        status = gradient_check(&stack, &line->gradient, &e);
    cr_assert_eq(status, 0, "%s", e.message);
    registry_free(r);
}

static void expect_sound(const pe_descriptor *const *members, int count)
{
    check_line *line = malloc(sizeof *line);
    checked(members, count, BY_ALL, line);
    cr_expect_eq(line->protocol.failures, 0, "%s", line->protocol.message);
    cr_expect_eq(line->claims.failures, 0, "%s", line->claims.message);
    cr_expect_eq(line->gradient.failures, 0, "%s", line->gradient.message);
    cr_expect_gt(line->protocol.checks, 20);
    free(line);
}

#define SOUND(word)                                                                                                    \
    Test(sound, word)                                                                                                  \
    {                                                                                                                  \
        expect_sound((const pe_descriptor *const[]){&specimen_##word}, 1);                                             \
    }
SOUND(slope)
SOUND(keyed)
SOUND(turning)
SOUND(blinkers)
SOUND(forget)
SOUND(mixing)
SOUND(lifted)
SOUND(echo)

Test(sound, all_in_one_stack)
{
    expect_sound((const pe_descriptor *const[]){&specimen_lifted, &specimen_forget, &specimen_turning, &specimen_keyed,
                                                &specimen_mixing, &specimen_echo},
                 6);
}

/* ------------------------------------------------------------------------------------------------ planted faults */

static int fault_visible(const pe_context *c, const pe_tile *t, int r)
{
    return c->shape->causal ? t->row_begin + r + 1 : t->keys;
}

static void fault_bias_sign(const pe_context *c, const pe_tile *t, const real *ds)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < fault_visible(c, t, r); j++)
                c->dtheta[0][h] +=
                    ds[h * t->plane + r * t->stride + j] * (real)fabs(c->pos[t->row_begin + r] - c->pos[j]);
}

static void fault_bias_nearly_right(const pe_context *c, const pe_tile *t, const real *ds)
{
    specimen_slope.bias_bwd(c, t, ds);
    c->dtheta[0][0] *= (real)1.000005;
}

static void fault_bias_assigns_gradient(const pe_context *c, const pe_tile *t, const real *ds)
{
    for (int h = 0; h < c->shape->heads; h++)
        c->dtheta[0][h] = 0;
    specimen_slope.bias_bwd(c, t, ds);
}

static void fault_bias_past_keys(const pe_context *c, const pe_tile *t, real *s)
{
    specimen_slope.bias(c, t, s);
    for (int r = 0; r < t->rows; r++)
        s[r * t->stride + t->keys] = -1;
}

static void fault_bias_past_rows(const pe_context *c, const pe_tile *t, real *s)
{
    specimen_slope.bias(c, t, s);
    s[c->shape->heads * t->plane] = 0;
}

static void fault_bias_assigns(const pe_context *c, const pe_tile *t, real *s)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < fault_visible(c, t, r); j++)
                s[h * t->plane + r * t->stride + j] =
                    -c->theta[0][h] * (real)fabs(c->pos[t->row_begin + r] - c->pos[j]);
}

static void fault_bias_follows_query(const pe_context *c, const pe_tile *t, real *s)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < fault_visible(c, t, r); j++)
                s[h * t->plane + r * t->stride + j] -=
                    (real)(c->pos[t->row_begin + r] / 16 * fabs(c->pos[t->row_begin + r] - c->pos[j]));
}

static void fault_bias_with_memory(const pe_context *c, const pe_tile *t, real *s)
{
    static int calls;
    s[0] += (real)(calls++ % 2) / 1024;
    specimen_slope.bias(c, t, s);
}

static void fault_bias_of_length(const pe_context *c, const pe_tile *t, real *s)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < fault_visible(c, t, r); j++)
                s[h * t->plane + r * t->stride + j] -= (real)(fabs(c->pos[t->row_begin + r] - c->pos[j]) / c->len);
}

static void fault_bias_not_finite(const pe_context *c, const pe_tile *t, real *s)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < fault_visible(c, t, r); j++)
                s[h * t->plane + r * t->stride + j] +=
                    (real)(0 * log(fabs(c->pos[t->row_begin + r] - c->pos[j]))); /* 0 ln 0 on the diagonal */
}

static void fault_bias_moves_positions(const pe_context *c, const pe_tile *t, real *s)
{
    ((double *)c->pos)[0] += 1;
    specimen_slope.bias(c, t, s);
}

static void fault_score_without_dq(const pe_context *c, const pe_tile *t, const real *save, real *ds,
                                   const pe_tile_grad *g)
{
    real *scratch = calloc((size_t)(t->rows * t->token_stride), sizeof *scratch);
    pe_tile_grad other = *g;
    other.dq = scratch;
    specimen_keyed.score_bwd(c, t, save, ds, &other);
    free(scratch);
}

static void fault_score_assigns_dq(const pe_context *c, const pe_tile *t, const real *save, real *ds,
                                   const pe_tile_grad *g)
{
    for (int r = 0; r < t->rows; r++)
        for (int h = 0; h < c->shape->heads; h++)
            for (int i = 0; i < c->shape->head_dim; i++)
                g->dq[r * t->token_stride + h * t->head_stride + i] = 0;
    specimen_keyed.score_bwd(c, t, save, ds, g);
}

static void fault_score_scale(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    pe_tile other = *t;
    other.scale = 1;
    specimen_keyed.score_bwd(c, &other, save, ds, g);
}

static void fault_score_changes_q(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    ((real *)t->q)[0] *= 2;
    specimen_keyed.score(c, t, s, save);
}

static void fault_score_small_save(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)c;
    out->save_reals = (size_t)rows * (size_t)keys - 1;
}

static void fault_score_unwritten_save(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    real *scratch = malloc((size_t)(t->rows * t->keys) * sizeof *scratch);
    (void)save;
    specimen_keyed.score(c, t, s, scratch);
    free(scratch);
}

/* Takes the mean of the whole row away, including what is not a score. */
static void fault_score_reads_beyond(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    specimen_keyed.score(c, t, s, save);
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++) {
            real *row = s + h * t->plane + r * t->stride, mean = 0;
            for (int j = 0; j < t->keys; j++)
                mean += row[j] / (real)t->keys;
            for (int j = 0; j < t->keys; j++)
                row[j] -= mean;
        }
}

static void fault_score_looks_ahead(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    specimen_keyed.score(c, t, s, save);
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            if (t->row_begin + r + 1 < c->len)
                s[h * t->plane + r * t->stride] += t->k[(t->row_begin + r + 1) * t->token_stride + h * t->head_stride];
}

static void fault_score_leaves_beyond(const pe_context *c, const pe_tile *t, const real *save, real *ds,
                                      const pe_tile_grad *g)
{
    specimen_keyed.score_bwd(c, t, save, ds, g);
    if (t->keys > 1)
        ds[t->keys - 1] += 1; /* row 0 sees key row_begin only */
}

static void fault_rotate_forward_again(const pe_context *c, pe_role role, const real *u, real *du, int token_stride,
                                       int head_stride)
{
    (void)u;
    specimen_turning.rotate(c, role, du, token_stride, head_stride);
}

static void fault_rotate_keys_back(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    int dim = c->shape->head_dim;
    specimen_turning.rotate(c, role, u, token_stride, head_stride);
    for (int t = 0; role == PE_KEY && t < c->len; t++)
        for (int h = 0; h < c->shape->heads; h++)
            for (int i = dim; i < 2 * dim; i++)
                u[t * token_stride + h * head_stride + i] *= -1;
}

static void fault_rotate_dense(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    (void)token_stride;
    specimen_turning.rotate(c, role, u, c->shape->width, head_stride);
}

static void fault_embed_assigns(const pe_context *c, real *x)
{
    memset(x, 0, (size_t)(c->len * c->shape->width) * sizeof *x);
    specimen_lifted.embed(c, x);
}

static void fault_gate_without_dx(const pe_context *c, const real *x, const real *save, const real *dsave, real *dx)
{
    real *scratch = calloc((size_t)(c->len * c->shape->width), sizeof *scratch);
    (void)dx;
    specimen_forget.gate_bwd(c, x, save, dsave, scratch);
    free(scratch);
}

static void fault_gate_assigns_dgate(const pe_context *c, const pe_tile *t, const real *save, real *ds,
                                     const pe_tile_grad *g)
{
    memset(g->dgate, 0, (size_t)(c->len * c->shape->heads) * sizeof *g->dgate);
    specimen_forget.score_bwd(c, t, save, ds, g);
}

static void fault_value_assigns_dp(const pe_context *c, const pe_tile *t, const real *p, const real *d_o, int o_stride,
                                   real *dp)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            memset(dp + h * t->plane + r * t->stride, 0, (size_t)t->keys * sizeof *dp);
    specimen_echo.value_bwd(c, t, p, d_o, o_stride, dp);
}

static double fault_last_position(const void *options, const pe_shape *shape)
{
    (void)options;
    return shape->train_len - 1;
}

static unsigned fault_idle_score(const void *options)
{
    (void)options;
    return PE_IDLE_SCORE;
}

static unsigned fault_idle_value(const void *options)
{
    (void)options;
    return PE_IDLE_VALUE;
}

static int fault_zero_params(const void *options, const pe_shape *shape, pe_param *out)
{
    (void)options;
    out[0] = (pe_param){.name = "slope", .rows = 1, .cols = shape->heads};
    return 1;
}

static void fault_init(const pe_context *c, int i, real *values)
{
    static real next;
    (void)i;
    for (int h = 0; h < c->shape->heads; h++)
        values[h] = next += 1;
}

static void expect_caught(const pe_descriptor *d, fault_finder finder, const char *words)
{
    check_line *line = malloc(sizeof *line);
    if (finder == BY_GRADIENT && sizeof(real) < sizeof(double))
        cr_skip("gradients are checked in double precision");
    checked((const pe_descriptor *const[]){d}, 1, finder, line);
    const char *message = finder == BY_PROTOCOL ? line->protocol.message
                          : finder == BY_CLAIMS ? line->claims.message
                                                : line->gradient.message;
    cr_expect_not_null(strstr(message, words), "expected '%s' in '%s'", words, message);
    free(line);
}

/* A specimen, what is done to it, who must notice, and words of the message. */
#define FAULT(word, specimen, deed, finder, words)                                                                     \
    Test(fault, word)                                                                                                  \
    {                                                                                                                  \
        pe_descriptor d = specimen_##specimen;                                                                         \
        deed;                                                                                                          \
        expect_caught(&d, finder, words);                                                                              \
    }

FAULT(wrong_sign_in_a_gradient, slope, d.bias_bwd = fault_bias_sign, BY_GRADIENT, "gradient of slope[0][")
FAULT(a_gradient_off_by_millionths, slope, d.bias_bwd = fault_bias_nearly_right, BY_GRADIENT, "gradient of slope[0][")
FAULT(gradient_assigned, slope, d.bias_bwd = fault_bias_assigns_gradient, BY_PROTOCOL, "accumulate: gradient of slope")
FAULT(missing_dq, keyed, d.score_bwd = fault_score_without_dq, BY_GRADIENT, "gradient of q[")
FAULT(dq_assigned, keyed, d.score_bwd = fault_score_assigns_dq, BY_PROTOCOL, "layout: dq[")
FAULT(wrong_scale, keyed, d.score_bwd = fault_score_scale, BY_GRADIENT, "gradient of q[")
FAULT(missing_dx, forget, d.gate_bwd = fault_gate_without_dx, BY_GRADIENT, "gradient of x[")
FAULT(dgate_assigned, forget, d.score_bwd = fault_gate_assigns_dgate, BY_PROTOCOL, "layout: dx[")
FAULT(dp_assigned, echo, d.value_bwd = fault_value_assigns_dp, BY_GRADIENT, "gradient of ")
FAULT(rotation_not_undone, turning, d.rotate_bwd = fault_rotate_forward_again, BY_GRADIENT, "gradient of q[")
FAULT(write_past_keys, slope, d.bias = fault_bias_past_keys, BY_PROTOCOL, "bias wrote into a gap of the bias")
FAULT(write_past_the_tile, slope, d.bias = fault_bias_past_rows, BY_PROTOCOL, "bias wrote past the end of the bias")
FAULT(write_past_save, keyed, d.sizes = fault_score_small_save, BY_PROTOCOL, "score wrote past the end of save")
FAULT(strides_ignored, turning, d.rotate = fault_rotate_dense, BY_PROTOCOL,
      "turning: rotate of q wrote into a gap of q")
FAULT(save_not_written, keyed, d.score = fault_score_unwritten_save, BY_PROTOCOL, "finite: d")
FAULT(zero_times_infinity, slope, d.bias = fault_bias_not_finite, BY_PROTOCOL, "finite: logits[0][0]")
FAULT(input_changed, keyed, d.score = fault_score_changes_q, BY_PROTOCOL, "score wrote to q")
FAULT(positions_changed, slope, d.bias = fault_bias_moves_positions, BY_PROTOCOL, "bias wrote to pos")
FAULT(state_in_a_static, slope, d.bias = fault_bias_with_memory, BY_PROTOCOL, "repeatable: ")
FAULT(bias_assigned, slope, d.bias = fault_bias_assigns, BY_PROTOCOL, "layout: ")
FAULT(embed_assigned, lifted, d.embed = fault_embed_assigns, BY_PROTOCOL, "adds: embed adds ")
FAULT(reading_beyond_the_limit, keyed, d.score = fault_score_reads_beyond, BY_PROTOCOL, "garbage: logits")
FAULT(looking_ahead, keyed, d.score = fault_score_looks_ahead, BY_PROTOCOL, "causal: o[")
FAULT(gradient_beyond_the_limit, keyed, d.score_bwd = fault_score_leaves_beyond, BY_PROTOCOL,
      "left a gradient beyond the causal limit")
FAULT(length_for_total_length, slope, d.bias = fault_bias_of_length, BY_PROTOCOL, "prefix: o[")
FAULT(start_values_that_differ, slope, d.init = fault_init, BY_PROTOCOL, "init: slope[0][0]")
FAULT(missing_backward, keyed, d.score_bwd = NULL, BY_PROTOCOL, "lacks score_bwd")
FAULT(parameters_without_backward, slope, d.bias_bwd = NULL, BY_PROTOCOL, "lacks bias_bwd")
FAULT(backward_alone, keyed, d.value_bwd = specimen_echo.value_bwd, BY_PROTOCOL, "value_bwd without")
FAULT(score_that_is_not_idle, keyed, d.idle_with = fault_idle_score, BY_PROTOCOL, "idle: logits[")
FAULT(value_that_is_not_idle, echo, d.idle_with = fault_idle_value, BY_PROTOCOL, "idle: o[")
FAULT(another_abi, slope, d.abi = PE_ABI + 1, BY_PROTOCOL, "abi")
FAULT(another_real, slope, d.real_size = 2, BY_PROTOCOL, "sizeof(real)")
FAULT(no_formula, slope, d.formula = "", BY_PROTOCOL, "formula")
FAULT(unknown_family, slope, d.family = "magic", BY_PROTOCOL, "unknown family 'magic'")
FAULT(shift_dependence, slope, d.bias = fault_bias_follows_query, BY_CLAIMS, "claims to be shift-invariant, but ")
FAULT(rotations_that_add_up, turning, d.rotate = fault_rotate_keys_back, BY_CLAIMS,
      "claims to be shift-invariant, but ")
FAULT(embed_is_no_distance, lifted, d.claims |= PE_SHIFT_INVARIANT, BY_CLAIMS, "claims to be shift-invariant, but ")
FAULT(not_blind, slope, d.claims |= PE_POSITION_BLIND, BY_CLAIMS, "claims to be position-blind, but ")
FAULT(not_parameter_free, slope, d.claims |= PE_PARAMETER_FREE, BY_CLAIMS, "claims to be parameter-free, but ")
FAULT(not_zero_at_init, slope, d.claims |= PE_ZERO_AT_INIT, BY_CLAIMS, "claims to be zero-at-init, but ")
FAULT(not_any_length, slope, d.last_position = fault_last_position, BY_CLAIMS, "claims to be any-length, but ")
FAULT(shift_invariance_unclaimed, slope, d.claims = PE_ANY_LENGTH, BY_CLAIMS, "is shift-invariant in every case")
FAULT(blindness_unclaimed, forget, d.claims &= ~(unsigned)PE_POSITION_BLIND, BY_CLAIMS,
      "is position-blind in every case")
FAULT(any_length_unclaimed, slope, d.claims = PE_SHIFT_INVARIANT, BY_CLAIMS, "is any-length in every case")
FAULT(zero_at_init_unclaimed, slope, d.params = fault_zero_params, BY_CLAIMS, "is zero-at-init in every case")
FAULT(parameter_without_influence, mixing, (d.score = NULL, d.score_bwd = NULL, d.reads_bias = 0), BY_GRADIENT,
      "mixing.a is 0 in every case")

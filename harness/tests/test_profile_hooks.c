/* What the hooks of stacks show, against their formulas; and the slow look at attention against the network's own. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers.h"
#include "network_fixture.h"
#include "profile.h"
#include "run.h"
#include "scratch.h"
#include "settings.h"

/* Profiles a stack in a network of these settings. */
static profile hooks_profile(const char *stack, const char *settings, int rows)
{
    error e = ERROR_INIT;
    run_config c;
    profile p;
    registry *r = setting_registry();
    cr_assert_eq(setting_apply(&c, settings, &e), 0, "%s", e.message);
    snprintf(c.encoding, sizeof c.encoding, "%s", stack);
    cr_assert_eq(profile_stack(&c, r, rows, &p, &e), 0, "%s: %s", stack, e.message);
    registry_free(r);
    return p;
}

static void hooks_refuse(const char *stack, const char *settings, int rows, const char *words)
{
    error e = ERROR_INIT;
    run_config c;
    profile p;
    registry *r = setting_registry();
    cr_assert_eq(setting_apply(&c, settings, &e), 0, "%s", e.message);
    snprintf(c.encoding, sizeof c.encoding, "%s", stack);
    cr_assert_lt(profile_stack(&c, r, rows, &p, &e), 0, "%s was taken", stack);
    cr_assert(strstr(e.message, words), "'%s' is not in: %s", words, e.message);
    profile_free(&p);
    registry_free(r);
}

Test(profile_stack, what_a_stack_adds_to_tokens_is_a_table)
{
    profile p = hooks_profile("sinusoidal", "model.width=64", 40);
    cr_assert(p.has_table && p.biases == 0 && p.rotaries == 0 && !p.has_attention && !p.has_hidden);
    cr_assert(p.rows == 40 && p.table.rows == 40 && p.table.cols == 64);
    cr_assert_lt(p.table.unexplained, 1e-6);
    for (int d = 0; d < 40; d++) {
        double sum = 0;
        for (int i = 0; i < 32; i++)
            sum += cos(d * pow(10000, -i / 32.0));
        cr_assert_float_eq(p.table.dot_mean[d], sum, 1e-4);
    }
    profile_free(&p);
}

Test(profile_stack, as_many_positions_as_there_are)
{
    profile p = hooks_profile("learned(rows=20)", "model.width=16|model.heads=2", 0);
    cr_assert(p.rows == 20 && p.has_table && p.table.rows == 20);
    profile_free(&p);
    p = hooks_profile("learned(rows=20)@clamp(limit=19)", "model.width=16|model.heads=2", 30);
    cr_assert_eq(p.table.rows, 30);
    cr_assert_float_eq(p.table.cosine[25 * 30 + 29], 1, 1e-6); /* both stand at the last row */
    profile_free(&p);
    hooks_refuse("learned(rows=20)", "model.width=16|model.heads=2", 30, "20");
    hooks_refuse("rope", "model.width=16|model.heads=3", 0, "model.heads=3 does not divide model.width=16");
    hooks_refuse("ropee", "", 0, "did you mean 'rope'?");
    hooks_refuse("learned@task", "", 0, "@task takes positions from a task");
}

/* Press et al. 2022: slopes 2^(-8h/H). */
Test(profile_stack, a_bias_is_a_curve_for_each_head)
{
    profile p = hooks_profile("alibi", "model.width=16|model.heads=4|model.layers=3", 50);
    cr_assert(p.biases == 1 && !p.has_table && p.has_attention);
    cr_assert(p.bias->heads == 4 && p.bias->least == 0 && p.bias->count == 50);
    for (int h = 0; h < 4; h++)
        for (int d = 0; d < 50; d++)
            cr_assert_float_eq(p.bias->value[h * 50 + d], -d * pow(2, -2 * (h + 1)), 1e-5);
    profile_free(&p);
    p = hooks_profile("alibi", "model.width=16|model.heads=2|model.causal=false", 9);
    cr_assert(p.bias->least == -8 && p.bias->count == 17);
    for (int d = -8; d <= 8; d++)
        cr_assert_float_eq(p.bias->value[17 + d + 8], p.bias->value[17 + 8 - d], 1e-6, "%d",
                           d); /* symmetric by default */
    cr_assert_float_eq(p.bias->value[8], 0, 1e-12);
    cr_assert_lt(p.bias->value[0], -0.4);
    profile_free(&p);
}

Test(profile_stack, layers_that_differ_are_told_apart)
{
    profile p = hooks_profile("[alibi,window(size=4)]", "model.width=16|model.heads=2|model.layers=4", 12);
    cr_assert_eq(p.biases, 2);
    cr_assert(p.bias[0].layer == 0 && p.bias[1].layer == 1);
    cr_assert(p.bias[1].value[2] == 0 && isinf(p.bias[1].value[8]));
    profile_free(&p);
    p = hooks_profile("[rope,nope]", "model.width=16|model.heads=2|model.layers=4", 12);
    cr_assert(p.biases == 0 && p.rotaries == 1);
    profile_free(&p);
    p = hooks_profile("nope", "model.width=16|model.heads=2", 12);
    cr_assert(!p.has_table && p.biases == 0 && p.rotaries == 0 && !p.has_attention);
    profile_free(&p);
}

/* ------------------------------------------------------------------------------------------------ rotations */

/* RoFormer 3.4.3, straight from the frequencies. */
static double hooks_bound(int dim, int s)
{
    double re = 0, im = 0, sum = 0;
    for (int i = 0; i < dim / 2; i++) {
        re += cos(s * pow(10000, -2.0 * i / dim));
        im += sin(s * pow(10000, -2.0 * i / dim));
        sum += hypot(re, im);
    }
    return sum / (dim / 2);
}

static void hooks_rotation(const char *stack)
{
    profile p = hooks_profile(stack, "model.width=64|model.heads=1|model.layers=1", 257);
    cr_assert_eq(p.rotaries, 1);
    const profile_rotary *r = p.rotary;
    cr_assert(r->pairs == 32 && r->heads == 1 && r->count == 257, "%s: %d planes", stack, r->pairs);
    for (int s = 0; s < 257; s++) {
        double same = 0;
        for (int i = 0; i < 32; i++)
            same += cos(s * pow(10000, -2.0 * i / 64)) / 32;
        cr_assert_float_eq(r->bound[s], hooks_bound(64, s), 2e-3, "%s %d: %g", stack, s, r->bound[s]);
        cr_assert_float_eq(r->same[s], same, 0.04);
        cr_assert_lt(fabs(r->other[s]), 4.5 * r->other_error[s]); /* no decay for independent vectors */
        cr_assert_float_eq(r->other_error[s], 1 / sqrt(64.0 * r->draws), 0.1 / sqrt(64.0 * r->draws));
    }
    static const double published[][2] = {{1, 15.95}, {4, 11.14}, {16, 7.65}, {64, 5.70}, {256, 3.84}};
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        cr_assert_float_eq(r->bound[(int)published[i][0]], published[i][1], 6e-3);
    cr_assert_gt(r->peak_elsewhere, 0.95);
    profile_free(&p);
}

Test(profile_rotary, the_bound_and_no_decay)
{
    hooks_rotation("rope(layout=half)");
    hooks_rotation("rope(layout=interleaved)");
}

/* A part of the numbers is not turned: these planes count, with a turn of 1. */
Test(profile_rotary, a_part_that_is_not_turned)
{
    profile p = hooks_profile("rope(keep=0.5)", "model.width=16|model.heads=1|model.layers=1", 100);
    const profile_rotary *r = p.rotary;
    cr_assert_eq(r->pairs, 8);
    double re = 0, im = 0, sum = 0;
    for (int i = 0; i < 8; i++) {
        re += i < 4 ? cos(30 * pow(10000, -i / 8.0)) : 1;
        im += i < 4 ? sin(30 * pow(10000, -i / 8.0)) : 0;
        sum += hypot(re, im);
    }
    cr_assert_float_eq(r->bound[30], sum / 8, 2e-3, "%g", r->bound[30]);
    profile_free(&p);
}

/* Softplus before the turn: there is no matrix, and no bound. */
Test(profile_rotary, what_is_not_linear)
{
    profile p = hooks_profile("pope", "model.width=16|model.heads=2|model.layers=1", 20);
    cr_assert(p.rotaries == 1 && p.rotary->pairs == 0);
    cr_assert(isnan(p.rotary->bound[3]) && isfinite(p.rotary->same[3]) && p.rotary->other[0] > 0.3);
    profile_free(&p);
}

/* ------------------------------------------------------------------------------------------------ attention */

/* Weights are shares: over all distances they sum to the number of queries, for every head. */
static void hooks_shares(const profile_attention *a)
{
    for (int head = 0; head < a->layers * a->heads; head++) {
        double sum = 0;
        for (int d = 0; d < a->len; d++)
            sum += a->weight[head * a->len + d] * (double)a->pairs[d];
        cr_assert_float_eq(sum, (double)a->queries, 1e-4 * (double)a->queries);
    }
}

Test(profile_attention, of_random_content)
{
    profile p = hooks_profile("fox", "model.width=16|model.heads=2|model.layers=2", 40);
    cr_assert(p.has_attention && p.attention.random_content && p.attention.queries == 40 * p.attention.sequences);
    hooks_shares(&p.attention);
    cr_assert_lt(p.attention.distance[0], 0.8 * p.attention.uniform_distance); /* gates forget */
    double even = 0, distance = 0, entropy = 0;
    for (int i = 10; i < 40; i++)
        even += 1.0 / (i + 1);
    for (int i = 0; i < 40; i++) {
        distance += i / 2.0 / 40;
        entropy += log(i + 1) / 40;
    }
    cr_assert_float_eq(p.attention.uniform[10], even / 30, 1e-9);
    cr_assert_float_eq(p.attention.uniform_distance, distance, 1e-9);
    cr_assert_float_eq(p.attention.uniform_entropy, entropy, 1e-9);
    profile_free(&p);
}

enum { HOOKS_LEN = 12, HOOKS_HEADS = 3, HOOKS_LAYERS = 2 };

/* Every weight that a watch has seen. */
typedef struct hooks_seen {
    double p[HOOKS_LAYERS][HOOKS_HEADS][HOOKS_LEN][HOOKS_LEN];
    int rows;
} hooks_seen;

static void hooks_see(void *self, int layer, int sequence, int head, int row, const real *weights, int visible)
{
    hooks_seen *s = self;
    cr_assert(sequence == 0 && visible <= HOOKS_LEN);
    for (int j = 0; j < visible; j++)
        s->p[layer][head][row][j] = (double)weights[j];
    s->rows++;
}

/* q, k (part 0, 1) of a layer from its normalised input, in heads of rotated_dim. */
static void hooks_project(const fixture *f, int part, int wide, const real *qkv, real *to)
{
    const pe_shape *s = &f->model.shape;
    memset(to, 0, sizeof(real) * HOOKS_LEN * 64);
    for (int t = 0; t < HOOKS_LEN; t++)
        for (int h = 0; h < s->heads; h++)
            memcpy(to + (t * s->heads + h) * wide, qkv + t * 3 * s->width + part * s->width + h * s->head_dim,
                   sizeof(real) * (size_t)s->head_dim);
}

/* The weights that look_attention shows for a layer's own input are those that the network's pass has shown. */
static void hooks_agree(const char *encoding, const char *settings)
{
    static fixture f;
    static hooks_seen pass, alone;
    error e = ERROR_INIT;
    look k;
    fixture_open(&f, encoding, settings, HOOKS_LEN, 1);
    fixture_draw(&f, 9, 1, 1);
    f.batch.training = 0;
    memset(&pass, 0, sizeof pass);
    memset(&alone, 0, sizeof alone);
    attention_watch in_pass = {hooks_see, &pass}, by_itself = {hooks_see, &alone};
    f.work.watch = &in_pass;
    model_forward(&f.model, &f.work, &f.batch);
    cr_assert_eq(look_open(&k, &f.model, NULL, NULL, HOOKS_LEN, &e), 0);
    look_place(&k, HOOKS_LEN, 0, 0, f.batch.given);
    for (int l = 0; l < HOOKS_LAYERS; l++) {
        real norm1[HOOKS_LEN * 12], stats[HOOKS_LEN * 2], qkv[HOOKS_LEN * 36], q[HOOKS_LEN * 64], key[HOOKS_LEN * 64];
        const model_layer *at = &f.model.layer[l];
        norm(f.model.norm_kind, f.work.layer[l].in, f.model.value + at->norm1_w, f.model.value + at->norm1_b, norm1,
             stats, HOOKS_LEN, 12);
        linear(norm1, 12, f.model.turned + at->qkv_w, f.model.value + at->qkv_b, NULL, qkv, 36, HOOKS_LEN, 12, 36);
        cr_assert_leq(look_rotated_dim(&k, l) * HOOKS_HEADS, 64);
        hooks_project(&f, 0, look_rotated_dim(&k, l), qkv, q);
        hooks_project(&f, 1, look_rotated_dim(&k, l), qkv, key);
        look_attention(&k, l, norm1, q, key, &by_itself);
    }
    cr_assert(pass.rows == HOOKS_LAYERS * HOOKS_HEADS * HOOKS_LEN && alone.rows == pass.rows);
    for (int i = 0; i < HOOKS_LAYERS * HOOKS_HEADS * HOOKS_LEN; i++) {
        const double *a = pass.p[0][0][0] + i * HOOKS_LEN, *b = alone.p[0][0][0] + i * HOOKS_LEN;
        double sum = 0;
        for (int j = 0; j < HOOKS_LEN; j++) {
            cr_assert_float_eq(a[j], b[j], 1e-5, "%s, row %d: %g is not %g", encoding, i, b[j], a[j]);
            sum += b[j];
        }
        cr_assert_float_eq(sum, 1, 1e-5, "%s", encoding);
    }
    look_close(&k);
    fixture_close(&f);
}

static int hooks_fits(const registry *r, const char *encoding, int causal)
{
    error e = ERROR_INIT;
    layered_stack stacks;
    const pe_shape shape = {.width = 12, .heads = 3, .head_dim = 4, .layers = 2, .train_len = 12, .causal = causal};
    cr_assert_eq(layered_parse(r, encoding, &stacks, &e), 0, "%s", e.message);
    int fits = layered_check(&stacks, &shape, 12, &e) == 0;
    layered_free(&stacks);
    return fits;
}

Test(profile_attention, is_that_of_the_network_for_every_encoding)
{
    registry *r = setting_registry();
    int tried = 0;
    for (int i = 0; i < registry_encoding_count(r); i++) {
        const pe_descriptor *d = registry_encoding(r, i);
        const char *const none[] = {NULL}, *const *example = d->examples ? d->examples : none;
        for (int first = 1; first || *example; example += !first, first = 0) {
            char text[PE_TEXT_MAX];
            if (!first && !*example)
                break;
            snprintf(text, sizeof text, first ? "%s" : "%s(%s)", d->name, first ? "" : *example);
            for (int causal = 1; causal >= 0; causal--)
                if (hooks_fits(r, text, causal)) {
                    hooks_agree(text, causal ? "" : "model.causal=false");
                    tried++;
                }
        }
    }
    cr_assert_gt(tried, 40);
    hooks_agree("rope+fox+alibi", "model.norm=rms");
    hooks_agree("[rope,kerple]@random(span=50)", "");
    hooks_agree("alibi+dape", "");
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ a trained network */

static profile hooks_trained(const char *settings, int rows)
{
    char path[PATH_MAX];
    error e = ERROR_INIT;
    run_config c;
    run_result out;
    profile p;
    scratch room;
    registry *r = setting_registry();
    scratch_open(&room);
    scratch_path(&room, "w.safetensors", path);
    setting_checked(&c, settings);
    cr_assert_eq(run_execute_with(&c, r, NULL, &(run_files){.weights = path}, &out, &e), 0, "%s", e.message);
    run_result_free(&out);
    cr_assert_eq(profile_trained(path, r, rows, &p, &e), 0, "%s", e.message);
    registry_free(r);
    scratch_close(&room);
    return p;
}

#define HOOKS_SMALL                                                                                                    \
    "task=repeat_copy|model.width=16|model.heads=2|model.layers=2|train.len=20|train.batch=4|train.steps=4|eval."      \
    "items=4|"

Test(profile_trained, position_in_hidden_states)
{
    profile p = hooks_trained("encoding=sinusoidal|" HOOKS_SMALL, 0);
    cr_assert(p.kind == PROFILE_TRAINED && p.step == 4 && p.has_table && p.has_attention && p.has_hidden);
    cr_assert_eq(p.rows, 42); /* BOS, 20, SEP, 20; EOS is not read */
    cr_assert_eq(p.table.rows, 42);
    cr_assert_eq(p.hidden.count, 3);
    cr_assert_float_eq(p.hidden.guess, 10.5, 0.6); /* a quarter of 42 */
    cr_assert_lt(p.hidden.read_error[0], 0.4 * p.hidden.guess, "%g", p.hidden.read_error[0]);
    hooks_shares(&p.attention);
    profile_free(&p);
    p = hooks_trained("encoding=nope|" HOOKS_SMALL, 0);
    cr_assert(!p.has_table && p.has_attention);
    cr_assert_gt(p.hidden.read_error[0], 0.7 * p.hidden.guess); /* before attention nothing knows a position */
    profile_free(&p);
}

Test(profile_trained, maps_of_all_kinds)
{
    profile p = hooks_trained("encoding=learned(rows=200)@random(span=200)|" HOOKS_SMALL, 10);
    cr_assert(p.has_table && p.table.rows == 10);
    hooks_shares(&p.attention);
    profile_free(&p);
    p = hooks_trained("encoding=learned(rows=64)@task|" HOOKS_SMALL, 0);
    cr_assert(!p.has_table && p.has_hidden); /* positions belong to a sequence of the task */
    hooks_shares(&p.attention);
    profile_free(&p);
    p = hooks_trained("encoding=pope+t5|model.causal=false|" HOOKS_SMALL, 0);
    cr_assert(p.rotaries >= 1 && p.biases >= 1 && p.bias->least < 0);
    hooks_shares(&p.attention);
    profile_free(&p);
}

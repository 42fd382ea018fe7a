#include "evaluate.h"

#include <stdio.h>
#include <stdlib.h>

#include "lengths.h"

int evaluate_append(run_result *out, run_value v, error *e)
{
    run_value *grown = realloc(out->values, sizeof *grown * (size_t)(out->values_count + 1));
    if (!grown)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for results");
    out->values = grown;
    out->values[out->values_count++] = v;
    return 0;
}

double evaluate_mean_loss(double sum, long n)
{
    return n > 0 ? sum / (double)n : NAN;
}

/* ------------------------------------------------------------------------------------------------ standing of a point */

/* Whether any parameter of the stacks belongs to one position alone. */
static int evaluate_has_rows(const model *m)
{
    const attention_layer *groups[2] = { &m->embed, m->attention };
    int counts[2] = { 1, m->shape.layers };
    for (int g = 0; g < 2; g++)
        for (int l = 0; l < counts[g]; l++)
            for (int i = 0; i < groups[g][l].count; i++) {
                const attention_member *owner = &groups[g][l].member[i];
                pe_param declared[PE_PARAMS_MAX];
                for (int p = 0; p < owner->params; p++) {
                    owner->encoding->params(owner->options, &m->shape, declared);
                    if (declared[p].per_position)
                        return 1;
                }
            }
    return 0;
}

point_standing evaluate_standing(const evaluation *v, const double *pos, int len)
{
    point_standing s = { 0, "" };
    double last = placement_farthest(pos, len);
    if (last > v->model->last_position)
        s.undefined = 1;
    else if (v->map->gives_meaning && len > v->model->shape.train_len)
        snprintf(s.flag, sizeof s.flag, "%s", v->map->name);
    else if (last > v->reach && evaluate_has_rows(v->model))
        snprintf(s.flag, sizeof s.flag, "untrained");
    return s;
}

void evaluate_worst(const evaluation *v, workspace *w, const batch *b, double *pos, point_standing *worst)
{
    for (int l = 0; l < v->model->shape.layers; l++)
        for (int n = 0; n < b->sequences; n++) {
            model_positions(v->model, w, b, n, l, pos);
            point_standing s = evaluate_standing(v, pos, b->start[n + 1] - b->start[n]);
            worst->undefined |= s.undefined;
            if (s.flag[0])
                memcpy(worst->flag, s.flag, sizeof worst->flag);
        }
}

/* ------------------------------------------------------------------------------------------------ answer tasks */

enum { EVALUATE_LENGTHS = 1 << 30 };

void evaluate_sequence(const int *target, const int *guess, const double *loss, int count, answer_sums *sums)
{
    int all = 1, position = 0;
    for (int i = 0; i < count; i++) {
        if (target[i] == TASK_NOT_SCORED)
            continue;
        int right = guess[i] == target[i];
        all &= right;
        sums->right += right;
        sums->tokens++;
        sums->loss += loss[i];
        sums->position_loss[position] += loss[i];
        sums->position_n[position++]++;
        sums->positions = position > sums->positions ? position : sums->positions;
    }
    sums->sequences++;
    sums->exact += all;
}

static int answer_values(length_bin bin, const answer_sums *s, point_standing standing, run_result *out, error *e)
{
    const struct {
        const char *metric;
        double value;
        long n;
    } rows[] = {
        { "exact_match", s->sequences ? (double)s->exact / (double)s->sequences : NAN, s->sequences },
        { "token_accuracy", s->tokens ? (double)s->right / (double)s->tokens : NAN, s->tokens },
        { "loss", evaluate_mean_loss(s->loss, s->tokens), s->tokens },
        { "chance_exact", s->sequences ? s->chance_exact / (double)s->sequences : NAN, s->sequences },
        { "chance_token", s->sequences ? s->chance_token / (double)s->sequences : NAN, s->sequences },
        { "overlap", s->sequences ? (double)s->shared / (double)s->sequences : NAN, s->sequences },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run_value value = { .bin = bin, .metric = rows[i].metric, .mode = "teacher_forced", .value = rows[i].value,
                            .n = rows[i].n, .status = standing.undefined && i < 3 ? "undefined" : "ok" };
        if (standing.undefined && i < 3) {
            value.value = NAN;
            value.n = 0;
        }
        if (i < 3)
            snprintf(value.flag, sizeof value.flag, "%s", standing.undefined ? "" : standing.flag);
        if (evaluate_append(out, value, e) < 0)
            return -1;
    }
    return 0;
}

int evaluate_positions(run_result *out, length_bin bin, const char *mode, int count, const double *sum, const long *n,
                       error *e)
{
    run_positions *grown = realloc(out->positions, sizeof *grown * (size_t)(out->positions_count + 1));
    if (!grown)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for results");
    out->positions = grown;
    run_positions *to = &out->positions[out->positions_count];
    *to = (run_positions){ .bin = bin, .mode = mode, .count = count, .loss = malloc(sizeof(double) * (size_t)count),
                           .n = malloc(sizeof(long) * (size_t)count) };
    if (!to->loss || !to->n) {
        free(to->loss);
        free(to->n);
        return error_set(e, ERROR_ENVIRONMENT, "no memory for results");
    }
    for (int i = 0; i < count; i++) {
        to->loss[i] = evaluate_mean_loss(sum[i], n[i]);
        to->n[i] = n[i];
    }
    out->positions_count++;
    return 0;
}

int evaluate_stopped(const evaluation *v, error *e)
{
    if (v->watch && v->watch->stop && *v->watch->stop)
        return error_set(e, ERROR_INTERRUPTED, "interrupted");
    return 0;
}

/* Buffers of one bin. */
typedef struct answer_bench {
    arena memory;
    workspace work;
    batch_buffer data;
    int *part_start, *guess;
    double *loss, *pos;
    answer_sums sums;
    decode_room decoded;          /* with eval.decode only */
} answer_bench;

static int answer_bench_create(const evaluation *v, answer_bench *a, int longest, int per_part, error *e)
{
    if (workspace_create(&a->work, &a->memory, v->model, v->map, v->map_options, per_part, per_part * longest, longest, 0,
                         e) < 0)
        return -1;
    int failed = batch_buffer_create(&a->data, &a->memory, per_part, per_part * longest) < 0;
    a->part_start = ARENA_NEW(&a->memory, int, per_part + 1);
    a->guess = ARENA_NEW(&a->memory, int, per_part * longest);
    a->loss = ARENA_NEW(&a->memory, double, per_part * longest);
    a->pos = ARENA_NEW(&a->memory, double, longest);
    a->sums.position_loss = ARENA_NEW(&a->memory, double, longest);
    a->sums.position_n = ARENA_NEW(&a->memory, long, longest);
    if (failed || !a->part_start || !a->guess || !a->loss || !a->pos || !a->sums.position_loss || !a->sums.position_n)
        return error_set(e, ERROR_ENVIRONMENT, "no memory to evaluate %d tokens", longest);
    return v->config->eval.decode
               ? decode_room_create(&a->decoded, &a->memory, per_part, per_part * longest, longest, e)
               : 0;
}

/* Draws items first .. first+count-1 of the bin and looks where they stand. */
static void answer_draw(const evaluation *v, answer_bench *a, length_bin bin, int first, int count)
{
    uint64_t seed = (uint64_t)v->config->seed;
    batch_buffer_clear(&a->data);
    for (int n = first; n < first + count; n++) {
        int len = lengths_uniform(seed, (uint64_t)EVALUATE_LENGTHS + (uint64_t)bin.max_len, (uint32_t)n, bin.min_len,
                                  bin.max_len);
        a->sums.shared += batch_buffer_draw(&a->data, v->task, TASK_TEST, seed, (uint64_t)bin.max_len, (uint32_t)n, len);
        a->sums.chance_exact += task_chance_exact(v->task, len);
        a->sums.chance_token += task_chance_token(v->task, len);
    }
}

/* One part's worth: undefined if one of its sequences is. */
static void answer_part(const evaluation *v, answer_bench *a, length_bin bin, int first, int count, point_standing *worst)
{
    uint64_t index = (uint64_t)bin.max_len << 32 | (uint64_t)first;
    answer_draw(v, a, bin, first, count);
    batch b = batch_buffer_part(&a->data, 0, count, (uint64_t)v->config->seed, index, 0, a->part_start);
    evaluate_worst(v, &a->work, &b, a->pos, worst);
    if (worst->undefined) {
        a->sums.sequences += count;
        return;
    }
    model_forward(v->model, &a->work, &b);
    model_loss(v->model, &a->work, &b, 0, a->loss, a->guess);
    for (int n = 0; n < count; n++) {
        int begin = a->data.start[n];
        evaluate_sequence(a->data.target + begin, a->guess + begin, a->loss + begin, a->data.start[n + 1] - begin, &a->sums);
    }
    if (v->config->eval.decode)
        evaluate_free_run(v->model, &a->work, &b, a->data.answer_begin, &a->decoded);
}

static int evaluate_answer_bin(const evaluation *v, length_bin bin, run_result *out, error *e)
{
    int longest = task_tokens(v->task, bin.max_len), items = v->config->eval.items;
    int per_part = EVALUATE_PART_TOKENS / longest;
    per_part = per_part < 1 ? 1 : per_part > items ? items : per_part;
    answer_bench a = { .memory = { NULL, 0 } };
    point_standing worst = { 0, "" };
    int failed = answer_bench_create(v, &a, longest, per_part, e);
    for (int first = 0; first < items && !failed; first += per_part) {
        int count = items - first < per_part ? items - first : per_part;
        answer_part(v, &a, bin, first, count, &worst);
        failed = evaluate_stopped(v, e);
    }
    if (!failed)
        failed = answer_values(bin, &a.sums, worst, out, e);
    if (!failed && v->config->eval.decode)
        failed = evaluate_free_values(bin, &a.decoded, worst, out, e);
    if (!failed && !worst.undefined)
        failed = evaluate_positions(out, bin, "teacher_forced", a.sums.positions, a.sums.position_loss,
                                    a.sums.position_n, e);
    arena_free(&a.memory);
    return failed;
}

int evaluate_all(const evaluation *v, run_result *out, error *e)
{
    length_bin bins[CONFIG_BINS_MAX];
    int count = config_bins(v->config, bins, e);
    if (count < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        int failed = task_of(v->task)->kind == TASK_LANGUAGE ? evaluate_text_bin(v, bins[i], out, e)
                                                             : evaluate_answer_bin(v, bins[i], out, e);
        if (failed)
            return -1;
        if (v->watch && v->watch->tell)
            v->watch->tell(v->watch->self, "evaluate", i + 1, count, NAN);
    }
    return 0;
}

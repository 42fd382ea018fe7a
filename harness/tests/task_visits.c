#include "task_visits.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_inside.h"
#include "task_room.h"

enum { VISITS_GUARD = 8 };

typedef struct visits_room {
    task *task;
    int size; /* of each buffer: the tokens of the longest sequence, and a guard */
    int *input, *target, *again;
    double *position;
} visits_room;

static visits_room visits_open(const char *text, task_regime regime, int min_len, int max_len)
{
    error e = ERROR_INIT;
    visits_room r = {.task = task_open(text, regime, min_len, max_len, &e)};
    cr_assert_not_null(r.task, "%s: %s", text, e.message);
    r.size = task_tokens(r.task, max_len) + VISITS_GUARD;
    r.input = malloc((size_t)r.size * sizeof(int));
    r.target = malloc((size_t)r.size * sizeof(int));
    r.again = malloc((size_t)r.size * sizeof(int));
    r.position = malloc((size_t)r.size * sizeof(double));
    return r;
}

static void visits_close(visits_room *r)
{
    free(r->input);
    free(r->target);
    free(r->again);
    free(r->position);
    task_free(r->task);
}

static task_sample visits_poison(visits_room *r)
{
    for (int t = 0; t < r->size; t++)
        r->input[t] = r->target[t] = r->again[t] = ROOM_POISON;
    return (task_sample){.input = r->input, .target = r->target, .position = r->position};
}

static void visits_check_symbols(const int *symbol, int count, int symbols)
{
    for (int i = 0; i < count; i++)
        cr_assert(symbol[i] >= 0 && symbol[i] < symbols, "symbol %d of %d at %d", symbol[i], symbols, i);
}

/* BOS x SEP y, EOS predicted last; nothing scored before SEP. */
static pair_seen visits_decoder(const task_sample *s, int symbols)
{
    int sep = 1;
    while (sep < s->count && s->input[sep] != symbols + 1)
        sep++;
    cr_assert_lt(sep, s->count);
    cr_assert_eq(s->input[0], symbols);
    cr_assert_eq(s->answer_begin, sep);
    for (int t = 0; t < sep; t++)
        cr_assert_eq(s->target[t], TASK_NOT_SCORED);
    for (int t = sep; t < s->count - 1; t++)
        cr_assert_eq(s->target[t], s->input[t + 1]);
    cr_assert_eq(s->target[s->count - 1], symbols + 2);
    return (pair_seen){.prompt_len = sep - 1,
                       .answer_len = s->count - sep - 1,
                       .prompt = s->input + 1,
                       .answer = s->input + sep + 1,
                       .prompt_position = s->position + 1,
                       .answer_position = s->position + sep + 1,
                       .separator_position = s->position[sep]};
}

/* x slot slot ..: y, then EOS where answers vary, then nothing scored. */
static pair_seen visits_encoder(const task *t, const task_sample *s, int len, int symbols)
{
    int prompt, answer, begin = 0, varies = task_of(t)->answer_varies;
    task_of(t)->sizes(task_options(t), len, &prompt, &answer);
    while (begin < s->count && s->input[begin] != symbols + 1)
        begin++;
    cr_assert_eq(s->count - begin, answer + varies);
    cr_assert_eq(s->answer_begin, -1);
    int end = begin;
    while (end < s->count && s->target[end] != symbols + 2)
        end++;
    cr_assert_eq(end < s->count, varies);
    for (int i = 0; i < s->count; i++) {
        if (i >= begin)
            cr_assert_eq(s->input[i], symbols + 1);
        if (i < begin || i > end)
            cr_assert_eq(s->target[i], TASK_NOT_SCORED);
    }
    return (pair_seen){.prompt_len = begin,
                       .answer_len = end - begin,
                       .prompt = s->input,
                       .answer = s->target + begin,
                       .prompt_position = s->position,
                       .answer_position = s->position + begin};
}

static void visits_visit(visits_room *r, const task_sample *s, int len, pair_visitor *visit)
{
    int symbols = task_symbols(r->task), prompt, answer, proposes = task_of(r->task)->proposes_positions;
    task_of(r->task)->sizes(task_options(r->task), len, &prompt, &answer);
    cr_assert_leq(s->count, task_tokens(r->task, len));
    cr_assert_eq(task_vocab(r->task), symbols + 3);
    for (int t = r->size - VISITS_GUARD; t < r->size; t++)
        cr_assert(r->input[t] == ROOM_POISON && r->target[t] == ROOM_POISON, "written past the end");
    pair_seen p =
        task_regime_of(r->task) == TASK_DECODER ? visits_decoder(s, symbols) : visits_encoder(r->task, s, len, symbols);
    cr_assert(p.prompt_len >= 1 && p.prompt_len <= prompt && p.answer_len <= answer);
    cr_assert_geq(p.answer_len, 1 - task_of(r->task)->answer_varies);
    visits_check_symbols(p.prompt, p.prompt_len, symbols);
    visits_check_symbols(p.answer, p.answer_len, symbols);
    for (int t = 0; t < s->count; t++)
        cr_assert(s->position[t] >= 0 && s->position[t] <= task_farthest(r->task, len));
    if (!proposes)
        p.prompt_position = p.answer_position = NULL;
    p.task = r->task;
    p.len = len;
    visit(&p);
}

static void visits_draw(visits_room *r, task_stream stream, int len, uint32_t item, pair_visitor *visit)
{
    task_sample first = visits_poison(r);
    task_draw(r->task, stream, 7, (uint64_t)len, item, len, &first, NULL);
    int count = first.count;
    memcpy(r->again, r->input, (size_t)count * sizeof(int));
    task_sample second = {.input = r->input, .target = r->target};
    task_draw(r->task, stream, 7, (uint64_t)len, item, len, &second, NULL);
    cr_assert_eq(second.count, count);
    cr_assert_arr_eq(r->again, r->input, (size_t)count * sizeof(int), "the same draw, without positions");
    visits_visit(r, &first, len, visit);
}

void visits_each(const char *text, int min_len, int max_len, int step, uint32_t items, pair_visitor *visit)
{
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        visits_room r = visits_open(text, (task_regime)regime, min_len, max_len);
        for (int len = min_len; len <= max_len; len += step)
            for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
                for (uint32_t item = 0; item < items; item++)
                    visits_draw(&r, (task_stream)stream, len, item, visit);
        visits_close(&r);
    }
}

void visits_sample(const char *text, int len, uint32_t items, pair_visitor *visit)
{
    visits_room r = visits_open(text, TASK_DECODER, len, len);
    for (uint32_t item = 0; item < items; item++) {
        rng rest = rng_stream(99, RNG_TEST, (uint64_t)len, item), kind = rng_second(&rest);
        task_sample s = visits_poison(&r);
        memset(r.position, 0, (size_t)r.size * sizeof *r.position);
        task_sample_any(r.task, &kind, &rest, len, &s);
        visits_visit(&r, &s, len, visit);
    }
    visits_close(&r);
}

void visits_refused(const char *text, int min_len, int max_len, const char *part)
{
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        error e = ERROR_INIT;
        cr_assert_eq(task_check(text, (task_regime)regime, min_len, max_len, &e), -1, "%s", text);
        cr_expect_eq(e.kind, ERROR_USAGE);
        cr_expect_not_null(strstr(e.message, part), "%s: '%s' lacks '%s'", text, e.message, part);
    }
}

void visits_expect_shares(const char *what, const long *count, const double *share, int cells)
{
    double *expected = malloc((size_t)cells * sizeof *expected), all = 0.0;
    for (int i = 0; i < cells; i++)
        all += (double)count[i];
    for (int i = 0; i < cells; i++)
        expected[i] = all * share[i];
    double statistic = chi_square(count, expected, cells);
    cr_expect_leq(statistic, chi_limit(cells - 1), "%s: chi-square %g over %d cells", what, statistic, cells);
    free(expected);
}

void visits_expect_uniform(const char *what, const long *count, int cells)
{
    double *share = malloc((size_t)cells * sizeof *share);
    for (int i = 0; i < cells; i++)
        share[i] = 1.0 / cells;
    visits_expect_shares(what, count, share, cells);
    free(share);
}

#include "pair_frame.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_inside.h"

/* ------------------------------------------------------------------------------------------------ frames */

static pair_seen pair_decoder(const task_sample *s, int symbols)
{
    int sep = 1;
    while (sep < s->count && s->input[sep] != symbols + 1)
        sep++;
    cr_assert_lt(sep, s->count, "a separator");
    cr_assert_eq(s->input[0], symbols, "BOS");
    cr_assert_eq(s->answer_begin, sep);
    for (int t = 0; t < sep; t++)
        cr_assert_eq(s->target[t], TASK_NOT_SCORED);
    for (int t = sep; t < s->count - 1; t++)
        cr_assert_eq(s->target[t], s->input[t + 1]);
    cr_assert_eq(s->target[s->count - 1], symbols + 2, "EOS");
    return (pair_seen){.prompt_len = sep - 1,
                       .answer_len = s->count - sep - 1,
                       .prompt = s->input + 1,
                       .answer = s->input + sep + 1,
                       .prompt_position = s->position + 1,
                       .answer_position = s->position + sep + 1,
                       .separator_position = s->position[sep]};
}

/* slots: of an answer, and of EOS where answers vary. */
static pair_seen pair_encoder(const task_sample *s, int symbols, int slots, int varies)
{
    int begin = 0;
    while (begin < s->count && s->input[begin] != symbols + 1)
        begin++;
    cr_assert_eq(s->count - begin, slots);
    cr_assert_eq(s->answer_begin, -1);
    int end = begin;
    while (end < s->count && s->target[end] != symbols + 2)
        end++;
    cr_assert_eq(end < s->count, varies, "an end exactly where answers differ in length");
    for (int t = 0; t < s->count; t++) {
        if (t >= begin)
            cr_assert_eq(s->input[t], symbols + 1);
        if (t < begin || t > end)
            cr_assert_eq(s->target[t], TASK_NOT_SCORED);
    }
    return (pair_seen){.prompt_len = begin,
                       .answer_len = end - begin,
                       .prompt = s->input,
                       .answer = s->target + begin,
                       .prompt_position = s->position,
                       .answer_position = s->position + begin};
}

static void pair_check_symbols(const int *symbol, int count, int symbols)
{
    for (int i = 0; i < count; i++)
        cr_assert(symbol[i] >= 0 && symbol[i] < symbols, "symbol %d of %d at %d", symbol[i], symbols, i);
}

pair_seen pair_take_apart(const task_room *r)
{
    const task_sample *s = &r->sample;
    int symbols = task_symbols(r->task), varies = task_of(r->task)->answer_varies != 0, prompt, answer;
    task_of(r->task)->sizes(task_options(r->task), r->len, &prompt, &answer);
    cr_assert_leq(s->count, task_tokens(r->task, r->len));
    cr_assert_eq(task_vocab(r->task), symbols + 3);
    for (int t = task_tokens(r->task, r->len); t < r->size; t++)
        cr_assert(s->input[t] == ROOM_POISON && s->target[t] == ROOM_POISON && s->position[t] == ROOM_POISON,
                  "written past the end");
    pair_seen p = task_regime_of(r->task) == TASK_DECODER ? pair_decoder(s, symbols)
                                                          : pair_encoder(s, symbols, answer + varies, varies);
    cr_assert(p.prompt_len >= 1 && p.prompt_len <= prompt, "length %d: a prompt of %d", r->len, p.prompt_len);
    cr_assert(p.answer_len >= 1 - varies && p.answer_len <= answer, "length %d: an answer of %d", r->len, p.answer_len);
    pair_check_symbols(p.prompt, p.prompt_len, symbols);
    pair_check_symbols(p.answer, p.answer_len, symbols);
    if (!task_of(r->task)->proposes_positions)
        p.prompt_position = p.answer_position = NULL;
    p.task = r->task;
    p.len = r->len;
    return p;
}

/* ------------------------------------------------------------------------------------------------ drawing */

/* The same task twice: what is drawn from the one must be drawn from the other, which may be open for more lengths. */
typedef struct pair_rooms {
    task_room first, again;
} pair_rooms;

static pair_rooms pair_open(task_regime regime, const char *text, int min_len, int max_len, int again_len)
{
    return (pair_rooms){room_open_in(regime, text, min_len, max_len), room_open_in(regime, text, min_len, again_len)};
}

static void pair_close(pair_rooms *r)
{
    room_close(&r->first);
    room_close(&r->again);
}

static pair_seen pair_draw(pair_rooms *r, task_stream stream, int len, uint32_t item)
{
    const task_sample *s = &r->first.sample;
    room_draw(&r->first, stream, 5, (uint64_t)len, item, len);
    pair_seen p = pair_take_apart(&r->first);
    for (int t = 0; t < s->count; t++)
        if (p.prompt_position)
            cr_assert(s->position[t] >= 0 && s->position[t] <= task_farthest(p.task, len));
        else
            cr_assert_eq(s->position[t], t);
    task_sample second = {.input = r->again.sample.input, .target = r->again.sample.target};
    task_draw(r->again.task, stream, 5, (uint64_t)len, item, len, &second, NULL);
    cr_assert_eq(second.count, s->count);
    cr_assert_arr_eq(second.input, s->input, (size_t)s->count * sizeof(int), "the same draw, without positions");
    cr_assert_arr_eq(second.target, s->target, (size_t)s->count * sizeof(int), "the same draw, without positions");
    return p;
}

void pairs_visit(const char *text, int min_len, int max_len, int step, uint32_t items, pair_visitor *visit)
{
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        pair_rooms r = pair_open((task_regime)regime, text, min_len, max_len, max_len);
        for (int len = min_len; len <= max_len; len += step)
            for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
                for (uint32_t item = 0; item < items; item++) {
                    pair_seen p = pair_draw(&r, (task_stream)stream, len, item);
                    visit(&p);
                }
        pair_close(&r);
    }
}

void pairs_sample(const char *text, int len, uint32_t items, pair_visitor *visit)
{
    task_room r = room_open(text, len, len);
    for (uint32_t item = 0; item < items; item++) {
        room_sample(&r, item, len);
        pair_seen p = pair_take_apart(&r);
        visit(&p);
    }
    room_close(&r);
}

/* ------------------------------------------------------------------------------------------------ solving */

static void pair_solve_length(pair_rooms *r, int len, uint32_t items, pair_solver *solve)
{
    static int answer[PAIR_ANSWER_MAX];
    for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
        for (uint32_t item = 0; item < items; item++) {
            pair_seen p = pair_draw(r, (task_stream)stream, len, item);
            int n = solve(p.prompt, p.prompt_len, len, answer);
            cr_assert_eq(n, p.answer_len, "length %d: %d symbols, solved %d", len, p.answer_len, n);
            for (int i = 0; i < n; i++)
                cr_assert_eq(p.answer[i], answer[i], "length %d: symbol %d is %d, solved %d", len, i, p.answer[i],
                             answer[i]);
        }
}

void pairs_solve(const char *text, int min_len, int max_len, int step, pair_solver *solve)
{
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        pair_rooms r = pair_open((task_regime)regime, text, min_len, max_len, max_len);
        for (int len = min_len; len <= max_len; len += step)
            pair_solve_length(&r, len, 3, solve);
        pair_close(&r);
    }
}

void pairs_check(const char *text, int symbols, int max_len, pair_solver *solve)
{
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        pair_rooms r = pair_open((task_regime)regime, text, 1, max_len, 2 * max_len);
        cr_assert_eq(task_symbols(r.first.task), symbols, "%s: %d symbols", text, task_symbols(r.first.task));
        for (int len = 1; len < max_len; len += len < 24 ? 1 : 1 + len / 3)
            pair_solve_length(&r, len, 4, solve);
        pair_solve_length(&r, max_len, 4, solve);
        pair_close(&r);
    }
}

void pairs_check_positions(const char *text, int len, const double *position, int count, double farthest)
{
    task_room r = room_open(text, 1, len);
    cr_expect_eq(task_farthest(r.task, len), farthest, "%s: %g", text, task_farthest(r.task, len));
    for (uint32_t item = 0; item < 8; item++) {
        room_draw(&r, TASK_TRAIN, 1, 1, item, len);
        cr_assert_eq(r.sample.count, count, "%s", text);
        for (int t = 0; t < count; t++)
            cr_assert_eq(r.sample.position[t], position[t], "%s: token %d stands at %g", text, t, r.sample.position[t]);
    }
    room_close(&r);
}

/* ------------------------------------------------------------------------------------------------ refusals */

void pairs_refused(const char *text, int min_len, int max_len, const char *parts)
{
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        error e = ERROR_INIT;
        char copy[512], *rest = copy, *part;
        cr_assert_eq(task_check(text, (task_regime)regime, min_len, max_len, &e), -1, "%s is taken", text);
        cr_expect_eq(e.kind, ERROR_USAGE);
        snprintf(copy, sizeof copy, "%s", parts);
        while ((part = strsep(&rest, "|")))
            cr_expect_not_null(strstr(e.message, part), "%s: '%s' lacks '%s'", text, e.message, part);
    }
}

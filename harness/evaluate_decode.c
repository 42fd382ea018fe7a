/* evaluate_decode.c - answers that a network writes by itself, token by token, each on top of what it wrote before. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "evaluate.h"

enum { DECODE_ENDED = -1 }; /* no token: equals no target */

void evaluate_decode(const model *m, workspace *work, int *tokens, const double *given, int prompt_len, int count,
                     uint64_t seed)
{
    assert(count <= work->max_len);
    int target[count], start[2] = {0, 0};
    for (int t = 0; t < count; t++)
        target[t] = TASK_NOT_SCORED;
    int guess[count];
    for (int len = prompt_len; len < count; len++) {
        start[1] = len;
        target[len - 1] = 0; /* any token: only the guess is wanted */
        batch b = {.sequences = 1,
                   .start = start,
                   .input = tokens,
                   .target = target,
                   .given = given,
                   .total_len = count,
                   .seed = seed};
        model_forward(m, work, &b);
        model_loss(m, work, &b, 0, NULL, guess);
        target[len - 1] = TASK_NOT_SCORED;
        tokens[len] = guess[len - 1];
    }
}

int decode_room_create(decode_room *r, arena *a, int max_sequences, int max_tokens, int longest, error *e)
{
    *r = (decode_room){.start = ARENA_NEW(a, int, max_sequences + 1),
                       .input = ARENA_NEW(a, int, max_tokens),
                       .target = ARENA_NEW(a, int, max_tokens),
                       .guess = ARENA_NEW(a, int, max_tokens),
                       .written = ARENA_NEW(a, int, max_tokens),
                       .said = ARENA_NEW(a, int, max_tokens),
                       .given = ARENA_NEW(a, double, max_tokens),
                       .no_loss = ARENA_NEW(a, double, longest)};
    r->sums.position_loss = ARENA_NEW(a, double, longest);
    r->sums.position_n = ARENA_NEW(a, long, longest);
    if (!r->start || !r->input || !r->target || !r->guess || !r->written || !r->said || !r->given || !r->no_loss ||
        !r->sums.position_loss || !r->sums.position_n)
        return error_set(e, ERROR_ENVIRONMENT, "no memory to decode %d tokens", longest);
    return 0;
}

/* Sequences first .. end-1 of `forced` are equally long and begin their answers at the same index, so that they are
 * decoded side by side. */
static int decode_group_end(const batch *forced, const int *answer_begin, int first)
{
    int end = first + 1, len = forced->start[first + 1] - forced->start[first];
    while (end < forced->sequences && answer_begin[end] == answer_begin[first] &&
           forced->start[end + 1] - forced->start[end] == len)
        end++;
    return end;
}

/* The first `len` tokens of each sequence of the group, as far as they are written, as a batch. Each keeps its number
 * in the whole batch, and the length that it will have: so it stands where it stood when it was teacher-forced. */
static batch decode_prefix(const batch *forced, int first, int end, int len, decode_room *r)
{
    for (int n = 0; n < end - first; n++) {
        int from = forced->start[first + n], to = r->start[n];
        r->start[n + 1] = to + len;
        memcpy(r->input + to, r->written + from, sizeof *r->input * (size_t)len);
        if (forced->given)
            memcpy(r->given + to, forced->given + from, sizeof *r->given * (size_t)len);
        for (int t = 0; t < len; t++)
            r->target[to + t] = TASK_NOT_SCORED;
        r->target[to + len - 1] = 0; /* any token: only the guess is wanted */
    }
    batch prefix = *forced;
    prefix.sequences = end - first;
    prefix.first_sequence = forced->first_sequence + first;
    prefix.start = r->start;
    prefix.input = r->input;
    prefix.target = r->target;
    prefix.given = forced->given ? r->given : NULL;
    prefix.total_len = forced->start[first + 1] - forced->start[first];
    return prefix;
}

/* Takes the token behind the first `len` ones of sequence n of the group; `begun`: it is not the answer's first.
 * Returns 1 while the answer has not ended. */
static int decode_take(const batch *forced, int first, int n, int len, int begun, decode_room *r)
{
    int at = forced->start[first + n], behind = forced->start[first + n + 1];
    int end_token = forced->target[behind - 1], token = r->guess[r->start[n] + len - 1];
    int ended = begun && (r->said[at + len - 2] == DECODE_ENDED || r->said[at + len - 2] == end_token);
    r->said[at + len - 1] = ended ? DECODE_ENDED : token;
    if (at + len < behind)
        r->written[at + len] = token;
    return !ended && token != end_token;
}

static void decode_group(const model *m, workspace *work, const batch *forced, int first, int end, int prompt_len,
                         decode_room *r)
{
    int total = forced->start[first + 1] - forced->start[first], going = 1;
    for (int len = prompt_len; len <= total && going; len++) {
        batch prefix = decode_prefix(forced, first, end, len, r);
        model_forward(m, work, &prefix);
        model_loss(m, work, &prefix, 0, NULL, r->guess);
        going = 0;
        for (int n = 0; n < end - first; n++)
            going |= decode_take(forced, first, n, len, len > prompt_len, r);
    }
}

void evaluate_free_run(const model *m, workspace *work, const batch *forced, const int *answer_begin, decode_room *r)
{
    int tokens = forced->start[forced->sequences];
    memcpy(r->written, forced->input, sizeof *r->written * (size_t)tokens);
    for (int t = 0; t < tokens; t++)
        r->said[t] = DECODE_ENDED;
    for (int first = 0, end; first < forced->sequences; first = end) {
        end = decode_group_end(forced, answer_begin, first);
        decode_group(m, work, forced, first, end, answer_begin[first] + 1, r);
    }
    for (int n = 0; n < forced->sequences; n++) {
        int begin = forced->start[n];
        evaluate_sequence(forced->target + begin, r->said + begin, r->no_loss, forced->start[n + 1] - begin, &r->sums);
    }
}

int evaluate_free_values(length_bin bin, const decode_room *r, point_standing standing, run_result *out, error *e)
{
    const answer_sums *s = &r->sums;
    const struct {
        const char *metric;
        long right, n;
    } rows[] = {{"exact_match", s->exact, s->sequences}, {"token_accuracy", s->right, s->tokens}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run_value value = {.bin = bin, .metric = rows[i].metric, .mode = "free_running", .status = "ok"};
        value.n = standing.undefined ? 0 : rows[i].n;
        value.value = value.n ? (double)rows[i].right / (double)value.n : NAN;
        if (standing.undefined)
            value.status = "undefined";
        else
            snprintf(value.flag, sizeof value.flag, "%s", standing.flag);
        if (evaluate_append(out, value, e) < 0)
            return -1;
    }
    return 0;
}

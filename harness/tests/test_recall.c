/* Recall: passkey, induction, variable tracking. Solvers know the formats only. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pair_chance.h"

/* Sizes that the format depends on, for the solvers; one test is one process. */
static const int *recall_sizes;

static void recall_check(const char *text, int min_len, int max_len, int step, const int *sizes, pair_solver *solve)
{
    recall_sizes = sizes;
    pairs_solve(text, min_len, max_len, step, solve);
}

/* ------------------------------------------------------------------------------------------------ filler */

/* Token number i of the sentences: words are numbered as they first occur. */
static int filler_spelled(int i)
{
    static const char *const text[] = {"The",  "grass", "is",  "green", ".",   "The",    "sky",   "is",
                                       "blue", ".",     "The", "sun",   "is",  "yellow", ".",     "Here",
                                       "we",   "go",    ".",   "There", "and", "back",   "again", "."};
    const char *word = text[i % (int)(sizeof text / sizeof *text)];
    int number = 0;
    for (int w = 0; strcmp(text[w], word) != 0; w++) {
        int first = 0;
        while (strcmp(text[first], text[w]) != 0)
            first++;
        number += first == w;
    }
    return number;
}

Test(recall, filler_is_the_sentence)
{
    for (int i = 0; i < 100; i++)
        cr_assert_eq(task_filler(i), filler_spelled(i), "token %d", i);
    cr_assert_eq(filler_spelled(22), TASK_FILLERS - 1);
}

/* ------------------------------------------------------------------------------------------------ passkey */

/* Takes the digits that are left when everything else is struck out; recall_sizes[0] of them, behind the only mark. */
static int solve_passkey(const int *prompt, int n, int len, int *answer)
{
    (void)len;
    int marks = 0, found = 0;
    for (int i = 0; i < n; i++) {
        marks += prompt[i] == 10;
        if (prompt[i] < 10) {
            cr_assert(marks == 1 && (prompt[i - 1] == 10 || prompt[i - 1] < 10));
            answer[found++] = prompt[i];
        }
    }
    cr_assert_eq(marks, 1);
    cr_assert_eq(found, recall_sizes[0]);
    return found;
}

Test(recall, passkey)
{
    recall_check("passkey", 6, 520, 7, (int[]){5}, solve_passkey);
    recall_check("passkey(filler=random)", 6, 60, 1, (int[]){5}, solve_passkey);
    recall_check("passkey(digits=1,depth=0)", 2, 40, 1, (int[]){1}, solve_passkey);
    recall_check("passkey(digits=40,depth=1)", 41, 120, 1, (int[]){40}, solve_passkey);
    pairs_refused("passkey", 5, 20, "length 5|digits=5|6 tokens");
    pairs_refused("passkey(depth=1.1)", 9, 20, "depth=1.1");
}

/* A share of the filler, rounded to whole tokens, stands before the mark; both stretches begin with the sentence. */
Test(recall, passkey_depth_and_filler)
{
    static const double depths[] = {0, 0.25, 0.5, 0.75, 1};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        char text[64];
        snprintf(text, sizeof text, "passkey(depth=%g)", depths[d]);
        task_room r = room_open(text, 6, 200);
        for (int len = 6; len <= 200; len++) {
            room_draw(&r, TASK_TRAIN, 1, 0, (uint32_t)len, len);
            pair_seen v = pair_take_apart(&r);
            int before = 0;
            while (v.prompt[before] != 10)
                before++;
            cr_assert_eq(before, (int)floor(depths[d] * (len - 6) + 0.5), "length %d, depth %g", len, depths[d]);
            for (int i = 0; i < before; i++)
                cr_assert_eq(v.prompt[i], 11 + filler_spelled(i));
            for (int i = before + 6; i < len; i++)
                cr_assert_eq(v.prompt[i], 11 + filler_spelled(i - before - 6));
        }
        room_close(&r);
    }
}

Test(recall, passkey_draws)
{
    enum { LEN = 16, PLACES = LEN - 2 };
    task_room r = room_open("passkey(digits=2,filler=random)", LEN, LEN);
    long place[LEN] = {0}, digit[10] = {0}, filler[TASK_FILLERS] = {0};
    for (uint32_t item = 0; item < 20000; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, LEN);
        pair_seen v = pair_take_apart(&r);
        for (int i = 0; i < LEN; i++)
            if (v.prompt[i] > 10)
                filler[v.prompt[i] - 11]++;
            else if (v.prompt[i] == 10)
                place[i]++;
            else
                digit[v.prompt[i]]++;
    }
    chi_expect_uniform("places of the key", place, PLACES);
    chi_expect_uniform("digits", digit, 10);
    chi_expect_uniform("filler", filler, TASK_FILLERS);
    room_close(&r);
    pairs_check_estimate("passkey(digits=1)", 20, 0.025);
    pairs_check_estimate("passkey(digits=2)", 20, 0.025);
}

/* ------------------------------------------------------------------------------------------------ induction */

/* Notes for each symbol what came after it last, from left to right; the question is the last one. recall_sizes[0]:
 * symbols. */
static int solve_induction(const int *prompt, int n, int len, int *answer)
{
    (void)len;
    int *after = malloc((size_t)recall_sizes[0] * sizeof *after), times = 0;
    memset(after, -1, (size_t)recall_sizes[0] * sizeof *after);
    for (int i = 0; i + 1 < n; i++) {
        after[prompt[i]] = prompt[i + 1];
        times += prompt[i] == prompt[n - 1];
    }
    cr_assert_eq(times, 1, "the last symbol occurs once before");
    answer[0] = after[prompt[n - 1]];
    cr_assert_neq(answer[0], prompt[n - 1]);
    free(after);
    return 1;
}

Test(recall, induction)
{
    recall_check("induction", 3, 520, 6, (int[]){64}, solve_induction);
    recall_check("induction(symbols=2)", 3, 60, 1, (int[]){2}, solve_induction);
    recall_check("induction(symbols=5,distance=2)", 3, 40, 1, (int[]){5}, solve_induction);
    recall_check("induction(symbols=500,depth=0.5)", 3, 40, 1, (int[]){500}, solve_induction);
    pairs_refused("induction", 2, 9, "length 2|take 3");
    pairs_refused("induction(distance=8)", 8, 20, "length 8|take 9");
    pairs_refused("induction(distance=8,depth=1)", 9, 20, "distance|depth|only one");
    pairs_refused("induction(distance=1)", 9, 20, "distance=1");
}

/* Index of the earlier occurrence. */
static int induction_found(const pair_seen *v)
{
    int p = 0;
    while (v->prompt[p] != v->prompt[v->prompt_len - 1])
        p++;
    return p;
}

Test(recall, induction_places)
{
    task_room near = room_open("induction(distance=3)", 4, 90), share = room_open("induction(depth=0.25)", 3, 90);
    for (int len = 4; len <= 90; len++) {
        room_draw(&near, TASK_TRAIN, 1, 0, 0, len);
        pair_seen v = pair_take_apart(&near);
        cr_assert_eq(len - 1 - induction_found(&v), 3);
        room_draw(&share, TASK_TRAIN, 1, 0, 0, len);
        v = pair_take_apart(&share);
        cr_assert_eq(induction_found(&v), (int)floor(0.25 * (len - 3) + 0.5));
    }
    room_close(&near);
    room_close(&share);
    enum { LEN = 12 };
    task_room r = room_open("induction(symbols=30)", LEN, LEN);
    long count[LEN - 2] = {0};
    for (uint32_t item = 0; item < 20000; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, LEN);
        pair_seen v = pair_take_apart(&r);
        count[induction_found(&v)]++;
    }
    chi_expect_uniform("places", count, LEN - 2);
    room_close(&r);
}

/* Three symbols, length 4: the last one, one of two places for its equal, two others that differ from it: 3*2*2*2
 * strings. */
Test(recall, induction_strings)
{
    task_room r = room_open("induction(symbols=3)", 4, 4);
    long count[81] = {0}, cell[81];
    int cells = 0;
    for (uint32_t item = 0; item < 20000; item++) {
        room_sample(&r, item, 4);
        int code = 0;
        for (int i = 1; i <= 4; i++)
            code = 3 * code + r.sample.input[i];
        count[code]++;
    }
    for (int code = 0; code < 81; code++)
        if (count[code] > 0)
            cell[cells++] = count[code];
    cr_assert_eq(cells, 24);
    chi_expect_uniform("strings", cell, cells);
    room_close(&r);
    pairs_check_estimate("induction(symbols=4)", 3, 0.03);
    pairs_check_estimate("induction(symbols=4,distance=5)", 30, 0.03);
}

/* ------------------------------------------------------------------------------------------------ variable tracking */

/* recall_sizes: variables, values, chains, hops. Finds assignments by their '=', then passes over them again and again,
 * in whatever order, until no variable gets a value any more. */
static int solve_tracking(const int *prompt, int n, int len, int *answer)
{
    (void)len;
    int variables = recall_sizes[0], values = recall_sizes[1], equals = variables + values, found = 0, assignments = 0;
    int *holds = malloc((size_t)variables * sizeof *holds);
    memset(holds, -1, (size_t)variables * sizeof *holds);
    for (int changed = 1; changed;) {
        changed = assignments = 0;
        for (int t = n - 1; t > 0; t--) {
            if (prompt[t] != equals)
                continue;
            int left = prompt[t - 1], right = prompt[t + 1], value = right >= variables ? right : holds[right];
            assignments++;
            changed |= holds[left] != value;
            holds[left] = value;
        }
    }
    cr_assert_eq(assignments, recall_sizes[2] * (recall_sizes[3] + 1));
    cr_assert_eq(prompt[n - 2], equals + 1);
    int asked = prompt[n - 1];
    if (asked < variables) {
        answer[found++] = holds[asked];
    } else {
        for (int t = 0; t < n; t++)
            if (prompt[t] == equals && holds[prompt[t - 1]] == asked)
                answer[found++] = prompt[t - 1];
        cr_assert_eq(found, recall_sizes[3] + 1);
    }
    free(holds);
    return found;
}

Test(recall, variable_tracking)
{
    recall_check("variable_tracking", 17, 520, 9, (int[]){64, 32, 1, 4}, solve_tracking);
    recall_check("variable_tracking(ask=value,filler=random)", 17, 60, 1, (int[]){64, 32, 1, 4}, solve_tracking);
    recall_check("variable_tracking(chains=3,hops=2)", 29, 90, 1, (int[]){64, 32, 3, 2}, solve_tracking);
    recall_check("variable_tracking(chains=4,hops=3,ask=value,variables=16,values=4)", 50, 90, 1, (int[]){16, 4, 4, 3},
                 solve_tracking);
    recall_check("variable_tracking(hops=0,chains=2)", 8, 30, 1, (int[]){64, 32, 2, 0}, solve_tracking);
    pairs_refused("variable_tracking", 16, 40, "length 16|5 statements|17 tokens");
    pairs_refused("variable_tracking(chains=2,hops=4,variables=9)", 40, 40, "10 different variables|variables=9");
    pairs_refused("variable_tracking(chains=5,values=4,hops=1)", 40, 40, "chains=5|values=4");
}

/* The question with ask=value is about the last variable of a chain: nobody takes its value from it. */
Test(recall, variable_tracking_asks_for_the_end)
{
    task_room r = room_open("variable_tracking(chains=2,hops=3,ask=value)", 40, 40);
    for (uint32_t item = 0; item < 200; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, 40);
        pair_seen v = pair_take_apart(&r);
        int asked = v.prompt[39];
        for (int t = 0; t < 38; t++)
            if (v.prompt[t] == 64 + 32)
                cr_assert_neq(v.prompt[t + 1], asked);
    }
    room_close(&r);
}

/* Every order of units is equally likely: 2 statements among 3 tokens of filler; two chains of 2 statements each. */
Test(recall, variable_tracking_orders)
{
    task_room r = room_open("variable_tracking(hops=1)", 11, 11);
    long place[32] = {0}, order[16] = {0}, cell[32];
    int cells = 0;
    for (uint32_t item = 0; item < 10000; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, 11);
        pair_seen v = pair_take_apart(&r);
        int code = 0, fillers = 0;
        for (int t = 0; t < 9;) {
            int statement = v.prompt[t] < 64;
            code = 2 * code + statement;
            if (!statement)
                cr_assert_eq(v.prompt[t], 64 + 32 + 2 + filler_spelled(fillers++));
            t += statement ? 3 : 1;
        }
        place[code]++;
    }
    room_close(&r);
    for (int code = 0; code < 32; code++)
        if (place[code] > 0)
            cell[cells++] = place[code];
    cr_assert_eq(cells, 10);
    chi_expect_uniform("places of statements", cell, cells);
    r = room_open("variable_tracking(hops=1,chains=2)", 14, 14);
    for (uint32_t item = 0; item < 10000; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, 14);
        pair_seen v = pair_take_apart(&r);
        int code = 0;
        for (int t = 0; t < 12; t += 3)
            code = 2 * code + (v.prompt[t] == v.answer[0] || v.prompt[t] == v.answer[1]);
        order[code]++;
    }
    room_close(&r);
    cells = 0;
    for (int code = 0; code < 16; code++)
        if (order[code] > 0)
            cell[cells++] = order[code];
    cr_assert_eq(cells, 6);
    chi_expect_uniform("orders of chains", cell, cells);
}

Test(recall, variable_tracking_chance)
{
    pairs_check_estimate("variable_tracking(variables=6,hops=1)", 12, 0.03);
    pairs_check_estimate("variable_tracking(values=5,hops=1,chains=2,ask=value)", 20, 0.03);
}

/* LEGO chains. The solver knows the format only. */
#include <criterion/criterion.h>

#include <string.h>

#include "pair_chance.h"

/* What the format depends on, for the solver; one test is one process. */
static int lego_variables;

enum { LEGO_NAMES = 4096 };

/* Clauses are read in the order in which they stand and as often as it takes: a chain
 * that stands backwards takes as many passes as it has links. */
static int solve_lego(const int *prompt, int n, int len, int *answer)
{
    (void)len;
    static int value[LEGO_NAMES];
    int variables = lego_variables, plus = variables, minus = plus + 1, one = plus + 2;
    memset(value, 0, sizeof value);
    cr_assert_eq((n - 2) % 5, 0);
    for (int known = 0, before = -1; known != before;) {
        before = known;
        for (int t = 0; t < n - 2; t += 5) {
            const int *clause = prompt + t;
            cr_assert(clause[0] < variables && clause[1] == plus + 3 && clause[4] == plus + 4);
            cr_assert(clause[2] == plus || clause[2] == minus);
            int from = clause[3] == one ? 1 : value[clause[3]];
            if (value[clause[0]] == 0 && from != 0) {
                value[clause[0]] = clause[2] == plus ? from : -from;
                known++;
            }
        }
        cr_assert_leq(known, (n - 2) / 5);
    }
    cr_assert_eq(prompt[n - 2], plus + 5);
    cr_assert_neq(value[prompt[n - 1]], 0, "who is asked for has a value");
    answer[0] = value[prompt[n - 1]] > 0 ? plus : minus;
    return 1;
}

static void lego_check(const char *text, int min_len, int max_len, int step, int variables)
{
    lego_variables = variables;
    pairs_solve(text, min_len, max_len, step, solve_lego);
}

Test(composition, lego)
{
    lego_check("lego", 1, 26, 1, 26);
    lego_check("lego(variables=520)", 1, 520, 29, 520);
    lego_check("lego(query=any,shuffle=false)", 1, 26, 1, 26);
    lego_check("lego(query=last)", 1, 26, 1, 26);
    pairs_refused("lego", 1, 27, "length 27|variables=26");
}

/* Links from the one that is given to the one that is asked for. */
static int lego_links(const pair_seen *v, int variables)
{
    int at = v->prompt[v->prompt_len - 1], links = 0;
    for (;;) {
        int t = 0;
        while (v->prompt[t] != at)
            t += 5;
        if (v->prompt[t + 3] == variables + 2)
            return links;
        at = v->prompt[t + 3];
        links++;
    }
}

static void lego_expect_asked(const char *text, int len, int least)
{
    task_room r = room_open(text, len, len);
    long count[32] = {0};
    for (uint32_t item = 0; item < 4000; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, len);
        pair_seen v = pair_take_apart(&r);
        count[lego_links(&v, 26)]++;
    }
    for (int links = 0; links < least; links++)
        cr_expect_eq(count[links], 0, "%s", text);
    chi_expect_uniform(text, count + least, len - least);
    room_close(&r);
}

/* Behind the middle: variables 3 and 4 of 4, 4 and 5 of 5, the third of 3, the second of 2. */
Test(composition, lego_asks_behind_the_middle)
{
    lego_expect_asked("lego", 1, 0);
    lego_expect_asked("lego", 2, 1);
    lego_expect_asked("lego", 3, 2);
    lego_expect_asked("lego", 4, 2);
    lego_expect_asked("lego", 5, 3);
    lego_expect_asked("lego", 16, 8);
    lego_expect_asked("lego(query=any)", 9, 0);
    lego_expect_asked("lego(query=last)", 9, 8);
}

/* Three clauses stand in each of six orders alike, with each of eight patterns of signs; or in the chain's order. */
Test(composition, lego_orders_and_signs)
{
    task_room r = room_open("lego(query=last)", 3, 3), still = room_open("lego(query=last,shuffle=false)", 3, 3);
    long count[27 * 8] = {0}, cell[48];
    int cells = 0;
    for (uint32_t item = 0; item < 20000; item++) {
        int code = 0, signs = 0;
        room_draw(&r, TASK_TRAIN, 1, 0, item, 3);
        pair_seen v = pair_take_apart(&r);
        for (int t = 0; t < 15; t += 5) {
            int from = v.prompt[t + 3], place = from == 28 ? 0 : v.prompt[t] == v.prompt[16] ? 2 : 1;
            code = 3 * code + place;
            signs |= (v.prompt[t + 2] == 27) << place;
        }
        count[8 * code + signs]++;
        room_draw(&still, TASK_TRAIN, 1, 0, item, 3);
        v = pair_take_apart(&still);
        cr_assert(v.prompt[3] == 28 && v.prompt[8] == v.prompt[0] && v.prompt[13] == v.prompt[5]);
    }
    for (int i = 0; i < 27 * 8; i++)
        if (count[i] > 0)
            cell[cells++] = count[i];
    cr_assert_eq(cells, 48);
    chi_expect_uniform("orders and signs", cell, cells);
    room_close(&r);
    room_close(&still);
    pairs_check_estimate("lego", 1, 0.03);
    pairs_check_estimate("lego", 9, 0.03);
}

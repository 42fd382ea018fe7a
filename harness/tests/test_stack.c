/* Stacks and brackets: final stacks found from the end backwards, completions by striking out what matches. */
#include <string.h>

#include <criterion/criterion.h>

#include "pair_frame.h"

/* Backwards: a POP takes away the next thing that was pushed before it; what nobody takes is on the stack, the top
 * first. A POP of an empty stack finds nothing that is left: what was pushed before it has been taken. */
static void check_stack(const pair_seen *p)
{
    int pops = 0, found = 0, bits = 0;
    cr_assert_eq(p->prompt_len, p->len);
    while (bits < p->len && p->prompt[bits] < 2)
        bits++;
    cr_assert(bits >= 1 && (bits < p->len || p->len == 1), "a stack, then instructions");
    for (int i = p->len - 1; i >= 0; i--) {
        int symbol = p->prompt[i];
        cr_assert_eq(symbol < 2, i < bits);
        if (symbol == 2) {
            pops++;
        } else if (pops > 0) {
            pops--;
        } else {
            cr_assert_lt(found, p->answer_len);
            cr_assert_eq(p->answer[found++], symbol >= 3 ? symbol - 3 : symbol);
        }
    }
    cr_assert_eq(found, p->answer_len);
}

static long stack_counted[4096], empty;

static void count_stack(const pair_seen *p)
{
    int bits = 0;
    while (p->prompt[bits] < 2)
        bits++;
    stack_counted[bits]++;
    empty += p->answer_len == 0;
    for (int i = 0; i < p->len; i++)
        stack_counted[100 + p->prompt[i]]++;
}

Test(stack, manipulation)
{
    pairs_visit("stack_manipulation", 1, 60, 1, 8, check_stack);
    pairs_visit("stack_manipulation", 499, 500, 1, 8, check_stack);
    pairs_sample("stack_manipulation", 12, 8000, count_stack);
    chi_expect_uniform("bits of the first stack", stack_counted + 1, 11);
    chi_expect_uniform("bits", stack_counted + 100, 2);
    chi_expect_uniform("instructions", stack_counted + 102, 3);
}

/* The two examples of the source: 0 1 1 0 PUSH1 POP POP leaves 1 1 0, 1 1 0 POP POP POP nothing. */
static void find_examples(const pair_seen *p)
{
    static const int leaves[] = {0, 1, 1, 0, 4, 2, 2}, empties[] = {1, 1, 0, 2, 2, 2}, answer[] = {1, 1, 0};
    if (p->len == 7 && memcmp(p->prompt, leaves, sizeof leaves) == 0) {
        stack_counted[0]++;
        cr_assert_eq(p->answer_len, 3);
        cr_assert_arr_eq(p->answer, answer, sizeof answer);
    }
    if (p->len == 6 && memcmp(p->prompt, empties, sizeof empties) == 0) {
        stack_counted[1]++;
        cr_assert_eq(p->answer_len, 0);
    }
}

Test(stack, examples_of_the_source)
{
    pairs_sample("stack_manipulation", 7, 20000, find_examples);
    pairs_sample("stack_manipulation", 6, 20000, find_examples);
    cr_expect(stack_counted[0] > 0 && stack_counted[1] > 0);
}

/* An empty stack is answered with the end alone, in either regime. */
Test(stack, empty_stacks)
{
    error e = ERROR_INIT;
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        task *t = task_open("stack_manipulation", (task_regime)regime, 2, 2, &e);
        int input[8], target[8], found = 0;
        double position[8];
        for (uint32_t item = 0; item < 200; item++) {
            task_sample s = {.input = input, .target = target, .position = position};
            task_draw(t, TASK_TRAIN, 1, 1, item, 2, &s, NULL);
            int first = regime == TASK_DECODER ? 1 : 0, slot = first + 2;
            if (input[first + 1] != 2)
                continue;
            found++;
            cr_assert_eq(input[slot], 6, "SEP or a slot");
            cr_assert_eq(target[slot], 7, "EOS");
            cr_assert_eq(s.count, regime == TASK_DECODER ? 4 : 5);
            for (int i = slot + 1; i < s.count; i++)
                cr_assert_eq(target[i], TASK_NOT_SCORED);
        }
        cr_expect_gt(found, 0);
        task_free(t);
    }
}

/* ------------------------------------------------------------------------------------------------ brackets */

static int kinds, deepest; /* one test is one process */

/* Neighbours that match are struck out until none do; what is left is open, and its mates close it backwards. */
static void check_dyck(const pair_seen *p)
{
    int left[512], count = p->len, changed = 1, open = 0;
    cr_assert_eq(p->prompt_len, p->len);
    for (int i = 0; i < p->len; i++) {
        left[i] = p->prompt[i];
        open += left[i] < kinds ? 1 : -1;
        cr_assert(open >= 0 && (deepest == 0 || open <= deepest), "%d open", open);
    }
    while (changed) {
        changed = 0;
        for (int i = 0; i + 1 < count; i++)
            if (left[i] < kinds && left[i + 1] == left[i] + kinds) {
                memmove(left + i, left + i + 2, (size_t)(count - i - 2) * sizeof *left);
                count -= 2;
                changed = 1;
            }
    }
    cr_assert_geq(count, 1, "there is something to close");
    cr_assert_eq(p->answer_len, count);
    for (int i = 0; i < count; i++) {
        cr_assert_lt(left[i], kinds);
        cr_assert_eq(p->answer[count - 1 - i], left[i] + kinds);
    }
}

Test(dyck, completions)
{
    kinds = 2;
    pairs_visit("dyck", 1, 60, 1, 8, check_dyck);
    pairs_visit("dyck", 499, 500, 1, 4, check_dyck);
    deepest = 3;
    pairs_visit("dyck(max_depth=3)", 1, 60, 1, 8, check_dyck);
    deepest = 2;
    pairs_visit("dyck(max_depth=2)", 1, 60, 1, 8, check_dyck);
    kinds = 1;
    pairs_visit("dyck(kinds=1,max_depth=2)", 1, 60, 1, 8, check_dyck);
    kinds = 8;
    deepest = 10;
    pairs_visit("dyck(kinds=8,max_depth=10)", 1, 60, 1, 8, check_dyck);
}

static void count_word(const pair_seen *p)
{
    int code = 0;
    for (int i = 0; i < p->len; i++)
        code = 2 * kinds * code + p->prompt[i];
    stack_counted[code]++;
}

/* The probability of a word under the rule that is documented. */
static double word_chance(const int *word, int len)
{
    int stack[16], open = 0;
    double chance = 1.0;
    for (int i = 0; i < len; i++) {
        int opens = word[i] < kinds, must_open = open == 0 || (open == 1 && i == len - 1);
        int must_close = !must_open && open == deepest;
        if ((must_open && !opens) || (must_close && opens) || (!opens && stack[open - 1] + kinds != word[i]))
            return 0.0;
        if (!must_open && !must_close)
            chance /= 2;
        if (opens) {
            chance /= kinds;
            stack[open++] = word[i];
        } else {
            open--;
        }
    }
    return chance;
}

static void expect_words(const char *text, int len)
{
    double share[4096], all = 0.0;
    int cells = 0, codes = 1;
    for (int i = 0; i < len; i++)
        codes *= 2 * kinds;
    cr_assert_leq(codes, 4096);
    memset(stack_counted, 0, sizeof stack_counted);
    pairs_sample(text, len, 20000, count_word);
    for (int code = 0; code < codes; code++) {
        int word[16], rest = code;
        for (int i = len - 1; i >= 0; i--, rest /= 2 * kinds)
            word[i] = rest % (2 * kinds);
        double chance = word_chance(word, len);
        if (chance == 0.0) {
            cr_assert_eq(stack_counted[code], 0);
            continue;
        }
        share[cells] = chance;
        stack_counted[cells++] = stack_counted[code];
        all += chance;
    }
    cr_expect_float_eq(all, 1.0, 1e-12);
    chi_expect_shares(text, stack_counted, share, cells);
}

Test(dyck, words_are_drawn_as_documented)
{
    kinds = 2;
    deepest = 3;
    expect_words("dyck(max_depth=3)", 6);
    deepest = 6;
    expect_words("dyck", 5);
    kinds = 1;
    deepest = 12;
    expect_words("dyck(kinds=1)", 12);
}

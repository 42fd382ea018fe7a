/* PCFG SET. The solver knows the format only. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pair_chance.h"

/* What the format depends on, for the solver; one test is one process. */
static int pcfg_letters;

enum { PCFG_LETTERS = 4096, PCFG_STRINGS = 2048 };
static const char *const pcfg_names[] = {"copy", "reverse", "shift",   "swap",         "repeat",
                                         "echo", "append",  "prepend", "remove_first", "remove_second"};

/* A string of the machine, and how deep functions were inside one another when it was made. */
typedef struct pcfg_value {
    int count, depth;
    int *letter;
} pcfg_value;

static pcfg_value pcfg_join(pcfg_value a, pcfg_value b)
{
    pcfg_value out = {a.count + b.count, 0, malloc((size_t)(a.count + b.count) * sizeof(int))};
    memcpy(out.letter, a.letter, (size_t)a.count * sizeof(int));
    memcpy(out.letter + a.count, b.letter, (size_t)b.count * sizeof(int));
    return out;
}

static pcfg_value pcfg_call(const char *name, pcfg_value x, pcfg_value y)
{
    const pcfg_value none = {0, 0, x.letter};
    if (strcmp(name, "append") == 0)
        return pcfg_join(x, y);
    if (strcmp(name, "prepend") == 0)
        return pcfg_join(y, x);
    if (strcmp(name, "remove_first") == 0)
        return pcfg_join(none, y);
    if (strcmp(name, "repeat") == 0)
        return pcfg_join(x, x);
    pcfg_value last = {1, 0, x.letter + x.count - 1}, head = {1, 0, x.letter}, tail = {x.count - 1, 0, x.letter + 1};
    if (strcmp(name, "echo") == 0)
        return pcfg_join(x, last);
    if (strcmp(name, "shift") == 0)
        return pcfg_join(tail, head);
    pcfg_value out = pcfg_join(x, none);
    if (strcmp(name, "swap") == 0) {
        out.letter[0] = last.letter[0];
        out.letter[x.count - 1] = head.letter[0];
    }
    for (int i = 0; strcmp(name, "reverse") == 0 && i < x.count; i++)
        out.letter[i] = x.letter[x.count - 1 - i];
    return out;
}

/* What a run of the machine met. */
typedef struct pcfg_trace {
    int functions, depth, longest, strings, shortest_string, longest_string;
} pcfg_trace;

/* A stack machine that reads the expression backwards: letters gather to a string until something else comes; a
 * function takes what it needs from the stack. with: letters of the alphabet. */
static int pcfg_run(const int *prompt, int n, int letters, pcfg_trace *trace, int *answer)
{
    static pcfg_value stack[PCFG_STRINGS];
    int used = 0, begin = n, letter[n];
    memcpy(letter, prompt, sizeof letter);
    *trace = (pcfg_trace){.shortest_string = 99};
    for (int t = n - 1; t >= 0; t--) {
        if (prompt[t] < letters)
            continue;
        if (begin - t - 1 > 0) { /* letters behind this token */
            int count = begin - t - 1;
            stack[used++] = pcfg_join((pcfg_value){count, 0, letter + t + 1}, (pcfg_value){0, 0, letter});
            trace->strings++;
            trace->shortest_string = count < trace->shortest_string ? count : trace->shortest_string;
            trace->longest_string = count > trace->longest_string ? count : trace->longest_string;
        }
        begin = t;
        int function = prompt[t] - letters;
        if (function == 10) /* the comma only parts strings */
            continue;
        cr_assert(function >= 0 && function < 10);
        int arguments = function < 6 ? 1 : 2;
        cr_assert_geq(used, arguments);
        pcfg_value x = stack[used - 1], y = arguments == 2 ? stack[used - 2] : x;
        pcfg_value z = pcfg_call(pcfg_names[function], x, y);
        z.depth = 1 + (y.depth > x.depth ? y.depth : x.depth);
        free(x.letter);
        if (arguments == 2)
            free(y.letter);
        used -= arguments;
        stack[used++] = z;
        trace->functions++;
        trace->longest = z.count > trace->longest ? z.count : trace->longest;
    }
    cr_assert_eq(used, 1, "one string is left");
    memcpy(answer, stack[0].letter, (size_t)stack[0].count * sizeof(int));
    trace->depth = stack[0].depth;
    free(stack[0].letter);
    return stack[0].count;
}

static int solve_pcfg(const int *prompt, int n, int len, int *answer)
{
    (void)len;
    pcfg_trace trace;
    return pcfg_run(prompt, n, pcfg_letters, &trace, answer);
}

static void pcfg_check(const char *text, int min_len, int max_len, int step, int letters)
{
    pcfg_letters = letters;
    pairs_solve(text, min_len, max_len, step, solve_pcfg);
}

Test(composition, pcfg)
{
    pcfg_check("pcfg", 1, 40, 1, 520);
    pcfg_check("pcfg(symbols=26)", 60, 520, 92, 26);
    pcfg_check("pcfg(symbols=26,unary=0)", 1, 25, 1, 26);
    pcfg_check("pcfg(symbols=26,unary=1)", 1, 25, 1, 26);
    pcfg_check("pcfg(symbols=1,limit=5)", 1, 25, 1, 1);
    pcfg_check("pcfg(symbols=26,depth=4,limit=30)", 1, 15, 1, 26);
    pcfg_check("pcfg(symbols=26,depth=32)", 3, 300, 99, 26);
    pairs_refused("pcfg(depth=3)", 1, 8, "length 8|depth=3|7 functions");
    pairs_refused("pcfg(depth=3,unary=1)", 1, 4, "length 4|depth=3|3 functions");
    pairs_refused("pcfg", 1, 1025, "length 1025|1024");
    pairs_refused("pcfg(limit=4)", 1, 4, "limit=4");
}

/* The published examples of each function (per_function_test in i-machine-think/am-i-compositional), letters renamed.
 */
Test(composition, pcfg_functions_are_the_published_ones)
{
    enum { COPY, REVERSE, SHIFT, SWAP, REPEAT, ECHO, APPEND, PREPEND, FIRST, SECOND, COMMA };
    static const struct {
        int prompt[16], answer[16]; /* ended by -1 */
    } examples[] = {
        {{20 + ECHO, 1, 2, 3, -1}, {1, 2, 3, 3, -1}},
        {{20 + SWAP, 1, 2, 3, -1}, {3, 2, 1, -1}},
        {{20 + SHIFT, 1, 2, 3, -1}, {2, 3, 1, -1}},
        {{20 + REPEAT, 1, 2, -1}, {1, 2, 1, 2, -1}},
        {{20 + APPEND, 1, 2, 20 + COMMA, 3, 4, -1}, {1, 2, 3, 4, -1}},
        {{20 + PREPEND, 1, 2, 20 + COMMA, 3, 4, -1}, {3, 4, 1, 2, -1}},
        {{20 + FIRST, 1, 2, 20 + COMMA, 3, 4, 5, -1}, {3, 4, 5, -1}},
        {{20 + SECOND, 1, 2, 20 + COMMA, 3, 4, 5, -1}, {1, 2, -1}},
        {{20 + REVERSE, 20 + COPY, 1, 2, 3, 4, -1}, {4, 3, 2, 1, -1}},
        /* echo append copy Q E S P , shift remove_second K D M W , H Q G J J */
        {{20 + ECHO, 20 + APPEND, 20 + COPY, 1, 2, 20 + COMMA, 20 + SHIFT, 20 + SECOND, 3, 4, 5, 20 + COMMA, 6, 7, -1},
         {1, 2, 4, 5, 3, 3, -1}},
    };
    static const int letters = 20;
    pcfg_letters = letters;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        int n = 0, m = 0, answer[64];
        while (examples[i].prompt[n] >= 0)
            n++;
        while (examples[i].answer[m] >= 0)
            m++;
        cr_assert_eq(solve_pcfg(examples[i].prompt, n, 0, answer), m, "example %zu", i);
        cr_assert_arr_eq(answer, examples[i].answer, (size_t)m * sizeof(int), "example %zu", i);
    }
}

/* Exactly as many functions, strings of 2 to 5 letters, nothing longer than the limit, not deeper than allowed. */
static void pcfg_check_bounds(const char *text, int len, int limit, int depth)
{
    static int answer[PCFG_LETTERS];
    task_room r = room_open(text, len, len);
    int deepest = 0;
    for (uint32_t item = 0; item < 400; item++) {
        pcfg_trace trace;
        room_draw(&r, TASK_TRAIN, 1, 0, item, len);
        pair_seen v = pair_take_apart(&r);
        pcfg_run(v.prompt, v.prompt_len, 26, &trace, answer);
        cr_assert_eq(trace.functions, len);
        cr_assert(trace.shortest_string >= 2 && trace.longest_string <= 5);
        cr_assert_leq(trace.longest, limit);
        cr_assert_leq(trace.depth, depth);
        deepest = trace.depth > deepest ? trace.depth : deepest;
    }
    cr_expect(len > 12 || deepest == (depth < len ? depth : len), "%s: %d deep", text, deepest);
    room_close(&r);
}

Test(composition, pcfg_bounds)
{
    pcfg_check_bounds("pcfg(symbols=26)", 1, 10, 1);
    pcfg_check_bounds("pcfg(symbols=26)", 6, 35, 6);
    pcfg_check_bounds("pcfg(symbols=26,depth=3)", 7, 40, 3);
    pcfg_check_bounds("pcfg(symbols=26,depth=3)", 5, 30, 3);
    pcfg_check_bounds("pcfg(symbols=26,limit=12)", 40, 12, 40);
    pcfg_check_bounds("pcfg(symbols=26,depth=8)", 60, 305, 8);
}

/* The shape of an expression as text: u and b for functions, s for strings. */
static void pcfg_shape(const pair_seen *v, int letters, char *out)
{
    int used = 0, in_string = 0;
    for (int t = 0; t < v->prompt_len; t++) {
        int function = v->prompt[t] - letters;
        if (function < 0 && !in_string)
            out[used++] = 's';
        else if (function >= 0 && function < 10)
            out[used++] = function < 6 ? 'u' : 'b';
        in_string = function < 0;
    }
    out[used] = '\0';
}

/* All shapes of `functions` functions below an argument, each with its probability, by trying every text: a text of u,
 * b and s is an expression when it closes exactly at its end. */
static double pcfg_shape_weight(const char *shape, int functions, double unary, int depth)
{
    int open = 1, count = 0, level[32] = {1},
        deepest = 0; /* level[i]: depth of the i-th place still open, last first */
    double weight = 1;
    for (const char *c = shape; *c; c++) {
        if (open == 0)
            return 0;
        int at = level[--open];
        if (*c == 's') {
            if (c == shape)
                return 0;
            weight *= 0.75;
            continue;
        }
        weight *= (c == shape ? 1 : 0.25) * (*c == 'u' ? unary : 1 - unary);
        count++;
        deepest = at > deepest ? at : deepest;
        level[open++] = at + 1;
        if (*c == 'b')
            level[open++] = at + 1;
    }
    return open == 0 && count == functions && deepest <= depth ? weight : 0;
}

static void pcfg_check_shapes(const char *text, int functions, double unary, int depth, int shapes)
{
    enum { DRAWS = 30000, SHAPES = 256 };
    char name[SHAPES][16];
    double expected[SHAPES], total = 0;
    long count[SHAPES] = {0};
    int cells = 0;
    for (int length = functions + 1; length <= 2 * functions + 1; length++) {
        int texts = (int)lround(pow(3, length));
        for (int code = 0; code < texts; code++) {
            char shape[16] = "";
            for (int i = 0, rest = code; i < length; i++, rest /= 3)
                shape[i] = "ubs"[rest % 3];
            double weight = pcfg_shape_weight(shape, functions, unary, depth);
            if (weight == 0)
                continue;
            strcpy(name[cells], shape);
            total += expected[cells++] = weight;
        }
    }
    cr_assert_eq(cells, shapes, "%d shapes", cells);
    task_room r = room_open(text, functions, functions);
    for (uint32_t item = 0; item < DRAWS; item++) {
        char shape[64];
        int found = 0;
        room_draw(&r, TASK_TRAIN, 1, 0, item, functions);
        pair_seen v = pair_take_apart(&r);
        pcfg_shape(&v, 26, shape);
        while (found < cells && strcmp(name[found], shape) != 0)
            found++;
        cr_assert_lt(found, cells, "%s", shape);
        count[found]++;
    }
    for (int i = 0; i < cells; i++)
        expected[i] *= DRAWS / total;
    double statistic = chi_square(count, expected, cells);
    cr_expect_leq(statistic, chi_limit(cells - 1), "%s: chi-square %g over %d shapes", text, statistic, cells);
    room_close(&r);
}

/* Without a bound on depth there are 2, 6, 22 shapes (the large Schroeder numbers); two levels leave three functions
 * those with b outside and one function in each argument. */
Test(composition, pcfg_shapes)
{
    pcfg_check_shapes("pcfg(symbols=26)", 1, 0.75, 1, 2);
    pcfg_check_shapes("pcfg(symbols=26)", 2, 0.75, 2, 6);
    pcfg_check_shapes("pcfg(symbols=26)", 3, 0.75, 3, 22);
    pcfg_check_shapes("pcfg(symbols=26,unary=0.4)", 3, 0.4, 3, 22);
    pcfg_check_shapes("pcfg(symbols=26,depth=2)", 3, 0.75, 2, 4);
    pcfg_check_shapes("pcfg(symbols=26,unary=0.4,depth=3)", 4, 0.4, 3, 36);
}

/* Functions are uniform over what fits: with five letters at most, repeat needs two letters and echo four. */
Test(composition, pcfg_functions)
{
    task_room r = room_open("pcfg(symbols=26,unary=1,limit=5)", 1, 1),
              free_of_limit = room_open("pcfg(symbols=26)", 1, 1);
    static const int fitting[] = {0, 0, 6, 5, 5, 4};
    long count[6][6] = {{0}}, unary[6] = {0}, binary[4] = {0}, letters[6] = {0};
    for (uint32_t item = 0; item < 20000; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, 1);
        pair_seen v = pair_take_apart(&r);
        int function = v.prompt[0] - 26, length = v.prompt_len - 1;
        letters[length]++;
        if (function == 4) {
            cr_assert_eq(length, 2);
            count[length][5]++;
        } else {
            cr_assert(function != 5 || length < 5);
            count[length][function == 5 ? 4 : function]++;
        }
        room_draw(&free_of_limit, TASK_TRAIN, 1, 0, item, 1);
        function = free_of_limit.sample.input[1] - 26;
        if (function < 6)
            unary[function]++;
        else
            binary[function - 6]++;
    }
    for (int length = 2; length <= 5; length++)
        chi_expect_uniform("functions that fit", count[length], fitting[length]);
    chi_expect_uniform("lengths of strings", letters + 2, 4);
    chi_expect_uniform("unary functions", unary, 6);
    chi_expect_uniform("binary functions", binary, 4);
    room_close(&r);
    room_close(&free_of_limit);
}

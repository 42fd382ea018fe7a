/* SCAN against the published language. The solver knows the words only. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "pair_chance.h"

static const char *const scan_words[] = {"walk",     "look",   "run",   "jump",   "turn", "left", "right",
                                         "opposite", "around", "twice", "thrice", "and",  "after"};
static const char *const scan_actions[] = {"I_WALK", "I_LOOK", "I_RUN", "I_JUMP", "I_TURN_LEFT", "I_TURN_RIGHT"};
enum { SCAN_WORDS = 13, SCAN_DONE = 6, SCAN_COUNT = 20910 };

static int scan_is(int word, const char *spelled)
{
    return word < SCAN_WORDS && strcmp(scan_words[word], spelled) == 0;
}

/* Reads a command by taking it apart: at `and` or `after`, then its last word. Writes actions, returns their number. */
static int scan_interpret(const int *x, int n, int *out)
{
    for (int i = 0; i < n; i++) {
        int after = scan_is(x[i], "after");
        if (!after && !scan_is(x[i], "and"))
            continue;
        int first = after ? scan_interpret(x + i + 1, n - i - 1, out) : scan_interpret(x, i, out);
        return first + (after ? scan_interpret(x, i, out + first) : scan_interpret(x + i + 1, n - i - 1, out + first));
    }
    cr_assert_geq(n, 1);
    int last = x[n - 1], count = 0;
    if (scan_is(last, "twice") || scan_is(last, "thrice")) {
        for (int times = scan_is(last, "twice") ? 2 : 3; times > 0; times--)
            count += scan_interpret(x, n - 1, out + count);
        return count;
    }
    int verb = scan_is(x[0], "turn") ? -1 : x[0];
    if (n == 1) {
        cr_assert(verb >= 0 && verb < 4, "word %d alone", x[0]);
        out[0] = SCAN_WORDS + verb;
        return 1;
    }
    int turn = SCAN_WORDS + (scan_is(last, "left") ? 4 : 5);
    cr_assert(scan_is(last, "left") || scan_is(last, "right"));
    cr_assert(n == 2 || (n == 3 && (scan_is(x[1], "opposite") || scan_is(x[1], "around"))));
    for (int times = n == 3 && scan_is(x[1], "around") ? 4 : 1; times > 0; times--) {
        out[count++] = turn;
        if (n == 3 && scan_is(x[1], "opposite"))
            out[count++] = turn;
        if (verb >= 0)
            out[count++] = SCAN_WORDS + verb;
    }
    return count;
}

static int solve_scan(const int *prompt, int n, int len, int *answer)
{
    (void)len;
    return scan_interpret(prompt, n, answer);
}

Test(scan, commands)
{
    pairs_solve("scan", 1, 48, 1, solve_scan);
    pairs_solve("scan(split=simple)", 1, 48, 1, solve_scan);
    pairs_solve("scan(split=length)", 1, 48, 1, solve_scan);
    pairs_solve("scan(split=mdlen)", 1, 48, 1, solve_scan);
    pairs_refused("scan", 1, 49, "length 49|48 actions");
    pairs_refused("scan(split=jump)", 1, 48, "split");
}

/* A line as the published list has it: "IN: jump left OUT: I_TURN_LEFT I_JUMP". */
static char *scan_line(const pair_seen *v)
{
    char line[1024];
    int used = snprintf(line, sizeof line, "IN:");
    for (int i = 0; i < v->prompt_len; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, " %s", scan_words[v->prompt[i]]);
    used += snprintf(line + used, sizeof line - (size_t)used, " OUT:");
    for (int i = 0; i < v->answer_len; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, " %s", scan_actions[v->answer[i] - SCAN_WORDS]);
    return strdup(line);
}

static int scan_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Draws lines at one length, sorts them and keeps one of each; times[i]: how often line i came. */
typedef struct scan_lines {
    int count;
    char **line;
    long *times;
} scan_lines;

static scan_lines scan_draw(const char *text, int len, int draws)
{
    scan_lines s = {0, malloc((size_t)draws * sizeof(char *)), calloc((size_t)draws, sizeof(long))};
    task_room r = room_open(text, len, len);
    for (int i = 0; i < draws; i++) {
        room_sample(&r, (uint32_t)i, len);
        pair_seen v = pair_take_apart(&r);
        s.line[i] = scan_line(&v);
    }
    room_close(&r);
    qsort(s.line, (size_t)draws, sizeof *s.line, scan_order);
    for (int i = 0; i < draws; i++) {
        if (s.count > 0 && strcmp(s.line[s.count - 1], s.line[i]) == 0)
            free(s.line[i]);
        else
            s.line[s.count++] = s.line[i];
        s.times[s.count - 1]++;
    }
    return s;
}

static void scan_free(scan_lines *s)
{
    for (int i = 0; i < s->count; i++)
        free(s->line[i]);
    free(s->line);
    free(s->times);
}

static int scan_line_actions(const char *line)
{
    int actions = 0;
    for (const char *at = line; (at = strstr(at, "I_")); at++)
        actions++;
    return actions;
}

/* How many commands have as many actions: counted in tasks.txt of the authors' repository (brendenlake/SCAN). */
static const int scan_published[49] = {0,   6,   88,  398, 860, 1184, 1178, 1104, 1450, 1256, 1696, 1072, 1578,
                                       432, 848, 688, 304, 512, 784,  448,  464,  64,   576,  0,    336,  448,
                                       512, 448, 448, 0,   576, 0,    448,  256,  0,    0,    64,   0,    0,
                                       0,   256, 0,   0,   0,   0,    0,    0,    0,    128};

/* The whole language: the authors' file, sorted by bytes, has the same lines. All are equally likely. */
Test(scan, is_the_published_language)
{
    scan_lines s = scan_draw("scan(split=simple)", 48, 500000);
    cr_assert_eq(s.count, SCAN_COUNT);
    chi_expect_uniform("commands", s.times, s.count);
    int actions[49] = {0};
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    char hex[65] = "";
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    cr_assert(EVP_DigestInit_ex(context, EVP_sha256(), NULL));
    for (int i = 0; i < s.count; i++) {
        actions[scan_line_actions(s.line[i])]++;
        cr_assert(EVP_DigestUpdate(context, s.line[i], strlen(s.line[i])) && EVP_DigestUpdate(context, "\n", 1));
    }
    cr_assert(EVP_DigestFinal_ex(context, hash, &size));
    EVP_MD_CTX_free(context);
    for (unsigned int i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    cr_expect_str_eq(hex, "6be4b39bc8bf3a20be810b6991250d0493e608560609db6765dd679e1ed1c98e");
    for (int n = 0; n <= 48; n++)
        cr_expect_eq(actions[n], scan_published[n], "%d of %d actions", actions[n], n);
    scan_free(&s);
}

/* Actions of the shortest and of the longest command that are drawn at this length, and how many are. */
static void scan_expect(const char *text, int len, int commands, int least, int most)
{
    scan_lines s = scan_draw(text, len, commands * 20);
    int shortest = 99, longest = 0;
    cr_expect_eq(s.count, commands, "%s at %d: %d commands", text, len, s.count);
    for (int i = 0; i < s.count; i++) {
        int actions = scan_line_actions(s.line[i]);
        shortest = actions < shortest ? actions : shortest;
        longest = actions > longest ? actions : longest;
    }
    cr_expect(shortest == least && longest == most, "%s at %d: %d to %d actions", text, len, shortest, longest);
    chi_expect_uniform(text, s.times, s.count);
    scan_free(&s);
}

/* The length split has 16990 commands for training and 3920 for the test, of 22 actions at most and 24 at least; with
 * the border at 25, 336 + 448 commands more are for training. */
Test(scan, splits)
{
    scan_expect("scan(split=length)", 22, 16990, 1, 22);
    scan_expect("scan(split=length)", 48, 3920, 24, 48);
    scan_expect("scan(split=mdlen)", 25, 17774, 1, 25);
    scan_expect("scan(split=mdlen)", 48, 3136, 26, 48);
    scan_expect("scan(split=length)", 25, 784, 24, 25);
    scan_expect("scan(split=length)", 2, 94, 1, 2);
    scan_expect("scan(split=length)", 23, 16990, 1, 22);
    scan_expect("scan(split=simple)", 30, 19758, 1, 30);
}

/* Lengths that no command has stand for the next smaller one. */
Test(scan, exact_lengths)
{
    for (int len = 1; len <= 48; len++) {
        int actions = len;
        while (scan_published[actions] == 0)
            actions--;
        scan_expect("scan", len, scan_published[actions], actions, actions);
    }
}

/* The detector of leaks: tasks at which nothing may succeed. What these tests put into records was scored on real
 * draws, by predictors that cheat and by such that do not. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_fixture.h"
#include "report_view.h"
#include "scratch.h"
#include "spec.h"
#include "task.h"

enum { LEAK_ITEMS = 200, LEAK_LEN = 64, LEAK_TOKENS = 2 * LEAK_LEN + 2, LEAK_SEEDS = 3 };
#define LEAK_WARNING "A sentinel was solved"

static scratch room;

static void leak_setup(void)
{
    scratch_open(&room);
}

static void leak_teardown(void)
{
    scratch_close(&room);
}

TestSuite(leak, .init = leak_setup, .fini = leak_teardown);

static char *leak_report(void)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    registry *known = registry_new(&e);
    cr_assert_not_null(known, "%s", e.message);
    report_write(room.dir, known, "plots", REPORT_MD, PLOT_SVG, &e);
    cr_assert(strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    registry_free(known);
    return scratch_text(&room, "report.md");
}

/* Records of an encoding that scores this at 4 times the training length, on a task. */
static void leak_write(const char *encoding, const char *name, double score, double overlap)
{
    for (int seed = 1; seed <= LEAK_SEEDS; seed++)
        made_write(room.dir,
                   &(made_run){.encoding = encoding,
                               .task = name,
                               .seed = seed,
                               .score = {1, score, score},
                               .overlap = {overlap, overlap, overlap}},
                   NULL);
}

/* The first thing after the title. */
static void leak_is_told(const char *encoding)
{
    char *md = leak_report(), words[128];
    const char *warning = strstr(md, LEAK_WARNING), *lead = strstr(md, "How well does a transformer");
    snprintf(words, sizeof words, "Yet one did: `%s`, mean exact match ", encoding);
    cr_assert(warning && lead && warning < lead && strstr(warning, words), "%s", md);
    cr_assert(strstr(md, "SOLVED: see the warning above"), "%s", md);
    free(md);
}

static void leak_is_not_told(const char *words)
{
    char *md = leak_report();
    cr_assert(!strstr(md, LEAK_WARNING) && strstr(md, words), "'%s' in %s", words, md);
    free(md);
}

/* ------------------------------------------------------------------------------------------------ draws */

typedef struct leak_draws {
    int count[LEAK_ITEMS];
    int input[LEAK_ITEMS][LEAK_TOKENS], target[LEAK_ITEMS][LEAK_TOKENS];
} leak_draws;

static leak_draws *leak_draw(task_stream stream, int len)
{
    error e = ERROR_INIT;
    leak_draws *out = calloc(1, sizeof *out);
    task *t = task_open("repeat_copy", TASK_DECODER, 1, LEAK_LEN, &e);
    cr_assert(out && t, "%s", e.message);
    for (uint32_t i = 0; i < LEAK_ITEMS; i++) {
        task_sample s = {.input = out->input[i], .target = out->target[i]};
        task_draw(t, stream, 1, (uint64_t)len, i, len, &s, NULL);
        out->count[i] = s.count;
    }
    task_free(t);
    return out;
}

/* Every item gets the answer of the next: nothing of it can be known from the prompt. */
static void leak_shuffle(leak_draws *d)
{
    int first[LEAK_TOKENS];
    memcpy(first, d->target[0], sizeof first);
    memmove(d->target[0], d->target[1], sizeof d->target[0] * (LEAK_ITEMS - 1));
    memcpy(d->target[LEAK_ITEMS - 1], first, sizeof first);
}

static int leak_is_right(const leak_draws *d, int i, const int *guess)
{
    for (int t = 0; t < d->count[i]; t++)
        if (d->target[i][t] != TASK_NOT_SCORED && guess[t] != d->target[i][t])
            return 0;
    return 1;
}

/* Copies the prompt, as the task asks: BOS x SEP, then x EOS. */
static double leak_score_copier(const leak_draws *d, int len)
{
    int right = 0;
    for (int i = 0; i < LEAK_ITEMS; i++) {
        int guess[LEAK_TOKENS] = {0};
        memcpy(guess + len + 1, d->input[i] + 1, sizeof(int) * (size_t)len);
        guess[2 * len + 1] = 4; /* EOS behind two symbols, BOS and SEP */
        right += leak_is_right(d, i, guess);
    }
    return (double)right / LEAK_ITEMS;
}

/* Looks the sequence up among those it was trained on; guesses zeros otherwise. *met: the share that it finds. */
static double leak_score_memory(const leak_draws *train, const leak_draws *test, double *met)
{
    int right = 0, found = 0;
    for (int i = 0; i < LEAK_ITEMS; i++) {
        const int *guess = (const int[LEAK_TOKENS]){0};
        for (int k = 0; k < LEAK_ITEMS; k++)
            if (memcmp(train->input[k], test->input[i], sizeof train->input[k]) == 0)
                guess = train->target[k];
        found += guess[0] == TASK_NOT_SCORED;
        right += leak_is_right(test, i, guess);
    }
    *met = (double)found / LEAK_ITEMS;
    return (double)right / LEAK_ITEMS;
}

/* ------------------------------------------------------------------------------------------------ cheats */

/* With shuffled targets the true copier scores nothing, and what reads its targets all the same scores everything. */
Test(leak, shuffled_targets)
{
    leak_draws *test = leak_draw(TASK_TEST, LEAK_LEN);
    cr_assert_eq(leak_score_copier(test, LEAK_LEN), 1, "the copier copies");
    leak_shuffle(test);
    double honest = leak_score_copier(test, LEAK_LEN), cheat = 0;
    for (int i = 0; i < LEAK_ITEMS; i++)
        cheat += leak_is_right(test, i, test->target[i]);
    cr_assert(honest == 0 && cheat == LEAK_ITEMS);
    free(test);
    leak_write("honest", "repeat_copy", honest, 0);
    leak_is_not_told("Not solved, as it should be.");
    leak_write("cheat", "repeat_copy", cheat / LEAK_ITEMS, 0);
    leak_is_told("cheat");
}

/* What learns by heart knows nothing of the test stream; where that is the training stream again it knows all of it,
 * and the overlap shows it as well. */
Test(leak, identical_streams)
{
    leak_draws *train = leak_draw(TASK_TRAIN, LEAK_LEN), *test = leak_draw(TASK_TEST, LEAK_LEN);
    double met, met_again, apart = leak_score_memory(train, test, &met),
                           same = leak_score_memory(train, train, &met_again);
    free(train), free(test);
    cr_assert(apart == 0 && met == 0 && same == 1 && met_again == 1);
    leak_write("apart", "repeat_copy", apart, met);
    char *md = leak_report();
    cr_assert(!strstr(md, LEAK_WARNING) && !strstr(md, "may also have occurred in training"), "%s", md);
    free(md);
    char *runs = scratch_text(&room, "runs.csv");
    cr_assert(strstr(runs, ",overlap,teacher_forced,0,"), "%s", runs);
    free(runs);
    scratch_close(&room);
    scratch_open(&room);
    leak_write("same", "repeat_copy", same, met_again);
    leak_is_told("same");
    md = leak_report();
    cr_assert(strstr(md, "may also have occurred in training, `repeat_copy`: 100.0 % at length 16"), "%s", md);
    free(md);
}

/* ------------------------------------------------------------------------------------------------ what is a sentinel
 */

/* All three kinds stand in the main sweep, are tested where nothing may succeed, and each opens the report once it is
 * solved. */
Test(leak, the_main_sweep_has_three_sentinels)
{
    error e = ERROR_INIT;
    registry *known = registry_new(&e);
    spec main_sweep;
    static const char *const kinds[] = {"repeat_copy", "addition", "parity"};
    cr_assert(spec_load("bench/specs/main.yaml", known, NULL, &main_sweep, &e) == 0, "%s", e.message);
    for (int k = 0; k < 3; k++) {
        int runs = 0;
        for (int i = 0; i < main_sweep.count; i++) {
            const run_config *c = &main_sweep.runs[i];
            const char *why;
            if (strcmp(c->task, kinds[k]) != 0)
                continue;
            cr_assert_geq(c->eval.ratios.value[c->eval.ratios.count - 1], task_sentinel(c->task, &why));
            runs++;
        }
        cr_assert_geq(runs, 100, "%d runs of %s", runs, kinds[k]);
        leak_write("honest", kinds[k], 0.55, 0);
        leak_is_not_told("Not solved, as it should be.");
        leak_write("cheat", kinds[k], 1, 0);
        leak_is_told("cheat");
        scratch_close(&room);
        scratch_open(&room);
    }
    spec_free(&main_sweep);
    registry_free(known);
}

Test(leak, begins_at_a_mean_of_nine_tenths)
{
    leak_write("near", "repeat_copy", 0.89, 0);
    leak_is_not_told("the highest there is `near`, mean exact match 0.890 at 4\303\227 (n = 3)");
    leak_write("over", "repeat_copy", 0.9, 0);
    leak_is_told("over");
}

/* At twice the training length some encodings may do well; the sentinel's ratio is 3. */
Test(leak, nearer_lengths_are_free)
{
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 1, 0.1}}, NULL);
    leak_is_not_told("mean exact match 0.100 at 4\303\227");
}

/* A symbol and its copy share an id: the task itself gives the alignment away, openly. */
Test(leak, positions_from_the_task_are_no_leak)
{
    leak_write("rope@task(start=auto)", "repeat_copy", 1, 0);
    leak_is_not_told("so it watched over nothing");
    leak_write("rope@shift", "repeat_copy", 1, 0);
    leak_is_told("rope@shift");
}

Test(leak, other_tasks_and_options_are_none)
{
    leak_write("a", "unique_copy", 1, 0);
    leak_write("a", "repeat_copy(symbols=40)", 1, 0);
    leak_write("a", "no_task_of_ours", 1, 0);
    leak_is_not_told("No sentinel was tested far enough");
}

Test(leak, descriptors_say_why)
{
    int sentinels = 0;
    for (int i = 0; i < task_count(); i++) {
        const task_descriptor *t = task_at(i);
        const char *why = NULL;
        double ratio = task_sentinel(t->name, &why);
        cr_assert(t->sentinel || (!t->is_sentinel && t->sentinel_ratio == 0), "%s: a ratio without a reason", t->name);
        if (!t->sentinel)
            continue;
        sentinels++;
        cr_assert(t->sentinel[0] && t->sentinel[strlen(t->sentinel) - 1] != '.', "%s: the report ends the sentence",
                  t->name);
        cr_assert(isnan(ratio) || (ratio > 1 && why == t->sentinel), "%s: %g", t->name, ratio);
    }
    const char *why;
    cr_assert_geq(sentinels, 3);
    cr_assert_eq(task_sentinel("repeat_copy", &why), TASK_SENTINEL_RATIO);
    cr_assert_eq(task_sentinel("parity", &why), TASK_SENTINEL_RATIO);
    cr_assert_eq(task_sentinel("addition", &why), TASK_SENTINEL_RATIO);
    cr_assert_eq(task_sentinel("addition(base=2,digits=split)", &why), TASK_SENTINEL_RATIO);
    static const char *const helped[] = {"addition(order=lsb)", "addition(padding=zeros)", "addition(hints=first)",
                                         "addition(scratchpad=columns)"};
    for (int i = 0; i < 4; i++)
        cr_assert(isnan(task_sentinel(helped[i], &why)), "%s", helped[i]);
    cr_assert(isnan(task_sentinel("repeat_copy(symbols=3)", &why)) && isnan(task_sentinel("nonsense(", &why)));
}

/* From text to tasks: the list, the canonical form, and what is refused with which words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "options.h"
#include "rng.h"
#include "task.h"

Test(names, descriptors_are_complete)
{
    cr_assert_geq(task_count(), 6);
    for (int i = 0; i < task_count(); i++) {
        const task_descriptor *d = task_at(i);
        error e = ERROR_INIT;
        cr_assert(d->name && d->title && d->source && d->format && d->notes, "task %d", i);
        if (d->pair)
            cr_expect(d->symbols && d->sizes && !d->sample && !d->vocab && !d->tokens, "%s", d->name);
        else
            cr_expect(d->vocab && d->tokens && !d->symbols && !d->sizes && !d->answer_varies, "%s", d->name);
        if (d->kind == TASK_ANSWER)
            cr_expect((d->pair != NULL) != (d->sample != NULL) && !d->window && !d->text, "%s", d->name);
        else
            cr_expect(!d->pair && !d->sample && !d->chance_exact && d->chance_token && d->window, "%s", d->name);
        cr_expect_eq(d->state_new == NULL, d->state_free == NULL, "%s", d->name);
        cr_expect_eq(options_check_table(d->options, d->name, d->options_size, &e), 0, "%s", e.message);
        for (const char *c = d->name; *c; c++)
            cr_expect(strchr("abcdefghijklmnopqrstuvwxyz_", *c), "%s", d->name);
        for (int j = 0; j < i; j++)
            cr_expect_str_neq(task_at(j)->name, d->name);
    }
}

static void check_canonical(const char *text, const char *expected)
{
    char once[PE_TEXT_MAX], twice[PE_TEXT_MAX];
    error e = ERROR_INIT;
    cr_assert_eq(task_canonical(text, once, sizeof once, &e), 0, "%s: %s", text, e.message);
    cr_expect_str_eq(once, expected);
    cr_assert_eq(task_canonical(once, twice, sizeof twice, &e), 0, "%s: %s", once, e.message);
    cr_expect_str_eq(twice, once);
}

Test(names, canonical_text)
{
    for (int i = 0; i < task_count(); i++)
        check_canonical(task_at(i)->name, task_at(i)->name);
    check_canonical(" mqar ", "mqar");
    check_canonical("mqar()", "mqar");
    check_canonical("mqar ( )", "mqar");
    check_canonical("unique_copy(symbols=150)", "unique_copy");
    check_canonical("mqar( random_non_queries = no , vocab = 64 )", "mqar(vocab=64,random_non_queries=false)");
    check_canonical("mqar(pairs=auto,power=0.50)", "mqar(power=0.5)");
    check_canonical("mqar(pairs=8.0)", "mqar(pairs=8)");
    check_canonical("text(file=\"results/corpora/prose.txt\")", "text");
    check_canonical("text(file=a/b.txt)", "text(file=a/b.txt)");
    check_canonical("text(file=\"a/b.txt\")", "text(file=a/b.txt)");
    check_canonical("text(file=\"a, (b.txt\")", "text(file=\"a, (b.txt\")");
    check_canonical("text(file=\"a \\\"b\\\" c\")", "text(file=a \"b\" c)");
}

/* Every part of `expected` (separated by '|') stands in the message. */
static void check_refused(const char *text, int min_len, int max_len, const char *expected)
{
    error e = ERROR_INIT;
    task *t = task_open(text, TASK_DECODER, min_len, max_len, &e);
    cr_assert_null(t, "%s opened", text);
    cr_expect_eq(e.kind, ERROR_USAGE, "%s: %s", text, e.message);
    char parts[512], *rest = parts, *part;
    snprintf(parts, sizeof parts, "%s", expected);
    while ((part = strsep(&rest, "|")))
        cr_expect_not_null(strstr(e.message, part), "%s: '%s' lacks '%s'", text, e.message, part);
    error again = ERROR_INIT;
    cr_expect_eq(task_check(text, TASK_DECODER, min_len, max_len, &again), -1);
    cr_expect_str_eq(again.message, e.message);
}

Test(names, unknown_tasks)
{
    check_refused("unique_cpy", 1, 5, "unknown task 'unique_cpy'|did you mean 'unique_copy'?");
    check_refused("Sort", 1, 5, "unknown task 'Sort'|did you mean 'sort'?");
    check_refused("Majority", 1, 5, "unknown task 'Majority'|did you mean 'majority'?");
    check_refused("quadratic", 1, 5, "unknown task 'quadratic'|unique_copy, repeat_copy, |, sort, |, mqar, |, text");
    check_refused("", 1, 5, "names no task|name(option=value,...)");
    check_refused("   ", 1, 5, "names no task");
    check_refused("(symbols=3)", 1, 5, "names no task");
    check_refused("sort sort", 1, 5, "unknown task 'sort sort'");
}

Test(names, brackets)
{
    check_refused("sort(symbols=9", 1, 5, "sort(symbols=9|')'|missing");
    check_refused("sort(", 1, 5, "')'|missing");
    check_refused("sort)", 1, 5, "unknown task 'sort)'");
    check_refused("sort(symbols=9))", 1, 5, "nothing may follow");
    check_refused("sort(symbols=9) x", 1, 5, "nothing may follow");
    check_refused("sort(symbols=9)(symbols=9)", 1, 5, "nothing may follow");
    check_refused("text(file=\"x)", 1, 5, "quote");
}

Test(names, options)
{
    check_refused("unique_copy(symbol=9)", 1, 5, "unique_copy|unknown option 'symbol'|did you mean 'symbols'?");
    check_refused("unique_copy(symbols=12a8)", 1, 5, "unique_copy|symbols=12a8|not a number");
    check_refused("unique_copy(symbols=0)", 1, 5, "symbols=0|1 to 32768");
    check_refused("unique_copy(symbols=3.5)", 1, 3, "symbols=3.5|whole");
    check_refused("unique_copy(symbols=8,symbols=9)", 1, 5, "symbols|twice");
    check_refused("unique_copy(9)", 1, 5, "'9' is not name=value");
    check_refused("mqar(pairs=0)", 16, 16, "pairs=0|auto");
    check_refused("mqar(vocab=3)", 16, 16, "vocab=3");
    check_refused("mqar(power=-1)", 16, 16, "power=-1");
    check_refused("binary_majority(symbols=3)", 1, 5, "unknown option 'symbols'");
}

Test(names, lengths)
{
    check_refused("unique_copy", 1, 151, "unique_copy|length 151|symbols=150");
    check_refused("sort(symbols=10)", 1, 11, "sort|length 11|symbols=10");
    check_refused("mqar(pairs=8)", 31, 64, "mqar|length 31|pairs=8");
    check_refused("mqar", 3, 64, "mqar|length 3|pairs=1");
    check_refused("mqar(vocab=16)", 16, 128, "mqar|pairs=8|length 128|vocab=16 has 7");
    check_refused("sort", 0, 5, "lengths 0 to 5");
    check_refused("sort", 6, 5, "lengths 6 to 5");
    check_refused("repeat_copy", 1, 2000000000, "lengths 1 to 2000000000");
    error e = ERROR_INIT;
    cr_expect_eq(task_check("unique_copy", TASK_DECODER, 1, 150, &e), 0, "%s", e.message);
    cr_expect_eq(task_check("mqar(pairs=8)", TASK_DECODER, 32, 64, &e), 0, "%s", e.message);
    cr_expect_eq(task_check("mqar(vocab=16)", TASK_DECODER, 16, 127, &e), 0, "%s", e.message);
}

Test(names, parsing_reads_no_file)
{
    error e = ERROR_INIT;
    task *t = task_parse("text(file=/nowhere/at/all)", TASK_DECODER, 1, 64, &e);
    cr_assert_not_null(t, "%s", e.message);
    cr_expect_eq(task_vocab(t), 256);
    cr_expect_eq(task_tokens(t, 64), 64);
    cr_expect_null(task_digest(t));
    cr_expect(task_chance_token(t, 64) != task_chance_token(t, 64), "not known: not a number");
    cr_expect_eq(task_of(t)->kind, TASK_LANGUAGE);
    task_free(t);
    t = task_parse("mqar(vocab=32)", TASK_DECODER, 16, 64, &e);
    cr_assert_not_null(t, "%s", e.message);
    cr_expect_eq(task_vocab(t), 32);
    cr_expect_eq(task_chance_token(t, 64), 1.0 / 16);
    task_free(t);
    task_free(NULL);
}

Test(names, canonical_text_that_is_too_long)
{
    char small[8];
    error e = ERROR_INIT;
    cr_expect_eq(task_canonical("unique_copy", small, sizeof small, &e), -1);
    cr_expect_not_null(strstr(e.message, "unique_copy"));
}

/* Random texts and damaged good ones: each is opened or refused with a message, and what is opened has a canonical
 * text. */
Test(names, any_text_is_opened_or_refused)
{
    static const char *const good[] = {
        "unique_copy(symbols=20)", "mqar(vocab=64,pairs=2,power=0.5)",           "sort", "repeat_copy()",
        "text(file=\"a, b\")",     "mqar(random_non_queries=false , pairs=auto)"};
    static const char letters[] = "abcdeopqrstuy_()[]=,;\"\\ \t\n019.-+x\x80\xff";
    rng r = rng_stream(11, RNG_TEST, 0, 0);
    int opened = 0;
    for (int i = 0; i < 20000; i++) {
        char text[96] = "";
        if (i % 4)
            snprintf(text, sizeof text, "%s", good[rng_below(&r, sizeof good / sizeof *good)]);
        size_t length = i % 4 ? strlen(text) : rng_below(&r, 40);
        int damages = i % 4 ? (int)rng_below(&r, 4) : (int)length;
        for (int d = 0; d < damages; d++)
            text[i % 4 ? rng_below(&r, (uint32_t)length) : (uint32_t)d] = letters[rng_below(&r, sizeof letters - 1)];
        error e = ERROR_INIT;
        task *t = task_parse(text, TASK_DECODER, 16, 20, &e);
        if (t) {
            char canonical[PE_TEXT_MAX];
            cr_assert_eq(task_canonical(text, canonical, sizeof canonical, &e), 0, "%s", text);
            task *same = task_parse(canonical, TASK_DECODER, 16, 20, &e);
            cr_assert_not_null(same, "%s: %s", canonical, e.message);
            task_free(same);
            opened++;
        } else {
            cr_assert_eq(e.kind, ERROR_USAGE, "%s: %s", text, e.message);
            cr_assert_gt(strlen(e.message), 0);
        }
        task_free(t);
    }
    cr_expect(opened > 1000 && opened < 19000, "%d", opened);
}

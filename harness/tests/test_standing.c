/* Where a point stands: defined, undefined, untrained, or given a meaning by a map. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "small_run.h"

static void standing_is(const char *settings, int max_len, const char *status, const char *flag)
{
    run_result r = small_run(settings);
    const run_value *v = small_run_find(&r, max_len, "exact_match", "teacher_forced");
    cr_assert_not_null(v, "%s: no value at %d", settings, max_len);
    cr_assert_str_eq(v->status, status, "%s at %d: %s", settings, max_len, v->status);
    cr_assert_str_eq(v->flag, flag, "%s at %d: '%s'", settings, max_len, v->flag);
    cr_assert_eq(isnan(v->value), strcmp(status, "ok") != 0);
    cr_assert_eq(v->n, strcmp(status, "ok") == 0 ? 16 : 0);
    run_result_free(&r);
}

Test(standing, a_table_ends_where_it_ends)
{
    standing_is("encoding=learned train.steps=2", 6, "ok", "");
    standing_is("encoding=learned train.steps=2", 12, "undefined", "");
}

Test(standing, rows_that_training_never_met)
{
    standing_is("encoding=learned(rows=200) train.steps=2", 6, "ok", "");
    standing_is("encoding=learned(rows=200) train.steps=2", 12, "ok", "untrained");
}

Test(standing, a_map_gives_a_meaning_under_its_name)
{
    standing_is("encoding=learned train.steps=2 eval.map=clamp", 12, "ok", "clamp");
    standing_is("encoding=learned train.steps=2 eval.map=interpolate", 12, "ok", "interpolate");
    standing_is("encoding=learned train.steps=2 eval.map=clamp", 6, "ok", "");
}

/* A learned table of 64 rows evaluated on 65 and on 128 tokens (A29): recorded as undefined, nothing is read past the
 * end, and the same evaluation under an encoding without a table has all its points. */
Test(standing, a_table_of_64_rows)
{
    static const char *const settings =
        "task=binary_majority train.min_len=61 train.len=61 train.steps=1 eval.bins=61;62;125 encoding=";
    char text[256];
    snprintf(text, sizeof text, "%slearned", settings);
    standing_is(text, 61, "ok", "");
    standing_is(text, 62, "undefined", "");
    standing_is(text, 125, "undefined", "");
    snprintf(text, sizeof text, "%srope", settings);
    standing_is(text, 62, "ok", "");
    standing_is(text, 125, "ok", "");
}

/* Random offsets train all rows of a table: nothing within it is untrained, and only what is longer than it is
 * undefined. */
Test(standing, shifts_train_the_whole_table)
{
    standing_is("encoding=learned(rows=26)@shift train.steps=20", 12, "ok", "");
    standing_is("encoding=learned(rows=25)@shift train.steps=20", 12, "undefined", "");
    standing_is("encoding=learned(rows=26)@shift(span=2) train.steps=20", 12, "ok", "untrained");
}

/* What counts is the farthest token, which need not be the last: a copy's ids end before those of its prompt. Training
 * up to length 6 proposes ids up to 6; without a start nothing past them is trained. */
Test(standing, proposed_positions_by_the_farthest_token)
{
    standing_is("encoding=learned@task train.steps=2", 12, "ok", "untrained");
    standing_is("encoding=learned(rows=13)@task(start=auto) train.steps=20", 12, "ok", "");
    standing_is("encoding=learned(rows=12)@task(start=auto) train.steps=20", 12, "undefined", "");
}

Test(standing, any_length_encodings_are_always_defined)
{
    standing_is("encoding=rope train.steps=2 eval.ratios=1;16", 96, "ok", "");
    standing_is("encoding=[nope,alibi] model.layers=2 train.steps=2 eval.ratios=1;16", 96, "ok", "");
}

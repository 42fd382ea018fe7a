/* test_checkpoint.c - a training in several sittings gives the bytes of one that was never interrupted. */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "run.h"
#include "scratch.h"
#include "settings.h"

static const char checkpoint_settings[] = "task=sort(symbols=20)|encoding=learned(rows=40)@shift|train.len=6|train.steps=40|"
                                          "train.batch=8|train.check_every=7|model.width=16|model.heads=2|eval.ratios=1;2|"
                                          "eval.items=16";

/* Stops a run after so many steps. */
typedef struct checkpoint_stop {
    int after;
    volatile sig_atomic_t stop;
} checkpoint_stop;

static void checkpoint_tell(void *self, const char *phase, int done, int total, double loss)
{
    checkpoint_stop *s = self;
    (void)total;
    (void)loss;
    if (strcmp(phase, "evaluate") == 0 || done >= s->after)
        s->stop = s->after > 0;
}

static run_config checkpoint_configure(const char *more)
{
    char text[1024];
    run_config c;
    snprintf(text, sizeof text, "%s%s%s", checkpoint_settings, *more ? "|" : "", more);
    setting_checked(&c, text);
    return c;
}

/* The record without what it cost. The caller frees it. */
static char *checkpoint_bytes(const run_config *c, const run_result *out)
{
    host_facts h = {.version = "0", .compiler = "", .flags = "", .kernel = "", .level = ""};
    run_result free_of_cost = *out;
    free_of_cost.train_seconds = free_of_cost.evaluate_seconds = free_of_cost.cpu_seconds = 0;
    free_of_cost.peak_bytes = 0;
    json_t *record = record_json(c, &free_of_cost, &h);
    char *text = json_dumps(record, JSON_INDENT(1));
    json_decref(record);
    return text;
}

/* One sitting; after = 0: to the end. The caller frees the result. */
static run_result checkpoint_sit(const run_config *c, const registry *r, const char *state, int after)
{
    error e = ERROR_INIT;
    checkpoint_stop stop = {after, 0};
    run_watch watch = {checkpoint_tell, &stop, &stop.stop};
    run_files files = {.state = state};
    run_result out;
    cr_assert_eq(run_execute_with(c, r, &watch, &files, &out, &e), 0, "%s", e.message);
    return out;
}

static void checkpoint_compare(const char *more)
{
    registry *r = setting_registry();
    run_config c = checkpoint_configure(more);
    char state[PATH_MAX];
    scratch folder;
    scratch_open(&folder);
    scratch_path(&folder, "run.state", state);
    run_result whole = checkpoint_sit(&c, r, NULL, 0);
    char *want = checkpoint_bytes(&c, &whole);
    run_result_free(&whole);

    /* A sitting tells its first step at once, so each of the first three ends after one; the last ends in evaluation. */
    for (int sitting = 0; sitting < 4; sitting++) {
        run_result part = checkpoint_sit(&c, r, state, sitting < 3 ? 1 : INT_MAX);
        cr_assert_eq(part.status, RUN_INTERRUPTED);
        cr_assert_eq(access(state, R_OK), 0, "no state was left");
        run_result_free(&part);
    }
    run_result last = checkpoint_sit(&c, r, state, 0);
    char *got = checkpoint_bytes(&c, &last);
    cr_assert_str_eq(got, want);
    free(got);
    free(want);
    run_result_free(&last);
    scratch_close(&folder);
    registry_free(r);
}

Test(checkpoint, sittings_give_the_same_bytes)
{
    checkpoint_compare("");
}

Test(checkpoint, the_best_weights_are_kept_across_sittings)
{
    checkpoint_compare("train.select=best|train.lr=0.02");
}

Test(checkpoint, what_positions_met_is_kept_across_sittings)
{
    checkpoint_compare("train.positions=true|train.data=50");
}

/* A state that is damaged, of another configuration, or cut short is no state: the run begins anew and ends right. */
Test(checkpoint, a_state_that_does_not_fit_is_not_used)
{
    registry *r = setting_registry();
    run_config c = checkpoint_configure(""), other = checkpoint_configure("seed=2");
    char state[PATH_MAX];
    scratch folder;
    scratch_open(&folder);
    scratch_path(&folder, "run.state", state);
    run_result whole = checkpoint_sit(&c, r, NULL, 0);
    char *want = checkpoint_bytes(&c, &whole);
    run_result_free(&whole);
    for (int fault = 0; fault < 3; fault++) {
        run_result part = checkpoint_sit(fault == 0 ? &other : &c, r, state, 1);
        run_result_free(&part);
        FILE *f = fopen(state, "r+b");
        fseek(f, 0, SEEK_END);
        long size = ftell(f);
        cr_assert_gt(size, 1000);
        if (fault == 1) {
            fseek(f, size / 2, SEEK_SET);
            int byte = fgetc(f);
            fseek(f, size / 2, SEEK_SET);
            fputc(byte ^ 1, f);
        }
        fclose(f);
        if (fault == 2)
            cr_assert_eq(truncate(state, size - 100), 0);
        run_result last = checkpoint_sit(&c, r, state, 0);
        char *got = checkpoint_bytes(&c, &last);
        cr_assert_str_eq(got, want, "fault %d", fault);
        free(got);
        run_result_free(&last);
        unlink(state);
    }
    free(want);
    scratch_close(&folder);
    registry_free(r);
}

/* A training that has ended before its last step has ended for the next sitting, too. */
Test(checkpoint, an_early_stop_stays_one)
{
    checkpoint_compare("task=binary_majority|encoding=nope|train.len=3|train.steps=3000|train.check_every=50|train.stop_at=0.9|"
                       "train.lr=0.003");
}

/* ------------------------------------------------------------------------------------------------ behind training */

/* Stops a run in the middle of what follows training. */
static void checkpoint_tell_extend(void *self, const char *phase, int done, int total, double loss)
{
    checkpoint_stop *s = self;
    (void)done;
    (void)total;
    (void)loss;
    if (strcmp(phase, "extend") == 0)
        s->stop = 1;
}

/* Each sitting tells its first step of fine-tuning at once and ends there; the last one goes to the end. */
Test(checkpoint, an_extension_in_sittings_gives_the_same_bytes)
{
    registry *r = setting_registry();
    run_config c = checkpoint_configure("encoding=rope|extend.methods=none;yarn;interpolate|extend.steps=0;2;5|train.steps=10");
    char state[PATH_MAX], beside[PATH_MAX];
    scratch folder;
    scratch_open(&folder);
    scratch_path(&folder, "run.state", state);
    scratch_path(&folder, "run.state-extend", beside);
    run_result whole = checkpoint_sit(&c, r, NULL, 0);
    char *want = checkpoint_bytes(&c, &whole);
    int rows = whole.extensions_count, begun = 0;
    run_result_free(&whole);
    for (int sitting = 0; sitting < 9; sitting++) {
        error e = ERROR_INIT;
        checkpoint_stop stop = {0, 0};
        run_watch watch = {checkpoint_tell_extend, &stop, &stop.stop};
        run_files files = {.state = state};
        run_result part;
        cr_assert_eq(run_execute_with(&c, r, &watch, &files, &part, &e), 0, "%s", e.message);
        cr_assert_eq(part.status, RUN_INTERRUPTED);
        cr_assert_eq(access(beside, R_OK), 0, "no state was left");
        cr_assert(part.extensions_count >= begun && part.extensions_count < rows);
        begun = part.extensions_count;
        run_result_free(&part);
    }
    cr_assert_gt(begun, rows / 3, "nothing is taken up"); /* nine steps: beyond the first method */
    run_result last = checkpoint_sit(&c, r, state, 0);
    char *got = checkpoint_bytes(&c, &last);
    cr_assert_str_eq(got, want);
    run_result_free(&last);
    run_state_remove(state);
    cr_assert(access(state, F_OK) != 0 && access(beside, F_OK) != 0);
    free(got);
    free(want);
    scratch_close(&folder);
    registry_free(r);
}

/* Damaged, or of another configuration: the extension begins anew. */
Test(checkpoint, a_state_of_an_extension_that_does_not_fit_is_not_used)
{
    registry *r = setting_registry();
    run_config c = checkpoint_configure("encoding=rope|extend.methods=none|extend.steps=0;4|train.steps=10"), other = c;
    other.seed = 2;
    char state[PATH_MAX], beside[PATH_MAX];
    scratch folder;
    scratch_open(&folder);
    scratch_path(&folder, "run.state", state);
    scratch_path(&folder, "run.state-extend", beside);
    run_result whole = checkpoint_sit(&c, r, NULL, 0);
    char *want = checkpoint_bytes(&c, &whole);
    run_result_free(&whole);
    for (int fault = 0; fault < 3; fault++) {
        error e = ERROR_INIT;
        checkpoint_stop stop = {0, 0};
        run_watch watch = {checkpoint_tell_extend, &stop, &stop.stop};
        run_files files = {.state = state};
        run_result part;
        cr_assert_eq(run_execute_with(fault == 0 ? &other : &c, r, &watch, &files, &part, &e), 0, "%s", e.message);
        run_result_free(&part);
        FILE *f = fopen(beside, "r+b");
        cr_assert(f != NULL);
        fseek(f, 0, SEEK_END);
        long size = ftell(f);
        fseek(f, fault == 1 ? size / 2 : 0, SEEK_SET);
        int byte = fgetc(f);
        fseek(f, -1, SEEK_CUR);
        fputc(fault == 1 ? byte ^ 1 : byte, f);
        fclose(f);
        if (fault == 2)
            cr_assert_eq(truncate(beside, 20), 0);
        run_result last = checkpoint_sit(&c, r, state, 0);
        char *got = checkpoint_bytes(&c, &last);
        cr_assert_str_eq(got, want, "fault %d", fault);
        free(got);
        run_result_free(&last);
        run_state_remove(state);
    }
    free(want);
    scratch_close(&folder);
    registry_free(r);
}

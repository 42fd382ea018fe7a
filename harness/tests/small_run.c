#include "small_run.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

int small_run_configure(const registry *r, const char *settings, run_config *c, error *e)
{
    char copy[2048];
    config_defaults(c);
    snprintf(copy, sizeof copy,
             "encoding=nope task=repeat_copy model.width=16 model.heads=2 model.layers=1 train.len=6 "
             "train.batch=8 eval.items=16 %s",
             settings);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value = '\0';
        if (config_set(c, word, value + 1, e) < 0)
            return -1;
    }
    return config_check(c, r, e);
}

run_config small_run_config(const registry *r, const char *settings)
{
    error e = ERROR_INIT;
    run_config c;
    cr_assert_eq(small_run_configure(r, settings, &c, &e), 0, "%s", e.message);
    return c;
}

run_result small_run(const char *settings)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = small_run_config(r, settings);
    run_result out;
    cr_assert_eq(run_execute(&c, r, NULL, &out, &e), 0, "%s", e.message);
    registry_free(r);
    return out;
}

const run_value *small_run_find(const run_result *r, int max_len, const char *metric, const char *mode)
{
    for (int i = 0; i < r->values_count; i++)
        if (r->values[i].bin.max_len == max_len && strcmp(r->values[i].metric, metric) == 0 &&
            strcmp(r->values[i].mode, mode) == 0)
            return &r->values[i];
    return NULL;
}

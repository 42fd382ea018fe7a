/* tune_write.c - what was chosen, as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "tune.h"

static const char tune_schema[] = "posbench-tune/1";

static const char *tune_state_name(folder_state state)
{
    switch (state) {
    case FOLDER_OK:
        return "ok";
    case FOLDER_DIVERGED:
        return "diverged";
    case FOLDER_FAILED:
        return "failed";
    default:
        return "missing";
    }
}

static json_t *tune_trials_json(const tuning *t, int cell)
{
    const spec_tune *tune = &t->spec->tune;
    json_t *trials = json_array();
    for (int rate = 0; rate < tune->rates; rate++)
        for (int seed = 0; seed < tune->seeds; seed++) {
            const tune_trial *trial = &t->trial[(cell * tune->rates + rate) * tune->seeds + seed];
            json_t *loss = isfinite(trial->loss) ? json_real(trial->loss) : json_null();
            json_array_append_new(trials, json_pack("{s:s, s:f, s:i, s:s, s:o}", "key", trial->key, "lr",
                                                    tune->rate[rate], "seed", SPEC_TUNE_SEED + seed, "status",
                                                    tune_state_name(trial->state), "validation_loss", loss));
        }
    return trials;
}

/* Seed and rate at their defaults are not printed. */
static void tune_cell_text(const run_config *c, char *text, size_t size)
{
    run_config cell = *c, initial;
    config_defaults(&initial);
    cell.seed = initial.seed;
    cell.train.lr = initial.train.lr;
    config_print(&cell, text, size);
}

static json_t *tune_cell_json(const tuning *t, int index)
{
    const tune_cell *cell = &t->cell[index];
    char text[CONFIG_TEXT_MAX];
    tune_cell_text(cell->config, text, sizeof text);
    json_t *rate = cell->rate < 0 ? json_null() : json_real(t->spec->tune.rate[cell->rate]);
    json_t *message = cell->message[0] ? json_string(cell->message) : json_null();
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "encoding", cell->config->encoding, "task", cell->config->task,
                     "cell", text, "lr", rate, "message", message, "trials", tune_trials_json(t, index));
}

static int tune_has_cell(const json_t *cells, const char *text)
{
    const json_t *cell;
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        const char *its = json_string_value(json_object_get(cell, "cell"));
        if (its && strcmp(its, text) == 0)
            return 1;
    }
    return 0;
}

/* Cells of the file that is there, if it was of the same budget. */
static void tune_keep_others(const char *path, const json_t *budget, json_t *cells)
{
    json_t *before = json_load_file(path, 0, NULL), *cell;
    size_t i;
    int same = json_equal(json_object_get(before, "lr"), json_object_get(budget, "lr")) &&
               json_equal(json_object_get(before, "seeds"), json_object_get(budget, "seeds"));
    json_array_foreach(json_object_get(before, "cells"), i, cell)
    {
        const char *text = json_string_value(json_object_get(cell, "cell"));
        if (same && text && !tune_has_cell(cells, text))
            json_array_append(cells, cell);
    }
    json_decref(before);
}

int tune_save(const tuning *t, error *e)
{
    char path[PATH_MAX];
    json_t *budget = folder_budget_json(&t->spec->tune), *cells = json_array();
    snprintf(path, sizeof path, "%.*s/choice.json", (int)(sizeof path - 32), t->dir);
    for (int i = 0; i < t->cell_count; i++)
        json_array_append_new(cells, tune_cell_json(t, i));
    tune_keep_others(path, budget, cells);
    json_t *choice = json_pack("{s:s, s:s, s:O, s:O, s:s, s:O}", "schema", tune_schema, "name", t->spec->name, "lr",
                               json_object_get(budget, "lr"), "seeds", json_object_get(budget, "seeds"), "rule",
                               tune_rule, "cells", cells);
    int result = choice ? record_write(path, choice, e) : error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    json_decref(choice);
    json_decref(cells);
    json_decref(budget);
    return result;
}

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "spec_grid.h"

/* One run on its way into the grid, with the place where each of its values stands. */
typedef struct grid_run {
    run_config config;
    const yaml_node *origin[SPEC_ROWS_MAX]; /* NULL: the default */
    int offered;                            /* its encoding stands there by a word for many */
} grid_run;

/* Seeds vary fastest, so that a sweep that is stopped early has finished whole points instead of one seed of each. */
static int grid_order(int order[SPEC_ROWS_MAX])
{
    int count = 0, seed = spec_row_at(offsetof(run_config, seed));
    for (int i = 0; config_rows[i].name; i++)
        if (i != seed)
            order[count++] = i;
    order[count++] = seed;
    return count;
}

/* Texts of choices have been set before, so they can be set again. */
static void grid_apply(grid_run *run, int row, const spec_choice *choice)
{
    error e = ERROR_INIT;
    config_set(&run->config, config_rows[row].name, choice->text, &e);
    run->origin[row] = choice->at;
    run->offered |= choice->offered;
}

static int grid_matches_axis(const run_config *c, int row, const spec_axis *axis)
{
    char text[SPEC_VALUE_MAX];
    if (axis->count == 0)
        return 1;
    options_print_value(&config_rows[row], c, text, sizeof text);
    for (int i = 0; i < axis->count; i++)
        if (strcmp(axis->choices[i].text, text) == 0)
            return 1;
    return 0;
}

int spec_matches(const run_config *c, const spec_axes *when)
{
    for (int row = 0; config_rows[row].name; row++)
        if (!grid_matches_axis(c, row, &when->row[row]))
            return 0;
    return 1;
}

/* All conditions look at the values of the grid itself, not at what other overrides made of them; the last match wins.
 */
static void grid_override(spec_draft *d, grid_run *run)
{
    run_config before = run->config;
    for (int i = 0; i < d->rules_count; i++) {
        spec_rule *rule = &d->rules[i];
        if (!spec_matches(&before, &rule->when))
            continue;
        rule->matched++;
        for (int row = 0; config_rows[row].name; row++)
            if (rule->set.row[row].count)
                grid_apply(run, row, &rule->set.row[row].choices[0]);
    }
}

/* A fault of a whole run stands where the row to blame got its value; a default stands nowhere, so the nearest written
 * value of the same section is shown, or the encoding. */
static const yaml_node *grid_blame(const spec_draft *d, const grid_run *run, const char *name)
{
    const yaml_node *near = NULL;
    const char *dot = strchr(name, '.');
    size_t section = dot ? (size_t)(dot - name) + 1 : 0;
    for (int row = 0; config_rows[row].name; row++) {
        if (run->origin[row] && strcmp(config_rows[row].name, name) == 0)
            return run->origin[row];
        if (run->origin[row] && !near && section && strncmp(config_rows[row].name, name, section) == 0)
            near = run->origin[row];
    }
    for (int row = 0; config_rows[row].name && !near; row++)
        near = run->origin[row];
    return near ? near : d->root;
}

/* Counts a run that is left out, under its encoding and the reason. */
static int grid_leave_out(spec *s, const char *encoding, const char *reason, error *e)
{
    for (int i = 0; i < s->left_out_count; i++)
        if (strcmp(s->left_out[i].encoding, encoding) == 0 &&
            strncmp(s->left_out[i].reason, reason, sizeof s->left_out[i].reason - 1) == 0) {
            s->left_out[i].runs++;
            return 0;
        }
    spec_left_out *larger = realloc(s->left_out, ((size_t)s->left_out_count + 1) * sizeof *larger);
    if (!larger)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    s->left_out = larger;
    spec_left_out *added = &larger[s->left_out_count++];
    added->runs = 1;
    snprintf(added->encoding, sizeof added->encoding, "%s", encoding);
    snprintf(added->reason, sizeof added->reason, "%.*s", (int)sizeof added->reason - 1, reason);
    return 0;
}

/* Whether a refusal is of the encoding in this network, under its own map or that of the evaluation, and of an encoding
 * that nobody named. */
static int grid_may_leave_out(const grid_run *run, const char *row)
{
    return run->offered && (strcmp(row, "encoding") == 0 || strcmp(row, "eval.map") == 0);
}

/* 0: the run is good; 1: it is not, which has been told; -1: e is set. */
static int grid_check(spec_draft *d, grid_run *run, error *e)
{
    const char *row = NULL;
    error fault = ERROR_INIT;
    if (config_check_row(&run->config, d->registry, &row, &fault) == 0)
        return 0;
    if (fault.kind == ERROR_ENVIRONMENT)
        return error_set(e, fault.kind, "%s", fault.message);
    if (grid_may_leave_out(run, row))
        return grid_leave_out(d->out, run->config.encoding, fault.message, e) < 0 ? -1 : 1;
    yaml_fault_at(d->faults, grid_blame(d, run, row), "%s: %s", row, fault.message);
    return 1;
}

/* ------------------------------------------------------------------------------------------------ alike runs */

typedef struct grid_key {
    char key[CONFIG_KEY_SIZE];
    int run;
} grid_key;

static int grid_key_order(const void *a, const void *b)
{
    const grid_key *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->run > y->run) - (x->run < y->run);
}

/* An override that fixes what the grid varies makes runs alike: the first of them stays. Returns the new count, or -1.
 */
static int grid_merge(run_config *runs, int count, error *e)
{
    grid_key *keys = malloc((size_t)count * sizeof *keys + 1);
    char *alike = calloc((size_t)count + 1, 1);
    int kept = 0;
    if (!keys || !alike) {
        free(keys);
        free(alike);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    for (int i = 0; i < count; i++) {
        config_key(&runs[i], keys[i].key);
        keys[i].run = i;
    }
    qsort(keys, (size_t)count, sizeof *keys, grid_key_order);
    for (int i = 1; i < count; i++)
        if (strcmp(keys[i].key, keys[i - 1].key) == 0)
            alike[keys[i].run] = 1;
    for (int i = 0; i < count; i++)
        if (!alike[i])
            runs[kept++] = runs[i];
    free(keys);
    free(alike);
    return kept;
}

/* ------------------------------------------------------------------------------------------------ the grid */

/* The number of combinations, or -1 after a fault. */
static long grid_size(spec_draft *d)
{
    long size = 1;
    for (int row = 0; config_rows[row].name; row++) {
        size *= d->axes.row[row].count ? d->axes.row[row].count : 1;
        if (size > SPEC_RUNS_MAX) {
            yaml_fault_at(d->faults, d->axes.row[row].choices[0].at, "the grid has more than %d runs here",
                          SPEC_RUNS_MAX);
            return -1;
        }
    }
    return size;
}

/* The run at `index` of the grid: its digits in the mixed base of the axes, the last axis of `order` lowest. */
static void grid_run_at(spec_draft *d, const int *order, int rows, long index, grid_run *run)
{
    *run = (grid_run){0};
    config_defaults(&run->config);
    for (int i = rows - 1; i >= 0; i--) {
        const spec_axis *axis = &d->axes.row[order[i]];
        if (!axis->count)
            continue;
        grid_apply(run, order[i], &axis->choices[index % axis->count]);
        index /= axis->count;
    }
}

/* Where the encodings stand. */
static const yaml_node *grid_encodings(const spec_draft *d)
{
    return d->axes.row[spec_row_at(offsetof(run_config, encoding))].choices[0].at;
}

int spec_grid(spec_draft *d, error *e)
{
    int order[SPEC_ROWS_MAX], rows = grid_order(order), before = d->faults->count;
    long size = grid_size(d);
    if (size < 0)
        return 0;
    run_config *runs = malloc((size_t)size * sizeof *runs);
    grid_run *run = malloc(sizeof *run);
    if (!runs || !run) {
        free(runs);
        free(run);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory for %ld runs", size);
    }
    int result = 0, kept = 0;
    for (long i = 0; i < size && result >= 0; i++) {
        grid_run_at(d, order, rows, i, run);
        grid_override(d, run);
        result = grid_check(d, run, e);
        if (result == 0)
            runs[kept++] = run->config;
    }
    free(run);
    d->out->runs = runs;
    result = result < 0 ? -1 : 0;
    if (result == 0 && kept == 0 && d->faults->count == before)
        yaml_fault_at(d->faults, grid_encodings(d), "no encoding has a meaning in this network; the first of them: %s",
                      d->out->left_out[0].reason);
    for (int i = 0; i < d->rules_count && result == 0; i++)
        if (!d->rules[i].matched)
            yaml_fault_at(d->faults, d->rules[i].at, "this override matches no run of the grid");
    if (result < 0 || d->faults->count > before)
        return result;
    d->out->count = grid_merge(runs, kept, e);
    return d->out->count < 0 ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------ --only */

/* The end of one key=value: commas inside an option list or a list of layers belong to the value. */
static size_t only_length(const char *text)
{
    int depth = 0, quoted = 0;
    size_t i = 0;
    for (; text[i] && (text[i] != ',' || depth > 0 || quoted); i++) {
        quoted ^= text[i] == '"';
        depth += quoted ? 0 : (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
    }
    return i;
}

static int only_take(const registry *r, const char *text, size_t length, spec_axes *want, error *e)
{
    char item[SPEC_VALUE_MAX], canonical[SPEC_VALUE_MAX];
    if (length >= sizeof item)
        return error_set(e, ERROR_USAGE, "a value of more than %d characters", SPEC_VALUE_MAX - 1);
    snprintf(item, sizeof item, "%.*s", (int)length, text);
    char *equals = strchr(item, '=');
    if (!equals)
        return error_set(e, ERROR_USAGE, "'%.128s' is not key=value", item);
    *equals = '\0';
    const pe_option *row = config_row(item + strspn(item, " "), e);
    if (!row || spec_canonical(r, (int)(row - config_rows), equals + 1, canonical, sizeof canonical, e) < 0)
        return -1;
    return spec_axis_push(&want->row[row - config_rows], canonical, NULL, e);
}

int spec_keep(spec *out, const char *wanted, error *e)
{
    int all = out->count, kept = 0;
    run_config *runs = calloc((size_t)all + 1, sizeof *runs);
    int *place = calloc((size_t)all + 1, sizeof *place);
    if (!runs || !place) {
        free(runs);
        free(place);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    for (int i = 0; i < all; i++)
        kept += wanted[i] != 0;
    for (int i = 0, first = 0, rest = kept; i < all; i++) {
        int to = wanted[i] ? first++ : rest++;
        runs[to] = out->runs[i];
        place[to] = i;
    }
    free(out->runs);
    out->runs = runs;
    out->place = place;
    out->count = kept;
    out->rest = all - kept;
    return 0;
}

static int only_part(spec *out, const spec_axes *want, error *e)
{
    char *wanted = calloc((size_t)out->count + 1, 1);
    int kept = 0;
    for (int i = 0; wanted && i < out->count; i++)
        kept += wanted[i] = (char)spec_matches(&out->runs[i], want);
    int result = !wanted ? error_set(e, ERROR_ENVIRONMENT, "out of memory")
                 : kept  ? spec_keep(out, wanted, e)
                         : error_set(e, ERROR_USAGE, "it matches none of the %d runs", out->count);
    free(wanted);
    return result;
}

int spec_filter(const registry *r, const char *only, spec *out, error *e)
{
    spec_axes want = {0};
    int result = 0, tuned = out->tune.rates > 0;
    for (const char *p = only; result == 0; p++) {
        size_t length = only_length(p);
        result = only_take(r, p, length, &want, e);
        p += length;
        if (!*p)
            break;
    }
    if (result == 0 && tuned && want.row[spec_row_at(offsetof(run_config, train.lr))].count)
        result = error_set(e, ERROR_USAGE, "train.lr is chosen by tuning");
    if (result == 0)
        result = only_part(out, &want, e);
    spec_axes_free(&want);
    return result;
}

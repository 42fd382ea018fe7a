/* statement.c - groups of statements: loading a folder of them, finding one, choosing runs. */
#include "statement.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "spec_grid.h"

static void statement_free(statement *s)
{
    for (int i = 0; i < s->rules; i++) {
        free(s->rule[i].input);
        free(s->rule[i].side[0].run);
        free(s->rule[i].side[1].run);
    }
    free(s->rule);
}

void statement_group_free(statement_group *g)
{
    for (int i = 0; i < g->count; i++)
        statement_free(&g->statement[i]);
    free(g->statement);
    spec_free(&g->spec);
    *g = (statement_group){0};
}

void statements_free(statements *s)
{
    for (int i = 0; i < s->count; i++)
        statement_group_free(&s->group[i]);
    free(s->group);
    works_free(&s->works);
    *s = (statements){0};
}

static int statement_is_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/* An id means one claim, whatever the file. */
static int statement_check_ids(const statements *s, const statement_group *added, error *e)
{
    for (int i = 0; i < added->count; i++)
        for (int g = 0; g < s->count; g++)
            for (int j = 0; j < s->group[g].count; j++)
                if (strcmp(s->group[g].statement[j].id, added->statement[i].id) == 0)
                    return error_set(e, ERROR_USAGE, "%s: claim %s stands in %s already", added->path,
                                     added->statement[i].id, s->group[g].path);
    return 0;
}

static int statement_load_file(const char *path, const char *specs, const registry *r, statements *out, error *e)
{
    statement_group *g = &out->group[out->count];
    int result = statement_read(path, specs, r, &out->works, g, e);
    if (result == 0)
        result = statement_check_ids(out, g, e);
    if (result < 0)
        statement_group_free(g);
    else
        out->count++;
    return result;
}

int statements_load(const char *folder, const char *specs, const registry *r, statements *out, error *e)
{
    struct dirent **names;
    char path[8192];
    *out = (statements){0};
    int count = scandir(folder, &names, statement_is_file, alphasort);
    if (count < 0)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/sources.bib", folder);
    int result = works_load(path, r, &out->works, e);
    if (count > STATEMENT_GROUPS_MAX)
        result = error_set(e, ERROR_USAGE, "%s: more than %d files of claims", folder, STATEMENT_GROUPS_MAX);
    out->group = calloc((size_t)count + 1, sizeof *out->group);
    if (!out->group)
        result = error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (result == 0)
            result = statement_load_file(path, specs, r, out, e);
        free(names[i]);
    }
    free(names);
    return result;
}

int statement_place_is(const statement_place *place, const length_bin *bin)
{
    if (place->kind == PLACE_RATIO)
        return fabs(place->ratio - bin->ratio) < 1e-6;
    return place->min_len == bin->min_len && place->max_len == bin->max_len;
}

/* ------------------------------------------------------------------------------------------------ finding one */

static int statement_unknown(const statements *s, const char *id, error *e)
{
    int count = 0, all = 0;
    for (int g = 0; g < s->count; g++)
        all += s->group[g].count;
    const char **ids = calloc((size_t)all + 1, sizeof *ids);
    for (int g = 0; ids && g < s->count; g++)
        for (int i = 0; i < s->group[g].count; i++)
            ids[count++] = s->group[g].statement[i].id;
    const char *near = ids ? nearest_word(id, ids, (size_t)count) : NULL;
    if (near)
        error_set(e, ERROR_USAGE, "no claim '%.64s'; did you mean '%s'?", id, near);
    else
        error_set(e, ERROR_USAGE, "no claim '%.64s'; 'posbench claims' lists all %d", id, all);
    free(ids);
    return -1;
}

int statement_find(const statements *s, const char *id, const statement_group **group, const statement **found,
                   error *e)
{
    for (int g = 0; g < s->count; g++)
        for (int i = 0; i < s->group[g].count; i++)
            if (strcmp(s->group[g].statement[i].id, id) == 0) {
                *group = &s->group[g];
                *found = &s->group[g].statement[i];
                return 0;
            }
    return statement_unknown(s, id, e);
}

/* ------------------------------------------------------------------------------------------------ runs */

int statement_keep_runs(statement_group *g, const char *chosen, error *e)
{
    char *wanted = calloc((size_t)g->spec.count + 1, 1);
    if (!wanted)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = 0; i < g->count; i++)
        for (int r = 0; chosen[i] && r < g->statement[i].rules; r++)
            for (int side = 0; side < 2; side++)
                for (int n = 0; n < g->statement[i].rule[r].side[side].count; n++)
                    wanted[g->statement[i].rule[r].side[side].run[n]] = 1;
    int result = spec_keep(&g->spec, wanted, e);
    free(wanted);
    return result < 0 ? -1 : g->spec.count;
}

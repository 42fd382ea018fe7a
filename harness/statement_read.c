/* statement_read.c - a file of claims: its keys, and those of each statement. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "statement_reading.h"

enum { READING_SEEDS_LEAST = 2, READING_SEEDS_MOST = 1000, READING_WORDS_MAX = 32 };

/* ------------------------------------------------------------------------------------------------ values */

int reading_text(statement_reading *s, const yaml_pair *pair, char *out, size_t size)
{
    const yaml_node *value = pair->value;
    if (value->kind == YAML_BROKEN)
        return 0;
    if (value->kind != YAML_SCALAR || yaml_is_null(value)) {
        yaml_fault_at(s->faults, value, "%s takes a text", pair->key->text);
        return 0;
    }
    const char *text = value->text + strspn(value->text, " \n\t");
    size_t length = strlen(text);
    while (length && strchr(" \n\t", text[length - 1]))
        length--;
    if (length == 0)
        yaml_fault_at(s->faults, value, "%s: an empty text", pair->key->text);
    if (length >= size)
        yaml_fault_at(s->faults, value, "%s: more than %zu characters", pair->key->text, size - 1);
    if (length == 0 || length >= size)
        return 0;
    for (size_t i = 0; i < length; i++)
        out[i] = iscntrl((unsigned char)text[i]) ? ' ' : text[i];
    out[length] = '\0';
    return 1;
}

int reading_number(statement_reading *s, const yaml_pair *pair, double *out)
{
    if (pair->value->kind == YAML_BROKEN)
        return 0;
    if (pair->value->kind == YAML_SCALAR && number_parse(pair->value->text, out) == 0)
        return 1;
    yaml_fault_at(s->faults, pair->value, "%s takes a number", pair->key->text);
    return 0;
}

void reading_unknown(statement_reading *s, const yaml_node *key, const char *where, const char *const *words, int count)
{
    const char *near = nearest_word(key->text, words, (size_t)count);
    yaml_fault_at(s->faults, key, "unknown key '%.64s' in %s%s%s%s", key->text, where, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "");
}

/* A letter, then letters, digits, '.', '_' and '-'. */
static void reading_id(statement_reading *s, const yaml_pair *pair, statement *out)
{
    if (!reading_text(s, pair, out->id, sizeof out->id))
        return;
    for (const char *p = out->id; *p; p++)
        if (!isalnum((unsigned char)*p) && (p == out->id || !strchr("._-", *p))) {
            yaml_fault_at(s->faults, pair->value, "id: '%s': letters and digits, then '.', '_' and '-' too", out->id);
            return;
        }
    for (int i = 0; i < s->group->count; i++)
        if (strcmp(s->group->statement[i].id, out->id) == 0)
            yaml_fault_at(s->faults, pair->value, "id: '%s' is another claim of this file already", out->id);
}

static void reading_seeds(statement_reading *s, const yaml_pair *pair, statement *out)
{
    double seeds;
    if (!reading_number(s, pair, &seeds))
        return;
    if (seeds < READING_SEEDS_LEAST || seeds > READING_SEEDS_MOST || seeds != floor(seeds))
        yaml_fault_at(s->faults, pair->value, "seeds: a whole number from %d to %d", READING_SEEDS_LEAST,
                      READING_SEEDS_MOST);
    else
        out->seeds = (int)seeds;
}

/* ------------------------------------------------------------------------------------------------ a statement */

static int reading_rules(statement_reading *s, const yaml_node *list, statement *out)
{
    if (list->kind != YAML_LIST || list->count == 0) {
        if (list->kind != YAML_BROKEN)
            yaml_fault_at(s->faults, list, "rule takes a list of conditions");
        return 0;
    }
    out->rule = calloc((size_t)list->count, sizeof *out->rule);
    if (!out->rule)
        return error_set(s->e, ERROR_ENVIRONMENT, "%s: out of memory", s->path);
    for (int i = 0; i < list->count; i++)
        if (reading_rule(s, list->items[i], out, &out->rule[out->rules++]) < 0)
            return -1;
    return 0;
}

/* One text key. 1: it was one. */
static int reading_statement_text(statement_reading *s, const yaml_pair *pair, statement *out)
{
    const struct {
        const char *key;
        char *to;
        size_t size;
    } texts[] = {
        {"title", out->title, sizeof out->title},       {"statement", out->words, sizeof out->words},
        {"source", out->source, sizeof out->source},    {"published", out->published, sizeof out->published},
        {"refuted", out->refuted, sizeof out->refuted}, {"untestable", out->untestable, sizeof out->untestable}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(pair->key->text, texts[i].key) == 0) {
            reading_text(s, pair, texts[i].to, texts[i].size);
            return 1;
        }
    return 0;
}

/* What a statement must have. */
static void reading_check(statement_reading *s, const yaml_node *map, const statement *out, const char *given)
{
    static const char *const needed[] = {"id", "title", "statement", "published"};
    int about_runs = 0;
    for (int i = 0; i < out->rules; i++)
        about_runs |= !out->rule[i].measure;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char word[32];
        snprintf(word, sizeof word, " %s ", needed[i]);
        if (!strstr(given, word))
            yaml_fault_at(s->faults, map, "no '%s' is given", needed[i]);
    }
    int has_rule = strstr(given, " rule ") != NULL, has_reason = strstr(given, " untestable ") != NULL;
    if (has_rule == has_reason)
        yaml_fault_at(s->faults, map,
                      has_rule ? "a claim has a rule or is untestable, not both"
                               : "neither 'rule' nor 'untestable' is given");
    if (has_rule && !strstr(given, " refuted "))
        yaml_fault_at(s->faults, map, "no 'refuted' is given: what would speak against it");
    if (about_runs && !strstr(given, " seeds "))
        yaml_fault_at(s->faults, map, "no 'seeds' is given");
    if (!*out->source && !strstr(given, " source "))
        yaml_fault_at(s->faults, map, "no 'source' is given, here or at the top");
}

/* `seeds` before `rule`, which is checked against it. */
static int reading_statement(statement_reading *s, const yaml_node *map, statement *out)
{
    static const char *const words[] = {"id",    "title",   "statement",  "source", "cites", "published",
                                        "seeds", "refuted", "untestable", "rule"};
    char given[512] = " ";
    yaml_pair *pairs;
    if (map->kind != YAML_MAP) {
        if (map->kind != YAML_BROKEN)
            yaml_fault_at(s->faults, map, "a claim begins with keys, as in 'id: C1'");
        return 0;
    }
    snprintf(out->source, sizeof out->source, "%s", s->source);
    int count = yaml_flatten(map, s->faults, &pairs, s->e), result = count < 0 ? -1 : 0;
    for (int i = 0; i < count; i++)
        if (strcmp(pairs[i].key->text, "seeds") == 0)
            reading_seeds(s, &pairs[i], out);
    for (int i = 0; i < count && result == 0; i++) {
        const char *key = pairs[i].key->text;
        size_t used = strlen(given);
        snprintf(given + used, sizeof given - used, "%.32s ", key);
        if (strcmp(key, "id") == 0)
            reading_id(s, &pairs[i], out);
        else if (strcmp(key, "cites") == 0)
            reading_cites(s, &pairs[i], out->cites);
        else if (strcmp(key, "rule") == 0)
            result = reading_rules(s, pairs[i].value, out);
        else if (strcmp(key, "seeds") != 0 && !reading_statement_text(s, &pairs[i], out))
            reading_unknown(s, pairs[i].key, "a claim", words, sizeof words / sizeof *words);
    }
    free(pairs);
    if (!strstr(given, " source ") && !strstr(given, " cites "))
        snprintf(out->cites, sizeof out->cites, "%s", s->cites);
    reading_check(s, map, out, given);
    return result;
}

static int reading_claims(statement_reading *s, const yaml_node *list)
{
    if (list->kind != YAML_LIST || list->count == 0) {
        if (list->kind != YAML_BROKEN)
            yaml_fault_at(s->faults, list, "claims takes a list");
        return 0;
    }
    s->group->statement = calloc((size_t)list->count, sizeof *s->group->statement);
    if (!s->group->statement)
        return error_set(s->e, ERROR_ENVIRONMENT, "%s: out of memory", s->path);
    for (int i = 0; i < list->count; i++) {
        int result = reading_statement(s, list->items[i], &s->group->statement[i]);
        s->group->count++;
        if (result < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ the runs */

static int reading_spec_names(const char *folder, char names[READING_WORDS_MAX][256])
{
    DIR *d = opendir(folder);
    int count = 0;
    for (struct dirent *entry; d && (entry = readdir(d)) && count < READING_WORDS_MAX;) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0)
            snprintf(names[count++], 256, "%.*s", (int)length - 5, entry->d_name);
    }
    if (d)
        closedir(d);
    return count;
}

static void reading_no_spec(statement_reading *s, const yaml_pair *pair, const char *name)
{
    char names[READING_WORDS_MAX][256];
    const char *words[READING_WORDS_MAX];
    int count = reading_spec_names(s->specs, names);
    for (int i = 0; i < count; i++)
        words[i] = names[i];
    const char *near = nearest_word(name, words, (size_t)count);
    yaml_fault_at(s->faults, pair->value, "spec: no spec '%.64s' among the bundled ones%s%s%s", name,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* A spec of its own has its own faults, which are told under its own name. */
static int reading_spec(statement_reading *s, const yaml_pair *pair)
{
    char name[200], path[8192];
    if (!reading_text(s, pair, name, sizeof name))
        return 0;
    size_t length = strlen(name);
    int is_path = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
    const char *slash = strrchr(s->path, '/');
    if (is_path)
        snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - s->path) + 1 : 0, s->path, name);
    else
        snprintf(path, sizeof path, "%s/%s.yaml", s->specs, name);
    FILE *f = fopen(path, "r");
    if (!f) {
        if (is_path)
            yaml_fault_at(s->faults, pair->value, "spec: %.64s: %s", name, strerror(errno));
        else
            reading_no_spec(s, pair, name);
        return 0;
    }
    fclose(f);
    snprintf(s->group->grid, sizeof s->group->grid, "%s", name);
    return spec_load(path, s->draft.registry, NULL, &s->group->spec, s->e);
}

static int reading_grid(statement_reading *s, const yaml_pair *pair, int is_spec)
{
    if (*s->group->grid) {
        yaml_fault_at(s->faults, pair->key, "grid and spec are both given");
        return 0;
    }
    if (is_spec && reading_spec(s, pair) < 0)
        return -1;
    if (!is_spec) {
        snprintf(s->group->grid, sizeof s->group->grid, "the grid in this file");
        if (spec_take_tree(s->path, pair->value, s->draft.registry, s->faults, &s->group->spec, s->e) < 0)
            return -1;
    }
    if (s->group->spec.tune.rates)
        yaml_fault_at(s->faults, pair->value, "%s: runs whose learning rate is tuned are not known beforehand",
                      pair->key->text);
    s->has_grid = s->group->spec.count > 0;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ the file */

/* The keys that claims rest on come first, wherever they stand. */
static int reading_top(statement_reading *s, const yaml_node *root)
{
    static const char *const words[] = {"title", "source", "cites", "grid", "spec", "results", "claims"};
    const yaml_node *claims = NULL;
    yaml_pair *pairs;
    int count = yaml_flatten(root, s->faults, &pairs, s->e), result = count < 0 ? -1 : 0;
    for (int i = 0; i < count && result == 0; i++) {
        const char *key = pairs[i].key->text;
        if (strcmp(key, "title") == 0)
            reading_text(s, &pairs[i], s->group->title, sizeof s->group->title);
        else if (strcmp(key, "source") == 0)
            reading_text(s, &pairs[i], s->source, sizeof s->source);
        else if (strcmp(key, "cites") == 0)
            reading_cites(s, &pairs[i], s->cites);
        else if (strcmp(key, "results") == 0)
            reading_text(s, &pairs[i], s->group->results, sizeof s->group->results);
        else if (strcmp(key, "grid") == 0 || strcmp(key, "spec") == 0)
            result = reading_grid(s, &pairs[i], *key == 's');
        else if (strcmp(key, "claims") == 0)
            claims = pairs[i].value;
        else if (strncmp(key, "x-", 2) != 0)
            reading_unknown(s, pairs[i].key, "a file of claims", words, sizeof words / sizeof *words);
    }
    free(pairs);
    if (!claims)
        yaml_fault_at(s->faults, root, "no 'claims' are given");
    return result == 0 && claims ? reading_claims(s, claims) : result;
}

/* The file's name without .yaml, and where its records lie by default. */
static void reading_names(statement_group *g, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 5 && strcmp(base + length - 5, ".yaml") == 0)
        length -= 5;
    snprintf(g->path, sizeof g->path, "%s", path);
    snprintf(g->name, sizeof g->name, "%.*s", (int)length, base);
    snprintf(g->title, sizeof g->title, "%s", g->name);
    snprintf(g->results, sizeof g->results, "results/claims/%s", g->name);
}

int statement_read(const char *path, const char *specs, const registry *r, const works *w, statement_group *out,
                   error *e)
{
    *out = (statement_group){0};
    reading_names(out, path);
    yaml_document text;
    yaml_faults *faults = calloc(1, sizeof *faults);
    statement_reading *s = calloc(1, sizeof *s);
    int result = faults && s ? 0 : error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    if (result == 0) {
        *s = (statement_reading){.path = path, .specs = specs, .works = w, .faults = faults, .group = out, .e = e};
        s->draft = (spec_draft){.registry = r, .faults = faults};
        result = yaml_load(path, &text, faults, e);
        if (result == 0 && text.complete && !text.root)
            result = error_set(e, ERROR_USAGE, "%s: the file is empty", path);
        if (result == 0 && text.complete && text.root->kind != YAML_MAP)
            yaml_fault_at(faults, text.root, "a file of claims begins with keys, as in 'claims:'");
        else if (result == 0 && text.complete)
            result = reading_top(s, text.root);
        if (result == 0 && faults->count)
            result = yaml_faults_report(faults, e);
        yaml_free(&text);
    }
    free(s);
    free(faults);
    return result;
}

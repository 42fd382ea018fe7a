/* spec_merge.c - merge keys: what `<<: *base` brings into a mapping. */
#include <stdlib.h>
#include <string.h>

#include "spec_yaml.h"

enum { PAIRS_MAX = 1000, VISITS_MAX = 20000 };

typedef struct yaml_flat {
    yaml_faults *faults;
    yaml_pair *pairs;
    int count, visits;
} yaml_flat;

static int yaml_is_merge(const yaml_node *key)
{
    return !key->quoted && strcmp(key->text, "<<") == 0;
}

static int yaml_flat_find(const yaml_flat *flat, int from, const char *key)
{
    for (int i = from; i < flat->count; i++)
        if (strcmp(flat->pairs[i].key->text, key) == 0)
            return i;
    return -1;
}

static void yaml_flat_add(yaml_flat *flat, const yaml_node *map);

static void yaml_flat_merge(yaml_flat *flat, const yaml_node *value)
{
    if (value->kind == YAML_MAP) {
        yaml_flat_add(flat, value);
        return;
    }
    for (int i = 0; value->kind == YAML_LIST && i < value->count; i++) {
        if (value->items[i]->kind == YAML_MAP)
            yaml_flat_add(flat, value->items[i]);
        else if (value->items[i]->kind != YAML_BROKEN)
            yaml_fault_at(flat->faults, value->items[i], "'<<' merges mappings, as in '<<: *base'");
    }
    if (value->kind == YAML_SCALAR)
        yaml_fault_at(flat->faults, value, "'<<' merges mappings, as in '<<: *base'");
}

/* A map's own pairs first, then what it merges; a key that is there already is left as it is. */
static void yaml_flat_add(yaml_flat *flat, const yaml_node *map)
{
    int own = flat->count;
    for (int i = 0; i < map->count; i++) {
        const yaml_node *key = map->pairs[i].key;
        /* Merges of merges of merges can name the same few lines a million times. */
        if (++flat->visits > VISITS_MAX || flat->count == PAIRS_MAX) {
            yaml_fault_at(flat->faults, key, "too many keys come together here");
            return;
        }
        if (yaml_is_merge(key))
            continue;
        int before = yaml_flat_find(flat, own, key->text);
        if (before >= 0)
            yaml_fault_at(flat->faults, key, "'%.64s' is given twice; it stands in line %d already", key->text,
                          flat->pairs[before].key->line);
        else if (yaml_flat_find(flat, 0, key->text) < 0)
            flat->pairs[flat->count++] = map->pairs[i];
    }
    for (int i = 0; i < map->count && flat->visits <= VISITS_MAX; i++)
        if (yaml_is_merge(map->pairs[i].key))
            yaml_flat_merge(flat, map->pairs[i].value);
}

int yaml_flatten(const yaml_node *map, yaml_faults *faults, yaml_pair **out, error *e)
{
    yaml_flat flat = {.faults = faults, .pairs = malloc(PAIRS_MAX * sizeof(yaml_pair))};
    *out = flat.pairs;
    if (!flat.pairs)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    yaml_flat_add(&flat, map);
    return flat.count;
}

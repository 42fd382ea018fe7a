/* golden_config.c - the encodings of whole networks in files of reference vectors. */
#include "golden_config.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

enum { CONFIG_OPTIONS_MAX = 6 };

/* How a value of the file becomes a value of our option. */
typedef enum golden_config_kind {
    CONFIG_NONE, /* ends the row */
    CONFIG_NUMBER,
    CONFIG_FLAG,
    CONFIG_TEXT,
    CONFIG_HEAD_SHARE /* columns of a head -> share of head_dim */
} golden_config_kind;

typedef struct golden_config_option {
    const char *key, *option;
    golden_config_kind kind;
} golden_config_option;

typedef struct golden_config_row {
    const char *pe;    /* config.pe */
    const char *name;  /* the encoding here */
    const char *fixed; /* options that every such file has, NULL: none */
    golden_config_option options[CONFIG_OPTIONS_MAX];
} golden_config_row;

/* A file whose pe stands in no row is taken for the encoding of that name with its default options. */
static const golden_config_row golden_config_rows[] = {
    {"sinusoidal", "sinusoidal", NULL, {{"base", "base", CONFIG_NUMBER}}},
    {"rope",
     "rope",
     NULL,
     {{"layout", "layout", CONFIG_TEXT},
      {"base", "base", CONFIG_NUMBER},
      {"rotary_dim", "fraction", CONFIG_HEAD_SHARE}}},
    {"t5",
     "t5",
     NULL,
     {{"num_buckets", "buckets", CONFIG_NUMBER},
      {"max_distance", "max_distance", CONFIG_NUMBER},
      {"share_bias", "shared", CONFIG_FLAG}}},
    {"shaw", "shaw", NULL, {{"clip_distance", "clip", CONFIG_NUMBER}, {"value_term", "value", CONFIG_FLAG}}},
    {"kerple_log", "kerple", "kind=log", {{"share_bias", "shared", CONFIG_FLAG}}},
    {"fire", "fire", NULL, {{"fire_width", "hidden", CONFIG_NUMBER}, {"fire_L", "threshold", CONFIG_NUMBER}}},
    {0},
};

/* Behind "layer<n>.", where there is one. */
static const char *const golden_config_params[][2] = {
    {"pos_emb", "learned.table"},
    {"shaw.k", "shaw.key"},
    {"shaw.v", "shaw.value"},
    {"fire.L_mult", "fire.L_multiplier"},
};

static const golden_config_option *golden_config_find(const golden_config_row *row, const char *key)
{
    for (int i = 0; row && i < CONFIG_OPTIONS_MAX && row->options[i].kind != CONFIG_NONE; i++)
        if (strcmp(row->options[i].key, key) == 0)
            return &row->options[i];
    return NULL;
}

/* 0, or -1 when the value is of another kind. */
static int golden_config_value(const json_t *config, const golden_config_option *o, const json_t *value, char *text,
                               size_t size)
{
    if (o->kind == CONFIG_TEXT && json_is_string(value)) {
        snprintf(text, size, "%s", json_string_value(value));
        return 0;
    }
    if (o->kind == CONFIG_FLAG && json_is_boolean(value)) {
        snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
        return 0;
    }
    if (o->kind == CONFIG_NUMBER && json_is_number(value)) {
        number_print(json_number_value(value), text, size);
        return 0;
    }
    double heads = json_number_value(json_object_get(config, "n_heads"));
    double width = json_number_value(json_object_get(config, "d_model"));
    if (o->kind != CONFIG_HEAD_SHARE || !json_is_number(value) || heads <= 0 || width <= 0)
        return -1;
    number_print(json_number_value(value) * heads / width, text, size);
    return 0;
}

static int golden_config_is_known(const char *key, const char *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(known[i], key) == 0)
            return 1;
    return strcmp(key, "pe") == 0;
}

int golden_config_stack(const json_t *config, const char *const *known, size_t known_count, char *text, size_t size,
                        char *reason, size_t reason_size)
{
    const char *pe = json_string_value(json_object_get(config, "pe")), *key;
    const golden_config_row *row = golden_config_rows;
    const json_t *value;
    if (!pe) {
        snprintf(reason, reason_size, "config.pe is missing");
        return -1;
    }
    while (row->pe && strcmp(row->pe, pe) != 0)
        row++;
    const char *fixed = row->pe ? row->fixed : NULL;
    const char *name = row->pe ? row->name : pe;
    size_t used = (size_t)snprintf(text, size, "%s%s%s", name, fixed ? "(" : "", fixed ? fixed : "");
    int options = fixed != NULL;
    json_object_foreach((json_t *)config, key, value)
    {
        char shown[256];
        if (golden_config_is_known(key, known, known_count) || json_is_null(value))
            continue;
        const golden_config_option *o = golden_config_find(row->pe ? row : NULL, key);
        if (!o || golden_config_value(config, o, value, shown, sizeof shown) != 0) {
            snprintf(reason, reason_size, "config.%.80s is not understood", key);
            return -1;
        }
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s", options ? "," : "(", o->option, shown);
        options = 1;
    }
    if (options && used < size)
        used += (size_t)snprintf(text + used, size - used, ")");
    if (used < size)
        return 0;
    snprintf(reason, reason_size, "its options are too long a text");
    return -1;
}

void golden_config_param(const char *name, char *text, size_t size)
{
    int layer, prefix = 0;
    if (sscanf(name, "layer%d.%n", &layer, &prefix) != 1)
        prefix = 0;
    const char *ours = name + prefix;
    for (size_t i = 0; i < sizeof golden_config_params / sizeof golden_config_params[0]; i++)
        if (strcmp(ours, golden_config_params[i][0]) == 0) {
            ours = golden_config_params[i][1];
            break;
        }
    snprintf(text, size, "%.*s%s", prefix, name, ours);
}

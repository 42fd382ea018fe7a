/* map_clamp.c - everything past a limit stands at the limit. */
#include "pe.h"

typedef struct clamp_options {
    double limit;
} clamp_options;

static const pe_option clamp_rows[] = {
    {"limit", PE_OPTION_REAL, PE_OFFSET(clamp_options, limit), "auto", 0, 1e9, 1, NULL,
     "the largest position; auto: the last one of training"},
    {0},
};

static void clamp_place(const pe_map_context *c, double *pos)
{
    const clamp_options *o = c->options;
    double limit = o->limit == PE_AUTO_REAL ? fmin(c->train_len - 1, c->last_position) : o->limit;
    for (int t = 0; t < c->len; t++)
        pos[t] = fmin(t, limit);
}

static const char *const clamp_examples[] = {"limit=7", NULL};

const pe_map pe_map_clamp = {
    PE_MAP_HEAD,
    .name = "clamp",
    .title = "Clamped positions",
    .source = "the rule by which lookups past a table's end read its last row in common array libraries",
    .formula = "pos(t) = min(t, limit)",
    .notes = "Tokens past the limit share a position: relative encodings see distance 0 among them.",
    .options = clamp_rows,
    .options_size = sizeof(clamp_options),
    .examples = clamp_examples,
    .gives_meaning = 1,
    .place = clamp_place,
};

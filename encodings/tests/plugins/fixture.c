/* fixture.c - one plug-in that is right and, by -DFIXTURE_..., all the ways in which one can be wrong. None of the
 * wrong ones may run: their hooks abort. */
#include <stdlib.h>

#include "pe.h"

#if defined FIXTURE_GOOD
#define FIXTURE_REFUSED 0
#else
#define FIXTURE_REFUSED 1
#endif

#if defined FIXTURE_TAKEN
#define FIXTURE_NAME "rope"
#elif defined FIXTURE_CAPITAL
#define FIXTURE_NAME "Halves"
#elif defined FIXTURE_RESERVED
#define FIXTURE_NAME "all"
#else
#define FIXTURE_NAME "halves"
#endif

#if defined FIXTURE_NO_FORMULA
#define FIXTURE_FORMULA NULL
#else
#define FIXTURE_FORMULA "s_ij += -weight |pos_i - pos_j|"
#endif

#if defined FIXTURE_BAD_DEFAULT
#define FIXTURE_DEFAULT "much"
#else
#define FIXTURE_DEFAULT "0.5"
#endif

typedef struct halves_options {
    double weight;
} halves_options;

static const pe_option halves_rows[] = {
    {"weight", PE_OPTION_REAL, PE_OFFSET(halves_options, weight), FIXTURE_DEFAULT, 0, 10, 0, NULL, "price of a token"},
    {0},
};

static int halves_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    (void)options;
    (void)shape;
    (void)message;
    (void)size;
    if (FIXTURE_REFUSED)
        abort();
    return 0;
}

static void halves_bias(const pe_context *c, const pe_tile *t, real *s)
{
    const halves_options *o = c->options;
    if (FIXTURE_REFUSED)
        abort();
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < t->keys; j++)
                s[h * t->plane + r * t->stride + j] -= (real)(o->weight * fabs(c->pos[t->row_begin + r] - c->pos[j]));
}

static const char *const halves_examples[] = {"weight=2", NULL};

static const pe_descriptor halves = {
    PE_DESCRIPTOR_HEAD,
    .name = FIXTURE_NAME,
    .family = "bias",
    .title = "A fixed price for each token of distance",
    .source = "made for the tests",
    .formula = FIXTURE_FORMULA,
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = halves_rows,
    .options_size = sizeof(halves_options),
    .examples = halves_examples,
    .check = halves_check,
    .bias = halves_bias,
#if defined FIXTURE_HALF_HOOKS
    .score = (void (*)(const pe_context *, const pe_tile *, real *, real *))abort,
#endif
};

static void every_second_place(const pe_map_context *c, double *pos)
{
    if (FIXTURE_REFUSED)
        abort();
    for (int t = 0; t < c->len; t++)
        pos[t] = 2 * t;
}

static const pe_map every_second = {
    PE_MAP_HEAD,
    .name = "every_second",
    .title = "Every second position",
    .source = "made for the tests",
    .formula = "pos(t) = 2 t",
    .place = every_second_place,
};

#if defined FIXTURE_HEAD_ABI
static const pe_descriptor foreign = {
    .abi = PE_ABI + 6, .real_size = sizeof(real), .struct_size = sizeof(pe_descriptor)};
#elif defined FIXTURE_HEAD_SIZE
static const pe_descriptor foreign = {.abi = PE_ABI, .real_size = sizeof(real), .struct_size = 24};
#endif

static const pe_descriptor *const fixture_encodings[] = {
    &halves,
#if defined FIXTURE_HEAD_ABI || defined FIXTURE_HEAD_SIZE
    &foreign,
#elif defined FIXTURE_TWICE
    &halves,
#endif
    NULL,
};

static const pe_map *const fixture_maps[] = {&every_second, NULL};

#if defined FIXTURE_ABI || defined FIXTURE_OLDER || defined FIXTURE_REAL || defined FIXTURE_SMALL ||                   \
    defined FIXTURE_MAP_SIZE
__attribute__((visibility("default"))) extern const pe_plugin PE_PLUGIN_SYMBOL;
const pe_plugin PE_PLUGIN_SYMBOL = {
#if defined FIXTURE_ABI
    .abi = PE_ABI + 1,
#elif defined FIXTURE_OLDER
    .abi = PE_ABI - 1,
#else
    .abi = PE_ABI,
#endif
#if defined FIXTURE_REAL
    .real_size = 16,
#else
    .real_size = sizeof(real),
#endif
#if defined FIXTURE_SMALL || defined FIXTURE_OLDER /* fields have been appended since */
    .descriptor_size = sizeof(pe_descriptor) - sizeof(void *),
#else
    .descriptor_size = sizeof(pe_descriptor),
#endif
#if defined FIXTURE_MAP_SIZE
    .map_size = sizeof(pe_map) + sizeof(void *),
#else
    .map_size = sizeof(pe_map),
#endif
    .encodings = fixture_encodings,
    .maps = fixture_maps,
};
#elif defined FIXTURE_MISSING
extern const void *const fixture_keeps[];
const void *const fixture_keeps[] = {fixture_encodings, fixture_maps};
#else
PE_PLUGIN(fixture_encodings, fixture_maps);
#endif

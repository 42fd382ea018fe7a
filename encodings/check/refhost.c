#include "refhost.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "dice.h"
#include "refhost_private.h"

void refhost_hook_begin(refhost *h)
{
    if (h->settings.watch)
        zone_seal(&h->zones);
}

void refhost_hook_end(refhost *h, int member, const char *hook, const void *const *writable)
{
    const void *allowed[8 + PE_PARAMS_MAX] = {NULL};
    int count = 0;
    char what[160];
    if (!h->settings.watch || h->fault[0])
        return;
    for (; writable[count]; count++)
        allowed[count] = writable[count];
    for (int i = 0; i < h->param_count; i++) /* only backward hooks are given dtheta */
        if (h->param[i].member == member && h->context[member].dtheta)
            allowed[count++] = h->param[i].dtheta;
    if (zone_verify(&h->zones, allowed, what, sizeof what) < 0)
        snprintf(h->fault, sizeof h->fault, "%s: %s %s", h->stack->member[member].encoding->name, hook, what);
}

const char *refhost_fault(refhost *h)
{
    char what[160];
    if (!h->fault[0] && zone_intact(&h->zones, what, sizeof what) < 0)
        snprintf(h->fault, sizeof h->fault, "a hook %s", what);
    return h->fault[0] ? h->fault : NULL;
}

const pe_context *refhost_context(refhost *h, int member, int layer, int backward)
{
    pe_context *c = &h->context[member];
    c->layer = layer;
    c->dtheta = backward ? h->dtheta[member] : NULL;
    return c;
}

pe_tile refhost_view(const refhost *h, const refhost_tile *t, int member, int for_bias)
{
    pe_tile view = t->about;
    if (for_bias) {
        view.q = view.k = NULL;
    } else {
        view.gate = h->gate[member];
        view.bias = h->stack->member[member].encoding->reads_bias ? t->bias : NULL;
    }
    return view;
}

int refhost_visible(const refhost *h, int i, int j)
{
    return !refhost_beyond(h, i, j) && (!h->mask || h->mask[i * h->settings.len + j]);
}

/* ------------------------------------------------------------------------------------------------ memory */

static int refhost_make_facts(refhost *h, const refhost_settings *s, error *e)
{
    h->shape = zone_add(&h->zones, "the shape", sizeof *h->shape, e);
    h->pos = zone_add(&h->zones, "pos", (size_t)s->len * sizeof *h->pos, e);
    if (!h->shape || !h->pos)
        return -1;
    *h->shape = s->shape;
    for (int t = 0; t < s->len; t++)
        h->pos[t] = s->pos ? s->pos[t] : t;
    if (s->mask) {
        size_t bytes = (size_t)s->len * (size_t)s->len;
        h->mask = zone_add(&h->zones, "the mask", bytes, e);
        if (!h->mask)
            return -1;
        memcpy(h->mask, s->mask, bytes);
    }
    for (int m = 0; m < h->stack->count; m++) {
        const stack_member *member = &h->stack->member[m];
        if (member->encoding->options_size > 0 &&
            zone_add_foreign(&h->zones, "the options", member->options, member->encoding->options_size, e) < 0)
            return -1;
    }
    return 0;
}

static pe_sizes refhost_sizes(const refhost *h, int member, int rows, int keys)
{
    const pe_descriptor *encoding = h->stack->member[member].encoding;
    pe_sizes sizes = {0, 0, 0};
    if (encoding->sizes)
        encoding->sizes(&h->context[member], rows, keys, &sizes);
    return sizes;
}

/* Positions and options are known from here on; parameters are not. */
static int refhost_prepare(refhost *h, int member, error *e)
{
    const pe_descriptor *encoding = h->stack->member[member].encoding;
    pe_context *c = &h->context[member];
    *c = (pe_context){.shape = h->shape,
                      .options = h->stack->member[member].options,
                      .layer = h->settings.layer,
                      .len = h->settings.len,
                      .total_len = h->settings.total_len};
    pe_sizes sizes = refhost_sizes(h, member, h->settings.len, h->settings.len);
    c->pos = h->pos;
    if (sizes.cache_bytes > 0 && !(h->cache[member] = zone_add(&h->zones, "the cache", sizes.cache_bytes, e)))
        return -1;
    if (encoding->prepare) {
        refhost_hook_begin(h);
        encoding->prepare(c, h->cache[member]);
        refhost_hook_end(h, member, "prepare", (const void *[]){h->cache[member], NULL});
    }
    c->cache = h->cache[member];
    if (!encoding->gate)
        return 0;
    h->gate[member] = zone_add_reals(&h->zones, "the gate's save", sizes.gate_reals, e);
    h->dgate[member] = zone_add_reals(&h->zones, "the gate's dsave", sizes.gate_reals, e);
    return h->gate[member] && h->dgate[member] ? 0 : -1;
}

static int refhost_make_params(refhost *h, int member, error *e)
{
    const pe_descriptor *encoding = h->stack->member[member].encoding;
    pe_param about[PE_PARAMS_MAX] = {{.name = NULL}};
    int count = encoding->params ? encoding->params(h->stack->member[member].options, h->shape, about) : 0;
    if (count < 0 || count > PE_PARAMS_MAX)
        return error_set(e, ERROR_RUN, "%s: params returned %d, outside 0 .. %d", encoding->name, count, PE_PARAMS_MAX);
    if (count == 0)
        return 0;
    refhost_param *more = realloc(h->param, (size_t)(h->param_count + count) * sizeof *more);
    if (!more)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    h->param = more;
    h->theta[member] = calloc((size_t)count, sizeof *h->theta[member]);
    h->dtheta[member] = calloc((size_t)count, sizeof *h->dtheta[member]);
    if (!h->theta[member] || !h->dtheta[member])
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = 0; i < count; i++) {
        if (!about[i].name || about[i].rows < 1 || about[i].cols < 1)
            return error_set(e, ERROR_RUN, "%s: parameter %d has no name or no elements", encoding->name, i);
        refhost_param *p = &h->param[h->param_count];
        char name[64], gradient[64];
        snprintf(name, sizeof name, "%s.%s", encoding->name, about[i].name);
        snprintf(gradient, sizeof gradient, "the gradient of %s.%s", encoding->name, about[i].name);
        *p = (refhost_param){
            .member = member, .index = i, .about = about[i], .count = (size_t)about[i].rows * (size_t)about[i].cols};
        p->theta = zone_add_reals(&h->zones, name, p->count, e);
        p->dtheta = zone_add_reals(&h->zones, gradient, p->count, e);
        if (!p->theta || !p->dtheta)
            return -1;
        h->theta[member][i] = p->theta;
        h->dtheta[member][i] = p->dtheta;
        h->param_count++;
    }
    h->context[member].theta = h->theta[member];
    return 0;
}

static int refhost_make_activations(refhost *h, error *e)
{
    const refhost_settings *s = &h->settings;
    int heads = s->shape.heads, width = s->shape.width;
    int cells = h->dim > s->shape.head_dim ? h->dim : s->shape.head_dim;
    h->head_stride = cells + s->pad;
    h->token_stride = heads * h->head_stride + s->pad;
    h->o_stride = width + s->pad;
    zone_layout tokens = {s->len, h->token_stride, heads, h->head_stride, cells};
    zone_layout vectors = {s->len, h->o_stride, 1, h->o_stride, width};
    size_t plain = (size_t)s->len * (size_t)width;
    size_t square = (size_t)heads * (size_t)s->len * (size_t)s->len;
    struct {
        real **where;
        const char *name;
        const zone_layout *layout; /* NULL: `count` reals without gaps */
        size_t count;
    } wanted[] = {
        {&h->x, "x", NULL, plain},
        {&h->dx, "dx", NULL, plain},
        {&h->q, "q", &tokens, 0},
        {&h->k, "k", &tokens, 0},
        {&h->v, "v", &tokens, 0},
        {&h->dq, "dq", &tokens, 0},
        {&h->dk, "dk", &tokens, 0},
        {&h->dv, "dv", &tokens, 0},
        {&h->o, "o", &vectors, 0},
        {&h->d_o, "d_o", &vectors, 0},
        {&h->out_logits, "logits", NULL, square},
        {&h->out_bias, "the whole bias", NULL, square},
        {&h->out_p, "the whole p", NULL, square},
        {&h->out_o, "the output", NULL, plain},
        {&h->grad_q, "the input's dq", NULL, plain},
        {&h->grad_k, "the input's dk", NULL, plain},
        {&h->grad_v, "the input's dv", NULL, plain},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].where = wanted[i].layout ? zone_add_spread(&h->zones, wanted[i].name, *wanted[i].layout, e)
                                            : zone_add_reals(&h->zones, wanted[i].name, wanted[i].count, e);
        if (!*wanted[i].where)
            return -1;
    }
    return 0;
}

static int refhost_make_tile(refhost *h, refhost_tile *t, int row_begin, error *e)
{
    const refhost_settings *s = &h->settings;
    pe_tile *a = &t->about;
    a->row_begin = row_begin;
    a->rows = s->len - row_begin < s->tile_rows ? s->len - row_begin : s->tile_rows;
    a->keys = s->shape.causal ? row_begin + a->rows : s->len;
    a->stride = a->keys + s->pad;
    a->plane = a->rows * a->stride + s->pad;
    a->q = h->q + (ptrdiff_t)row_begin * h->token_stride;
    a->k = h->k;
    a->token_stride = h->token_stride;
    a->head_stride = h->head_stride;
    a->rotated_dim = h->dim;
    a->rotated_dim = h->dim;
    a->scale = (real)h->scale;
    zone_layout layout = {s->shape.heads, a->plane, a->rows, a->stride, a->keys};
    real **const spread[] = {&t->s, &t->bias, &t->p, &t->ds, &t->dp, &t->dbias};
    const char *const names[] = {"s", "the bias", "p", "ds", "dp", "dbias"};
    for (int i = 0; i < 6; i++)
        if (!(*spread[i] = zone_add_spread(&h->zones, names[i], layout, e)))
            return -1;
    for (int m = 0; m < h->stack->count; m++) {
        if (!h->stack->member[m].encoding->score)
            continue;
        pe_sizes sizes = refhost_sizes(h, m, a->rows, a->keys);
        if (!(t->save[m] = zone_add_reals(&h->zones, "save", sizes.save_reals, e)))
            return -1;
    }
    return 0;
}

static int refhost_build(refhost *h, error *e)
{
    if (refhost_make_facts(h, &h->settings, e) < 0)
        return -1;
    h->dim = h->shape->head_dim;
    for (int m = 0; m < h->stack->count; m++) {
        const stack_member *member = &h->stack->member[m];
        if (member->encoding->rotated_dim)
            h->dim = member->encoding->rotated_dim(member->options, h->shape);
        if (refhost_prepare(h, m, e) < 0 || refhost_make_params(h, m, e) < 0)
            return -1;
    }
    if (refhost_make_activations(h, e) < 0)
        return -1;
    int height = h->settings.tile_rows;
    h->tile = calloc((size_t)((h->settings.len + height - 1) / height), sizeof *h->tile);
    if (!h->tile)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int row = 0; row < h->settings.len; row += height)
        if (refhost_make_tile(h, &h->tile[h->tile_count++], row, e) < 0)
            return -1;
    return 0;
}

refhost *refhost_new(const pe_stack *stack, const refhost_settings *settings, error *e)
{
    assert(settings->len >= 1 && settings->shape.width == settings->shape.heads * settings->shape.head_dim);
    refhost *h = calloc(1, sizeof *h);
    if (!h) {
        error_set(e, ERROR_ENVIRONMENT, "out of memory");
        return NULL;
    }
    h->stack = stack;
    h->settings = *settings;
    if (h->settings.tile_rows <= 0 || h->settings.tile_rows > settings->len)
        h->settings.tile_rows = settings->len;
    if (h->settings.total_len == 0)
        h->settings.total_len = settings->len;
    h->scale = settings->scale != 0 ? settings->scale : 1 / sqrt((double)settings->shape.head_dim);
    if (refhost_build(h, e) < 0) {
        refhost_free(h);
        return NULL;
    }
    refhost_init(h, 0);
    refhost_clear(h);
    return h;
}

void refhost_free(refhost *h)
{
    if (!h)
        return;
    for (int m = 0; m < STACK_MEMBERS_MAX; m++) {
        free(h->theta[m]);
        free(h->dtheta[m]);
    }
    free(h->param);
    free(h->tile);
    zone_free_all(&h->zones);
    free(h);
}

/* ------------------------------------------------------------------------------------------------ parameters */

int refhost_param_count(const refhost *h)
{
    return h->param_count;
}

const refhost_param *refhost_param_at(const refhost *h, int i)
{
    return &h->param[i];
}

void refhost_clear(refhost *h)
{
    for (int i = 0; i < h->param_count; i++)
        memset(h->param[i].dtheta, 0, h->param[i].count * sizeof(real));
}

static dice refhost_dice(const refhost_param *p, uint64_t seed)
{
    dice d = {(seed * 64 + (uint64_t)p->member) * 64 + (uint64_t)p->index};
    dice_u64(&d);
    return d;
}

void refhost_init(refhost *h, uint64_t seed)
{
    for (int i = 0; i < h->param_count; i++) {
        refhost_param *p = &h->param[i];
        const pe_descriptor *encoding = h->stack->member[p->member].encoding;
        dice d = refhost_dice(p, seed);
        for (size_t j = 0; j < p->count; j++) {
            double draw = p->about.init == PE_INIT_UNIFORM ? dice_symmetric(&d) : dice_normal(&d);
            p->theta[j] = (real)(p->about.mean + p->about.deviation * draw);
        }
        if (!encoding->init)
            continue;
        refhost_hook_begin(h);
        encoding->init(refhost_context(h, p->member, p->about.per_layer ? h->settings.layer : -1, 0), p->index,
                       p->theta);
        refhost_hook_end(h, p->member, "init", (const void *[]){p->theta, NULL});
    }
}

/* How far inside its bounds a parameter stays, so that a difference can be taken. */
#define REFHOST_INSIDE 0.01

void refhost_disturb(refhost *h, uint64_t seed)
{
    for (int i = 0; i < h->param_count; i++) {
        refhost_param *p = &h->param[i];
        dice d = refhost_dice(p, seed ^ UINT64_C(0xd157));
        for (size_t j = 0; j < p->count; j++) {
            double draw = dice_symmetric(&d), value = (double)p->theta[j];
            value = p->about.mean == 0 ? value + 0.3 * draw : value * (1 + 0.2 * draw);
            if (p->about.least < p->about.most)
                value = fmin(fmax(value, p->about.least + REFHOST_INSIDE), p->about.most - REFHOST_INSIDE);
            p->theta[j] = (real)value;
        }
    }
}

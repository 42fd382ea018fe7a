/* model.c - which parameters a network has, where they stand and how they start. */
#include "model.h"

#include <stdio.h>

#include "layers.h"
#include "product.h"
#include "rng.h"

/* ------------------------------------------------------------------------------------------------ the table */

enum { MODEL_LINE = 64 / sizeof(real) }; /* reals of a cache line */

/* Every parameter begins a cache line: behind a vector of odd length (the biases of the head, an encoding's two numbers)
 * all matrices would lie across lines otherwise, and products with them are 3 % slower. What is left over stays 0. */
static size_t model_add(model *m, const char *name, int rows, int cols, double mean, double deviation, int matrix)
{
    model_param *p = &m->params[m->params_count++];
    *p = (model_param){ .offset = m->length, .rows = rows, .cols = cols, .mean = mean, .deviation = deviation,
                        .matrix = matrix, .owner_layer = -1 };
    snprintf(p->name, sizeof p->name, "%s", name);
    m->length += (model_param_length(p) + MODEL_LINE - 1) / MODEL_LINE * MODEL_LINE;
    return p->offset;
}

static size_t model_add_in(model *m, int layer, const char *name, int rows, int cols, double mean, double deviation,
                           int matrix)
{
    char full[96];
    snprintf(full, sizeof full, "layer%d.%s", layer, name);
    return model_add(m, full, rows, cols, mean, deviation, matrix);
}

static void model_add_layer(model *m, int l)
{
    int width = m->shape.width, rms = m->norm_kind == NORM_RMS;
    double dev = m->init_deviation;
    model_layer *at = &m->layer[l];
    if (m->share_layers && l > 0) {
        *at = m->layer[0];
        return;
    }
    at->norm1_w = model_add_in(m, l, "ln1.w", 1, width, 1, 0, 0);
    at->norm1_b = rms ? 0 : model_add_in(m, l, "ln1.b", 1, width, 0, 0, 0);
    at->qkv_w = model_add_in(m, l, "qkv.w", 3 * width, width, 0, dev, 1);
    at->qkv_b = model_add_in(m, l, "qkv.b", 1, 3 * width, 0, 0, 0);
    at->proj_w = model_add_in(m, l, "proj.w", width, width, 0, dev, 1);
    at->proj_b = model_add_in(m, l, "proj.b", 1, width, 0, 0, 0);
    at->norm2_w = model_add_in(m, l, "ln2.w", 1, width, 1, 0, 0);
    at->norm2_b = rms ? 0 : model_add_in(m, l, "ln2.b", 1, width, 0, 0, 0);
    at->fc1_w = model_add_in(m, l, "fc1.w", m->hidden, width, 0, dev, 1);
    at->fc1_b = model_add_in(m, l, "fc1.b", 1, m->hidden, 0, 0, 0);
    at->fc2_w = model_add_in(m, l, "fc2.w", width, m->hidden, 0, dev, 1);
    at->fc2_b = model_add_in(m, l, "fc2.b", 1, width, 0, 0, 0);
}

/* A parameter that layers share is found again by its name: the same encoding with the same options. */
static size_t model_encoding_param(model *m, const attention_member *owner, const pe_param *p, int layer, int index,
                                   const char *variant)
{
    char name[96];
    if (p->per_layer && layer >= 0)
        snprintf(name, sizeof name, "layer%d.%s%s.%s", layer, owner->encoding->name, variant, p->name);
    else
        snprintf(name, sizeof name, "%s%s.%s", owner->encoding->name, variant, p->name);
    const model_param *there = model_find(m, name);
    if (there)
        return there->offset;
    size_t offset = model_add(m, name, p->rows, p->cols, p->mean, p->deviation, 0);
    model_param *made = &m->params[m->params_count - 1];
    made->init = p->init;
    made->least = p->least;
    made->most = p->most;
    made->per_position = p->per_position;
    made->owner = owner;
    made->owner_layer = p->per_layer ? layer : -1;
    made->owner_index = index;
    return offset;
}

/* Two stacks of a layered encoding may hold one encoding with different options; the later ones are told apart by
 * the number of their stack. */
static void model_variant(const layered_stack *stacks, int pattern, const stack_member *member, char out[16])
{
    out[0] = '\0';
    size_t size = member->encoding->options_size;
    for (int i = 0; i < pattern; i++)
        for (int k = 0; k < stacks->pattern[i].count; k++) {
            const stack_member *other = &stacks->pattern[i].member[k];
            if (other->encoding != member->encoding)
                continue;
            if (size == 0 || memcmp(other->options, member->options, size) == 0) {
                model_variant(stacks, i, other, out);
                return;
            }
            snprintf(out, 16, "#%d", pattern);
        }
}

static void model_bind_member(model *m, attention_layer *to, int pattern, const stack_member *member, int layer)
{
    attention_member *bound = &to->member[to->count++];
    *bound = (attention_member){ .encoding = member->encoding, .options = member->options };
    char variant[16];
    model_variant(m->stacks, pattern, member, variant);
    pe_param declared[PE_PARAMS_MAX];
    bound->params = member->encoding->params ? member->encoding->params(member->options, &m->shape, declared) : 0;
    for (int i = 0; i < bound->params; i++)
        bound->at[i] = model_encoding_param(m, bound, &declared[i], layer, i, variant);
}

/* What attention needs to know of the members' hooks under their present options. */
static void model_describe_layer(model *m, attention_layer *at)
{
    const pe_stack *stack = &m->stacks->pattern[at->pattern];
    at->rotating = -1;
    at->rotated_dim = m->shape.head_dim;
    at->bias_by_distance = 1;
    for (int i = 0; i < stack->count; i++) {
        const pe_descriptor *d = stack->member[i].encoding;
        if (d->rotate) {
            at->rotating = i;
            at->rotated_dim = d->rotated_dim ? d->rotated_dim(stack->member[i].options, &m->shape) : m->shape.head_dim;
        }
        unsigned idle = stack_member_idle(&stack->member[i]);
        at->has_score |= d->score && !(idle & PE_IDLE_SCORE);
        at->has_value |= d->value && !(idle & PE_IDLE_VALUE);
        at->has_gate |= d->gate != NULL;
        at->has_bias |= d->bias != NULL || d->reads_bias;
        if ((d->bias && !(stack_member_claims(&stack->member[i]) & PE_SHIFT_INVARIANT)) || d->reads_bias)
            at->bias_by_distance = 0;
    }
    at->together = at->has_score || at->has_value;
    double last = stack_last_position(stack, &m->shape);
    m->last_position = last < m->last_position ? last : m->last_position;
}

static void model_bind_layer(model *m, int l)
{
    attention_layer *at = &m->attention[l];
    int pattern = l % m->stacks->count;
    *at = (attention_layer){ .layer = l, .pattern = pattern };
    for (int i = 0; i < m->stacks->pattern[pattern].count; i++)
        model_bind_member(m, at, pattern, &m->stacks->pattern[pattern].member[i], l);
    model_describe_layer(m, at);
}

/* Members that add to the token vectors act once for the whole network, however many layers name them. */
static void model_bind_embed(model *m)
{
    m->embed = (attention_layer){ .layer = -1, .rotating = -1, .rotated_dim = m->shape.head_dim };
    for (int pattern = 0; pattern < m->stacks->count; pattern++)
        for (int i = 0; i < m->stacks->pattern[pattern].count; i++) {
            const stack_member *member = &m->stacks->pattern[pattern].member[i];
            int there = !member->encoding->embed;
            for (int k = 0; k < m->embed.count; k++)
                there |= m->embed.member[k].encoding == member->encoding &&
                         (!member->encoding->options_size || memcmp(m->embed.member[k].options, member->options,
                                                                    member->encoding->options_size) == 0);
            if (!there && m->embed.count < STACK_MEMBERS_MAX)
                model_bind_member(m, &m->embed, pattern, member, -1);
        }
}

/* The flat block exists now: members get pointers into it. */
static void model_resolve(model *m, attention_layer *l)
{
    for (int i = 0; i < l->count; i++)
        for (int k = 0; k < l->member[i].params; k++) {
            l->member[i].theta[k] = m->value + l->member[i].at[k];
            l->member[i].dtheta[k] = m->grad ? m->grad + l->member[i].at[k] : NULL;
        }
}

/* ------------------------------------------------------------------------------------------------ creation */

int model_create(model *m, arena *a, const run_config *c, const layered_stack *stacks, int vocab, int train_tokens,
                 int training, error *e)
{
    int width = c->model.width;
    *m = (model){ .shape = { .width = width, .heads = c->model.heads, .head_dim = width / c->model.heads,
                             .layers = c->model.layers, .train_len = train_tokens, .causal = c->model.causal },
                  .vocab = vocab, .hidden = width * c->model.mlp,
                  .norm_kind = c->model.norm == CONFIG_NORM_RMS ? NORM_RMS : NORM_LAYER,
                  .gelu_exact = c->model.gelu == CONFIG_GELU_EXACT, .tied_head = c->model.tied_head,
                  .share_layers = c->model.share_layers, .scale_embedding = c->model.scale_embedding,
                  .init_deviation = c->model.init_deviation, .stacks = stacks, .last_position = INFINITY };
    m->params_room = 5 + c->model.layers * (12 + STACK_MEMBERS_MAX * PE_PARAMS_MAX) + STACK_MEMBERS_MAX * PE_PARAMS_MAX;
    m->params = ARENA_NEW(a, model_param, m->params_room);
    m->layer = ARENA_NEW(a, model_layer, c->model.layers);
    m->attention = ARENA_NEW(a, attention_layer, c->model.layers);
    if (!m->params || !m->layer || !m->attention)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for the parameter table");

    m->token = model_add(m, "tok_emb", vocab, width, 0, m->init_deviation, 0);
    model_bind_embed(m);
    for (int l = 0; l < c->model.layers; l++) {
        model_add_layer(m, l);
        model_bind_layer(m, l);
    }
    m->norm_f_w = model_add(m, "lnf.w", 1, width, 1, 0, 0);
    if (m->norm_kind == NORM_LAYER)
        m->norm_f_b = model_add(m, "lnf.b", 1, width, 0, 0, 0);
    m->head_w = m->tied_head ? m->token : model_add(m, "head.w", vocab, width, 0, m->init_deviation, 1);
    m->head_b = model_add(m, "head.b", 1, vocab, 0, 0, 0);

    m->value = ARENA_NEW(a, real, m->length);
    m->turned = ARENA_NEW(a, real, m->length);
    m->grad = training ? ARENA_NEW(a, real, m->length) : NULL;
    if (!m->value || !m->turned || (training && !m->grad))
        return error_set(e, ERROR_ENVIRONMENT, "no memory for %zu parameters", m->length);
    model_resolve(m, &m->embed);
    for (int l = 0; l < c->model.layers; l++)
        model_resolve(m, &m->attention[l]);
    return 0;
}

/* The options in `to` that stand where these stand in `from`. */
static const void *model_same_place(const layered_stack *from, const layered_stack *to, const attention_member *member)
{
    for (int i = 0; i < from->count; i++)
        for (int k = 0; k < from->pattern[i].count; k++)
            if (from->pattern[i].member[k].encoding == member->encoding &&
                from->pattern[i].member[k].options == member->options)
                return to->pattern[i].member[k].options;
    return member->options;
}

int model_view(model *view, arena *a, const model *m, const layered_stack *stacks)
{
    *view = *m;
    view->stacks = stacks;
    view->last_position = INFINITY;
    view->attention = ARENA_NEW(a, attention_layer, m->shape.layers);
    if (!view->attention)
        return -1;
    for (int i = 0; i < view->embed.count; i++)
        view->embed.member[i].options = model_same_place(m->stacks, stacks, &m->embed.member[i]);
    for (int l = 0; l < m->shape.layers; l++) {
        attention_layer *at = &view->attention[l];
        *at = m->attention[l];
        for (int i = 0; i < at->count; i++)
            at->member[i].options = stacks->pattern[at->pattern].member[i].options;
        model_describe_layer(view, at);
    }
    return 0;
}

static int model_is_linear(const model *m, const model_param *p)
{
    return p->matrix || (m->tied_head && p->offset == m->token);
}

void model_changed(model *m)
{
    for (int i = 0; i < m->params_count; i++) {
        const model_param *p = &m->params[i];
        if (model_is_linear(m, p))
            product_transpose(m->value + p->offset, p->rows, p->cols, m->turned + p->offset);
    }
}

/* By their bits: what is not a number is equal to itself here. */
static int model_differ(const real *a, const real *b)
{
    return memcmp(a, b, sizeof *a) != 0;
}

int model_is_current(const model *m)
{
    for (int i = 0; i < m->params_count; i++) {
        const model_param *p = &m->params[i];
        const real *value = m->value + p->offset, *turned = m->turned + p->offset;
        size_t last = model_param_length(p) - 1;
        size_t right = (size_t)p->cols - 1; /* of the first row: the last row's first in the transpose */
        if (model_is_linear(m, p) && (model_differ(value, turned) || model_differ(value + last, turned + last) ||
                                      model_differ(value + right, turned + right * (size_t)p->rows)))
            return 0;
    }
    return 1;
}

void model_init(model *m, uint64_t seed)
{
    for (int i = 0; i < m->params_count; i++) {
        const model_param *p = &m->params[i];
        real *value = m->value + p->offset;
        rng r = rng_stream(seed, RNG_WEIGHTS, rng_hash(p->name), 0);
        for (size_t k = 0; k < model_param_length(p); k++) {
            double noise = 0;
            if (p->deviation != 0)
                noise = p->init == PE_INIT_UNIFORM ? 2 * rng_uniform(&r) - 1 : rng_normal(&r);
            value[k] = (real)(p->mean + p->deviation * noise);
        }
        if (p->owner && p->owner->encoding->init) {
            pe_context c = { .shape = &m->shape, .options = p->owner->options, .layer = p->owner_layer,
                             .theta = p->owner->theta };
            p->owner->encoding->init(&c, p->owner_index, value);
        }
    }
    model_changed(m);
}

const model_param *model_find(const model *m, const char *name)
{
    for (int i = 0; i < m->params_count; i++)
        if (strcmp(m->params[i].name, name) == 0)
            return &m->params[i];
    return NULL;
}

static long model_count(const model *m, int of_encodings)
{
    long count = 0;
    for (int i = 0; i < m->params_count; i++)
        if (!of_encodings || m->params[i].owner)
            count += (long)model_param_length(&m->params[i]);
    return count;
}

long model_parameters(const model *m)
{
    return model_count(m, 0);
}

long model_encoding_parameters(const model *m)
{
    return model_count(m, 1);
}

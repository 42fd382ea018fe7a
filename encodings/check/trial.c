#include "trial.h"

#include <stdio.h>
#include <stdlib.h>

#include "dice.h"

/* ------------------------------------------------------------------------------------------------ cases */

/* Each of 0 .. span-1 is taken with the probability that fills what is left of len: all subsets are equally likely. */
static int trial_place_random(int len, double last, double *pos)
{
    int span = (int)fmin(2048, floor(last) + 1), taken = 0;
    dice d = {5};
    for (int at = 0; at < span && taken < len; at++)
        if (dice_uniform(&d) * (span - at) < len - taken)
            pos[taken++] = at;
    return taken == len ? 0 : -1;
}

int trial_place(trial_positions kind, int len, double last, double *pos)
{
    double first = 0;
    if (kind == TRIAL_SHIFTED)
        first = isinf(last) ? 37 : floor(last) - (len - 1);
    if (kind == TRIAL_REAL) {
        /* Steps of 0 .. 2.5, squeezed into what has a meaning. */
        double step = fmin(2.5, last / len);
        dice d = {7};
        double at = 0;
        for (int t = 0; t < len; t++) {
            pos[t] = floor(at * 64) / 64;
            at += t == len / 2 ? 0 : step * dice_uniform(&d);
        }
        return last >= 0 ? 0 : -1;
    }
    if (kind == TRIAL_RANDOM)
        return trial_place_random(len, last, pos);
    if (first < 0 || first + len - 1 > last)
        return -1;
    for (int t = 0; t < len; t++)
        pos[t] = first + (kind == TRIAL_UNORDERED ? t % (len / 2 + 1) : t);
    return 0;
}

static int trial_needs_order(const pe_stack *stack)
{
    int needed = 0;
    for (int i = 0; i < stack->count; i++)
        needed |= stack->member[i].encoding->needs_order;
    return needed;
}

/* A short table may refuse to train at the usual length and still be tried on shorter ones. own: the training length
 * that is wanted; 0: the usual one. */
static int trial_accepted(const pe_stack *stack, int own, trial_case *c, error *refusal)
{
    const int train_len[] = {own ? own : TRIAL_TRAIN_LEN, own ? own : c->len};
    for (int i = 0; i < 2; i++) {
        error_clear(refusal);
        c->shape.train_len = train_len[i];
        if (stack_check(stack, &c->shape, c->len, refusal) == 0)
            return 1;
    }
    return 0;
}

int trial_cases(const pe_stack *stack, trial_case out[TRIAL_CASES_MAX], error *e)
{
    static const struct {
        int heads, head_dim, len, train_len;
    } shapes[] = {{3, 8, 12, 0}, {3, 4, 7, 0}, {1, 8, 12, 0}, {1, 4, 7, 0}, {3, 4, 1, 0}, {3, 4, 12, 5}};
    static const char *const kinds[] = {"integer", "shifted", "real", "random", "unordered"};
    int count = 0;
    error refusal = ERROR_INIT, first = ERROR_INIT; /* the first is that of the roomiest shape */
    for (int s = 0; s < (int)(sizeof shapes / sizeof shapes[0]); s++)
        for (int causal = 1; causal >= 0; causal--)
            for (int kind = TRIAL_INTEGER; kind <= TRIAL_UNORDERED; kind++) {
                if (s > 0 && kind != s % 3) /* all kinds for the first shape, one for each other */
                    continue;
                if (kind == TRIAL_UNORDERED && trial_needs_order(stack))
                    continue;
                trial_case *c = &out[count];
                *c = (trial_case){.len = shapes[s].len, .kind = (trial_positions)kind};
                c->shape = (pe_shape){shapes[s].heads * shapes[s].head_dim,
                                      shapes[s].heads,
                                      shapes[s].head_dim,
                                      2,
                                      TRIAL_TRAIN_LEN,
                                      causal};
                int refused = !trial_accepted(stack, shapes[s].train_len, c, &refusal);
                double last = stack_last_position(stack, &c->shape);
                if (!refused && trial_place(c->kind, c->len, last, c->pos) < 0)
                    refused = error_set(&refusal, ERROR_RUN, "%d tokens do not fit in positions up to %g", c->len, last);
                if (refused) {
                    first = first.kind == ERROR_NONE ? refusal : first;
                    continue;
                }
                snprintf(c->name, sizeof c->name, "heads %d, head_dim %d, len %d%s, %s, %s positions", c->shape.heads,
                         c->shape.head_dim, c->len, shapes[s].train_len ? " past training" : "",
                         causal ? "causal" : "bidirectional", kinds[kind]);
                count++;
            }
    if (count == 0)
        error_set(e, ERROR_RUN, "no trial shape is accepted: %s", first.message);
    return count;
}

double trial_reach(const trial_case *c)
{
    double farthest = 0;
    for (int t = 0; t < c->len; t++)
        farthest = fmax(farthest, c->pos[t]);
    return farthest;
}

refhost_settings trial_settings(const trial_case *c)
{
    return (refhost_settings){
        .shape = c->shape, .len = c->len, .pos = c->pos, .garbage = 1e4, .tile_rows = 5, .pad = 3};
}

/* ------------------------------------------------------------------------------------------------ life */

int trial_open(trial *t, const pe_stack *stack, const refhost_settings *settings, uint64_t seed, error *e)
{
    *t = (trial){.settings = *settings};
    size_t len = (size_t)settings->len, width = (size_t)settings->shape.width;
    t->plain = len * width;
    t->square = (size_t)settings->shape.heads * len * len;
    t->values = malloc((5 * t->plain + t->square + 3 * width * width) * sizeof(real));
    if (!t->values)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    t->host = refhost_new(stack, settings, e);
    if (!t->host) {
        trial_close(t);
        return -1;
    }
    refhost_init(t->host, seed);
    refhost_disturb(t->host, seed);
    real **const parts[] = {&t->x, &t->q, &t->k, &t->v, &t->d_o};
    for (size_t i = 0; i < 5; i++) {
        dice d = {seed * 16 + i};
        *parts[i] = t->values + i * t->plain;
        dice_fill(&d, *parts[i], t->plain);
    }
    dice d = {seed * 16 + 5};
    t->d_logits = t->values + 5 * t->plain;
    dice_fill(&d, t->d_logits, t->square);
    real *weights = t->d_logits + t->square;
    d = (dice){seed * 16 + 6};
    dice_fill(&d, weights, 3 * width * width);
    for (size_t i = 0; i < 3 * width * width; i++)
        weights[i] /= (real)sqrt((double)width);
    t->in = (refhost_input){t->x, t->q, t->k, t->v, weights};
    return 0;
}

void trial_close(trial *t)
{
    refhost_free(t->host);
    free(t->values);
    *t = (trial){.host = NULL};
}

double trial_loss(trial *t, double *size)
{
    refhost_output out = refhost_forward(t->host, &t->in);
    double loss = 0, sum = 0;
    for (size_t i = 0; i < t->plain; i++) {
        double term = (double)t->d_o[i] * (double)out.o[i];
        loss += term;
        sum += fabs(term);
    }
    for (size_t i = 0; i < t->square; i++) {
        double term = isinf(out.logits[i]) ? 0 : (double)t->d_logits[i] * (double)out.logits[i];
        loss += term;
        sum += fabs(term);
    }
    if (size)
        *size = sum;
    return loss;
}

/* ------------------------------------------------------------------------------------------------ results */

static void trial_append(trial_result *r, const char *name, const real *values, size_t count, size_t cols)
{
    trial_section *s = &r->section[r->sections++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->begin = r->count;
    s->count = count;
    s->cols = cols;
    memcpy(r->values + r->count, values, count * sizeof(real));
    r->count += count;
}

int trial_run(trial *t, trial_result *out, error *e)
{
    size_t width = (size_t)t->settings.shape.width, len = (size_t)t->settings.len, owned = 0;
    for (int i = 0; i < refhost_param_count(t->host); i++)
        owned += refhost_param_at(t->host, i)->count;
    *out = (trial_result){.values = malloc((6 * t->plain + 2 * t->square + owned) * sizeof(real))};
    if (!out->values)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    refhost_clear(t->host);
    refhost_output forward = refhost_forward(t->host, &t->in);
    refhost_gradient backward = refhost_backward(t->host, &t->in, t->d_o, t->d_logits);
    trial_append(out, "x", forward.x, t->plain, width);
    trial_append(out, "logits", forward.logits, t->square, len);
    trial_append(out, "p", forward.p, t->square, len);
    trial_append(out, "o", forward.o, t->plain, width);
    trial_append(out, "dq", backward.q, t->plain, width);
    trial_append(out, "dk", backward.k, t->plain, width);
    trial_append(out, "dv", backward.v, t->plain, width);
    trial_append(out, "dx", backward.x, t->plain, width); /* last: what is wrong above is wrong here too */
    for (int i = 0; i < refhost_param_count(t->host); i++) {
        const refhost_param *p = refhost_param_at(t->host, i);
        char name[64];
        snprintf(name, sizeof name, "d(%s)", p->about.name);
        trial_append(out, name, p->dtheta, p->count, (size_t)p->about.cols);
    }
    return 0;
}

void trial_result_free(trial_result *r)
{
    free(r->values);
    *r = (trial_result){.values = NULL};
}

void trial_name_element(const trial_result *r, size_t i, char *text, size_t size)
{
    for (int s = 0; s < r->sections; s++) {
        const trial_section *at = &r->section[s];
        if (i < at->begin + at->count) {
            snprintf(text, size, "%s[%zu][%zu]", at->name, (i - at->begin) / at->cols, (i - at->begin) % at->cols);
            return;
        }
    }
    snprintf(text, size, "element %zu", i);
}

ptrdiff_t trial_first_difference(const trial_result *a, const trial_result *b, double tolerance)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        double x = (double)a->values[i], y = (double)b->values[i];
        if (memcmp(&a->values[i], &b->values[i], sizeof(real)) == 0)
            continue;
        double most = fmax(1, fmax(fabs(x), fabs(y)));
        if (tolerance == 0 || !(fabs(x - y) <= tolerance * most))
            return (ptrdiff_t)i;
    }
    return a->count == b->count ? -1 : (ptrdiff_t)(a->count < b->count ? a->count : b->count);
}

ptrdiff_t trial_first_not_finite(const trial_result *r)
{
    for (int s = 0; s < r->sections; s++) {
        const trial_section *at = &r->section[s];
        int logits = strcmp(at->name, "logits") == 0;
        for (size_t i = at->begin; i < at->begin + at->count; i++) {
            double x = (double)r->values[i];
            if (isnan(x) || (isinf(x) && !(logits && x < 0)))
                return (ptrdiff_t)i;
        }
    }
    return -1;
}

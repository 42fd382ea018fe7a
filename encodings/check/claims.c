#include "claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "dice.h"
#include "trial.h"

static const pe_claim claims_all[] = {PE_SHIFT_INVARIANT, PE_POSITION_BLIND, PE_PARAMETER_FREE, PE_ANY_LENGTH,
                                      PE_ZERO_AT_INIT};
enum { CLAIMS_COUNT = 5, CLAIMS_SHIFTS = 3, CLAIMS_TIMES = 64 };

const char *claim_name(pe_claim claim)
{
    switch (claim) {
    case PE_SHIFT_INVARIANT:
        return "shift-invariant";
    case PE_POSITION_BLIND:
        return "position-blind";
    case PE_PARAMETER_FREE:
        return "parameter-free";
    case PE_ANY_LENGTH:
        return "any-length";
    case PE_ZERO_AT_INIT:
        return "zero-at-init";
    }
    return "unknown claim";
}

/* What speaks against each claim; empty: nothing was found. */
typedef struct claims_evidence {
    char against[CLAIMS_COUNT][400];
} claims_evidence;

static void claims_object(claims_evidence *v, pe_claim claim, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void claims_object(claims_evidence *v, pe_claim claim, const char *format, ...)
{
    int i = 0;
    while (claims_all[i] != claim)
        i++;
    if (v->against[i][0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(v->against[i], sizeof v->against[i], format, args);
    va_end(args);
}

/* Differences of rounding, measured against numbers around 1. Angles at large positions lose digits, hence more than a
 * usual rounding. */
static double claims_tolerance(void)
{
    return sizeof(real) == sizeof(double) ? 1e-9 : 2e-4;
}

/* What attention makes of the positions. Logits are left out: a constant in a row means nothing. */
static ptrdiff_t claims_first_difference(const trial_result *a, const trial_result *b, double tolerance)
{
    static const int sections[] = {TRIAL_X, TRIAL_P, TRIAL_O};
    for (int s = 0; s < 3; s++) {
        const trial_section *where = &a->section[sections[s]];
        trial_result left = {.values = a->values + where->begin, .count = where->count};
        trial_result right = {.values = b->values + where->begin, .count = where->count};
        ptrdiff_t at = trial_first_difference(&left, &right, tolerance);
        if (at >= 0)
            return at + (ptrdiff_t)where->begin;
    }
    return -1;
}

/* Runs the stack at other positions, with the same inputs and parameters. */
static int claims_run_at(const pe_stack *stack, const trial_case *c, const double *pos, trial_result *out, error *e)
{
    refhost_settings settings = trial_settings(c);
    trial t;
    settings.pos = pos;
    if (trial_open(&t, stack, &settings, 11, e) < 0)
        return -1;
    int status = trial_run(&t, out, e);
    trial_close(&t);
    return status;
}

static int claims_compare_at(const pe_stack *stack, const trial_case *c, const double *pos, pe_claim claim,
                             double tolerance, const trial_result *base, claims_evidence *v, error *e)
{
    trial_result moved;
    if (claims_run_at(stack, c, pos, &moved, e) < 0)
        return -1;
    ptrdiff_t at = claims_first_difference(base, &moved, tolerance);
    if (at >= 0) {
        char element[96];
        trial_name_element(base, (size_t)at, element, sizeof element);
        claims_object(v, claim, "%s is %.9g with tokens at %g .. %g and %.9g at %g .. %g (%s)", element,
                      (double)base->values[at], c->pos[0], c->pos[c->len - 1], (double)moved.values[at], pos[0],
                      pos[c->len - 1], c->name);
    }
    trial_result_free(&moved);
    return 0;
}

/* embed is a stage of its own: what it adds has no distance, so a shift-invariant encoding adds nothing there. */
static int claims_expect_no_embed(const trial_case *c, const trial_result *base, claims_evidence *v, error *e)
{
    const pe_stack none = {.count = 0};
    trial_result bare;
    if (claims_run_at(&none, c, c->pos, &bare, e) < 0)
        return -1;
    for (size_t i = 0; i < base->section[TRIAL_X].count; i++)
        if (base->values[i] != bare.values[i])
            claims_object(v, PE_SHIFT_INVARIANT, "embed adds %.9g at token %zu (%s)",
                          (double)(base->values[i] - bare.values[i]), i / (size_t)c->shape.width, c->name);
    trial_result_free(&bare);
    return 0;
}

/* A first shift, of a few times 1/64, keeps all distances exact. The others do not: a formula that floors or rounds
 * distances must bear that 5.3 - 2.3 is not quite 3. */
static int claims_try_positions(const pe_stack *stack, const trial_case *c, claims_evidence *v, error *e)
{
    static const double reach[CLAIMS_SHIFTS] = {3, 150, 4000};
    double last = stack_last_position(stack, &c->shape), pos[TRIAL_LEN_MAX];
    trial_result base;
    if (claims_run_at(stack, c, c->pos, &base, e) < 0)
        return -1;
    int status = claims_expect_no_embed(c, &base, v, e);
    dice d = {(uint64_t)c->len * 8 + (uint64_t)c->kind};
    for (int n = 0; status == 0 && n < CLAIMS_SHIFTS; n++) {
        double room = fmin(reach[n], last - trial_reach(c));
        double shift = room * (0.5 + 0.5 * dice_uniform(&d));
        if (n == 0)
            shift = floor(shift * 64) / 64;
        for (int t = 0; t < c->len; t++)
            pos[t] = c->pos[t] + shift;
        status = claims_compare_at(stack, c, pos, PE_SHIFT_INVARIANT, claims_tolerance(), &base, v, e);
    }
    for (int n = 0; status == 0 && n < CLAIMS_SHIFTS; n++) {
        double at = 0, step = fmin(reach[n], last / c->len);
        for (int t = 0; t < c->len; t++)
            pos[t] = at += step * dice_uniform(&d);
        status = claims_compare_at(stack, c, pos, PE_POSITION_BLIND, 0, &base, v, e);
    }
    trial_result_free(&base);
    return status;
}

/* A new model against the same host without any encoding. */
static int claims_try_start(const pe_stack *stack, const refhost_settings *settings, const char *name,
                            claims_evidence *v, error *e)
{
    const pe_stack none = {.count = 0};
    trial with, without = {.host = NULL};
    trial_result result, plain;
    if (trial_open(&with, stack, settings, 5, e) < 0)
        return -1;
    int status = trial_open(&without, &none, settings, 5, e);
    if (status == 0) {
        refhost_init(with.host, 5); /* takes the disturbance back */
        status = trial_run(&with, &result, e);
    }
    if (status == 0) {
        status = trial_run(&without, &plain, e);
        ptrdiff_t at = status == 0 ? claims_first_difference(&plain, &result, trial_rounding()) : -1;
        if (at >= 0) {
            char element[96];
            trial_name_element(&plain, (size_t)at, element, sizeof element);
            claims_object(v, PE_ZERO_AT_INIT, "a new model has %s = %.9g, without encoding it is %.9g (%s)", element,
                          (double)result.values[at], (double)plain.values[at], name);
        }
        if (status == 0)
            trial_result_free(&plain);
        trial_result_free(&result);
    }
    trial_close(&with);
    trial_close(&without);
    return status;
}

/* The shortest training that the stack accepts, and 64 times as many tokens. */
static int claims_stretch(const pe_stack *stack, refhost_settings *settings)
{
    for (int train_len = 4; train_len <= TRIAL_TRAIN_LEN; train_len *= 2) {
        error refusal = ERROR_INIT;
        settings->shape.train_len = train_len;
        settings->len = CLAIMS_TIMES * train_len;
        if (stack_check(stack, &settings->shape, settings->len, &refusal) == 0)
            return 0;
    }
    return -1;
}

static int claims_try_length(const pe_stack *stack, const trial_case *c, claims_evidence *v, error *e)
{
    double last = stack_last_position(stack, &c->shape);
    if (!isinf(last)) {
        claims_object(v, PE_ANY_LENGTH, "the last position that has a meaning is %g", last);
        return 0;
    }
    refhost_settings settings = trial_settings(c);
    settings.pos = NULL;
    settings.tile_rows = CLAIMS_TIMES;
    if (claims_stretch(stack, &settings) < 0) {
        claims_object(v, PE_ANY_LENGTH, "%d tokens after training on %d are refused", settings.len,
                      settings.shape.train_len);
        return 0;
    }
    trial t;
    if (trial_open(&t, stack, &settings, 7, e) < 0)
        return -1;
    refhost_output out = refhost_forward(t.host, &t.in);
    for (size_t i = 0; i < t.plain; i++)
        if (!isfinite(out.o[i])) {
            claims_object(v, PE_ANY_LENGTH, "with %d times the training length o is %g at token %zu (%s)", CLAIMS_TIMES,
                          (double)out.o[i], i / (size_t)c->shape.width, c->name);
            break;
        }
    trial_close(&t);
    char name[120];
    snprintf(name, sizeof name, "heads %d, head_dim %d, %d tokens after training on %d, %s", settings.shape.heads,
             settings.shape.head_dim, settings.len, settings.shape.train_len,
             settings.shape.causal ? "causal" : "bidirectional");
    return claims_try_start(stack, &settings, name, v, e); /* what acts past the training length only does act */
}

static int claims_try_case(const pe_stack *stack, const trial_case *c, claims_evidence *v, error *e)
{
    for (int m = 0; m < stack->count; m++) {
        const stack_member *member = &stack->member[m];
        pe_param about[PE_PARAMS_MAX];
        if (member->encoding->params && member->encoding->params(member->options, &c->shape, about) > 0)
            claims_object(v, PE_PARAMETER_FREE, "%s has parameter %s", member->encoding->name, about[0].name);
    }
    if (c->len == 1) /* one token attends to itself, whatever its position */
        return 0;
    if (claims_try_positions(stack, c, v, e) < 0)
        return -1;
    refhost_settings settings = trial_settings(c);
    return claims_try_start(stack, &settings, c->name, v, e);
}

static void claims_judge(const pe_stack *stack, const claims_evidence *v, claims_report *out)
{
    out->made = stack_claims(stack);
    for (int i = 0; i < CLAIMS_COUNT; i++) {
        int made = (out->made & claims_all[i]) != 0, held = v->against[i][0] == '\0';
        out->held |= held ? (unsigned)claims_all[i] : 0;
        if (made && !held && out->failures++ == 0)
            snprintf(out->message, sizeof out->message, "claims to be %s, but %s", claim_name(claims_all[i]),
                     v->against[i]);
        if (!made && held && stack->count == 1 && out->failures++ == 0)
            snprintf(out->message, sizeof out->message, "is %s in every case, but does not claim it",
                     claim_name(claims_all[i]));
    }
}

int claims_check(const pe_stack *stack, claims_report *out, error *e)
{
    trial_case cases[TRIAL_CASES_MAX];
    claims_evidence *v = calloc(1, sizeof *v);
    *out = (claims_report){.failures = 0};
    if (!v)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    int count = trial_cases(stack, cases, e), status = count == 0 ? -1 : 0;
    for (int i = 0; status == 0 && i < count; i++)
        status = claims_try_case(stack, &cases[i], v, e);
    for (int causal = 0; status == 0 && causal <= 1; causal++) {
        const trial_case *narrow = NULL; /* a long run is a thousand times the work of the others */
        for (int i = 0; i < count; i++)
            if (cases[i].shape.causal == causal && (!narrow || cases[i].shape.width < narrow->shape.width))
                narrow = &cases[i];
        if (narrow)
            status = claims_try_length(stack, narrow, v, e);
    }
    if (status == 0)
        claims_judge(stack, v, out);
    free(v);
    return status;
}

#include "protocol.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "descriptor.h"
#include "options.h"
#include "trial.h"

/* One case: a watching host, and what it computed when everything was fresh. */
typedef struct protocol_run {
    const pe_stack *stack;
    const trial_case *c;
    trial base;
    trial_result want;
    protocol_report *out;
} protocol_run;

static void protocol_fail(protocol_report *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void protocol_fail(protocol_report *out, const char *format, ...)
{
    if (out->failures++ > 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(out->message, sizeof out->message, format, args);
    va_end(args);
}

/* Counts one check: everything from element `first` up to `end` must agree. what: how `got` was made. */
static void protocol_expect_same(protocol_run *run, const char *rule, const char *what, const trial_result *got,
                                 double tolerance)
{
    run->out->checks++;
    ptrdiff_t at = trial_first_difference(&run->want, got, tolerance);
    if (at < 0)
        return;
    char element[96];
    trial_name_element(&run->want, (size_t)at, element, sizeof element);
    protocol_fail(run->out, "%s: %s is %.9g, but %.9g %s (%s)", rule, element, (double)run->want.values[at],
                  (double)got->values[at], what, run->c->name);
}

/* A second host with the same inputs and parameters but other settings. */
static int protocol_run_with(protocol_run *run, const refhost_settings *settings, trial_result *got, error *e)
{
    trial other;
    if (trial_open(&other, run->stack, settings, 3, e) < 0)
        return -1;
    int status = trial_run(&other, got, e);
    const char *fault = refhost_fault(other.host);
    if (status == 0 && fault)
        protocol_fail(run->out, "bounds: %s (%s)", fault, run->c->name);
    trial_close(&other);
    return status;
}

static int protocol_check_repeatable(protocol_run *run, error *e)
{
    trial_result got;
    if (trial_run(&run->base, &got, e) < 0)
        return -1;
    protocol_expect_same(run, "repeatable", "in a second pass", &got, 0);
    trial_result_free(&got);

    /* Another host in between: whatever a hook keeps outside its buffers now belongs to that one. */
    double pos[TRIAL_LEN_MAX];
    refhost_settings settings = run->base.settings;
    double last = stack_last_position(run->stack, &settings.shape);
    settings.len = run->c->len > 1 ? run->c->len - 1 : 1;
    if (trial_place(run->c->kind == TRIAL_REAL ? TRIAL_SHIFTED : TRIAL_REAL, settings.len, last, pos) == 0) {
        settings.pos = pos;
        if (protocol_run_with(run, &settings, &got, e) < 0)
            return -1;
        trial_result_free(&got);
    }
    if (trial_run(&run->base, &got, e) < 0)
        return -1;
    protocol_expect_same(run, "repeatable", "after another host ran", &got, 0);
    trial_result_free(&got);

    if (protocol_run_with(run, &run->base.settings, &got, e) < 0)
        return -1;
    protocol_expect_same(run, "repeatable", "in a new host", &got, 0);
    trial_result_free(&got);
    return 0;
}

static int protocol_check_layout(protocol_run *run, error *e)
{
    static const struct {
        int tile_rows, pad;
        const char *what;
    } layouts[] = {{1, 0, "with tiles of one row and no gaps"},
                   {3, 1, "with tiles of 3 rows"},
                   {0, 7, "with one tile and wide gaps"}};
    for (int i = 0; i < 3; i++) {
        refhost_settings settings = run->base.settings;
        trial_result got;
        settings.tile_rows = layouts[i].tile_rows;
        settings.pad = layouts[i].pad;
        settings.watch = 0; /* besides, the bias then starts from 0 instead of a pattern */
        if (protocol_run_with(run, &settings, &got, e) < 0)
            return -1;
        /* Positions are factors of some gradients (those of frequencies), so they are factors of their rounding too. */
        protocol_expect_same(run, "layout", layouts[i].what, &got, trial_rounding() * fmax(1, trial_reach(run->c) / 16));
        trial_result_free(&got);
    }
    return 0;
}

static int protocol_check_garbage(protocol_run *run, error *e)
{
    refhost_settings settings = run->base.settings;
    trial_result got;
    if (!run->c->shape.causal)
        return 0;
    settings.garbage = -7000;
    if (protocol_run_with(run, &settings, &got, e) < 0)
        return -1;
    protocol_expect_same(run, "garbage", "with other garbage beyond the causal limit", &got, 0);
    trial_result_free(&got);
    return 0;
}

/* Compares the rows of tokens 0 .. tokens-1 in x and o. */
static void protocol_expect_same_rows(protocol_run *run, const char *rule, const char *what, const refhost_output *got,
                                      int tokens, double tolerance)
{
    const real *rows[] = {got->x, got->o};
    const int section[] = {TRIAL_X, TRIAL_O};
    run->out->checks++;
    for (int s = 0; s < 2; s++) {
        size_t begin = run->want.section[section[s]].begin, count = (size_t)tokens * (size_t)run->c->shape.width;
        trial_result want = {.values = run->want.values + begin, .count = count};
        trial_result found = {.values = (real *)rows[s], .count = count};
        ptrdiff_t at = trial_first_difference(&want, &found, tolerance);
        if (at < 0)
            continue;
        char element[96];
        trial_name_element(&run->want, begin + (size_t)at, element, sizeof element);
        protocol_fail(run->out, "%s: %s is %.9g, but %.9g %s (%s)", rule, element, (double)want.values[at],
                      (double)found.values[at], what, run->c->name);
        return;
    }
}

/* From token `cut` on everything is another sequence. */
static int protocol_check_causal(protocol_run *run, error *e)
{
    int len = run->c->len, cut = len < 6 ? len - 1 : 4;
    if (!run->c->shape.causal || cut < 1)
        return 0;
    trial other;
    if (trial_open(&other, run->stack, &run->base.settings, 3, e) < 0)
        return -1;
    real *const inputs[] = {other.x, other.q, other.k, other.v};
    for (int i = 0; i < 4; i++)
        for (size_t at = (size_t)cut * (size_t)run->c->shape.width; at < other.plain; at++)
            inputs[i][at] = -inputs[i][at] + (real)0.25;
    refhost_output got = refhost_forward(other.host, &other.in);
    char what[64];
    snprintf(what, sizeof what, "when tokens from %d on change", cut);
    protocol_expect_same_rows(run, "causal", what, &got, cut, 0);
    trial_close(&other);
    return 0;
}

static int protocol_check_prefix(protocol_run *run, error *e)
{
    int len = run->c->len, cut = (len + 1) / 2;
    if (!run->c->shape.causal || cut == len)
        return 0;
    refhost_settings settings = run->base.settings;
    trial other;
    settings.len = cut;
    settings.total_len = len;
    if (trial_open(&other, run->stack, &settings, 3, e) < 0)
        return -1;
    refhost_output got = refhost_forward(other.host, &other.in);
    char what[64];
    snprintf(what, sizeof what, "when only %d tokens are there yet", cut);
    protocol_expect_same_rows(run, "prefix", what, &got, cut, trial_rounding());
    trial_close(&other);
    return 0;
}

/* What embed adds must not depend on what is there. (For bias the watching host starts from a pattern, and the check of
 * layouts compares it with one that does not.) */
static int protocol_check_adds(protocol_run *run, error *e)
{
    trial other;
    if (trial_open(&other, run->stack, &run->base.settings, 3, e) < 0)
        return -1;
    for (size_t i = 0; i < other.plain; i++)
        other.x[i] = 1;
    refhost_output got = refhost_forward(other.host, &other.in);
    run->out->checks++;
    for (size_t i = 0; i < other.plain; i++) {
        double before = (double)run->want.values[i] - (double)run->base.x[i], now = (double)got.x[i] - 1;
        if (fabs(before - now) <= 8 * trial_rounding())
            continue;
        protocol_fail(run->out, "adds: embed adds %.9g at [%zu] to one x and %.9g to another (%s)", before, i, now,
                      run->c->name);
        break;
    }
    trial_close(&other);
    return 0;
}

static int protocol_check_accumulate(protocol_run *run, error *e)
{
    trial_result once;
    if (trial_run(&run->base, &once, e) < 0)
        return -1;
    refhost_backward(run->base.host, &run->base.in, run->base.d_o, run->base.d_logits);
    for (int i = 0; i < refhost_param_count(run->base.host); i++) {
        const refhost_param *p = refhost_param_at(run->base.host, i);
        const real *first = once.values + once.section[TRIAL_PARAMS + i].begin;
        run->out->checks++;
        for (size_t j = 0; j < p->count; j++) {
            double expected = 2 * (double)first[j], got = (double)p->dtheta[j];
            if (fabs(expected - got) <= 2 * trial_rounding() * fmax(1, fabs(expected)))
                continue;
            protocol_fail(
                run->out, "accumulate: gradient of %s[%zu][%zu] should be %.9g after two backward passes, is %.9g (%s)",
                p->about.name, j / (size_t)p->about.cols, j % (size_t)p->about.cols, expected, got, run->c->name);
            break;
        }
    }
    trial_result_free(&once);
    return 0;
}

/* Hooks that say that they are idle are left out, which must change nothing. */
static int protocol_check_idle(protocol_run *run, error *e)
{
    pe_stack without = *run->stack;
    pe_descriptor left[STACK_MEMBERS_MAX];
    unsigned any = 0;
    for (int i = 0; i < without.count; i++) {
        unsigned idle = stack_member_idle(&without.member[i]);
        left[i] = *without.member[i].encoding;
        if (idle & PE_IDLE_SCORE) {
            left[i].score = NULL;
            left[i].score_bwd = NULL;
        }
        if (idle & PE_IDLE_VALUE) {
            left[i].value = NULL;
            left[i].value_bwd = NULL;
        }
        without.member[i].encoding = &left[i];
        any |= idle;
    }
    if (!any)
        return 0;
    protocol_run rest = *run;
    trial_result got;
    rest.stack = &without;
    if (protocol_run_with(&rest, &run->base.settings, &got, e) < 0)
        return -1;
    protocol_expect_same(run, "idle", "without the hooks that are said to be idle", &got, trial_rounding());
    trial_result_free(&got);
    return 0;
}

/* Start values of one host, of the same host again, and of another. */
static int protocol_check_init(protocol_run *run, error *e)
{
    refhost *host = run->base.host, *other = refhost_new(run->stack, &run->base.settings, e);
    if (!other)
        return -1;
    refhost_init(host, 5);
    refhost_init(other, 6); /* what was there before must not matter */
    refhost_init(other, 5);
    for (int i = 0; i < refhost_param_count(host); i++) {
        const refhost_param *p = refhost_param_at(host, i), *q = refhost_param_at(other, i);
        run->out->checks++;
        for (size_t j = 0; j < p->count; j++)
            if (!isfinite(p->theta[j]) || memcmp(&p->theta[j], &q->theta[j], sizeof(real)) != 0) {
                protocol_fail(run->out, "init: %s[%zu][%zu] starts at %.9g, then at %.9g, from the same seed (%s)",
                              p->about.name, j / (size_t)p->about.cols, j % (size_t)p->about.cols, (double)p->theta[j],
                              (double)q->theta[j], run->c->name);
                break;
            }
    }
    refhost_init(host, 3); /* as trial_open left them */
    refhost_disturb(host, 3);
    refhost_free(other);
    return 0;
}

/* The first pass: bounds and NaN. Returns 1 when it makes no sense to go on. */
static int protocol_check_first(protocol_run *run)
{
    const char *fault = refhost_fault(run->base.host);
    run->out->checks += 2;
    if (fault) {
        protocol_fail(run->out, "bounds: %s (%s)", fault, run->c->name);
        return 1;
    }
    ptrdiff_t at = trial_first_not_finite(&run->want);
    if (at < 0)
        return 0;
    char element[96];
    trial_name_element(&run->want, (size_t)at, element, sizeof element);
    protocol_fail(run->out, "finite: %s is %g: something is read that was not written, or divided by 0 (%s)", element,
                  (double)run->want.values[at], run->c->name);
    return 1;
}

static int protocol_check_case(const pe_stack *stack, const trial_case *c, protocol_report *out, error *e)
{
    static int (*const rules[])(protocol_run *, error *) = {
        /* The narrow ones first: what breaks one of them often breaks the wide ones after it too. */
        protocol_check_init,   protocol_check_repeatable, protocol_check_garbage, protocol_check_accumulate,
        protocol_check_causal, protocol_check_prefix,     protocol_check_adds,    protocol_check_idle,
        protocol_check_layout,
    };
    protocol_run run = {.stack = stack, .c = c, .out = out};
    refhost_settings settings = trial_settings(c);
    settings.watch = 1;
    if (trial_open(&run.base, stack, &settings, 3, e) < 0)
        return -1;
    int status = trial_run(&run.base, &run.want, e);
    if (status == 0) {
        int hopeless = protocol_check_first(&run);
        for (size_t i = 0; status == 0 && !hopeless && i < sizeof rules / sizeof rules[0]; i++)
            status = rules[i](&run, e);
        trial_result_free(&run.want);
    }
    trial_close(&run.base);
    return status;
}

/* `claims` is what lists print; it must be what holds by default. */
static void protocol_check_default_claims(const pe_descriptor *d, protocol_report *out)
{
    error ignored = ERROR_INIT; /* descriptor_check has parsed the defaults already */
    void *options = calloc(1, d->options_size ? d->options_size : 1);
    if (options && options_parse(d->options, d->name, "", 0, options, &ignored) == 0 &&
        d->claims_with(options) != d->claims)
        protocol_fail(out, "descriptor: encoding '%s' claims %#x, but claims_with says %#x for the default options",
                      d->name, d->claims, d->claims_with(options));
    free(options);
}

/* What can be said of a member without running it. */
static void protocol_check_descriptor(const pe_descriptor *d, protocol_report *out)
{
    static const char *const families[] = {"none",   "absolute",   "bias",        "relative",
                                           "rotary", "contextual", "temperature", "window"};
    error refusal = ERROR_INIT;
    int known = 0;
    out->checks += 3;
    if (descriptor_check(d, &refusal) < 0) {
        protocol_fail(out, "descriptor: %s", refusal.message);
        return;
    }
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        known |= strcmp(d->family, families[i]) == 0;
    if (!known)
        protocol_fail(out, "descriptor: encoding '%s' has the unknown family '%s'", d->name, d->family);
    const char *lonely = d->embed_bwd && !d->embed     ? "embed_bwd"
                         : d->gate_bwd && !d->gate     ? "gate_bwd"
                         : d->rotate_bwd && !d->rotate ? "rotate_bwd"
                         : d->score_bwd && !d->score   ? "score_bwd"
                         : d->bias_bwd && !d->bias     ? "bias_bwd"
                         : d->value_bwd && !d->value   ? "value_bwd"
                         : d->init && !d->params       ? "init"
                                                       : NULL;
    if (lonely)
        protocol_fail(out, "descriptor: encoding '%s' has %s without what it belongs to", d->name, lonely);
    else if (d->claims_with)
        protocol_check_default_claims(d, out);
}

int protocol_check(const pe_stack *stack, protocol_report *out, error *e)
{
    trial_case cases[TRIAL_CASES_MAX];
    *out = (protocol_report){.checks = 0};
    for (int m = 0; m < stack->count; m++)
        protocol_check_descriptor(stack->member[m].encoding, out);
    if (out->failures > 0) /* hooks of an incomplete descriptor are not called */
        return 0;
    int count = trial_cases(stack, cases, e);
    for (int i = 0; i < count; i++)
        if (protocol_check_case(stack, &cases[i], out, e) < 0)
            return -1;
    return count > 0 ? 0 : -1;
}

#include "speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "speed_peak.h"
#include "speed_side.h"

const speed_setting speed_settings[SPEED_SETTINGS] = {
    { .name = "A", .width = 64, .layers = 2, .heads = 4, .len = 64, .batch = 32, .vocab = 32, .training = 1 },
    { .name = "B", .width = 128, .layers = 4, .heads = 4, .len = 128, .batch = 16, .vocab = 64, .training = 1 },
    { .name = "C", .width = 256, .layers = 6, .heads = 8, .len = 256, .batch = 8, .vocab = 256, .training = 1 },
    { .name = "D", .width = 128, .layers = 4, .heads = 4, .len = 4096, .batch = 1, .vocab = 64, .training = 0 },
};

/* Forward only: 2 operations for each weight of the linear maps and, in attention, 4 d for each of the (T + 1) / 2 keys that
 * a token sees on average (scores and weighted sum). */
static double speed_gemm_flops(const speed_setting *s)
{
    return 2.0 * (12.0 * s->layers * s->width * s->width + (double)s->vocab * s->width);
}

static double speed_attention_flops(const speed_setting *s)
{
    return 2.0 * s->layers * (s->len + 1.0) * s->width;
}

double speed_flops(const speed_setting *s, int training)
{
    return (training ? 3 : 1) * (speed_gemm_flops(s) + speed_attention_flops(s));
}

int speed_check(const registry *r, const char *stack, const speed_setting *s, error *e)
{
    layered_stack stacks = { .count = 0 };
    int failed = speed_side_parse(&stacks, r, stack, s, e);
    layered_free(&stacks);
    return failed;
}

/* ------------------------------------------------------------------------------------------------ samples */

static int speed_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double speed_quantile(const double *sorted, int n, double share)
{
    double at = share * (n - 1);
    int below = (int)at;
    return below + 1 < n ? sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]) : sorted[below];
}

speed_spread speed_spread_of(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, speed_order);
    return (speed_spread){ speed_quantile(x, n, 0.5), speed_quantile(x, n, 0.25), speed_quantile(x, n, 0.75) };
}

static int speed_rounds(int rounds)
{
    return rounds < 1 ? 1 : rounds < SPEED_ROUNDS_MAX ? rounds : SPEED_ROUNDS_MAX;
}

/* ------------------------------------------------------------------------------------------------ one process, one round */

/* Linux keeps the high-water mark of the program that runs; getrusage would count what was there before exec as well. */
static long speed_resident(void)
{
    char line[256];
    long kilobytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6))
            kilobytes = strtol(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kilobytes * 1024;
}

enum { SPEED_PEAK_BURSTS = 21 };

int speed_once(const registry *r, const char *stack, const speed_setting *s, double seconds, speed_round *out, error *e)
{
    speed_side side;
    int failed = speed_side_open(&side, r, stack, s, s->training ? SPEED_TRAIN : SPEED_EVAL, e) < 0;
    if (!failed) {
        double before = 0, once = speed_side_time(&side, s->training, 1);
        *out = (speed_round){ .first_step_at = stopwatch_wall(), .step_seconds = once,
                              .arena_bytes = (long)side.memory.used };
        if (seconds > 0) {
            once = speed_side_time(&side, s->training, 1); /* the first one faulted its pages in */
            before = speed_peak(SPEED_PEAK_BURSTS);
            out->step_seconds = speed_side_time(&side, s->training, speed_side_steps(once, seconds));
        }
        out->peak = speed_peak(SPEED_PEAK_BURSTS);
        out->peak = before > 0 ? (before + out->peak) / 2 : out->peak;
        out->tokens = (double)s->batch * s->len / out->step_seconds;
        out->mfu = out->tokens * speed_flops(s, s->training) / out->peak;
        out->resident_bytes = speed_resident();
    }
    speed_side_close(&side);
    return failed ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------ an encoding's cost */

const char *speed_baseline(const registry *r, error *e)
{
    unsigned wanted = PE_POSITION_BLIND | PE_PARAMETER_FREE | PE_ZERO_AT_INIT;
    for (int i = 0; i < registry_encoding_count(r); i++)
        if ((registry_encoding(r, i)->claims & wanted) == wanted)
            return registry_encoding(r, i)->name;
    error_set(e, ERROR_USAGE, "no encoding that does nothing is there to compare with");
    return NULL;
}

/* The two in turn, each first every second time; the first pair warms caches and page tables and is not counted. */
static void speed_pairs(speed_side *base, speed_side *own, int training, int rounds, double seconds,
                        speed_spread *ratio, double *tokens)
{
    double ratios[SPEED_ROUNDS_MAX], own_seconds[SPEED_ROUNDS_MAX];
    speed_side_time(base, training, 1);
    int steps = speed_side_steps(speed_side_time(base, training, 1), seconds);
    speed_side_time(own, training, 1);
    for (int i = 0; i < rounds; i++) {
        double of_base = i % 2 ? 0 : speed_side_time(base, training, steps);
        own_seconds[i] = speed_side_time(own, training, steps);
        of_base = i % 2 ? speed_side_time(base, training, steps) : of_base;
        ratios[i] = own_seconds[i] / of_base;
    }
    *ratio = speed_spread_of(ratios, rounds);
    *tokens = (double)own->setting->batch * own->setting->len / speed_spread_of(own_seconds, rounds).median;
}

static void speed_fill(speed_side *base, speed_side *own, int rounds, double seconds, speed_cost *out)
{
    *out = (speed_cost){ .parameters = model_encoding_parameters(&own->model), .train_bytes = (double)own->train_bytes,
                         .eval_bytes = (double)own->eval_bytes };
    layered_print(&own->stacks, out->encoding, sizeof out->encoding);
    if (own->setting->training)
        speed_pairs(base, own, 1, rounds, seconds, &out->train, &out->train_tokens);
    speed_pairs(base, own, 0, rounds, seconds, &out->eval, &out->eval_tokens);
}

int speed_measure(const registry *r, const char *stack, const speed_setting *s, int rounds, double seconds,
                  speed_cost *out, error *e)
{
    const char *baseline = speed_baseline(r, e);
    if (!baseline)
        return -1;
    speed_side base = { .memory = { NULL, 0 } }, own = { .memory = { NULL, 0 } };
    int kinds = s->training ? SPEED_TRAIN | SPEED_EVAL : SPEED_EVAL;
    int failed = speed_side_open(&base, r, baseline, s, kinds, e) < 0 || speed_side_open(&own, r, stack, s, kinds, e) < 0;
    if (!failed)
        speed_fill(&base, &own, speed_rounds(rounds), seconds, out);
    speed_side_close(&base);
    speed_side_close(&own);
    return failed ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------ where it goes */

const char *const speed_section_names[BREAKDOWN_SECTIONS] = {
    [BREAKDOWN_GEMM] = "gemm",         [BREAKDOWN_ATTENTION] = "attention", [BREAKDOWN_ELEMENTWISE] = "elementwise",
    [BREAKDOWN_ENCODING] = "encoding", [BREAKDOWN_OPTIMISER] = "optimiser", [BREAKDOWN_DATA] = "data",
};

static void speed_split(speed_side *side, int rounds, double seconds, speed_parts *out)
{
    double whole[SPEED_ROUNDS_MAX], part[BREAKDOWN_SECTIONS][SPEED_ROUNDS_MAX], sum = 0;
    const speed_setting *s = side->setting;
    speed_side_time(side, s->training, 1);
    int steps = speed_side_steps(speed_side_time(side, s->training, 1), seconds);
    for (int i = 0; i < rounds; i++) {
        double begin = stopwatch_wall();
        for (int n = 0; n < steps; n++)
            speed_side_step(side, s->training, NULL);
        whole[i] = (stopwatch_wall() - begin) / steps;
        breakdown b = breakdown_begin(BREAKDOWN_DATA);
        for (int n = 0; n < steps; n++)
            speed_side_step(side, s->training, &b);
        for (int k = 0; k < BREAKDOWN_SECTIONS; k++)
            part[k][i] = b.seconds[k] / steps;
    }
    out->step_seconds = speed_spread_of(whole, rounds).median;
    for (int k = 0; k < BREAKDOWN_SECTIONS; k++)
        sum += out->seconds[k] = speed_spread_of(part[k], rounds).median;
    for (int k = 0; k < BREAKDOWN_SECTIONS; k++)
        out->share[k] = out->seconds[k] / sum;
    double tokens = (double)s->batch * s->len * (s->training ? 3 : 1);
    out->gemm_rate = tokens * speed_gemm_flops(s) / out->seconds[BREAKDOWN_GEMM];
    out->attention_rate = tokens * speed_attention_flops(s) / out->seconds[BREAKDOWN_ATTENTION];
}

int speed_break_down(const registry *r, const char *stack, const speed_setting *s, int rounds, double seconds,
                     speed_parts *out, error *e)
{
    speed_side side;
    int failed = speed_side_open(&side, r, stack, s, s->training ? SPEED_TRAIN : SPEED_EVAL, e) < 0;
    if (!failed) {
        layered_print(&side.stacks, out->encoding, sizeof out->encoding);
        speed_split(&side, speed_rounds(rounds), seconds, out);
    }
    speed_side_close(&side);
    return failed ? -1 : 0;
}

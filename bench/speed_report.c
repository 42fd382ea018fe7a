#include "speed_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "speed_peak.h"

enum { SPEED_REPORT_STACK = 44 };

/* ------------------------------------------------------------------------------------------------ rows */

static json_t *speed_report_spread(speed_spread s)
{
    return json_pack("{s:f, s:f, s:f}", "median", s.median, "low", s.low, "high", s.high);
}

/* Of one field of all rounds. */
static json_t *speed_report_field(const speed_round *round, size_t field, int rounds)
{
    double x[SPEED_ROUNDS_MAX];
    for (int i = 0; i < rounds; i++)
        memcpy(&x[i], (const char *)&round[i] + field, sizeof x[i]);
    return speed_report_spread(speed_spread_of(x, rounds));
}

static json_t *speed_report_network(const speed_setting *s)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:b}", "width", s->width, "layers", s->layers, "heads", s->heads,
                     "len", s->len, "batch", s->batch, "vocab", s->vocab, "training", s->training);
}

static double speed_report_number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static double speed_report_of(const json_t *row, const char *key, const char *part)
{
    return speed_report_number(json_object_get(row, key), part);
}

static const char *speed_report_text(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* "width 64, 2 layers, 4 heads, 32 x 64 tokens, vocabulary 32" */
static void speed_report_network_print(const json_t *row)
{
    const json_t *n = json_object_get(row, "network");
    printf("width %.0f, %.0f layers, %.0f heads, %.0f x %.0f tokens, vocabulary %.0f%s", speed_report_number(n, "width"),
           speed_report_number(n, "layers"), speed_report_number(n, "heads"), speed_report_number(n, "batch"),
           speed_report_number(n, "len"), speed_report_number(n, "vocab"),
           json_is_true(json_object_get(n, "training")) ? "" : ", evaluated only");
}

/* Appends the row; returns 1 when text is to be printed, after the head if a table begins with it. */
static int speed_report_add(speed_report *r, const char *table, const char *part, json_t *row,
                            void (*head)(const speed_report *r, const json_t *row))
{
    char name[sizeof r->open];
    if (!json_object_get(r->root, table))
        json_object_set_new(r->root, table, json_array());
    json_array_append_new(json_object_get(r->root, table), row);
    if (r->as_json)
        return 0;
    const json_t *program = json_object_get(r->root, "program");
    snprintf(name, sizeof name, "%s %s", table, part);
    if (!r->open[0])
        printf("posbench %s, %s, on %s; one thread\n", speed_report_text(program, "version"),
               speed_report_text(program, "kernel"), speed_report_text(program, "cpu"));
    if (strcmp(name, r->open)) {
        memcpy(r->open, name, sizeof name);
        printf("\n");
        head(r, row);
    }
    return 1;
}

/* ------------------------------------------------------------------------------------------------ reference */

static void speed_report_reference_head(const speed_report *r, const json_t *row)
{
    (void)row;
    printf("The network with %s. MFU: useful operations as a share of the peak, that of %s on this core. Memory: the\n"
           "most that the process held, and its buffers. First step: since the process was started.\n"
           "Medians of %d rounds, a process each; in brackets quartiles.\n\n",
           r->baseline, speed_report_text(json_object_get(r->root, "program"), "peak_kernel"), r->rounds);
    printf("   %10s  %-19s  %11s  %7s  %7s  %s\n", "tokens/s", "MFU", "peak", "memory", "buffers", "first step");
}

void speed_report_reference(speed_report *r, const speed_setting *s, const speed_round *round, const double *start,
                            int rounds)
{
    double first[SPEED_ROUNDS_MAX], resident[SPEED_ROUNDS_MAX];
    for (int i = 0; i < rounds; i++) {
        first[i] = start[i];
        resident[i] = (double)round[i].resident_bytes;
    }
    json_t *row = json_pack(
        "{s:s, s:o, s:s, s:f, s:i, s:o, s:o, s:o, s:o, s:I, s:o}", "config", s->name, "network", speed_report_network(s),
        "encoding", r->baseline, "flops_per_token", speed_flops(s, s->training), "rounds", rounds, "tokens_per_second",
        speed_report_field(round, offsetof(speed_round, tokens), rounds), "mfu",
        speed_report_field(round, offsetof(speed_round, mfu), rounds), "peak_flops",
        speed_report_field(round, offsetof(speed_round, peak), rounds), "resident_bytes",
        speed_report_spread(speed_spread_of(resident, rounds)), "arena_bytes", (json_int_t)round[0].arena_bytes,
        "first_step_seconds", speed_report_spread(speed_spread_of(first, rounds)));
    if (!speed_report_add(r, "reference", "", row, speed_report_reference_head))
        return;
    printf("%s  %10.0f  %.3f (%.3f-%.3f)  %4.0f GFLOP/s  %4.0f MB  %4.0f MB  %.0f ms (%.0f-%.0f)\n   ", s->name,
           speed_report_of(row, "tokens_per_second", "median"), speed_report_of(row, "mfu", "median"),
           speed_report_of(row, "mfu", "low"), speed_report_of(row, "mfu", "high"),
           speed_report_of(row, "peak_flops", "median") / 1e9,
           speed_report_of(row, "resident_bytes", "median") / 1e6, speed_report_number(row, "arena_bytes") / 1e6,
           speed_report_of(row, "first_step_seconds", "median") * 1e3, speed_report_of(row, "first_step_seconds", "low") * 1e3,
           speed_report_of(row, "first_step_seconds", "high") * 1e3);
    speed_report_network_print(row);
    printf("\n");
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------ encodings */

static void speed_report_cost_head(const speed_report *r, const json_t *row)
{
    printf("%s: ", speed_report_text(row, "config"));
    speed_report_network_print(row);
    printf("\nTime and memory against %s: x times as much; the median of %d pairs timed in turn, in brackets their\n"
           "quartiles. Its own line is it against itself: what differs from 1 there is the noise of this machine.\n\n",
           r->baseline, r->rounds);
    printf("%-*s  %-20s  %-20s  %12s  %7s  %7s  %10s\n", SPEED_REPORT_STACK, "", "train", "eval", "tokens/s", "train", "eval",
           "parameters");
    printf("%-*s  %-20s  %-20s  %12s  %7s  %7s  %10s\n", SPEED_REPORT_STACK, "encoding", "time", "time", "in training",
           "memory", "memory", "of its own");
}

static json_t *speed_report_side(speed_spread time, double tokens, double bytes, double of_baseline)
{
    return json_pack("{s:o, s:f, s:f, s:f}", "time", speed_report_spread(time), "memory", bytes / of_baseline,
                     "tokens_per_second", tokens, "bytes", bytes);
}

/* "1.05 (1.04-1.06)", or a dash. */
static void speed_report_time_print(const json_t *side)
{
    if (json_is_null(side))
        printf("%-20s  ", "-");
    else
        printf("%5.3f (%5.3f-%5.3f)   ", speed_report_of(side, "time", "median"), speed_report_of(side, "time", "low"),
               speed_report_of(side, "time", "high"));
}

void speed_report_cost(speed_report *r, const speed_setting *s, const speed_cost *c, const speed_cost *baseline)
{
    json_t *train = s->training ? speed_report_side(c->train, c->train_tokens, c->train_bytes, baseline->train_bytes)
                                : json_null();
    json_t *eval = speed_report_side(c->eval, c->eval_tokens, c->eval_bytes, baseline->eval_bytes);
    json_t *row = json_pack("{s:s, s:o, s:s, s:I, s:i, s:o, s:o}", "config", s->name, "network",
                            speed_report_network(s), "encoding", c->encoding, "parameters", (json_int_t)c->parameters,
                            "rounds", r->rounds, "train", train, "eval", eval);
    if (!speed_report_add(r, "encodings", s->name, row, speed_report_cost_head))
        return;
    printf("%-*s  ", SPEED_REPORT_STACK, c->encoding);
    speed_report_time_print(train);
    speed_report_time_print(eval);
    if (s->training)
        printf("%12.0f  %7.2f  ", c->train_tokens, speed_report_number(train, "memory"));
    else
        printf("%12s  %7s  ", "-", "-");
    printf("%7.2f  %10ld\n", speed_report_number(eval, "memory"), c->parameters);
    fflush(stdout); /* a line now and then is the progress */
}

/* ------------------------------------------------------------------------------------------------ lengths */

static void speed_report_length_head(const speed_report *r, const json_t *row)
{
    (void)r;
    printf("One pass, in a process of its own: ");
    speed_report_network_print(row);
    printf("\nMemory: the most that the process held, and its buffers.\n\n%-*s  %9s  %10s  %6s  %7s  %7s\n",
           SPEED_REPORT_STACK, "encoding", "seconds", "tokens/s", "MFU", "memory", "buffers");
}

void speed_report_length(speed_report *r, const speed_setting *s, const char *stack, const speed_round *round)
{
    json_t *row = json_pack("{s:s, s:o, s:s, s:f, s:f, s:f, s:I, s:I}", "config", s->name, "network",
                            speed_report_network(s), "encoding", stack, "seconds", round->step_seconds,
                            "tokens_per_second", round->tokens, "mfu", round->mfu, "resident_bytes",
                            (json_int_t)round->resident_bytes, "arena_bytes", (json_int_t)round->arena_bytes);
    if (!speed_report_add(r, "lengths", s->name, row, speed_report_length_head))
        return;
    printf("%-*s  %9.2f  %10.0f  %6.3f  %4.0f MB  %4.0f MB\n", SPEED_REPORT_STACK, stack, round->step_seconds,
           round->tokens, round->mfu, (double)round->resident_bytes / 1e6, (double)round->arena_bytes / 1e6);
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------ breakdown */

static void speed_report_parts_head(const speed_report *r, const json_t *row)
{
    (void)row;
    printf("Where a step goes, in %%, medians of %d rounds. gemm: linear maps; attention: scores, softmax and weighted sums;\n"
           "encoding: its hooks; data: drawing the batch. In brackets GFLOP/s of useful operations in that section.\n\n",
           r->rounds);
    printf("   %-*s  %9s", SPEED_REPORT_STACK, "encoding", "ms a step");
    for (int k = 0; k < BREAKDOWN_SECTIONS; k++)
        printf("  %11s", speed_section_names[k]);
    printf("\n");
}

void speed_report_parts(speed_report *r, const speed_setting *s, const speed_parts *p)
{
    json_t *sections = json_object();
    for (int k = 0; k < BREAKDOWN_SECTIONS; k++)
        json_object_set_new(sections, speed_section_names[k],
                            json_pack("{s:f, s:f}", "seconds", p->seconds[k], "share", p->share[k]));
    json_t *row = json_pack("{s:s, s:o, s:s, s:i, s:f, s:o, s:f, s:f}", "config", s->name, "network",
                            speed_report_network(s), "encoding", p->encoding, "rounds", r->rounds, "step_seconds",
                            p->step_seconds, "sections", sections, "gemm_flops", p->gemm_rate, "attention_flops",
                            p->attention_rate);
    if (!speed_report_add(r, "breakdown", "", row, speed_report_parts_head))
        return;
    printf("%s  %-*s  %9.3f", s->name, SPEED_REPORT_STACK, p->encoding, p->step_seconds * 1e3);
    for (int k = 0; k < BREAKDOWN_SECTIONS; k++)
        if (k <= BREAKDOWN_ATTENTION)
            printf("  %5.1f (%3.0f)", p->share[k] * 100,
                   (k == BREAKDOWN_GEMM ? p->gemm_rate : p->attention_rate) / 1e9);
        else
            printf("  %11.1f", p->share[k] * 100);
    printf("\n");
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------ sweep */

static void speed_report_sweep_head(const speed_report *r, const json_t *row)
{
    printf("Sweeps of default runs on one task with %.0f steps each, by the clock; medians of %d rounds, in brackets\n"
           "quartiles.\n\n",
           speed_report_number(row, "steps"), r->rounds);
}

void speed_report_sweep(speed_report *r, const speed_sweep *s, const speed_sweep_result *result)
{
    json_t *row = json_pack("{s:i, s:i, s:i, s:o, s:o, s:o}", "jobs", s->jobs, "rounds", s->rounds, "steps", s->steps,
                            "gain", speed_report_spread(result->gain), "evaluation_share",
                            speed_report_spread(result->evaluation), "run_seconds",
                            speed_report_spread(result->run_seconds));
    if (!speed_report_add(r, "sweep", "", row, speed_report_sweep_head))
        return;
    printf("%d jobs do %.2f (%.2f-%.2f) times the runs of one\n", s->jobs, result->gain.median, result->gain.low,
           result->gain.high);
    printf("a run with the default number of steps takes %.1f s (%.1f-%.1f), evaluation %.1f %% of it (%.1f-%.1f)\n",
           result->run_seconds.median, result->run_seconds.low, result->run_seconds.high,
           result->evaluation.median * 100, result->evaluation.low * 100, result->evaluation.high * 100);
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------ the whole */

int speed_report_begin(speed_report *r, int as_json, int rounds, const char *baseline, error *e)
{
    host_facts facts;
    host_facts_read(&facts);
    json_t *program = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "version", facts.version, "kernel", facts.kernel,
                                "compiler", facts.compiler, "flags", facts.flags, "cpu", facts.cpu, "baseline", baseline,
                                "peak_kernel", speed_peak_kernel());
    *r = (speed_report){ .as_json = as_json, .rounds = rounds, .baseline = baseline };
    r->root = json_pack("{s:s, s:o}", "schema", "posbench-speed/1", "program", program);
    if (!r->root)
        return error_set(e, ERROR_ENVIRONMENT, "speed: no memory for the results");
    return 0;
}

int speed_report_end(speed_report *r, error *e)
{
    int status = 0;
    if (r->as_json) {
        size_t size;
        char *text = record_text(r->root, &size);
        status = text ? 0 : error_set(e, ERROR_ENVIRONMENT, "speed: no memory for the results");
        fputs(text ? text : "", stdout);
        free(text);
    }
    json_decref(r->root);
    return status;
}

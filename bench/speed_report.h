/* speed_report.h - what `posbench speed` prints: a table for people, or one JSON document.
 *
 * Every measurement becomes a row of JSON and the text is printed from that: what one shows the other has.
 *
 *   "schema": "posbench-speed/1"
 *   "program": {"version", "kernel", "compiler", "flags", "cpu", "baseline", "peak_kernel"}
 *   "reference": [{"config", "network": NETWORK, "encoding", "flops_per_token", "rounds", "tokens_per_second": SPREAD,
 *                  "mfu": SPREAD, "peak_flops": SPREAD, "resident_bytes": SPREAD, "arena_bytes",
 *                  "first_step_seconds": SPREAD}]
 *   "encodings": [{"config", "network": NETWORK, "encoding", "parameters", "rounds", "train": COST or null, "eval": COST}]
 *   "lengths":   [{"config", "network": NETWORK, "encoding", "seconds", "tokens_per_second", "mfu", "resident_bytes",
 *                  "arena_bytes"}]
 *   "breakdown": [{"config", "network": NETWORK, "encoding", "rounds", "step_seconds", "sections": {NAME: {"seconds",
 *                  "share"}}, "gemm_flops", "attention_flops"}]
 *   "sweep":     [{"jobs", "rounds", "steps", "gain": SPREAD, "evaluation_share": SPREAD, "run_seconds": SPREAD}]
 *
 *   NETWORK: {"width", "layers", "heads", "len", "batch", "vocab", "training": bool}
 *   SPREAD: {"median", "low", "high"}, quartiles      COST: {"time": SPREAD, "memory", "tokens_per_second", "bytes"}; time and
 *   memory as multiples of the baseline's; *_flops are operations a second
 *
 * Only the tables that were measured are there.
 */
#ifndef SPEED_REPORT_H
#define SPEED_REPORT_H

#include <jansson.h>

#include "error.h"
#include "speed.h"
#include "speed_sweep.h"

typedef struct speed_report {
    int as_json, rounds;
    const char *baseline;
    json_t *root;
    char open[32]; /* "encodings A": the table that is being printed */
} speed_report;

/* -1: no memory. Nothing is printed before the first row. */
int speed_report_begin(speed_report *r, int as_json, int rounds, const char *baseline, error *e);

/* One row each. */
void speed_report_reference(speed_report *r, const speed_setting *s, const speed_round *round, const double *start,
                            int rounds);
void speed_report_cost(speed_report *r, const speed_setting *s, const speed_cost *c, const speed_cost *baseline);
void speed_report_length(speed_report *r, const speed_setting *s, const char *stack, const speed_round *round);
void speed_report_parts(speed_report *r, const speed_setting *s, const speed_parts *p);
void speed_report_sweep(speed_report *r, const speed_sweep *s, const speed_sweep_result *result);

/* Prints the JSON, if that is what was asked for, and releases everything. -1: no memory. */
int speed_report_end(speed_report *r, error *e);

#endif

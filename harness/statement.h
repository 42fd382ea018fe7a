/* statement.h - published statements as data: what was said, the numbers given for it, the runs that test it, and the
 * rule that decides, to be written before the runs. A verdict follows from the rule and from records alone.
 *
 * One file (bench/claims/NAME.yaml) is a group: statements that share runs.
 *
 *   title: What the group asks
 *   source: authors, title, year       of all statements that give none of their own
 *   cites: key or [key, ...]           its works in sources.bib beside the file, or among those that the program's own
 *                                      encodings, maps and tasks come from; of statements without source and cites
 *   grid: {encoding: ..., task: ...}   the runs, as in a spec (spec.h); or
 *   spec: huang                        a bundled spec, or the path of one from this file's folder
 *   results: results/huang             where records lie; without it results/claims/NAME
 *   claims:
 *     - id: C18
 *       title: a few words
 *       statement: what is said, in our words
 *       source: where
 *       cites: key or [key, ...]
 *       published: the numbers given for it, and their setting
 *       seeds: 5                       the least number of values of a mean; 2 or more
 *       refuted: what would refute it, in words
 *       rule: [condition, ...]         all must hold; or
 *       untestable: why it cannot be tested here
 *
 * A condition on runs compares an interval with a threshold:
 *
 *       - says: what it asks
 *         of: {encoding: a, task: t}   rows and values that leave one run for each seed
 *         less: {...} or over: {...}   the same of a second set of runs: differences or ratios, seed by seed
 *         metric: exact_match          a score of metric.h; or has_value: 1 where the point has a value, 0 where it is
 *                                      undefined
 *         mode: sliding                of the evaluation; without it teacher_forced, windows or masked
 *         at: 2x, 51-100 or 128        the test length: a multiple of the training length, a range, a length
 *         from: 1x                     the value at `at` less the value here
 *         least: 0.9, most: 0.95       one or both
 *         theirs: 0.97                 the published number that stands beside ours
 *         premise: true                what the statement presupposes, as that networks have learned the task: where it
 *                                      fails the statement cannot be tested at this scale
 *
 * What runs measured after training, at longer lengths (extend.h), is asked for in the sides, or for both at once:
 *
 *       - of: {encoding: a, after: {method: interpolate, steps: 50}}
 *         less: {encoding: a, after: {method: none, steps: 200}}
 *         after: {factor: 4}           what a side does not say itself: factor, method and steps stand in the runs'
 *                                      extend.factors, .methods and .steps; task_options: depth=0, where the test was
 *                                      that of the task under these options, in its extend.task_options
 *         metric: loss
 *         at: 4x                       1x or the factor; `from` too
 *
 * Without `after`, a side means the evaluation that ends training, so the two can be compared. What has no value there
 * (a method that means nothing for the encoding) is undefined, what diverged in fine-tuning has ended badly.
 *
 * What positions met in training is one number of a run that recorded it (train.positions), without metric, at and
 * from:
 *
 *       - of: {encoding: a}
 *         exposure: rows               one of starved_numbers (starved.h): tokens, gradient, rows: share of the
 *                                      last quarter of positions; gradient_ratio, rows_ratio, norm: last quarter over
 *                                      first; loss, accuracy: last less first
 *
 * What its trained weights know of positions is one number of a run that was probed (eval.probe, eval.shuffle: probe.h):
 *
 *       - of: {encoding: a}
 *         probe: shuffle_cost          hidden_first, hidden_best, hidden_last: error of positions read linearly off hidden
 *                                      states before the first layer, after the best one and after the last, over that
 *                                      of a guess; wide_first, wide_best, wide_last: by a network with a random first
 *                                      layer; table_error, table_order: off the rows of the first table, in positions,
 *                                      and share of pairs told in the wrong order; loss_in_order, loss_shuffled and
 *                                      their difference, shuffle_cost (probed.h)
 *
 * Over the seeds stands the mean with its 95 % interval (stat_bootstrap). The condition holds when the whole interval
 * is on the side of the threshold that is asked for, fails when it is on the other, and is open otherwise, when there
 * are fewer values than `seeds`, and when a value is missing. The statement is reproduced when all conditions hold and
 * not reproduced as soon as one fails, so no correction for several conditions is needed. No condition is judged before
 * each of its runs has an outcome: otherwise one could stop where it pleases. A record without the section that is
 * asked for (an older program's) is no outcome either.
 *
 * A condition on hooks alone needs no runs: measure: NAME (analytic.h), of: {encoding: a, model: {...}}, perhaps
 * beside: and at: [numbers]; least or most, or theirs: [numbers] with within: the largest difference.
 */
#ifndef STATEMENT_H
#define STATEMENT_H

#include <jansson.h>

#include "analytic.h"
#include "document.h"
#include "extend.h"
#include "metric.h"
#include "quantity.h"
#include "results.h"
#include "spec.h"
#include "works.h"

enum { STATEMENT_TEXT_MAX = 1024, STATEMENT_GROUPS_MAX = 128, STATEMENT_CITES_MAX = 512 };

/* ------------------------------------------------------------------------------------------------ what is written */

/* A test after training, at a longer length. */
typedef struct statement_after {
    int given; /* 0: the evaluation that ends training */
    int steps;
    double factor;
    char method[EXTEND_METHOD_MAX], task_options[EXTEND_METHOD_MAX]; /* canonical; "": the task as it was trained */
} statement_after;

/* Runs that differ in the seed alone: indices into the group's spec, by seed. */
typedef struct statement_side {
    int count;
    int *run;
    statement_after after;
    char words[400]; /* the encoding, as in the grid, and how it is tested */
} statement_side;

typedef enum statement_place_kind { PLACE_NONE, PLACE_RATIO, PLACE_LENGTHS } statement_place_kind;

/* A test length as it is written. */
typedef struct statement_place {
    statement_place_kind kind;
    double ratio;
    int min_len, max_len;
    char text[32];
} statement_place;

/* 1: it is that range of lengths. */
int statement_place_is(const statement_place *place, const length_bin *bin);

typedef enum statement_operation { STATEMENT_VALUE, STATEMENT_DIFFERENCE, STATEMENT_RATIO } statement_operation;

typedef struct statement_rule {
    int line; /* of the file */
    char says[200];
    char theirs[200];           /* as written; "" when nothing is */
    double least, most, within; /* NAN: not given */
    int premise;
    int numbers; /* of theirs, where within is given */
    double number[ANALYTIC_VALUES_MAX];

    const analytic *measure; /* NULL: it is about runs */
    analytic_input *input;

    statement_operation operation;
    statement_side side[2];
    const quantity_kind *kind; /* NULL: it is about a score; else about one number of a run: */
    const quantity *quantity;  /* of that kind */
    const metric *metric; /* NULL: has_value */
    char mode[24];        /* "": the usual one */
    statement_place at, from;
} statement_rule;

typedef struct statement {
    char id[32], title[120];
    char words[STATEMENT_TEXT_MAX], source[STATEMENT_TEXT_MAX], published[STATEMENT_TEXT_MAX];
    char cites[STATEMENT_CITES_MAX]; /* keys of works, "a,b"; "" for none */
    char refuted[STATEMENT_TEXT_MAX], untestable[STATEMENT_TEXT_MAX]; /* untestable: "" when it can be tested */
    int seeds, rules;
    statement_rule *rule; /* [rules] */
} statement;

typedef struct statement_group {
    char path[4096], name[128], title[256], results[4096];
    char grid[256]; /* "the grid in this file" or the spec's name, for people; "": no runs */
    spec spec;      /* count 0: no statement is about runs */
    int count;
    statement *statement; /* [count] */
} statement_group;

typedef struct statements {
    int count;
    statement_group *group; /* [count], by file name */
    works works;            /* what can be cited */
} statements;

/* Reads every .yaml file of a folder, and its sources.bib where there is one. specs: the folder of the bundled specs.
 * All faults of a file are told at once, as spec_load does. An id that stands twice is an error. Free with
 * statements_free in either case; r must live as long. */
int statements_load(const char *folder, const char *specs, const registry *r, statements *out, error *e);
void statements_free(statements *s);

/* One file: statement_read.c. */
int statement_read(const char *path, const char *specs, const registry *r, const works *w, statement_group *out,
                   error *e);
void statement_group_free(statement_group *g);

/* The statement of that id and its group; -1 with e set to the nearest id. */
int statement_find(const statements *s, const char *id, const statement_group **group, const statement **found,
                   error *e);

/* The spec with only the runs in front that the statements chosen[group->count] need; their number. -1: no memory. To
 * be called once: indices of sides mean other runs afterwards, so nothing can be judged any more. */
int statement_keep_runs(statement_group *g, const char *chosen, error *e);

/* ------------------------------------------------------------------------------------------------ what follows */

typedef enum finding_state { FINDING_HOLDS, FINDING_FAILS, FINDING_OPEN, FINDING_ABSENT } finding_state;

typedef struct statement_finding {
    finding_state state;
    int wanted, there;          /* runs of all sides; those with an outcome */
    int ended_badly, undefined; /* of these: diverged or failed, also in fine-tuning; evaluated without a value here */
    int lacking;                /* records that count as not there for want of the section that is asked for */
    int values;                 /* seeds with a value, of both sides where there are two */
    double mean, low, high;     /* NAN where there are too few */
    double side[2];             /* the sides' own means over these seeds; NAN: no such side */
    int needed;                 /* values that would decide an open one; 0: not known */
    int hollow;                 /* 1: a value rests on a map or on untrained rows (the record's flag) */
    int count;                  /* of a measurement's numbers */
    double number[ANALYTIC_VALUES_MAX];
    int worst;     /* which of them is farthest on the wrong side */
    char why[256]; /* of an open or absent one; "" otherwise */
} statement_finding;

typedef enum statement_outcome {
    STATEMENT_REPRODUCED,
    STATEMENT_NOT_REPRODUCED,
    STATEMENT_UNDECIDED,
    STATEMENT_NOT_TESTABLE,
    STATEMENT_NOT_RUN
} statement_outcome;

typedef struct statement_verdict {
    statement_outcome outcome;
    int rules;
    statement_finding *finding; /* [rules] */
    int wanted, there;          /* runs of all conditions; those with an outcome */
    int needed;                 /* of an undecided one: values that would decide it; 0: not known */
} statement_verdict;

/* Records of several folders. */
typedef struct statement_evidence {
    int count;
    results *folder; /* [count] */
} statement_evidence;

/* Reads them; a folder without runs/ holds no records and is no error. Records that cannot be read: -1 with e set, and
 * all others are there. Free with statement_evidence_free in either case. */
int statement_evidence_load(const char *const *dirs, int count, statement_evidence *out, error *e);
void statement_evidence_free(statement_evidence *v);

/* The record of a run, found by the run's key; NULL: there is none. Interrupted ones are no outcome and pass for none.
 */
const run_record *statement_record(const statement_evidence *v, const run_config *c);

/* What one run says (statement_value.c). */
typedef enum statement_value_state {
    STATEMENT_VALUE_THERE,
    STATEMENT_VALUE_ABSENT,   /* no record */
    STATEMENT_VALUE_LACKING,  /* a record without the section */
    STATEMENT_VALUE_ENDED,    /* diverged or failed, in training or in fine-tuning */
    STATEMENT_VALUE_UNDEFINED /* no value at this point */
} statement_value_state;

typedef struct statement_value {
    statement_value_state state;
    double value;       /* at `at`, less that at `from`; or the quantity */
    int hollow;         /* 1: it rests on a map or on untrained rows */
    int version;        /* of the task */
    const char *reason; /* of an undefined one, where the record gives it, else ""; the record's or static */
} statement_value;

/* record: NULL: there is none. side: 0 or 1, one of the rule's. */
statement_value statement_value_of(const run_record *record, const statement_rule *r, int side);

/* The verdict. -1: a measurement failed (ERROR_USAGE, with file and line) or memory is short. Free in either case. */
int statement_judge(const statement_group *g, const statement *s, const statement_evidence *v, const registry *r,
                    statement_verdict *out, error *e);
void statement_verdict_free(statement_verdict *v);

/* ------------------------------------------------------------------------------------------------ how it is told */

/* "not reproduced" */
const char *statement_outcome_name(statement_outcome o);

/* A verdict on its way to be shown. */
typedef struct statement_told {
    const statement_group *group;
    const statement *statement;
    statement_verdict verdict;
} statement_told;

/* One line for each; with `details` its words, source and conditions too. */
void statement_text(const statement_told *t, int count, int details, buffer *out);

/* {"schema": "posbench-claims/1", "claims": [...]}; NULL: no memory. What has no value is null. */
json_t *statement_json(const statement_told *t, int count);

/* BibTeX of what they cite, every entry once, in their order; nothing where none does. */
void statement_bibtex(const statement_told *t, int count, const works *w, buffer *out);

/* A page about them, which cites from sources.bib beside it. Free with doc_free. */
void statement_document(const statement_told *t, int count, document *out);

/* Parts of these (statement_words.c). What is asked, "at least 0.97"; our number with its interval; why there is no
 * verdict, or how many seeds would decide. */
void statement_rule_words(const statement_rule *r, buffer *out);
void statement_asked(const statement_rule *r, buffer *out);
void statement_ours(const statement_rule *r, const statement_finding *f, buffer *out);
void statement_remark(const statement_told *t, buffer *out);
const char *finding_state_name(finding_state s);

#endif

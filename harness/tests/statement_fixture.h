/* statement_fixture.h - a file of claims and made-up records, for tests of verdicts. */
#ifndef STATEMENT_FIXTURE_H
#define STATEMENT_FIXTURE_H

#include "report_fixture.h"
#include "scratch.h"
#include "statement.h"

/* A grid of the runs that made_write makes: two encodings, five seeds, tested at 1, 2 and 4 times 16. */
#define CLAIM_GRID                                                                                                     \
    "grid:\n  encoding: [nope, rope, learned]\n  task: repeat_copy\n  seeds: 5\n"                                      \
    "  train: {len: 16, min_len: 4, warmup: 3, steps: 30}\n  eval: {ratios: [1, 2, 4]}\n"

/* A claim about them up to its rule. */
#define CLAIM_HEAD                                                                                                     \
    "claims:\n- id: T1\n  title: A title\n  statement: Words.\n  source: Somebody 2020\n  published: 0.9 of it\n"      \
    "  seeds: 5\n  refuted: less\n  rule:\n"

typedef struct claim_trial {
    scratch folder;
    registry *registry;
    works works; /* of the program alone */
    char path[PATH_MAX], records[PATH_MAX];
    statement_group group;
    statement_verdict verdict;
    error e;
    char shown[sizeof(error)]; /* of claim_fault */
} claim_trial;

/* records: a folder for made_write. */
void claim_open(claim_trial *t);
void claim_close(claim_trial *t);

/* Reads the text as trial.yaml and asserts that it is good. */
void claim_good(claim_trial *t, const char *text);

/* Asserts that it is refused. The message without the folder's name; it lies in t until the next call. */
const char *claim_fault(claim_trial *t, const char *text);

/* One record for each of seeds 1 .. count: score[seed - 1] at twice the training length, 1 at it, 0.5 at four times. */
void claim_records(claim_trial *t, const char *encoding, const double *score, int count);

/* Takes a section out of the record at path, as an older program's has none. */
void claim_remove(const char *path, const char *section);

/* The verdict of the first claim from a folder. */
const statement_verdict *claim_judge(claim_trial *t, const char *records);

#endif

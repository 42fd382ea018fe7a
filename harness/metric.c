#include "metric.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const metric metric_rows[] = {
    {"exact_match", "exact match", "share of sequences", METRIC_SCORE, 1, 0, 1, "chance_exact"},
    {"token_accuracy", "token accuracy", "share of tokens", METRIC_SCORE, 1, 0, 1, "chance_token"},
    {"loss", "loss", "nats per token", METRIC_SCORE, 0, 0, INFINITY, NULL},
    {"chance_exact", "exact match by chance", "share of sequences", METRIC_REFERENCE, 1, 0, 1, NULL},
    {"chance_token", "token accuracy by chance", "share of tokens", METRIC_REFERENCE, 1, 0, 1, NULL},
    {"overlap", "test sequences also met in training", "share of sequences", METRIC_REFERENCE, 0, 0, 1, NULL},
};
enum { METRIC_ROWS = sizeof metric_rows / sizeof metric_rows[0] };

static const metric metric_unknown = {"", "", "", METRIC_REFERENCE, 0, -INFINITY, INFINITY, NULL};

const metric *metric_find(const char *name)
{
    for (int i = 0; i < METRIC_ROWS; i++)
        if (strcmp(metric_rows[i].name, name) == 0)
            return &metric_rows[i];
    return &metric_unknown;
}

const metric *metric_score(int i)
{
    for (int row = 0; row < METRIC_ROWS; row++)
        if (metric_rows[row].role == METRIC_SCORE && i-- == 0)
            return &metric_rows[row];
    return NULL;
}

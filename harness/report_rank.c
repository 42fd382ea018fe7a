/* report_rank.c - mean ranks of the methods past the training length.
 *
 * Each seed is one replicate: within a task, a length beyond training and a seed the methods are ranked (1 = best, ties
 * averaged); ranks are averaged over lengths, then over tasks, and the interval is over seeds. It says what other seeds
 * would change, for these tasks; it says nothing about other tasks. A run without a value there (diverged, failed, past
 * the encoding's definition) shares the last ranks: leaving it out would reward not being defined. Reciprocals of the
 * same ranks are averaged in the same way.
 *
 * What other tasks would change is asked with tasks as blocks: Friedman's test and Nemenyi's critical difference on the
 * mean ranks of each task. Ranks that are averaged over lengths and seeds within a task spread no more than whole ranks
 * do, so the critical difference, made for these, is never too small.
 */
#include "report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

static int rank_has_record(const report_view *v, const view_panel *p, int method, int seed)
{
    for (int i = 0; i < v->runs.count; i++) {
        const run_record *run = &v->runs.run[i];
        if (run->config.seed == seed && run->config.train.len == p->train_len &&
            strcmp(run->config.task, p->task) == 0 && strcmp(run->label, v->method[method].label) == 0)
            return 1;
    }
    return 0;
}

/* Whether every method has a record of this task and seed: means over different tasks cannot be compared. */
static int rank_is_complete(const report_view *v, const view_panel *p, int seed)
{
    for (int m = 0; m < v->methods; m++)
        if (!rank_has_record(v, p, m, seed))
            return 0;
    return 1;
}

static double rank_value(const summary_row *row, int seed)
{
    for (int i = 0; row && i < row->seeds; i++)
        if (row->seed[i] == seed)
            return row->value[i];
    return NAN;
}

/* Sums of ranks. */
typedef struct rank_sums {
    double *seed;       /* [seeds][methods] over tasks */
    double *task;       /* [tasks][methods] over seeds */
    double *reciprocal; /* [methods] of 1/rank, over tasks and seeds */
} rank_sums;

/* Adds the ranks at one length for one seed. */
static void rank_add(const report_view *v, const view_panel *p, int length, int seed, double *sum, double *reciprocal)
{
    double value[v->methods], rank[v->methods];
    double worst = p->metric->higher_is_better ? -INFINITY : INFINITY;
    for (int m = 0; m < v->methods; m++) {
        value[m] = rank_value(view_row(p, m, length), seed);
        value[m] = isnan(value[m]) ? worst : value[m];
    }
    stat_ranks(value, v->methods, p->metric->higher_is_better, rank);
    for (int m = 0; m < v->methods; m++) {
        sum[m] += rank[m];
        reciprocal[m] += 1 / rank[m];
    }
}

/* Mean ranks of ranked task number `block` for one seed. */
static void rank_add_task(const report_view *v, const view_panel *p, int seed, int replicate, int block,
                          rank_sums *sums)
{
    double rank[v->methods], reciprocal[v->methods];
    int lengths = 0;
    memset(rank, 0, sizeof rank);
    memset(reciprocal, 0, sizeof reciprocal);
    for (int l = 0; l < p->lengths; l++) {
        if (p->length[l].ratio <= 1)
            continue;
        rank_add(v, p, l, seed, rank, reciprocal);
        lengths++;
    }
    for (int m = 0; m < v->methods; m++) {
        sums->seed[replicate * v->methods + m] += rank[m] / lengths;
        sums->task[block * v->methods + m] += rank[m] / lengths;
        sums->reciprocal[m] += reciprocal[m] / lengths;
    }
}

/* One panel stands for a task: the first of its primary ones (sliding windows before others: by name). */
static int rank_stands_for_task(const report_view *v, int panel)
{
    const view_panel *p = &v->panel[panel];
    return panel == 0 || strcmp(p->task, p[-1].task) != 0 || p->train_len != p[-1].train_len;
}

static int rank_compare_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* All seeds of the folder, each once. The caller frees them. */
static int *rank_seeds(const report_view *v, int *count)
{
    int *seed = calloc((size_t)v->runs.count + 1, sizeof *seed);
    *count = 0;
    for (int i = 0; seed && i < v->runs.count; i++)
        seed[i] = v->runs.run[i].config.seed;
    if (seed)
        qsort(seed, (size_t)v->runs.count, sizeof *seed, rank_compare_int);
    for (int i = 0; seed && i < v->runs.count; i++)
        if (i == 0 || seed[i] != seed[*count - 1])
            seed[(*count)++] = seed[i];
    return seed;
}

/* A task is ranked when every method ran it, with one seed at least, and something lies beyond the training length. */
static int rank_is_ranked(const report_view *v, int panel, const int *seed, int seeds)
{
    const view_panel *p = &v->panel[panel];
    if (!rank_stands_for_task(v, panel) || p->length[p->lengths - 1].ratio <= 1)
        return 0;
    for (int s = 0; s < seeds; s++)
        if (rank_is_complete(v, p, seed[s]))
            return 1;
    return 0;
}

/* Keeps the seeds with which every method ran every ranked task, so that all replicates average the same. */
static int rank_keep_seeds(const report_view *v, int *seed, int seeds, const int *ranked)
{
    int kept = 0;
    for (int s = 0; s < seeds; s++) {
        int complete = 1;
        for (int i = 0; i < v->panels; i++)
            complete &= !ranked[i] || rank_is_complete(v, &v->panel[i], seed[s]);
        if (complete)
            seed[kept++] = seed[s];
    }
    return kept;
}

static void rank_replicates(report_view *v, int *seed, int *seeds, int *ranked, rank_sums *sums)
{
    for (int i = 0; i < v->panels; i++) {
        ranked[i] = rank_is_ranked(v, i, seed, *seeds);
        v->ranked_tasks += ranked[i];
        v->unranked_tasks += !ranked[i] && rank_stands_for_task(v, i);
    }
    *seeds = rank_keep_seeds(v, seed, *seeds, ranked);
    for (int i = 0, block = 0; i < v->panels; i++) {
        for (int s = 0; ranked[i] && s < *seeds; s++)
            rank_add_task(v, &v->panel[i], seed[s], s, block, sums);
        block += ranked[i];
    }
}

static void rank_set(report_view *v, const rank_sums *sums, int seeds, int tasks)
{
    double replicate[seeds];
    for (int m = 0; m < v->methods; m++) {
        view_method *method = &v->method[m];
        for (int s = 0; s < seeds; s++)
            replicate[s] = sums->seed[s * v->methods + m] / tasks;
        method->rank = stat_mean(replicate, seeds);
        method->reciprocal = sums->reciprocal[m] / (tasks * seeds);
        stat_bootstrap(replicate, seeds, rng_hash(method->label), &method->rank_low, &method->rank_high);
        method->rank_low = fmax(method->rank_low, 1);
        method->rank_high = fmin(method->rank_high, v->methods);
        if (seeds < 2)
            method->rank_low = method->rank_high = NAN;
    }
}

/* Over tasks. One task says nothing about others. */
static void rank_test(report_view *v, rank_sums *sums, int seeds, int tasks)
{
    for (int i = 0; i < tasks * v->methods; i++)
        sums->task[i] /= seeds;
    stat_friedman(sums->task, tasks, v->methods, &v->friedman);
    v->critical = tasks < 2 ? NAN : stat_critical_difference(v->methods, tasks);
}

static void rank_all(report_view *v, int *seed, int seeds, int *ranked, rank_sums *sums)
{
    rank_replicates(v, seed, &seeds, ranked, sums);
    if (seeds > 0 && v->ranked_tasks > 0) {
        rank_set(v, sums, seeds, v->ranked_tasks);
        rank_test(v, sums, seeds, v->ranked_tasks);
    }
    v->ranked_seeds = seeds;
}

int view_rank(report_view *v, error *e)
{
    int seeds;
    size_t methods = (size_t)v->methods;
    int *seed = rank_seeds(v, &seeds), *ranked = calloc((size_t)v->panels + 1, sizeof *ranked);
    rank_sums sums = {.seed = calloc((size_t)seeds * methods + 1, sizeof(double)),
                      .task = calloc((size_t)v->panels * methods + 1, sizeof(double)),
                      .reciprocal = calloc(methods + 1, sizeof(double))};
    int failed = !seed || !ranked || !sums.seed || !sums.task || !sums.reciprocal;
    v->ranked_tasks = v->unranked_tasks = 0;
    v->critical = NAN;
    stat_friedman(NULL, 0, 0, &v->friedman);
    if (!failed && v->methods > 1)
        rank_all(v, seed, seeds, ranked, &sums);
    free(seed);
    free(ranked);
    free(sums.seed);
    free(sums.task);
    free(sums.reciprocal);
    return failed ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}

/* summary_write.c - the CSV files of a results folder. */
#include "summary.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "csv.h"

static const char summary_runs_header[] =
    "key,encoding,task,seed,train_len,eval_len,ratio,metric,mode,value,n,status,flag\n";
static const char summary_header[] =
    "encoding,task,train_len,eval_len,ratio,metric,mode,seeds,fitted,mean,sd,median,ci_low,ci_high,rank,"
    "mean_fitted,chance\n";
static const char summary_curves_header[] = "encoding,task,train_len,metric,mode,lengths,seeds,fitted,area,sd,ci_low,"
                                            "ci_high,area_fitted,reach,reach_is_last,reason\n";
static const char summary_comparisons_header[] = "task,train_len,eval_len,ratio,metric,mode,what,against,reference,"
                                                 "encoding,pairs,difference,sd,ci_low,ci_high,p,p_holm,tests,"
                                                 "effect,rank_biserial,seeds_needed,reason\n";

static const char summary_extension_header[] =
    "encoding,task,train_len,factor,method,task_options,steps,tokens,eval_len,ratio,metric,mode,seeds,mean,sd,median,ci_low,ci_high,"
    "status,flag,reason\n";

static void summary_write_run(buffer *b, const run_record *run)
{
    csv_text(b, run->key);
    csv_text(b, run->label);
    csv_text(b, run->config.task);
    csv_integer(b, run->config.seed);
    csv_integer(b, run->config.train.len);
}

static double summary_write_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void summary_write_value(buffer *b, const run_record *run, const json_t *row)
{
    static const char *const numbers[] = {"max_len", "ratio"};
    static const char *const words[] = {"metric", "mode"};
    summary_write_run(b, run);
    for (int i = 0; i < 2; i++)
        csv_number(b, summary_write_number(row, numbers[i]));
    for (int i = 0; i < 2; i++)
        csv_text(b, json_string_value(json_object_get(row, words[i])));
    csv_number(b, summary_write_number(row, "value"));
    csv_number(b, summary_write_number(row, "n"));
    csv_text(b, json_string_value(json_object_get(row, "status")));
    csv_text(b, json_string_value(json_object_get(row, "flag")));
    csv_end(b);
}

/* What was measured before the end is left out: weights of a run that broke off stand for no encoding. */
static void summary_write_broken(buffer *b, const run_record *run)
{
    summary_write_run(b, run);
    for (int i = 0; i < 6; i++)
        csv_text(b, NULL);
    csv_text(b, run->status);
    csv_text(b, NULL);
    csv_end(b);
}

static void summary_write_runs(buffer *b, const results *r)
{
    buffer_add(b, summary_runs_header);
    for (int i = 0; i < r->count; i++) {
        const run_record *run = &r->run[i];
        const json_t *row;
        size_t at;
        if (!run->ok)
            summary_write_broken(b, run);
        else
            json_array_foreach(json_object_get(run->record, "evaluation"), at, row) summary_write_value(b, run, row);
    }
}

static void summary_write_row(buffer *b, const summary_row *row)
{
    csv_text(b, row->encoding);
    csv_text(b, row->task);
    csv_integer(b, row->train_len);
    csv_integer(b, row->eval_len);
    csv_number(b, row->ratio);
    csv_text(b, row->metric);
    csv_text(b, row->mode);
    csv_integer(b, row->seeds);
    csv_integer(b, row->fitted);
    const double numbers[] = {row->mean,    row->sd,   row->median,      row->ci_low,
                              row->ci_high, row->rank, row->mean_fitted, row->chance};
    for (int i = 0; i < 8; i++)
        csv_number(b, numbers[i]);
    csv_end(b);
}

static void summary_write_curve(buffer *b, const summary_curve *c)
{
    const double numbers[] = {c->mean, c->sd, c->ci_low, c->ci_high, c->mean_fitted, c->reach};
    csv_text(b, c->encoding);
    csv_text(b, c->task);
    csv_integer(b, c->train_len);
    csv_text(b, c->metric);
    csv_text(b, c->mode);
    csv_integer(b, c->lengths);
    csv_integer(b, c->seeds);
    csv_integer(b, c->fitted);
    for (int i = 0; i < 6; i++)
        csv_number(b, numbers[i]);
    csv_integer(b, c->reach_is_last);
    csv_text(b, c->reason);
    csv_end(b);
}

static void summary_write_whole(buffer *b, int value, int is_known)
{
    if (is_known)
        csv_integer(b, value);
    else
        csv_text(b, NULL);
}

static void summary_write_contrast(buffer *b, const summary_contrast *c)
{
    const double before[] = {c->d.mean, c->d.sd, c->d.low, c->d.high, c->d.p, c->p_holm};
    int is_area = c->eval_len == 0;
    csv_text(b, c->task);
    csv_integer(b, c->train_len);
    summary_write_whole(b, c->eval_len, !is_area);
    csv_number(b, c->ratio);
    csv_text(b, c->metric);
    csv_text(b, c->mode);
    csv_text(b, is_area ? "area" : "score");
    csv_text(b, c->against);
    csv_text(b, c->reference);
    csv_text(b, c->encoding);
    csv_integer(b, c->d.n);
    for (int i = 0; i < 6; i++)
        csv_number(b, before[i]);
    csv_integer(b, c->tests);
    csv_number(b, c->d.effect);
    csv_number(b, c->d.biserial);
    summary_write_whole(b, c->d.needed, c->d.needed > 0);
    csv_text(b, c->reason);
    csv_end(b);
}

static void summary_write_extension(buffer *b, const summary_extension *x)
{
    const double numbers[] = {x->mean, x->sd, x->median, x->ci_low, x->ci_high};
    csv_text(b, x->encoding);
    csv_text(b, x->task);
    csv_integer(b, x->train_len);
    csv_number(b, x->factor);
    csv_text(b, x->method);
    csv_text(b, x->task_options);
    csv_integer(b, x->steps);
    csv_number(b, x->tokens);
    csv_integer(b, x->eval_len);
    csv_number(b, x->ratio);
    csv_text(b, x->metric);
    csv_text(b, x->mode);
    csv_integer(b, x->seeds);
    for (int i = 0; i < 5; i++)
        csv_number(b, numbers[i]);
    csv_text(b, x->status);
    csv_text(b, x->flag);
    csv_text(b, x->reason);
    csv_end(b);
}

static int summary_write_file(const char *dir, const char *name, const buffer *b, error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return buffer_save(b, path, e);
}

int summary_write(const char *dir, const results *r, const summary *s, error *e)
{
    buffer runs = BUFFER_INIT, rows = BUFFER_INIT, curves = BUFFER_INIT, contrasts = BUFFER_INIT;
    buffer positions = BUFFER_INIT, extension = BUFFER_INIT;
    summary_write_runs(&runs, r);
    buffer_add(&rows, summary_header);
    for (int i = 0; i < s->count; i++)
        summary_write_row(&rows, &s->rows[i]);
    buffer_add(&curves, summary_curves_header);
    for (int i = 0; i < s->curves; i++)
        summary_write_curve(&curves, &s->curve[i]);
    buffer_add(&contrasts, summary_comparisons_header);
    for (int i = 0; i < s->contrasts; i++)
        summary_write_contrast(&contrasts, &s->contrast[i]);
    buffer_add(&extension, summary_extension_header);
    for (int i = 0; i < s->extensions; i++)
        summary_write_extension(&extension, &s->extension[i]);
    int failed = summary_write_file(dir, "runs.csv", &runs, e) < 0 ||
                 summary_write_file(dir, "summary.csv", &rows, e) < 0 ||
                 summary_write_file(dir, "curves.csv", &curves, e) < 0 ||
                 summary_write_file(dir, "comparisons.csv", &contrasts, e) < 0 ||
                 (s->extensions > 0 && summary_write_file(dir, "extension.csv", &extension, e) < 0) ||
                 (summary_positions(r, &positions) > 0 && summary_write_file(dir, "positions.csv", &positions, e) < 0);
    buffer_free(&positions);
    buffer_free(&runs);
    buffer_free(&rows);
    buffer_free(&curves);
    buffer_free(&contrasts);
    buffer_free(&extension);
    return failed ? -1 : 0;
}

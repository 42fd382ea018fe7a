/* report_tune.c - the trials by which learning rates were chosen, as a table. */
#include "report_methods.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TUNE_DECIMALS = 4 };

static const char *tune_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double tune_value(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Whether two cells of the file share encoding and task: then their other settings must be shown. */
static int tune_has_settings(const json_t *cells)
{
    for (size_t i = 0; i < json_array_size(cells); i++)
        for (size_t k = 0; k < i; k++) {
            const json_t *a = json_array_get(cells, i), *b = json_array_get(cells, k);
            if (strcmp(tune_text(a, "encoding"), tune_text(b, "encoding")) == 0 &&
                strcmp(tune_text(a, "task"), tune_text(b, "task")) == 0)
                return 1;
        }
    return 0;
}

/* The lines of a cell's canonical text that are neither format, encoding nor task, one behind the other. */
static void tune_settings_cell(const json_t *cell, document *d)
{
    buffer b = BUFFER_INIT;
    const char *line = tune_text(cell, "cell");
    for (size_t length; *line; line += length + (line[length] == '\n')) {
        char text[512];
        length = strcspn(line, "\n");
        if (strncmp(line, "format=", 7) == 0 || strncmp(line, "encoding=", 9) == 0 || strncmp(line, "task=", 5) == 0)
            continue;
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), line);
        buffer_add(&b, b.length ? " " : "");
        doc_plain(&b, text);
    }
    doc_add_buffer(d, DOC_CELL, &b, NULL);
}

/* Mean validation loss of the trials at one rate; how many of them gave none below it. */
static void tune_rate_cell(const json_t *cell, double rate, document *d)
{
    buffer b = BUFFER_INIT, lost = BUFFER_INIT;
    const json_t *trial;
    size_t i;
    double sum = 0;
    int n = 0, broken = 0;
    json_array_foreach(json_object_get(cell, "trials"), i, trial)
    {
        if (tune_value(trial, "lr") != rate)
            continue;
        double loss = tune_value(trial, "validation_loss");
        int ok = strcmp(tune_text(trial, "status"), "ok") == 0 && !isnan(loss);
        sum += ok ? loss : 0;
        n += ok;
        broken += !ok;
    }
    if (n)
        buffer_fixed(&b, sum / n, TUNE_DECIMALS);
    else
        buffer_add(&b, "\342\200\224");
    if (broken)
        buffer_format(&lost, "%d without", broken);
    doc_add_buffer(d, DOC_CELL, &b, buffer_text(&lost))->flags = tune_value(cell, "lr") == rate ? DOC_BEST : 0;
    buffer_free(&lost);
}

static void tune_choice_cell(const json_t *cell, document *d)
{
    buffer b = BUFFER_INIT;
    double rate = tune_value(cell, "lr");
    if (isnan(rate))
        doc_plain(&b, *tune_text(cell, "message") ? tune_text(cell, "message") : "\342\200\224");
    else
        buffer_number(&b, rate);
    doc_add_buffer(d, DOC_CELL, &b, NULL);
}

static void tune_row(const json_t *cell, const json_t *rates, int settings, document *d)
{
    buffer name = BUFFER_INIT, task = BUFFER_INIT;
    doc_name(&name, tune_text(cell, "encoding"));
    doc_name(&task, tune_text(cell, "task"));
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_add_buffer(d, DOC_CELL, &name, NULL);
    doc_add_buffer(d, DOC_CELL, &task, NULL);
    if (settings)
        tune_settings_cell(cell, d);
    for (size_t i = 0; i < json_array_size(rates); i++)
        tune_rate_cell(cell, json_number_value(json_array_get(rates, i)), d);
    tune_choice_cell(cell, d);
}

void report_tune_table(const report_view *v, document *d)
{
    const json_t *rates = json_object_get(v->runs.choice, "lr"), *cells = json_object_get(v->runs.choice, "cells");
    const json_t *cell;
    size_t i, seeds = json_array_size(json_object_get(v->runs.choice, "seeds"));
    int settings = tune_has_settings(cells);
    buffer caption = BUFFER_INIT;
    if (json_array_size(cells) == 0)
        return;
    buffer_format(
        &caption,
        "Tuning: mean validation loss (nats per token, at training lengths) of %zu trial%s at each learning "
        "rate, with seeds that are not reported. The same number of trials for all; bold is the rate that the "
        "reported runs have.",
        seeds, seeds == 1 ? "" : "s");
    doc_add_buffer(d, DOC_TABLE, &caption, NULL);
    doc_add(d, DOC_COLUMN, "encoding", NULL)->flags = DOC_LEFT;
    doc_add(d, DOC_COLUMN, "task", NULL)->flags = DOC_LEFT;
    if (settings)
        doc_add(d, DOC_COLUMN, "settings", NULL)->flags = DOC_LEFT;
    for (size_t r = 0; r < json_array_size(rates); r++) {
        buffer heading = BUFFER_INIT;
        buffer_number(&heading, json_number_value(json_array_get(rates, r)));
        doc_add_buffer(d, DOC_COLUMN, &heading, NULL);
    }
    doc_add(d, DOC_COLUMN, "chosen", NULL);
    json_array_foreach(cells, i, cell) tune_row(cell, rates, settings, d);
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

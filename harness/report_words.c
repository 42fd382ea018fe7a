/* report_words.c - the sentences that say what was run. All of them follow from the records; none is about one
 * encoding. */
#include "report_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { WORDS_VALUES_MAX = 64, WORDS_SHOWN = 3, WORDS_VALUE_SIZE = 512 };

int report_setting(const report_view *v, const char *name, buffer *out)
{
    error unused = ERROR_INIT;
    const pe_option *row = config_row(name, &unused);
    char(*value)[WORDS_VALUE_SIZE] = row ? calloc(WORDS_VALUES_MAX, sizeof *value) : NULL;
    int count = 0;
    for (int i = 0; value && i < v->runs.count; i++) {
        char text[8192];
        int known = 0;
        options_print_value(row, &v->runs.run[i].config, text, sizeof text);
        text[WORDS_VALUE_SIZE - 1] = '\0';
        for (int k = 0; k < count; k++)
            known |= strcmp(value[k], text) == 0;
        if (!known && count < WORDS_VALUES_MAX)
            strcpy(value[count++], text);
    }
    for (int k = 0; k < count; k++) {
        int hidden = count > WORDS_SHOWN + 1 && k >= WORDS_SHOWN && k < count - 1;
        if (hidden)
            continue;
        buffer_add(out, k == 0 ? "" : k < count - 1 ? ", " : count > WORDS_SHOWN + 1 ? " \342\200\246 " : " or ");
        doc_plain(out, value[k]);
    }
    free(value);
    return count;
}

static const char *words_plural(int n)
{
    return n == 1 ? "" : "s";
}

/* Numbers in words up to ten, as in running text; `first`: at the beginning of a sentence. */
static void words_count(buffer *out, int n, const char *thing, int first)
{
    static const char *const words[] = {"no",  "one",   "two",   "three", "four", "five",
                                        "six", "seven", "eight", "nine",  "ten"};
    size_t start = out->length;
    if (n <= 10)
        buffer_add(out, words[n]);
    else
        buffer_format(out, "%d", n);
    if (first && n <= 10 && !out->failed)
        out->data[start] += 'A' - 'a';
    buffer_format(out, " %s%s", thing, words_plural(n));
}

/* 106880 -> "106 880": thin digits groups, the same in every locale. */
static void words_thousands(buffer *out, long n)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%ld", n);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer_add(out, "\342\200\257"); /* narrow no-break space */
        buffer_bytes(out, &digits[i], 1);
    }
}

static int words_distinct_tasks(const report_view *v)
{
    int tasks = 0;
    for (int i = 0; i < v->runs.count; i++) /* sorted by task */
        tasks += i == 0 || strcmp(v->runs.run[i].config.task, v->runs.run[i - 1].config.task) != 0;
    return tasks;
}

static int words_distinct_seeds(const report_view *v)
{
    int seeds = 0;
    for (int i = 0; i < v->runs.count; i++) {
        int known = 0;
        for (int k = 0; k < i && !known; k++)
            known = v->runs.run[k].config.seed == v->runs.run[i].config.seed;
        seeds += !known;
    }
    return seeds;
}

static double words_longest_ratio(const report_view *v)
{
    double most = 1;
    for (int i = 0; i < v->panels; i++)
        most = fmax(most, v->panel[i].length[v->panel[i].lengths - 1].ratio);
    return most;
}

static void words_range(const report_view *v, const char *path, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < v->runs.count; i++) {
        double value = v->runs.run[i].ok ? results_number(&v->runs.run[i], path) : NAN;
        *low = isnan(value) ? *low : fmin(*low, value);
        *high = isnan(value) ? *high : fmax(*high, value);
    }
}

/* ------------------------------------------------------------------------------------------------ what was run */

/* "2 layers", "1 layer", "1 or 2 layers" */
static void words_setting(const report_view *v, const char *row, const char *thing, buffer *b)
{
    size_t start = b->length;
    report_setting(v, row, b);
    int is_one = strcmp(buffer_text(b) + start, "1") == 0;
    buffer_format(b, " %s%s", thing, is_one ? "" : "s");
}

static void words_model(const report_view *v, buffer *b)
{
    double low, high;
    buffer_add(b, "a transformer with ");
    words_setting(v, "model.layers", "layer", b);
    buffer_add(b, " of width ");
    report_setting(v, "model.width", b);
    buffer_add(b, " and ");
    words_setting(v, "model.heads", "attention head", b);
    words_range(v, "parameters.total", &low, &high);
    if (low > high)
        return;
    buffer_add(b, " (");
    words_thousands(b, (long)low);
    if (high > low) {
        buffer_add(b, " to ");
        words_thousands(b, (long)high);
    }
    buffer_add(b, " parameters)");
}

/* One paragraph that could stand in a paper's section on method. */
void report_lead(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    char ratio[VIEW_RATIO_MAX];
    double longest = words_longest_ratio(v);
    buffer_format(&b, "How well does a transformer work on sequences %s? Here ",
                  longest > 1 ? "longer than any it was trained on" : "as long as those it was trained on");
    words_count(&b, v->encodings, "way", 0);
    buffer_add(&b, " of encoding position");
    if (v->settings > 1) {
        buffer_add(&b, ", under ");
        words_count(&b, v->settings, "setting", 0);
        buffer_add(&b, " of what else was varied,");
    }
    buffer_add(&b, " met ");
    words_count(&b, words_distinct_tasks(v), "task", 0);
    buffer_add(&b, ". Each run trained ");
    words_model(v, &b);
    buffer_add(&b, " from scratch, on sequences of length ");
    report_setting(v, "train.len", &b);
    buffer_add(&b, " at most, for ");
    report_setting(v, "train.steps", &b);
    buffer_add(&b, " steps of ");
    report_setting(v, "train.batch", &b);
    buffer_add(&b, " sequences with AdamW (learning rate ");
    report_setting(v, "train.lr", &b);
    buffer_add(&b, ", ");
    report_setting(v, "train.schedule", &b);
    view_ratio_text(longest, ratio);
    buffer_format(&b, " schedule), and was then tested at %s%s the training length. ", longest > 1 ? "up to " : "",
                  longest > 1 ? ratio : "no more than");
    int seeds = words_distinct_seeds(v);
    int partly = seeds > 1 && v->runs.missing > 0;
    buffer_add(&b, partly ? "Up to " : "");
    words_count(&b, seeds, "seed", !partly);
    buffer_add(&b, seeds == 1 ? " was run, so no spread is known."
                              : " were run of each; runs with the same seed share their "
                                "data and their initial weights across encodings.");
    doc_add_buffer(d, DOC_LEAD, &b, NULL);
}

static void words_fact(document *d, buffer *value, const char *what)
{
    doc_add_buffer(d, DOC_FACT, value, what);
}

static void words_fact_count(document *d, int n, const char *one, const char *many)
{
    buffer b = BUFFER_INIT;
    buffer_format(&b, "%d", n);
    words_fact(d, &b, n == 1 ? one : many);
}

static double words_sum(const report_view *v, const char *path)
{
    double sum = 0;
    for (int i = 0; i < v->runs.count; i++) {
        double value = results_number(&v->runs.run[i], path);
        sum += isnan(value) ? 0 : value;
    }
    return sum;
}

static void words_duration(buffer *b, double seconds)
{
    if (seconds < 120)
        buffer_fixed(b, seconds, seconds < 10 ? 1 : 0);
    else
        buffer_fixed(b, seconds < 7200 ? seconds / 60 : seconds / 3600, 1);
    buffer_add(b, seconds < 120 ? " s" : seconds < 7200 ? " min" : " h");
}

void report_facts(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    words_fact_count(d, v->encodings, "encoding", "encodings");
    if (v->settings > 1)
        words_fact_count(d, v->settings, "setting", "settings");
    words_fact_count(d, words_distinct_tasks(v), "task", "tasks");
    words_fact_count(d, words_distinct_seeds(v), "seed", "seeds");
    int ok = v->runs.count - v->summary.diverged - v->summary.failed - v->summary.interrupted;
    buffer_format(&b, "%d", ok);
    if (ok < v->runs.count + v->runs.missing)
        buffer_format(&b, " of %d", v->runs.count + v->runs.missing);
    words_fact(d, &b, ok == 1 ? "run" : "runs");
    report_setting(v, "train.len", &b);
    words_fact(d, &b, "training length");
    char ratio[VIEW_RATIO_MAX];
    view_ratio_text(words_longest_ratio(v), ratio);
    buffer_add(&b, ratio);
    words_fact(d, &b, "longest test");
    words_duration(&b, words_sum(v, "cost.cpu_seconds"));
    words_fact(d, &b, "of processor time");
}

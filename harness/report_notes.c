/* report_notes.c - what a reader must know before trusting a number: warnings, footnotes, method, origin. */
#include "report_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { NOTES_MESSAGES_MAX = 12 };

/* ------------------------------------------------------------------------------------------------ runs that did not
 * end well */

static void notes_gaps(const report_view *v, document *d)
{
    const results *r = &v->runs;
    buffer b = BUFFER_INIT;
    if (r->missing == 0)
        return;
    buffer_format(&b, "%d of the sweep's %d runs %s no record yet: ", r->missing, r->count + r->missing,
                  r->missing == 1 ? "has" : "have");
    for (int i = 0; i < r->gaps; i++) {
        buffer_add(&b, i ? ", " : "");
        doc_name(&b, r->gap[i].encoding);
        buffer_add(&b, " on ");
        doc_name(&b, r->gap[i].task);
        buffer_format(&b, " (%d)", r->gap[i].runs);
    }
    buffer_add(&b, ". What follows is of those that have one.");
    doc_add_buffer(d, DOC_WARNING, &b, NULL);
}

void report_warnings(const report_view *v, document *d)
{
    const summary *s = &v->summary;
    buffer b = BUFFER_INIT;
    notes_gaps(v, d);
    if (s->diverged + s->failed + s->interrupted == 0)
        return;
    buffer_format(
        &b,
        "%d of %d runs gave no result: %d diverged, %d failed, %d interrupted. They are in no mean; each table "
        "says how many runs stand behind a row, and each such run is listed below.",
        s->diverged + s->failed + s->interrupted, s->records, s->diverged, s->failed, s->interrupted);
    doc_add_buffer(d, DOC_WARNING, &b, NULL);
}

static void notes_broken_runs(const report_view *v, document *d)
{
    int shown = 0, all = v->summary.diverged + v->summary.failed + v->summary.interrupted;
    for (int i = 0; i < v->runs.count && shown < NOTES_MESSAGES_MAX; i++) {
        const run_record *run = &v->runs.run[i];
        if (run->ok)
            continue;
        buffer b = BUFFER_INIT;
        doc_name(&b, run->label);
        buffer_add(&b, " on ");
        doc_name(&b, run->config.task);
        buffer_format(&b, ", seed %d, %s at step %.0f", run->config.seed, run->status,
                      results_number(run, "status_step"));
        if (*run->message) {
            buffer_add(&b, ": ");
            doc_plain(&b, run->message);
        }
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
        shown++;
    }
    if (all > shown) {
        buffer b = BUFFER_INIT;
        buffer_format(&b, "and %d more, in runs.csv", all - shown);
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
}

/* ------------------------------------------------------------------------------------------------ points with a story
 */

/* Whether this method has a point of the primary panels with the status, or (status NULL) with the flag. */
static int notes_has_point(const report_view *v, int m, const char *status, const char *flag)
{
    for (int i = 0; i < v->panels; i++) {
        const view_panel *p = &v->panel[i];
        for (int l = 0; l < p->lengths; l++) {
            const summary_row *row = view_row(p, m, l);
            if (row && (status ? strcmp(row->status, status) == 0 : strcmp(row->flag, flag) == 0))
                return 1;
        }
    }
    return 0;
}

/* "a, b and c" of all methods with such points; the number of them. */
static int notes_list_methods(const report_view *v, const char *status, const char *flag, buffer *b)
{
    int count = 0;
    for (int m = 0; m < v->methods; m++) {
        if (!notes_has_point(v, m, status, flag))
            continue;
        buffer_add(b, count++ ? ", " : "");
        doc_name(b, v->method[m].label);
    }
    return count;
}

static void notes_points(const report_view *v, const char *status, const char *flag, const char *what, document *d)
{
    buffer b = BUFFER_INIT;
    if (notes_list_methods(v, status, flag, &b) > 0) {
        buffer_add(&b, ": ");
        doc_plain(&b, what);
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
    buffer_free(&b);
}

/* Every flag that occurs, once. Flags other than "untrained" and "mixed" are names of maps. */
static void notes_flags(const report_view *v, document *d)
{
    for (int i = 0; i < v->summary.count; i++) {
        const char *flag = v->summary.rows[i].flag;
        int before = !*flag;
        for (int k = 0; k < i && !before; k++)
            before = strcmp(v->summary.rows[k].flag, flag) == 0;
        if (before)
            continue;
        buffer what = BUFFER_INIT;
        if (strcmp(flag, "untrained") == 0)
            buffer_add(&what,
                       "starred (hollow) points used parameters of positions that training never met, as they were "
                       "initialised.");
        else if (strcmp(flag, "mixed") == 0)
            buffer_add(&what,
                       "starred (hollow) points average runs that got their meaning in different ways; runs.csv tells "
                       "them apart.");
        else
            buffer_format(&what,
                          "starred (hollow) points lie past the encoding's definition and get their meaning from the "
                          "position map '%s', which the user chose.",
                          flag);
        notes_points(v, NULL, flag, buffer_text(&what), d);
        buffer_free(&what);
    }
}

static void notes_overlap(const report_view *v, document *d)
{
    for (int i = 0; i < v->panels; i++) {
        const view_panel *p = &v->panel[i];
        buffer b = BUFFER_INIT;
        int shown = 0;
        for (int l = 0; p->primary && l < p->lengths; l++) {
            if (!(p->length[l].overlap > 0))
                continue;
            char ratio[VIEW_RATIO_MAX], tokens[32];
            report_length_text(&p->length[l], ratio, tokens);
            if (!shown++) {
                buffer_add(&b, "Test sequences that may also have occurred in training, ");
                doc_name(&b, p->task);
            }
            buffer_add(&b, shown == 1 ? ": " : ", ");
            buffer_fixed(&b, 100 * p->length[l].overlap, 1);
            buffer_format(&b, " %% at length %s", tokens);
        }
        if (shown)
            buffer_add(
                &b,
                ". Of short ones few different ones exist; longer ones than in training cannot have occurred there.");
        if (shown)
            doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
}

static void notes_left_out(const report_figures *f, document *d)
{
    for (int i = 0; i < f->count; i++) {
        if (f->item[i].part_of >= 0 || f->item[i].left_out == 0)
            continue;
        buffer b = BUFFER_INIT;
        buffer_format(
            &b,
            "Figure \342\200\234%s\342\200\235: %d point%s at or below 0 cannot be drawn on a logarithmic axis and "
            "left a gap.",
            f->item[i].title, f->item[i].left_out, f->item[i].left_out == 1 ? "" : "s");
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
}

/* Rows that differ within one task would make it no comparison of encodings alone. */
static void notes_settings(const report_view *v, document *d)
{
    buffer note = BUFFER_INIT;
    for (const pe_option *row = config_rows; row->name; row++) {
        buffer values = BUFFER_INIT;
        int is_axis =
            strcmp(row->name, "encoding") == 0 || strcmp(row->name, "task") == 0 || strcmp(row->name, "seed") == 0;
        if (!is_axis && report_setting(v, row->name, &values) > 1) {
            buffer_add(&note, note.length ? ", " : "Settings that not all runs share: ");
            doc_name(&note, row->name);
            buffer_format(&note, " (%s)", buffer_text(&values));
        }
        buffer_free(&values);
    }
    if (note.length == 0)
        return;
    buffer_add(&note, ". Runs of one encoding and task that differ in one of them are separate rows.");
    doc_add_buffer(d, DOC_ITEM, &note, NULL);
}

/* One item for each task. */
static void notes_unfit(const report_view *v, document *d)
{
    for (int i = 0; i < v->panels; i++) {
        const view_panel *p = &v->panel[i];
        buffer b = BUFFER_INIT;
        int shown = 0;
        if (!p->primary || isinf(p->metric->high) || p->home < 0)
            continue;
        for (int m = 0; m < v->methods; m++) {
            const summary_row *row = view_row(p, m, p->home);
            if (!row || row->seeds == 0 || row->fitted == row->seeds)
                continue;
            if (!shown++)
                doc_name(&b, p->task);
            buffer_add(&b, shown == 1 ? ", runs that fitted in distribution: " : ", ");
            doc_name(&b, v->method[m].label);
            buffer_format(&b, " %d of %d", row->fitted, row->seeds);
        }
        if (shown)
            buffer_add(&b, "; all are in the means.");
        if (shown)
            doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
}

/* Differences need something to differ from. */
static void notes_baseline(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    int runs = 0;
    for (int i = 0; i < v->runs.count; i++)
        runs += v->runs.run[i].is_baseline;
    if (!*v->runs.baseline) {
        buffer_add(&b, "The spec names no baseline, so no encoding is compared with one; comparisons.csv compares all "
                       "with the best.");
    } else if (runs == 0) {
        buffer_add(&b, "The baseline ");
        doc_name(&b, v->runs.baseline);
        buffer_add(&b, " has no run here, so no encoding is compared with it.");
    }
    if (b.length > 0)
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
}

/* Whether some run has exactly this encoding, tested as it was trained. */
static int notes_has_plain(const report_view *v, const char *encoding, size_t length)
{
    for (int i = 0; i < v->runs.count; i++) {
        const run_config *c = &v->runs.run[i].config;
        if (!*c->eval.encoding_options && strlen(c->encoding) == length && memcmp(c->encoding, encoding, length) == 0)
            return 1;
    }
    return 0;
}

/* What options add to an encoding is known only beside its plain form at the same lengths. Stacks have no plain form.
 */
static void notes_plain_forms(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    int count = 0;
    for (int m = 0; m < v->methods; m++) {
        const run_config *c = NULL;
        for (int i = 0; i < v->runs.count && !c; i++)
            c = strcmp(v->runs.run[i].label, v->method[m].label) == 0 ? &v->runs.run[i].config : NULL;
        int is_tested_otherwise = c && *c->eval.encoding_options;
        size_t length = c ? (is_tested_otherwise ? strlen(c->encoding) : strcspn(c->encoding, "(")) : 0;
        if (!c || strpbrk(c->encoding, "+[@") || (!is_tested_otherwise && c->encoding[length] == '\0') ||
            notes_has_plain(v, c->encoding, length))
            continue;
        buffer_add(&b, count++ ? ", " : "");
        doc_name(&b, v->method[m].label);
    }
    if (count > 0) {
        buffer_add(&b, count == 1 ? " was" : " were");
        buffer_add(&b, " not run without these options: whether the plain encoding does as well is not known.");
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
    buffer_free(&b);
}

void report_notes(const report_view *v, const report_figures *f, document *d)
{
    doc_add(d, DOC_SECTION, "What to know about these numbers", NULL);
    notes_broken_runs(v, d);
    notes_baseline(v, d);
    notes_plain_forms(v, d);
    notes_unfit(v, d);
    notes_points(v, "undefined", NULL,
                 "has no value past the positions that it defines (\342\200\224); nothing was put in its "
                 "place.",
                 d);
    notes_points(v, "not_run", NULL, "was not run at some lengths (\342\200\224).", d);
    notes_flags(v, d);
    notes_overlap(v, d);
    report_sentinels(v, d);
    notes_settings(v, d);
    notes_left_out(f, d);
}

/* ------------------------------------------------------------------------------------------------ origin */

/* The distinct texts of a record field, separated by semicolons. */
static void notes_distinct(const report_view *v, const char *path, buffer *b)
{
    int shown = 0;
    for (int i = 0; i < v->runs.count; i++) {
        const char *text = results_string(&v->runs.run[i], path);
        int before = !*text;
        for (int k = 0; k < i && !before; k++)
            before = strcmp(results_string(&v->runs.run[k], path), text) == 0;
        if (before)
            continue;
        buffer_add(b, shown++ ? "; " : "");
        doc_plain(b, text);
    }
}

static void notes_settings_table(const report_view *v, document *d)
{
    doc_add(d, DOC_FOLD, "All settings", NULL);
    doc_add(d, DOC_TABLE, "Configuration of the runs.", NULL);
    doc_add(d, DOC_COLUMN, "setting", NULL)->flags = DOC_LEFT;
    doc_add(d, DOC_COLUMN, "value", NULL)->flags = DOC_LEFT;
    for (const pe_option *row = config_rows; row->name; row++) {
        buffer name = BUFFER_INIT, value = BUFFER_INIT;
        report_setting(v, row->name, &value);
        doc_name(&name, row->name);
        doc_add(d, DOC_ROW, NULL, NULL);
        doc_add_buffer(d, DOC_CELL, &name, NULL);
        doc_add_buffer(d, DOC_CELL, &value, NULL);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
    doc_add(d, DOC_FOLD_END, NULL, NULL);
}

void report_provenance(const report_view *v, document *d)
{
    static const struct {
        const char *path, *title;
    } facts[] = {{"host.version", "posbench"},        {"host.compiler", "Compiler"},
                 {"host.flags", "Flags"},             {"host.level", "Instructions"},
                 {"host.kernel", "Matrix products"},  {"host.cpu", "Processor"},
                 {"data.corpus_sha256", "SHA-256 of the corpus"}};
    doc_add(d, DOC_SECTION, "Data and origin", NULL);
    doc_add(d, DOC_PARAGRAPH,
            DOC_LINK
            "runs.csv" DOC_TO "runs.csv" DOC_END " holds every measured value, " DOC_LINK "summary.csv" DOC_TO
            "summary.csv" DOC_END " the means, intervals and ranks, " DOC_LINK "curves.csv" DOC_TO "curves.csv" DOC_END
            " areas and reaches, " DOC_LINK "comparisons.csv" DOC_TO "comparisons.csv" DOC_END
            " every difference with its interval, p-values and effect sizes, " DOC_LINK "plots/" DOC_TO "plots/" DOC_END
            " the numbers behind each figure, and " DOC_LINK "runs/" DOC_TO "runs/" DOC_END
            " one record for each run, with its whole configuration.",
            NULL);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        buffer b = BUFFER_INIT, text = BUFFER_INIT;
        notes_distinct(v, facts[i].path, &text);
        if (text.length > 0) {
            buffer_format(&b, "%s: %s", facts[i].title, buffer_text(&text));
            doc_add_buffer(d, DOC_ITEM, &b, NULL);
        }
        buffer_free(&text);
    }
    notes_settings_table(v, d);
}

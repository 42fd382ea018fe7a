#include "report_document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_data.h"
#include "report_probed.h"
#include "report_starved.h"

/* A figure with its panels, if the records hold anything for it. */
static void document_figure(const report_figures *f, report_figure_kind kind, const char *caption, document *d)
{
    int whole = f->first[kind];
    if (whole < 0)
        return;
    buffer words = BUFFER_INIT;
    buffer_add(&words, caption);
    if (f->divided && (kind == REPORT_EXTRAPOLATION || kind == REPORT_POSITIONS || kind == REPORT_TRAINING ||
                       kind == REPORT_COST))
        buffer_format(&words, " A panel for each %s, on common axes.", f->divided);
    doc_block *b = doc_add_buffer(d, DOC_FIGURE, &words, f->item[whole].stem);
    b->more = strdup(f->item[whole].title);
    d->failed |= !b->more;
    for (int i = whole + 1; i < f->count && f->item[i].part_of == whole; i++)
        doc_add(d, DOC_FIGURE_PART, NULL, f->item[i].stem);
}

static void document_title(const report_view *v, document *d)
{
    buffer above = BUFFER_INIT, title = BUFFER_INIT;
    buffer_add(&above, "posbench");
    const char *version = v->runs.count ? results_string(&v->runs.run[0], "host.version") : "";
    if (*version)
        buffer_format(&above, " %s", version);
    buffer_add(&above, " \302\267 sweep ");
    doc_plain(&above, v->runs.name);
    doc_plain(&title, *v->runs.title ? v->runs.title : v->runs.name);
    doc_add_buffer(d, DOC_TITLE, &title, buffer_text(&above));
    buffer_free(&above);
}

/* Whether a panel shows another score of the same task. */
static int document_is_detail(const view_panel *other, const view_panel *p)
{
    return !other->primary && other->train_len == p->train_len && strcmp(other->task, p->task) == 0;
}

/* The other scores of the same task, with their spread: for those who look closer. */
static void document_task(const report_view *v, int panel, document *d)
{
    const view_panel *p = &v->panel[panel];
    report_panel_table(v, p, d);
    report_fitted_table(v, p, d);
    report_comparison_table(v, p, d);
    for (int i = panel + 1; i < v->panels && document_is_detail(&v->panel[i], p); i++)
        if (v->panel[i].decoded)
            report_decoded_table(v, &v->panel[i], d);
    doc_add(d, DOC_FOLD, "Every seed, and other scores of this task", NULL);
    report_seed_table(v, p, d);
    for (int i = panel + 1; i < v->panels && document_is_detail(&v->panel[i], p); i++)
        if (!v->panel[i].decoded)
            report_panel_table(v, &v->panel[i], d);
    doc_add(d, DOC_FOLD_END, NULL, NULL);
}

static void document_tasks(const report_view *v, document *d)
{
    doc_add(d, DOC_SECTION, "Every task", NULL);
    for (int i = 0; i < v->panels; i++)
        if (v->panel[i].primary)
            document_task(v, i, d);
}

static void document_extended(const report_view *v, const report_figures *f, document *d)
{
    if (!report_is_extended(v))
        return;
    doc_add(d, DOC_SECTION, "Extended", NULL);
    report_extended_method(v, d);
    document_figure(f, REPORT_EXTENDED,
                    "Score at the longer length over steps of fine-tuning there, one panel for each encoding: the mean "
                    "over seeds, and its 95 % interval as a band where several were run. Steps stand at equal distances. "
                    "Dotted: the same encoding at the training length, as trained. Hollow points, before any "
                    "fine-tuning, used parameters that training never met or get their meaning from a map; a method "
                    "without a meaning for the encoding has no curve.",
                    d);
    report_extended_tables(v, d);
}

static void document_training(const report_view *v, const report_figures *f, document *d)
{
    doc_add(d, DOC_SECTION, "Training and cost", NULL);
    document_figure(f, REPORT_TRAINING,
                    "Training loss over steps on a logarithmic scale, averaged over the seeds that were still "
                    "training at that step. It is about training lengths only.",
                    d);
    report_cost_table(v, d);
    document_figure(f, REPORT_COST,
                    "Score past the training length over the processor time of a run, training and tests, means over "
                    "seeds, on the machines that made the records: time compares runs of one machine.",
                    d);
    report_tune_table(v, d);
}

/* Nothing where no run recorded it. */
static void document_starved(const report_view *v, const report_figures *f, document *d)
{
    if (f->first[REPORT_STARVED_GRADIENT] < 0)
        return;
    doc_add(d, DOC_SECTION, "Starved positions", NULL);
    doc_add(d, DOC_PARAGRAPH,
            "Where long training sequences are rare, late positions meet few tokens and small gradients. Positions are "
            "those that the map gives in the first layer, rounded to whole numbers; " DOC_LINK "positions.csv" DOC_TO
            "positions.csv" DOC_END " has them run by run, for each quarter of training.",
            NULL);
    document_figure(f, REPORT_STARVED_GRADIENT,
                    "Squared gradient of the step's mean loss with respect to what enters the first layer, summed over "
                    "training, by position, in per cent of an even share of the positions. Neighbouring positions are "
                    "taken together where there are more than 16. Geometric means over seeds with 95 % intervals of the "
                    "logarithm, cut where they leave the range of the means; a logarithmic axis has no place for "
                    "positions that met nothing: there the line has a gap or ends. A panel for each distribution of "
                    "training lengths.",
                    d);
    document_figure(f, REPORT_STARVED_LOSS,
                    "Loss at each position at the end of training, of test sequences of the training length, under the "
                    "map of evaluation: means over seeds with 95 % intervals. What all curves share is of the test "
                    "sequences.",
                    d);
    document_figure(f, REPORT_STARVED_ACCURACY, "The same for the share of right tokens.", d);
    report_starved_table(v, d);
}

/* Nothing where no run was probed. */
static void document_probed(const report_view *v, document *d)
{
    if (!report_is_probed(v))
        return;
    doc_add(d, DOC_SECTION, "Probes", NULL);
    doc_add(d, DOC_PARAGRAPH,
            "What trained weights know of positions: whether a probe can read them off hidden states and off a "
            "table, and what the order of earlier tokens is worth.",
            NULL);
    report_probed_tables(v, d);
}

static void document_data(const report_view *v, const report_figures *f, document *d)
{
    if (f->first[REPORT_DATA] < 0)
        return;
    doc_add(d, DOC_SECTION, "Data scale", NULL);
    document_figure(f, REPORT_DATA,
                    "Score at the training length over how much training data there was, at equal steps: means over "
                    "seeds with 95 % intervals. Less of a text is a part of more of it, chosen anew by each seed, so the "
                    "intervals are also over texts; few sequences of an answer task are the first ones of many.",
                    d);
    report_data_tables(v, d);
}

void report_document(const report_view *v, const report_figures *f, const report_sources *s, document *d)
{
    *d = (document){0};
    document_title(v, d);
    report_leaks(v, d);
    report_lead(v, d);
    report_facts(v, d);
    report_warnings(v, d);
    document_figure(f, REPORT_EXTRAPOLATION,
                    "Score over test length, as multiples of the training length: the mean over seeds, and "
                    "its 95 % interval as a band where several were run. The shaded strip is what training "
                    "met; a line that ends has no value beyond; hollow points have a stand-in meaning.",
                    d);
    doc_add(d, DOC_SECTION, "At a glance", NULL);
    report_findings(v, d);
    report_overview_table(v, d);
    document_figure(
        f, REPORT_REACH,
        "How far each encoding holds: the longest tested multiple of the training length up to which "
        "all keep 90 % of the score in distribution (a loss: at most 1/0.9 of it). \342\211\245: "
        "nothing longer was tested. \342\200\223: nothing above chance in distribution. *: no run fitted in "
        "distribution, so there was little to keep.",
        d);
    document_figure(f, REPORT_RANKS,
                    isnan(v->critical)
                        ? "Mean rank past the training length, over tasks and seeds. Pale bars: 95 % interval over "
                          "seeds, for these tasks."
                        : "Mean rank past the training length, over tasks and seeds. Pale bars: 95 % interval over "
                          "seeds, for these tasks. Shaded: what lies within the critical difference of the best "
                          "(Nemenyi, 5 %), that is, what these tasks alone cannot tell apart from it.",
                    d);
    report_over_tasks(v, d);
    document_tasks(v, d);
    if (f->first[REPORT_POSITIONS] >= 0) {
        doc_add(d, DOC_SECTION, "Loss by position", NULL);
        document_figure(
            f, REPORT_POSITIONS,
            "Loss at each position, averaged over neighbouring positions and seeds: of the longest windows where "
            "they do not overlap or are drawn; where they slide, of the positions that most tokens were scored "
            "at, the last of the windows of each tested length. The shaded strip ends at the longest training "
            "sequence.",
            d);
        report_window_tables(v, d);
    }
    document_extended(v, f, d);
    document_starved(v, f, d);
    document_probed(v, d);
    document_data(v, f, d);
    document_training(v, f, d);
    report_notes(v, f, d);
    report_how_to_read(v, d);
    report_methods(v, s, d);
    report_provenance(v, d);
    report_sources_list(s, d);
}

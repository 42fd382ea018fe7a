#include "report_methods.h"

#include <stdio.h>
#include <string.h>

#include "report_document.h"
#include "tune.h"

/* ------------------------------------------------------------------------------------------------ words */

/* The values of a row, "64" or "64 or 128"; those of a list are separated as in a sentence: "1, 2, 4". */
static void methods_add(const report_view *v, const char *before, const char *row, const char *behind, buffer *b)
{
    buffer values = BUFFER_INIT;
    buffer_add(b, before);
    report_setting(v, row, &values);
    for (const char *p = buffer_text(&values); *p; p++)
        buffer_bytes(b, *p == ';' ? ", " : p, *p == ';' ? 2 : 1);
    buffer_free(&values);
    buffer_add(b, behind);
}

/* Whether all runs have this value in a row of choices or numbers, as report_setting writes it. */
static int methods_all(const report_view *v, const char *row, const char *value)
{
    buffer text = BUFFER_INIT;
    report_setting(v, row, &text);
    int same = strcmp(buffer_text(&text), value) == 0;
    buffer_free(&text);
    return same;
}

/* One of two wordings, or both with `mixed` where runs differ. */
static const char *methods_if(const report_view *v, const char *row, const char *value, const char *yes, const char *no,
                              const char *mixed)
{
    buffer text = BUFFER_INIT;
    int several = report_setting(v, row, &text) > 1;
    buffer_free(&text);
    return several ? mixed : methods_all(v, row, value) ? yes : no;
}

static void methods_begin(const char *heading, buffer *b)
{
    buffer_format(b, DOC_STRONG "%s" DOC_END " ", heading);
}

static void methods_end(document *d, buffer *b)
{
    doc_add_buffer(d, DOC_PARAGRAPH, b, NULL);
}

/* "`a` [key], `b` and `c`" of one kind of source; the number of them. */
static int methods_list(const report_sources *s, const char *kind, buffer *b)
{
    int count = 0, said = 0;
    for (int i = 0; i < s->count; i++)
        count += strcmp(s->item[i].kind, kind) == 0;
    for (int i = 0; i < s->count; i++) {
        if (strcmp(s->item[i].kind, kind) != 0)
            continue;
        buffer_add(b, said == 0 ? "" : said == count - 1 ? " and " : ", ");
        doc_name(b, s->item[i].name);
        doc_cite(b, s->item[i].keys);
        said++;
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------ paragraphs */

static void methods_encodings(const report_view *v, const report_sources *s, document *d)
{
    buffer b = BUFFER_INIT, maps = BUFFER_INIT;
    methods_begin("Encodings.", &b);
    buffer_format(&b, "%d configuration%s of position encoding %s compared in the same network, made of ", v->methods,
                  v->methods == 1 ? "" : "s", v->methods == 1 ? "is" : "are");
    methods_list(s, "encoding", &b);
    if (methods_list(s, "position map", &maps) > 0)
        buffer_format(&b, ", with positions made by the map%s %s", strstr(buffer_text(&maps), " and ") ? "s" : "",
                      buffer_text(&maps));
    buffer_format(&b,
                  ". Under the same settings and with the same seed, runs differ in the encoding%s alone: its own "
                  "parameters are added to the network's, and all others start from the same values.",
                  v->runs.tuned ? " and in the learning rate that was chosen for it" : "");
    buffer_free(&maps);
    methods_end(d, &b);
}

static void methods_network(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    methods_begin("Network.", &b);
    buffer_format(
        &b, "A %s transformer, trained from scratch:",
        methods_if(v, "model.causal", "true", "decoder-only (causal)", "bidirectional", "causal or bidirectional"));
    methods_add(v, " ", "model.layers", methods_all(v, "model.layers", "1") ? " layer" : " layers", &b);
    methods_add(v, " of width ", "model.width", "", &b);
    methods_add(v, " with ", "model.heads", " attention heads", &b);
    methods_add(v, ", an MLP ", "model.mlp", " times as wide with GELU", &b);
    methods_add(v, " (", "model.gelu", ")", &b);
    buffer_format(
        &b, ", %s before each of the two and before the output, %s.",
        methods_if(v, "model.norm", "layer", "layer normalisation", "RMS normalisation", "layer or RMS normalisation"),
        methods_if(v, "model.tied_head", "true", "an output matrix that is the token table",
                   "an output matrix of its own", "an output matrix tied to the token table or not"));
    if (!methods_all(v, "model.share_layers", "false"))
        buffer_add(&b, methods_all(v, "model.share_layers", "true") ? " All layers share one set of weights."
                                                                    : " In some runs all layers share one set of "
                                                                      "weights.");
    methods_add(v, " Weight matrices start as normal numbers with standard deviation ", "model.init_deviation",
                "; there is no dropout.", &b);
    methods_end(d, &b);
}

static void methods_data(const report_view *v, const report_sources *s, document *d)
{
    buffer b = BUFFER_INIT;
    methods_begin("Data.", &b);
    buffer_add(&b, "The tasks are ");
    methods_list(s, "task", &b);
    buffer_add(&b,
               ", with the options given in the tables. ");
    if (methods_all(v, "train.data", "0"))
        buffer_add(&b, "No training sequence is stored and used again: each is drawn anew");
    else
        methods_add(v, "How much training meets differs or is limited (train.data: ", "train.data",
                    "; 0 is no limit): the first so many sequences of answer tasks come again and again in the same "
                    "order, and windows of a text are drawn from one stretch of so many tokens. Sequences are drawn", &b);
    buffer_add(&b,
               " from a counter-based random generator keyed by the seed, the step and its place in the "
               "batch. Prompts of answer tasks belong to training, validation or test by a hash of their tokens, so "
               "that no stream meets another's; where so few short prompts exist that this cannot be, the share of "
               "shared ones is reported. Texts are split into separate stretches.");
    methods_end(d, &b);
}

static void methods_lengths(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT, minimum = BUFFER_INIT;
    methods_begin("Lengths.", &b);
    methods_add(v, "Training sequences are at most ", "train.len", " long", &b);
    report_setting(v, "train.min_len", &minimum);
    if (methods_all(v, "train.lengths", "fixed") || strcmp(buffer_text(&minimum), "") == 0)
        buffer_add(&b, " and all of that length");
    else if (methods_all(v, "train.lengths", "uniform"))
        buffer_format(&b, " and at least %s; each draws its length uniformly", buffer_text(&minimum));
    else if (methods_all(v, "train.lengths", "geometric"))
        methods_add(v, "; each draws its length from a geometric distribution in which a length is ",
                    "train.length_ratio", " times as likely as the next shorter one", &b);
    else if (methods_all(v, "train.lengths", "weights"))
        methods_add(v, "; each draws its length from equally wide bands with the weights ", "train.length_weights",
                    ", shortest first", &b);
    else
        methods_add(v, "; their lengths are drawn by different distributions (", "train.lengths", ")", &b);
    buffer_add(&b,
               ". Lengths are the task's own, in symbols or tokens. Validation draws its lengths as training does. ");
    if (methods_all(v, "eval.bins", "\"\"") || methods_all(v, "eval.bins", ""))
        methods_add(v, "Tests are at ", "eval.ratios", " times the training length", &b);
    else
        methods_add(v, "Tests are at lengths in ", "eval.bins", "", &b);
    methods_add(v, ", with ", "eval.items", " sequences each in answer tasks", &b);
    methods_add(v, " and up to ", "eval.tokens", " scored tokens each in texts.", &b);
    if (methods_all(v, "eval.decode", "false"))
        buffer_add(&b, " Answers are teacher-forced.");
    else
        buffer_format(&b, " Answers are teacher-forced, and%s also decoded greedily.",
                      methods_if(v, "eval.decode", "true", "", "", " in some runs"));
    buffer_free(&minimum);
    methods_end(d, &b);
}

static void methods_tuning(const report_view *v, buffer *b)
{
    const json_t *rates = json_object_get(v->runs.choice, "lr"), *seeds = json_object_get(v->runs.choice, "seeds");
    buffer_add(b, " The learning rate was chosen for each encoding, task and setting by itself");
    if (json_array_size(rates) && json_array_size(seeds))
        buffer_add(b, ", among ");
    for (size_t i = 0; i < json_array_size(rates); i++) {
        buffer_add(b, i == 0 ? "" : i + 1 == json_array_size(rates) ? " and " : ", ");
        buffer_number(b, json_number_value(json_array_get(rates, i)));
    }
    if (json_array_size(seeds))
        buffer_format(b, ", each tried with the same %zu seed%s, none of which is reported", json_array_size(seeds),
                      json_array_size(seeds) == 1 ? "" : "s");
    buffer_format(b,
                  ": %s. Every configuration had the same number of trials, and longer lengths had no part in the "
                  "choice.",
                  tune_rule);
}

static void methods_optimiser(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    methods_begin("Training.", &b);
    methods_add(v, "AdamW with beta ", "train.beta1", "", &b);
    methods_add(v, " and ", "train.beta2", "", &b);
    methods_add(v, ", epsilon ", "train.epsilon", "", &b);
    methods_add(v, ", decoupled weight decay ", "train.weight_decay", "", &b);
    methods_add(v, " (", "train.decay", ")", &b);
    methods_add(v, ", ", "train.steps", " steps", &b);
    methods_add(v, " of ", "train.batch", " sequences; the loss of a step is the mean over its scored tokens", &b);
    methods_add(v, ". The learning rate grows linearly over ", "train.warmup", " steps", &b);
    methods_add(v, " to ", "train.lr", "", &b);
    if (methods_all(v, "train.schedule", "constant"))
        buffer_add(&b, " and stays there");
    else {
        methods_add(v, " and then follows a ", "train.schedule", " schedule", &b);
        methods_add(v, " down to ", "train.min_lr", " of it", &b);
    }
    if (methods_all(v, "train.clip", "0"))
        buffer_add(&b, "; gradients are not clipped.");
    else
        methods_add(v, "; gradients longer than ", "train.clip", " are scaled to that length.", &b);
    if (v->runs.tuned)
        methods_tuning(v, &b);
    methods_end(d, &b);
}

static void methods_selection(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    methods_begin("Selection.", &b);
    buffer_add(&b, methods_if(v, "train.select", "last", "The weights of the last step are tested",
                              "The weights with the smallest validation loss are tested",
                              "The weights of the last step, or those with the smallest validation loss, are tested"));
    if (!methods_all(v, "train.stop_at", "0"))
        methods_add(v, "; training stops once exact match in validation reaches ", "train.stop_at", "", &b);
    methods_add(v,
                ". Validation is at training lengths only: nothing longer has a part in any choice. A run of an answer "
                "task has fitted when its exact match there reaches ",
                "eval.fit", ". Runs that did not fit are in all means; runs that diverged are counted and are in none.",
                &b);
    methods_end(d, &b);
}

static int methods_seeds(const report_view *v)
{
    buffer seeds = BUFFER_INIT;
    int count = report_setting(v, "seed", &seeds);
    buffer_free(&seeds);
    return count;
}

static void methods_statistics(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    int seeds = methods_seeds(v);
    methods_begin("Seeds and statistics.", &b);
    if (seeds == 1) {
        buffer_add(&b, "One seed was run, so no spread is known and nothing is compared.");
        methods_end(d, &b);
        return;
    }
    buffer_format(
        &b,
        "%d seeds were run. A seed names the data, the initial weights and random positions, so that runs "
        "with equal seeds are paired across encodings. Scores are means over seeds with 95 %% intervals by "
        "the studentised bootstrap (4000 resamples of the seeds; its quantiles are drawn to Student's t above five "
        "seeds, and are those for two). Encodings are compared "
        "by the interval of the paired differences, and called not separable where it holds 0; with a baseline also "
        "by Wilcoxon's exact signed-rank test, Holm-corrected over encodings, and over several tasks by mean ranks with "
        "Friedman's test and Nemenyi's critical difference.",
        seeds);
    methods_end(d, &b);
}

static void methods_software(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    const run_record *first = &v->runs.run[0];
    methods_begin("Software.", &b);
    buffer_add(&b, "All runs were made with posbench");
    if (*results_string(first, "host.version")) {
        buffer_add(&b, " ");
        doc_plain(&b, results_string(first, "host.version"));
    }
    buffer_add(&b, ", one thread and 32-bit floating point each.");
    methods_end(d, &b);
}

void report_methods(const report_view *v, const report_sources *s, document *d)
{
    doc_add(d, DOC_SECTION, "Methods", NULL);
    methods_encodings(v, s, d);
    methods_network(v, d);
    methods_data(v, s, d);
    methods_lengths(v, d);
    methods_optimiser(v, d);
    methods_selection(v, d);
    methods_statistics(v, d);
    methods_software(v, d);
}

/* ------------------------------------------------------------------------------------------------ sources */

void report_sources_list(const report_sources *s, document *d)
{
    doc_add(d, DOC_SECTION, "Sources", NULL);
    doc_add(d, DOC_PARAGRAPH,
            "Where what was run comes from. " DOC_LINK "sources.bib" DOC_TO "sources.bib" DOC_END
            " holds an entry for each work that is known in full, and a note where only words are known.",
            NULL);
    for (int i = 0; i < s->count; i++) {
        const report_source *item = &s->item[i];
        buffer b = BUFFER_INIT;
        buffer_format(&b, "%s ", item->kind);
        doc_name(&b, item->name);
        buffer_add(&b, ": ");
        doc_plain(&b, item->words ? item->words : "not known to this program; load the plug-in that brought it");
        doc_cite(&b, item->keys);
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
    doc_add(d, DOC_BIBLIOGRAPHY, NULL, NULL);
}

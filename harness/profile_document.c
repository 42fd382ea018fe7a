/* profile_document.c - a profile as a page. */
#include "profile_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void document_words(document *d, profile_words *w)
{
    for (int i = 0; i < w->count; i++) {
        buffer b = BUFFER_INIT;
        buffer_format(&b, "%s.", w->line[i]);
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
    profile_words_free(w);
}

/* The figure of this stem, if it was made. */
static void document_picture(const profile_figures *f, const char *stem, document *d)
{
    for (int i = 0; i < f->count; i++) {
        if (strcmp(f->item[i].stem, stem) != 0)
            continue;
        buffer caption = BUFFER_INIT;
        buffer_format(&caption, "%s The same numbers: " DOC_LINK "plots/%s.csv" DOC_TO "CSV" DOC_END ".",
                      f->item[i].caption, stem);
        doc_block *b = doc_add_buffer(d, DOC_FIGURE, &caption, stem);
        b->more = strdup(f->item[i].title);
        d->failed |= !b->more;
    }
}

static void document_number(document *d, double value, int decimals)
{
    buffer b = BUFFER_INIT;
    if (isfinite(value))
        buffer_fixed(&b, value, decimals);
    doc_block *cell = doc_add_buffer(d, DOC_CELL, &b, NULL);
    cell->flags |= isfinite(value) ? 0 : DOC_DIM;
}

static void document_count(document *d, const char *format, int value)
{
    char text[48];
    snprintf(text, sizeof text, format, value);
    doc_add(d, DOC_CELL, text, NULL);
}

static void document_columns(document *d, const char *const *names)
{
    for (; *names; names++)
        doc_add(d, DOC_COLUMN, *names, NULL);
}

static void document_distances(const profile_table *t, document *d)
{
    static const char *const columns[] = {"distance", "dot product", "standard deviation", "cosine", NULL};
    int steps[PROFILE_STEPS_MAX], count = profile_steps(t->rows, steps);
    doc_add(d, DOC_TABLE,
            "Products of two positions' vectors by distance: mean over all pairs, and its standard deviation.", NULL);
    document_columns(d, columns);
    for (int i = 0; i < count; i++) {
        doc_add(d, DOC_ROW, NULL, NULL);
        document_count(d, "%d", steps[i]);
        document_number(d, t->dot_mean[steps[i]], 4);
        document_number(d, t->dot_spread[steps[i]], 4);
        document_number(d, t->cosine_mean[steps[i]], 4);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

static void document_table(const profile *p, const profile_figures *f, document *d)
{
    profile_words w = {0};
    doc_add(d, DOC_SECTION, p->kind == PROFILE_FILE ? "The table" : "What is added to token vectors", NULL);
    profile_words_table(&p->table, &w);
    document_words(d, &w);
    document_picture(f, "cosine", d);
    document_picture(f, "distance", d);
    document_distances(&p->table, d);
    document_picture(f, "spectrum", d);
    document_picture(f, "components", d);
    document_picture(f, "norms", d);
}

/* One row for each layer, a column for each head: mean distance, entropy below it. */
static void document_heads(const profile_attention *a, document *d)
{
    char name[24];
    doc_add(d, DOC_TABLE, "Mean distance from query to key, in tokens; small: entropy in nats.", NULL);
    doc_add(d, DOC_COLUMN, "layer", NULL);
    for (int h = 0; h < a->heads; h++) {
        snprintf(name, sizeof name, "head %d", h + 1);
        doc_add(d, DOC_COLUMN, name, NULL);
    }
    for (int i = 0; i < a->layers * a->heads; i++) {
        if (i % a->heads == 0) {
            doc_add(d, DOC_ROW, NULL, NULL);
            document_count(d, "%d", i / a->heads + 1);
        }
        buffer distance = BUFFER_INIT, entropy = BUFFER_INIT;
        buffer_fixed(&distance, a->distance[i], 2);
        buffer_fixed(&entropy, a->entropy[i], 2);
        doc_add_buffer(d, DOC_CELL, &distance, buffer_text(&entropy));
        buffer_free(&entropy);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

static void document_hooks(const profile *p, const profile_figures *f, document *d)
{
    profile_words w = {0};
    if (p->biases) {
        doc_add(d, DOC_SECTION, "Biases", NULL);
        document_picture(f, "bias", d);
    }
    for (int i = 0; i < p->rotaries; i++) {
        if (i == 0)
            doc_add(d, DOC_SECTION, "Rotation", NULL);
        profile_words_rotary(&p->rotary[i], &w);
        document_words(d, &w);
    }
    document_picture(f, "rotation", d);
    if (p->has_attention) {
        doc_add(d, DOC_SECTION, "Attention", NULL);
        profile_words_attention(&p->attention, &w);
        document_words(d, &w);
        document_picture(f, "attention", d);
        document_heads(&p->attention, d);
    }
    if (p->has_hidden) {
        doc_add(d, DOC_SECTION, "Hidden states", NULL);
        profile_words_hidden(&p->hidden, &w);
        document_words(d, &w);
        document_picture(f, "hidden", d);
    }
}

static void document_method(const profile *p, document *d)
{
    doc_add(d, DOC_SECTION, "How it was measured", NULL);
    if (p->has_table)
        doc_add(d, DOC_PARAGRAPH,
                "Shift invariance: the share of the variance of the matrix of all rows' products that is left when "
                "each of its "
                "diagonals is replaced by its mean. Components: singular values of the table less the mean of its "
                "rows. Position: "
                "least squares with an intercept on the first 512 rows at most, of least norm where it is not unique, "
                "predictions "
                "rounded, 5-fold cross-validation; order: logistic regression with the penalty |w|\302\262/2 on 512 "
                "random pairs of "
                "those rows, side by side, 5-fold, both after the code of Wang & Chen 2020. A guess is the mean of the "
                "other "
                "folds.",
                NULL);
    if (p->rotaries)
        doc_add(d, DOC_PARAGRAPH,
                "Rotation: every unit vector is rotated at every position, which tells the planes and how far each is "
                "turned; the "
                "bound is the mean of |A_k| over the planes in their order, A_k the sum of the first k turns as "
                "complex numbers "
                "(RoFormer, section 3.4.3).",
                NULL);
    if (p->has_attention)
        doc_add(d, DOC_PARAGRAPH,
                "Attention: the weights of every pair of a query and a key that it sees, averaged over pairs at equal "
                "distance; "
                "distance and entropy averaged over queries.",
                NULL);
    if (p->has_hidden)
        doc_add(d, DOC_PARAGRAPH,
                "Hidden states: the same least squares on the residual stream at every token of the test sequences, "
                "cross-validated over sequences, in 5 folds.",
                NULL);
    doc_add(d, DOC_PARAGRAPH,
            "Every number is in " DOC_LINK "profile.json" DOC_TO "profile.json" DOC_END
            "; those of each figure stand beside it.",
            NULL);
}

void profile_document(const profile *p, const profile_figures *f, document *d)
{
    buffer lead = BUFFER_INIT, title = BUFFER_INIT;
    *d = (document){0};
    const char *name = p->kind == PROFILE_STACK ? NULL : strrchr(p->target, '/');
    doc_plain(&title, name ? name + 1 : p->target);
    doc_add_buffer(d, DOC_TITLE, &title, "posbench \302\267 profile");
    profile_words_target(p, &lead);
    buffer_add(&lead, ".");
    doc_add_buffer(d, DOC_LEAD, &lead, NULL);
    if (p->has_table)
        document_table(p, f, d);
    document_hooks(p, f, d);
    if (f->count)
        document_method(p, d);
    else
        doc_add(d, DOC_PARAGRAPH, "No hook of it sees a position: there is nothing to look at.", NULL);
}

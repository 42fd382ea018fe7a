#include "profile_words.h"

#include <math.h>
#include <stdlib.h>

int profile_steps(int count, int steps[PROFILE_STEPS_MAX])
{
    int n = 0;
    for (int d = 0; d < count && n < PROFILE_STEPS_MAX; d = d ? 2 * d : 1)
        steps[n++] = d;
    return n;
}

void profile_words_free(profile_words *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->line[i]);
    w->count = 0;
}

/* Takes the text of b; a line that no memory was there for is left out. */
static void words_end(profile_words *w, buffer *b)
{
    char *line = buffer_take(b);
    if (line && w->count < PROFILE_WORDS_MAX)
        w->line[w->count++] = line;
    else
        free(line);
}

static void words_percent(buffer *b, double share)
{
    buffer_fixed(b, 100 * share, 1);
    buffer_add(b, " %");
}

void profile_words_target(const profile *p, buffer *out)
{
    doc_plain(out, p->target);
    if (p->kind == PROFILE_FILE)
        buffer_format(out, ": a table of %d rows and %d columns", p->table.rows, p->table.cols);
    else if (p->kind == PROFILE_STACK)
        buffer_format(out, ": not trained, %d positions, width %d, %d head%s, %d layer%s", p->rows,
                      p->config.model.width, p->config.model.heads, p->config.model.heads == 1 ? "" : "s",
                      p->config.model.layers, p->config.model.layers == 1 ? "" : "s");
    else {
        buffer_add(out, ": ");
        doc_plain(out, p->config.encoding);
        buffer_add(out, " on ");
        doc_plain(out, p->config.task);
        buffer_format(out, ", seed %d, trained for %d steps at length %d", p->config.seed, p->step,
                      p->config.train.len);
    }
    if (p->cut)
        buffer_format(out, " (the first ones; %d more were left out)", p->cut);
}

/* ------------------------------------------------------------------------------------------------ of a table */

static void words_shift(const profile_table *t, profile_words *w)
{
    buffer b = BUFFER_INIT;
    if (t->unexplained < 1e-9)
        buffer_add(&b, "The product of two rows is a function of their distance: exactly shift-invariant, to rounding");
    else {
        buffer_add(&b, "Distance leaves ");
        words_percent(&b, t->unexplained);
        buffer_add(&b, " of the variance of the rows' products unexplained (0 % is shift-invariant)");
    }
    words_end(w, &b);
    if (!t->dip)
        return;
    buffer_format(&b, "The mean cosine has its first minimum at distance %d (", t->dip);
    buffer_fixed(&b, t->cosine_mean[t->dip], 3);
    buffer_add(&b, ")");
    if (t->rise) {
        buffer_format(&b, " and the next maximum at %d (", t->rise);
        buffer_fixed(&b, t->cosine_mean[t->rise], 3);
        buffer_add(&b, ")");
    }
    words_end(w, &b);
}

static void words_spectrum(const profile_table *t, profile_words *w)
{
    buffer b = BUFFER_INIT;
    if (!t->needed[0]) {
        buffer_add(&b, "All rows are equal: there is nothing that varies");
        words_end(w, &b);
        return;
    }
    buffer_format(&b, "%d, %d and %d of %d components hold 90, 95 and 99 %% of the variance", t->needed[0],
                  t->needed[1], t->needed[2], t->rank);
    words_end(w, &b);
    for (int i = 0; i < t->leading && i < 4 && i < t->needed[2]; i++) {
        double share;
        int peak = profile_peak(t, i, &share);
        if (!peak)
            continue;
        buffer_format(&b, "Component %d swings most with a period of ", i + 1);
        buffer_fixed(&b, (double)t->rows / peak, (double)t->rows / peak < 100 ? 1 : 0);
        buffer_add(&b, " positions (");
        words_percent(&b, share);
        buffer_add(&b, " of its power)");
        words_end(w, &b);
    }
}

static int words_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double words_median(const double *value, int count)
{
    double *sorted = malloc((size_t)count * sizeof *sorted), median = NAN;
    for (int i = 0; sorted && i < count; i++)
        sorted[i] = value[i];
    if (sorted) {
        qsort(sorted, (size_t)count, sizeof *sorted, words_compare);
        median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    }
    free(sorted);
    return median;
}

/* Rows at the ends are often trained less, or otherwise, than the rest. */
static void words_norms(const profile_table *t, profile_words *w)
{
    buffer b = BUFFER_INIT;
    size_t rows = (size_t)t->rows;
    buffer_add(&b, "Norm of the first row ");
    buffer_fixed(&b, t->norm[0], 3);
    buffer_add(&b, ", median ");
    buffer_fixed(&b, words_median(t->norm, t->rows), 3);
    buffer_add(&b, ", last ");
    buffer_fixed(&b, t->norm[rows - 1], 3);
    if (!isnan(t->cosine[rows * rows - 2])) {
        buffer_add(&b, "; the last row's cosine with the one before it is ");
        buffer_fixed(&b, t->cosine[rows * rows - 2], 3);
    }
    words_end(w, &b);
}

static void words_probes(const profile_table *t, profile_words *w)
{
    buffer b = BUFFER_INIT;
    if (!t->probe.rows) {
        buffer_format(&b, "Fewer than %d rows: too few for the probes", 2 * READOUT_FOLDS);
        words_end(w, &b);
        return;
    }
    buffer_format(&b, "Position is read off linearly with a mean error of ");
    buffer_fixed(&b, t->probe.read_error, 2);
    buffer_add(&b, " (a guess: ");
    buffer_fixed(&b, t->probe.read_guess, 1);
    buffer_format(&b, "; least squares on %d rows, %d-fold)", t->probe.rows, READOUT_FOLDS);
    words_end(w, &b);
    buffer_add(&b, "The order of two rows is told wrong in ");
    words_percent(&b, t->probe.order_error);
    buffer_format(&b, " of cases (logistic regression on %d pairs, %d-fold)", t->probe.pairs, READOUT_FOLDS);
    words_end(w, &b);
}

void profile_words_table(const profile_table *t, profile_words *w)
{
    words_shift(t, w);
    words_spectrum(t, w);
    words_norms(t, w);
    words_probes(t, w);
}

/* ------------------------------------------------------------------------------------------------ of hooks */

/* The distance at which the mean over independent vectors is farthest from 0, in standard errors. */
static double words_farthest(const profile_rotary *r)
{
    double most = 0;
    for (int i = 0; i < r->heads * r->count; i++)
        if (r->other_error[i] > 0)
            most = fmax(most, fabs(r->other[i]) / r->other_error[i]);
    return most;
}

void profile_words_rotary(const profile_rotary *r, profile_words *w)
{
    buffer b = BUFFER_INIT;
    int last = r->count - 1;
    if (r->pairs) {
        buffer_format(&b, "It turns %d planes; the bound of RoFormer 3.4.3 falls from ", r->pairs);
        buffer_fixed(&b, r->bound[0], 2);
        buffer_add(&b, " at distance 0 to ");
        buffer_fixed(&b, r->bound[last], 2);
        buffer_format(&b, " at %d", last);
    } else
        buffer_add(&b, "It is no rotation of planes, so that the bound of RoFormer 3.4.3 says nothing of it");
    words_end(w, &b);
    buffer_add(&b, "The product of a query with a key like itself goes from ");
    buffer_fixed(&b, r->same[0], 3);
    buffer_add(&b, " to ");
    buffer_fixed(&b, r->same[last], 3);
    buffer_format(&b, " at distance %d, in units of the width of a head", last);
    words_end(w, &b);
    buffer_add(&b, "With independent normal vectors the mean is never farther than ");
    buffer_fixed(&b, words_farthest(r), 1);
    buffer_format(&b, " standard errors from 0 (%d draws), and in ", r->draws);
    words_percent(&b, r->peak_elsewhere);
    buffer_add(&b, " of them the largest product is not at distance 0");
    words_end(w, &b);
}

void profile_words_attention(const profile_attention *a, profile_words *w)
{
    buffer b = BUFFER_INIT;
    if (a->random_content)
        buffer_format(
            &b, "Attention of normal queries and keys, %ld sequences of %d tokens: what positions do by themselves",
            a->sequences, a->len);
    else
        buffer_format(&b, "Attention on %ld test sequences of up to %d tokens", a->sequences, a->len);
    words_end(w, &b);
    buffer_add(&b, "Even attention would look ");
    buffer_fixed(&b, a->uniform_distance, 2);
    buffer_add(&b, " tokens away, with an entropy of ");
    buffer_fixed(&b, a->uniform_entropy, 3);
    buffer_add(&b, " nats");
    words_end(w, &b);
}

void profile_words_hidden(const readout_states *h, profile_words *w)
{
    buffer b = BUFFER_INIT;
    int best = 0;
    for (int i = 1; i < h->count; i++)
        best = h->read_error[i] < h->read_error[best] ? i : best;
    buffer_add(&b, "Position is read off hidden states linearly with a mean error of ");
    buffer_fixed(&b, h->read_error[0], 2);
    buffer_add(&b, " before the first layer and ");
    buffer_fixed(&b, h->read_error[best], 2);
    buffer_format(&b, " at best (after %d layer%s); a guess: ", best, best == 1 ? "" : "s");
    buffer_fixed(&b, h->guess, 2);
    words_end(w, &b);
}

/* profile_text.c - a profile for the terminal. */
#include "profile_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_COLUMN = 12 };

/* Right-aligned; a dash where there is no value. */
static void text_number(buffer *out, double value, int decimals)
{
    buffer b = BUFFER_INIT;
    if (isfinite(value))
        buffer_fixed(&b, value, decimals);
    else
        buffer_add(&b, isnan(value) ? "-" : value > 0 ? "inf" : "-inf");
    buffer_format(out, "%*s", TEXT_COLUMN, buffer_text(&b));
    buffer_free(&b);
}

static void text_lines(buffer *out, profile_words *w)
{
    for (int i = 0; i < w->count; i++)
        buffer_format(out, "  %s.\n", w->line[i]);
    profile_words_free(w);
}

static void text_table(const profile_table *t, buffer *out)
{
    profile_words w = {0};
    int steps[PROFILE_STEPS_MAX], count = profile_steps(t->rows, steps);
    buffer_add(out, "\nThe table\n");
    profile_words_table(t, &w);
    text_lines(out, &w);
    buffer_format(out, "\n%*s%*s%*s%*s\n", TEXT_COLUMN, "distance", TEXT_COLUMN, "dot product", TEXT_COLUMN, "spread",
                  TEXT_COLUMN, "cosine");
    for (int i = 0; i < count; i++) {
        buffer_format(out, "%*d", TEXT_COLUMN, steps[i]);
        text_number(out, t->dot_mean[steps[i]], 4);
        text_number(out, t->dot_spread[steps[i]], 4);
        text_number(out, t->cosine_mean[steps[i]], 4);
        buffer_add(out, "\n");
    }
}

/* How many heads have room beside the first column; all where the width is not known. */
static int text_heads_beside(int width, int heads)
{
    int room = width / TEXT_COLUMN - 1;
    return width <= 0 || room >= heads ? heads : room < 1 ? 1 : room;
}

/* The headings of heads first .. end-1. */
static void text_heads(buffer *out, const char *rows, int first, int end)
{
    buffer_format(out, "\n%*s", TEXT_COLUMN, rows);
    for (int h = first; h < end; h++) {
        char head[24];
        snprintf(head, sizeof head, "head %d", h + 1);
        buffer_format(out, "%*s", TEXT_COLUMN, head);
    }
    buffer_add(out, "\n");
}

static void text_bias_heads(const profile_bias *b, int first, int end, buffer *out)
{
    int steps[PROFILE_STEPS_MAX], count = profile_steps(b->count + b->least, steps);
    text_heads(out, "distance", first, end);
    for (int i = b->least ? 1 - count : 0; i < count; i++) {
        int d = i < 0 ? -steps[-i] : steps[i];
        buffer_format(out, "%*d", TEXT_COLUMN, d);
        for (int h = first; h < end; h++)
            text_number(out, b->value[h * b->count + d - b->least], 4);
        buffer_add(out, "\n");
    }
}

static void text_bias(const profile_bias *b, int width, buffer *out)
{
    int beside = text_heads_beside(width, b->heads);
    buffer_format(out, "\nBias, from layer %d on\n", b->layer + 1);
    for (int h = 0; h < b->heads; h += beside)
        text_bias_heads(b, h, h + beside < b->heads ? h + beside : b->heads, out);
}

static void text_rotary(const profile_rotary *r, buffer *out)
{
    profile_words w = {0};
    int steps[PROFILE_STEPS_MAX], count = profile_steps(r->count, steps);
    buffer_format(out, "\nRotation, from layer %d on\n", r->layer + 1);
    profile_words_rotary(r, &w);
    text_lines(out, &w);
    buffer_format(out, "\n%*s%*s%*s%*s\n", TEXT_COLUMN, "distance", TEXT_COLUMN, "bound", TEXT_COLUMN, "equal",
                  TEXT_COLUMN, "independent");
    for (int h = 0; h < r->heads; h++)
        for (int i = 0; i < count; i++) {
            int at = h * r->count + steps[i];
            buffer_format(out, "%*d", TEXT_COLUMN, steps[i]);
            text_number(out, r->bound[at], 4);
            text_number(out, r->same[at], 4);
            text_number(out, r->other[at], 4);
            buffer_format(out, r->heads > 1 ? "   head %d\n" : "\n", h + 1);
        }
}

/* what: 0 mean distance, 1 entropy */
static void text_attention_heads(const profile_attention *a, int what, int first, int end, buffer *out)
{
    text_heads(out, what ? "entropy" : "distance", first, end);
    for (int l = 0; l < a->layers; l++) {
        char layer[24];
        snprintf(layer, sizeof layer, "layer %d", l + 1);
        buffer_format(out, "%*s", TEXT_COLUMN, layer);
        for (int h = first; h < end; h++)
            text_number(out, (what ? a->entropy : a->distance)[l * a->heads + h], what ? 3 : 2);
        buffer_add(out, "\n");
    }
}

static void text_attention(const profile_attention *a, int width, buffer *out)
{
    int beside = text_heads_beside(width, a->heads);
    profile_words w = {0};
    buffer_add(out, "\nAttention\n");
    profile_words_attention(a, &w);
    text_lines(out, &w);
    for (int what = 0; what < 2; what++)
        for (int h = 0; h < a->heads; h += beside)
            text_attention_heads(a, what, h, h + beside < a->heads ? h + beside : a->heads, out);
}

static void text_hidden(const readout_states *h, buffer *out)
{
    profile_words w = {0};
    buffer_add(out, "\nHidden states\n");
    profile_words_hidden(h, &w);
    text_lines(out, &w);
    buffer_format(out, "\n%*s%*s\n", TEXT_COLUMN, "layers", TEXT_COLUMN, "mean error");
    for (int i = 0; i < h->count; i++) {
        buffer_format(out, "%*d", TEXT_COLUMN, i);
        text_number(out, h->read_error[i], 3);
        buffer_add(out, "\n");
    }
}

void profile_text(const profile *p, int width, buffer *out)
{
    profile_words_target(p, out);
    buffer_add(out, "\n");
    if (p->has_table)
        text_table(&p->table, out);
    for (int i = 0; i < p->biases; i++)
        text_bias(&p->bias[i], width, out);
    for (int i = 0; i < p->rotaries; i++)
        text_rotary(&p->rotary[i], out);
    if (p->has_attention)
        text_attention(&p->attention, width, out);
    if (p->has_hidden)
        text_hidden(&p->hidden, out);
    if (!p->has_table && !p->biases && !p->rotaries && !p->has_attention && !p->has_hidden)
        buffer_add(out, "\nNo hook of it sees a position: there is nothing to look at.\n");
}

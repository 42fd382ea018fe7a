/* task_frame.c - a prompt and an answer as the sequence that a network sees: see task_regime. */
#include <assert.h>
#include <string.h>

#include "task_inside.h"

typedef struct frame {
    int bos, separator, eos;
    int prompt_max, answer_max;
} frame;

static frame frame_of(const task *t, int len)
{
    int symbols = task_symbols(t);
    frame f = {.bos = symbols, .separator = symbols + 1, .eos = symbols + 2};
    t->descriptor->sizes(t->options, len, &f.prompt_max, &f.answer_max);
    return f;
}

static int frame_slots(const task *t, const frame *f)
{
    return f->answer_max + (t->descriptor->answer_varies ? 1 : 0);
}

int task_frame_tokens(const task *t, int len)
{
    frame f = frame_of(t, len);
    return t->regime == TASK_DECODER ? f.prompt_max + f.answer_max + 2 : f.prompt_max + frame_slots(t, &f);
}

/* BOS x SEP y, with the answer now right behind the prompt: SEP predicts its first symbol, its last one EOS. */
static void frame_decoder(const frame *f, const task_pair *pair, task_sample *out)
{
    int sep = pair->prompt_len + 1;
    out->count = pair->prompt_len + pair->answer_len + 2;
    out->answer_begin = sep;
    memmove(out->input + sep + 1, pair->answer, (size_t)pair->answer_len * sizeof *pair->answer);
    out->input[0] = f->bos;
    out->input[sep] = f->separator;
    for (int t = 0; t < sep; t++)
        out->target[t] = TASK_NOT_SCORED;
    for (int t = sep; t < out->count - 1; t++)
        out->target[t] = out->input[t + 1];
    out->target[out->count - 1] = f->eos;
    if (!out->position)
        return;
    memmove(out->position + sep + 1, pair->answer_position, (size_t)pair->answer_len * sizeof *out->position);
    out->position[0] = 0;
    out->position[sep] = pair->separator_position;
}

/* x slot slot ..: an answer shorter than there are slots ends with EOS. Slots without a symbol stand where the last symbol
 * does, of the prompt if the answer has none. */
static void frame_encoder(const frame *f, const task_pair *pair, int slots, task_sample *out)
{
    int begin = pair->prompt_len;
    out->count = begin + slots;
    out->answer_begin = -1; /* all slots are filled at once: there is nothing to decode */
    for (int i = 0; i < slots; i++)
        out->input[begin + i] = f->separator;
    memmove(out->target + begin, pair->answer, (size_t)pair->answer_len * sizeof *pair->answer);
    for (int t = 0; t < begin; t++)
        out->target[t] = TASK_NOT_SCORED;
    for (int i = pair->answer_len; i < slots; i++)
        out->target[begin + i] = i == pair->answer_len ? f->eos : TASK_NOT_SCORED;
    if (!out->position)
        return;
    memmove(out->position + begin, pair->answer_position, (size_t)pair->answer_len * sizeof *out->position);
    for (int i = pair->answer_len; i < slots; i++)
        out->position[begin + i] = out->position[begin + pair->answer_len - 1];
}

/* The task writes prompt and answer where the longest ones have room; then the answer moves up to the prompt. */
static void frame_pair(const task *t, rng *kind, rng *rest, int len, task_sample *out)
{
    frame f = frame_of(t, len);
    int decoder = t->regime == TASK_DECODER, first = decoder ? 1 : 0, behind = first + f.prompt_max + first;
    double *position = t->descriptor->proposes_positions ? out->position : NULL;
    task_pair pair = {.prompt = out->input + first,
                      .answer = decoder ? out->input + behind : out->target + behind,
                      .prompt_position = position ? position + first : NULL,
                      .answer_position = position ? position + behind : NULL};
    task_sample framed = *out;
    framed.position = position;
    t->descriptor->pair(t->options, t->state, kind, rest, len, &pair);
    assert(1 <= pair.prompt_len && pair.prompt_len <= f.prompt_max);
    assert(0 <= pair.answer_len && pair.answer_len <= f.answer_max);
    assert(t->descriptor->answer_varies || (pair.answer_len == f.answer_max && pair.answer_len > 0));
    if (decoder)
        frame_decoder(&f, &pair, &framed);
    else
        frame_encoder(&f, &pair, frame_slots(t, &f), &framed);
    out->count = framed.count;
    out->answer_begin = framed.answer_begin;
}

void task_sample_any(const task *t, rng *kind, rng *rest, int len, task_sample *out)
{
    if (t->descriptor->pair)
        frame_pair(t, kind, rest, len, out);
    else
        t->descriptor->sample(t->options, t->state, kind, rest, len, out);
}

/* batch.c - sequences behind each other, without padding. */
#include <assert.h>

#include "train.h"

int batch_buffer_create(batch_buffer *b, arena *a, int max_sequences, int max_tokens)
{
    *b = (batch_buffer){ .max_sequences = max_sequences, .max_tokens = max_tokens };
    b->start = ARENA_NEW(a, int, max_sequences + 1);
    b->input = ARENA_NEW(a, int, max_tokens);
    b->target = ARENA_NEW(a, int, max_tokens);
    b->given = ARENA_NEW(a, double, max_tokens);
    b->answer_begin = ARENA_NEW(a, int, max_sequences);
    return b->start && b->input && b->target && b->given && b->answer_begin ? 0 : -1;
}

void batch_buffer_clear(batch_buffer *b)
{
    b->sequences = 0;
}

int batch_buffer_draw(batch_buffer *b, const task *t, task_stream stream, uint64_t seed, uint64_t index, uint32_t item,
                      int len)
{
    int at = b->start[b->sequences], shared = 0;
    assert(b->sequences < b->max_sequences && at + task_tokens(t, len) <= b->max_tokens);
    task_sample sample = { .input = b->input + at, .target = b->target + at, .position = b->given + at };
    task_draw(t, stream, seed, index, item, len, &sample, &shared);
    b->proposes = task_of(t)->proposes_positions;
    b->answer_begin[b->sequences++] = sample.answer_begin;
    b->start[b->sequences] = at + sample.count;
    return shared;
}

batch batch_buffer_part(const batch_buffer *b, int first, int count, uint64_t seed, uint64_t map_index, int training,
                        int *start)
{
    int at = b->start[first];
    for (int n = 0; n <= count; n++)
        start[n] = b->start[first + n] - at;
    return (batch){ .sequences = count, .start = start, .input = b->input + at, .target = b->target + at,
                    .given = b->proposes ? b->given + at : NULL, .seed = seed, .map_index = map_index, .first_sequence = first,
                    .training = training };
}

/* task_parts.c - what several tasks are made of. */
#include "task.h"

#include <assert.h>

void task_complete(task_frame frame, int prompt_len, int answer_len, task_sample *out)
{
    int sep = prompt_len + 1;
    out->count = prompt_len + answer_len + 2;
    out->answer_begin = sep;
    out->input[0] = frame.bos;
    out->input[sep] = frame.sep;
    for (int t = 0; t < sep; t++)
        out->target[t] = TASK_NOT_SCORED;
    for (int t = sep; t < out->count - 1; t++)
        out->target[t] = out->input[t + 1];
    out->target[out->count - 1] = frame.eos;
}

void task_couple_copy(int prompt_len, task_sample *out)
{
    for (int t = 0; out->position && t < out->count; t++)
        out->position[t] = t % (prompt_len + 1);
}

/* The first k steps of a Fisher-Yates shuffle. */
void task_distinct(rng *r, int n, int k, int first, int *out)
{
    int pool[TASK_SYMBOLS_MAX];
    assert(0 <= k && k <= n && n <= TASK_SYMBOLS_MAX);
    for (int i = 0; i < n; i++)
        pool[i] = first + i;
    for (int i = 0; i < k; i++) {
        int chosen = i + (int)rng_below(r, (uint32_t)(n - i));
        out[i] = pool[chosen];
        pool[chosen] = pool[i];
    }
}

double task_chance_arrangement(int n, int k)
{
    double chance = 1.0;
    for (int i = 0; i < k; i++)
        chance /= n - i;
    return chance;
}

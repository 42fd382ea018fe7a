/* task_parts.c - what several tasks are made of. */
#include "task.h"

#include <assert.h>

void task_couple_copy(task_pair *out)
{
    for (int i = 0; out->prompt_position && i < out->prompt_len; i++)
        out->prompt_position[i] = out->answer_position[i] = i + 1;
}

void task_place_prompt(task_pair *out, int before)
{
    for (int i = 0; out->prompt_position && i < out->prompt_len; i++)
        out->prompt_position[i] = i < before ? 0 : i - before + 1;
}

void task_answer(task_pair *out, int symbol, double position)
{
    if (out->answer_position)
        out->answer_position[out->answer_len] = position;
    out->answer[out->answer_len++] = symbol;
}

void task_arrange_bits(rng *r, int zeros, int len, int step, int *bits)
{
    for (int i = 0, left = zeros; i < len; i++) {
        int bit = rng_below(r, (uint32_t)(len - i)) >= (uint32_t)left;
        left -= !bit;
        bits[i * step] = bit;
    }
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

int task_filler(int i)
{
    enum { THE, GRASS, IS, GREEN, STOP, SKY, BLUE, SUN, YELLOW, HERE, WE, GO, THERE, AND, BACK, AGAIN };
    static const int words[] = {THE, GRASS,  IS,   GREEN, STOP, THE, SKY,  IS,    BLUE, STOP, THE,   SUN,
                                IS,  YELLOW, STOP, HERE,  WE,   GO,  STOP, THERE, AND,  BACK, AGAIN, STOP};
    assert(i >= 0);
    return words[i % (int)(sizeof words / sizeof *words)];
}

double task_chance_arrangement(int n, int k)
{
    double chance = 1.0;
    for (int i = 0; i < k; i++)
        chance /= n - i;
    return chance;
}

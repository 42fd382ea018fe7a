/* Flip-flop: what was written last (Liu et al. 2023, the language FFL; Golovneva et al. 2024, "flip-flop").
 *
 *   length    instructions with a bit, before the last one, which asks
 *   tokens    0 and 1 the bits, w = 2 write, r = 3 read, i = 4 ignore, BOS = 5, SEP = 6, EOS = 7
 *   prompt    w b, then an instruction and its bit length-1 times, then r             2 length + 1 tokens
 *   answer    the bit behind the last w
 *
 *   length 4:
 *   input     5 2 1 4 0 3 1 4 0 3 6 1
 *   target    . . . . . . . . . . 1 7
 *
 * The first instruction is w. The others are independent: w and r with the probabilities `write` and `read`, else i.
 * The bits of w and i are uniform; the bit of r is what was written last, so earlier answers stand in the prompt.
 */
#include <stddef.h>
#include <stdio.h>

#include "task.h"
#include "task_sources.h"

enum { FLIP_FLOP_WRITE = 2, FLIP_FLOP_READ, FLIP_FLOP_IGNORE, FLIP_FLOP_SYMBOLS };

typedef struct flip_flop_options {
    double write, read;
} flip_flop_options;

static int flip_flop_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const flip_flop_options *o = options;
    (void)min_len, (void)max_len;
    if (o->write + o->read <= 1.0)
        return 0;
    snprintf(message, size, "write=%g and read=%g are more than 1 together", o->write, o->read);
    return -1;
}

static int flip_flop_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return FLIP_FLOP_SYMBOLS;
}

static void flip_flop_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = 2 * len + 1;
    *answer = 1;
}

/* Bits that are written are uniform. */
static double flip_flop_chance(const void *options, const void *state, int len)
{
    (void)options, (void)state, (void)len;
    return 0.5;
}

/* One of the instructions that are left, each equally likely; takes it away. left[]: of w, r, i. */
static int flip_flop_deal(rng *rest, int left[3])
{
    int chosen = (int)rng_below(rest, (uint32_t)(left[0] + left[1] + left[2])), which = 0;
    while (chosen >= left[which])
        chosen -= left[which++];
    left[which]--;
    return FLIP_FLOP_WRITE + which;
}

/* How many there are of each instruction says how likely a sequence is; their order does not. */
static void flip_flop_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const flip_flop_options *o = options;
    int left[3] = {0}, memory = 0;
    (void)state;
    for (int t = 1; t < len; t++) {
        double u = rng_uniform(kind);
        left[u < o->write ? 0 : u < o->write + o->read ? 1 : 2]++;
    }
    for (int t = 0; t < len; t++) {
        int instruction = t == 0 ? FLIP_FLOP_WRITE : flip_flop_deal(rest, left);
        int bit = instruction == FLIP_FLOP_READ ? memory : (int)rng_below(rest, 2);
        if (instruction == FLIP_FLOP_WRITE)
            memory = bit;
        out->prompt[2 * t] = instruction;
        out->prompt[2 * t + 1] = bit;
    }
    out->prompt[2 * len] = FLIP_FLOP_READ;
    out->answer[0] = memory;
    out->prompt_len = 2 * len + 1;
    out->answer_len = 1;
}

static const pe_option flip_flop_rows[] = {
    {"write", PE_OPTION_REAL, offsetof(flip_flop_options, write), "0.1", 0, 1, 0, NULL,
     "probability of w (Liu et al.: 0.1 in training; 0.01 in the sparse test, 0.45 in the dense one)"},
    {"read", PE_OPTION_REAL, offsetof(flip_flop_options, read), "0.1", 0, 1, 0, NULL,
     "probability of r (Liu et al.: the same as of w); what is left is that of i"},
    {.name = NULL},
};

const task_descriptor task_descriptor_flip_flop = {
    .name = "flip_flop",
    .title = "Flip-flop",
    .source = "Liu et al., Exposing Attention Glitches with Flip-Flop Language Modeling, NeurIPS 2023",
    .format = "BOS w 1 i 0 r 1 i 0 r SEP 1 EOS",
    .notes = "Length counts instructions that have a bit; the source's 512 tokens are length 255. It scores every "
             "read of a sequence, here the last one is scored. The default is its FFL(0.8); write=0.01,read=0.01 is "
             "FFL(0.98), write=0.45,read=0.45 FFL(0.1). The last write is 1/write instructions back on average, "
             "whatever the length, so longer sequences are harder by what is to be ignored, not by distance, once "
             "length is well above that.",
    .kind = TASK_ANSWER,
    .options = flip_flop_rows,
    .options_size = sizeof(flip_flop_options),
    .check = flip_flop_check,
    .symbols = flip_flop_symbols,
    .sizes = flip_flop_sizes,
    .chance_token = flip_flop_chance,
    .chance_exact = flip_flop_chance,
    .pair = flip_flop_pair,
    .bibtex = TASK_BIB_LIU,
};

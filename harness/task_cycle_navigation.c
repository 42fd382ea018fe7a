/* Cycle navigation: where a walk on a circle ends (Deletang et al. 2023).
 *
 *   length    steps
 *   tokens    0 a step back, 1 none, 2 a step forward; 3 .. 3+cycle-1 the places 0 .. cycle-1; then BOS, SEP, EOS
 *   input     BOS x SEP y       length + 3 tokens; y = (forward - back) modulo cycle: the walk begins at place 0
 *
 *   cycle=5, length 4: one forward, three back
 *   input     8 2 0 0 0 9 6
 *   target    . . . . . 6 10
 *
 * Steps are independent and uniform.
 */
#include <math.h>
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { CYCLE_STEPS = 3 };

typedef struct cycle_options {
    int cycle;
} cycle_options;

static int cycle_symbols(const void *options, int max_len)
{
    const cycle_options *o = options;
    (void)max_len;
    return CYCLE_STEPS + o->cycle;
}

static void cycle_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

/* The sum of len steps modulo n, by its Fourier series: place k has
 * 1/n sum over j of ((1 + 2 cos(2 pi j/n)) / 3)^len cos(2 pi j k/n). The best guess is the most likely place. */
static double cycle_chance(const void *options, const void *state, int len)
{
    const cycle_options *o = options;
    double best = 0.0, turn = 2 * acos(-1.0) / o->cycle;
    (void)state;
    for (int k = 0; k < o->cycle; k++) {
        double p = 0.0;
        for (int j = 0; j < o->cycle; j++)
            p += pow((1 + 2 * cos(turn * j)) / 3, len) * cos(turn * (j * k % o->cycle)) / o->cycle;
        best = fmax(best, p);
    }
    return best;
}

static void cycle_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const cycle_options *o = options;
    int place = 0;
    (void)state, (void)kind; /* all walks of a length are equally likely */
    for (int i = 0; i < len; i++) {
        out->prompt[i] = (int)rng_below(rest, CYCLE_STEPS);
        place = (place + out->prompt[i] - 1 + o->cycle) % o->cycle;
    }
    out->answer[0] = CYCLE_STEPS + place;
    out->prompt_len = len;
    out->answer_len = 1;
}

static const pe_option cycle_rows[] = {
    {"cycle", PE_OPTION_INT, offsetof(cycle_options, cycle), "5", 2, 1024, 0, NULL,
     "places on the circle (Deletang et al.: 5)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_cycle_navigation = {
    .name = "cycle_navigation",
    .title = "Cycle navigation",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023",
    .format = "BOS + - - - SEP place3 EOS",
    .notes = "No position is needed: the answer is a count of steps, modulo `cycle`. The source trains on lengths "
             "1-40 and tests up to 500, in the encoder regime. At short lengths the walk is still near its start, so "
             "a fixed guess is better than 1/cycle there, and there are so few walks that streams share some.",
    .kind = TASK_ANSWER,
    .options = cycle_rows,
    .options_size = sizeof(cycle_options),
    .symbols = cycle_symbols,
    .sizes = cycle_sizes,
    .chance_token = cycle_chance,
    .chance_exact = cycle_chance,
    .pair = cycle_pair,
    .bibtex = TASK_BIB_DELETANG,
};

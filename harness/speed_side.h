/* speed_side.h - one network with one encoding, ready to be timed. Private to speed. */
#ifndef SPEED_SIDE_H
#define SPEED_SIDE_H

#include "adamw.h"
#include "model.h"
#include "speed.h"
#include "train.h"

typedef struct speed_side {
    const speed_setting *setting;
    arena memory;
    layered_stack stacks;
    run_config config;
    model model;
    workspace train, eval;
    adamw optimiser;
    batch_buffer data;
    int *part_start;
    int drawn;               /* batches so far */
    size_t train_bytes, eval_bytes;
} speed_side;

enum { SPEED_TRAIN = 1, SPEED_EVAL = 2 };

/* The stacks of a text, checked against the network. On failure, too, `out` (empty at first) is freed by layered_free. */
int speed_side_parse(layered_stack *out, const registry *r, const char *stack, const speed_setting *s, error *e);

/* kinds: what it will do. On failure speed_side_close is still called. */
int speed_side_open(speed_side *side, const registry *r, const char *stack, const speed_setting *s, int kinds, error *e);
void speed_side_close(speed_side *side);

/* One step as training does it, or the evaluation of a batch, in the parts in which a run works it off. b: NULL or where the
 * time goes. */
void speed_side_step(speed_side *side, int training, breakdown *b);

/* Processor seconds of one step, the mean of `steps`. */
double speed_side_time(speed_side *side, int training, int steps);

/* How many steps take about `seconds`; at least one. `once`: of one step. */
int speed_side_steps(double once, double seconds);

#endif

/* regime.h - how the network of a configuration meets a task of prompt and answer. */
#ifndef REGIME_H
#define REGIME_H

#include "config.h"
#include "task.h"

static inline task_regime config_regime(const run_config *c)
{
    return c->model.causal ? TASK_DECODER : TASK_ENCODER;
}

#endif

#include "weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_info.h"
#include "regime.h"
#include "run.h"
#include "safetensors.h"
#include "task.h"

static const char weights_suffix[] = ".safetensors";
static const char weights_canonical[] = "posbench.canonical", weights_version[] = "posbench.version",
                  weights_step[] = "posbench.step";

int weights_is_target(const char *target)
{
    size_t length = strlen(target), suffix = sizeof weights_suffix - 1;
    return length > suffix && !strcmp(target + length - suffix, weights_suffix);
}

/* ------------------------------------------------------------------------------------------------ saving */

int weights_save(const char *path, const model *m, const run_config *c, int step, error *e)
{
    char canonical[CONFIG_TEXT_MAX], number[16];
    config_print(c, canonical, sizeof canonical);
    snprintf(number, sizeof number, "%d", step);
    const char *const metadata[][2] = {{"format", "pt"},
                                       {weights_canonical, canonical},
                                       {weights_step, number},
                                       {weights_version, POSBENCH_VERSION},
                                       {NULL, NULL}};
    safetensors_tensor *tensors = calloc((size_t)m->params_count + 1, sizeof *tensors);
    if (!tensors)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    for (int i = 0; i < m->params_count; i++) {
        const model_param *p = &m->params[i];
        tensors[i] = (safetensors_tensor){.name = p->name, .dims = p->rows == 1 ? 1 : 2, .value = m->value + p->offset};
        tensors[i].dim[0] = p->rows == 1 ? p->cols : p->rows;
        tensors[i].dim[1] = p->cols;
    }
    int status = safetensors_write(path, tensors, m->params_count, metadata, e);
    free(tensors);
    return status;
}

/* ------------------------------------------------------------------------------------------------ reading back */

static int weights_read_config(weights *w, const safetensors *file, const registry *r, error *e)
{
    const char *canonical = safetensors_metadata(file, weights_canonical);
    if (!canonical)
        return error_set(
            e, ERROR_USAGE,
            "%s: 'posbench run --save' did not write it: it has no metadata '%s'. One tensor of it is %s:NAME",
            file->path, weights_canonical, file->path);
    if (config_read(&w->config, canonical, e) < 0 || config_check(&w->config, r, e) < 0)
        return error_prefix(e, "%s", file->path);
    const char *step = safetensors_metadata(file, weights_step);
    w->step = step ? atoi(step) : 0;
    return 0;
}

/* The network as in training, without its values. No corpus is read. */
static int weights_build(weights *w, const registry *r, error *e)
{
    const run_config *c = &w->config;
    int shortest, longest;
    if (run_lengths(c, &shortest, &longest, e) < 0 || layered_parse(r, c->encoding, &w->stacks, e) < 0 ||
        config_eval_stacks(c, r, &w->eval_stacks, e) < 0)
        return -1;
    task *t = task_parse(c->task, config_regime(c), shortest, longest, e);
    if (!t)
        return -1;
    int status =
        model_create(&w->trained, &w->memory, c, &w->stacks, task_vocab(t), task_tokens(t, c->train.len), 0, e);
    task_free(t);
    if (status == 0 && model_view(&w->model, &w->memory, &w->trained, &w->eval_stacks) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for the evaluated encoding");
    return status;
}

static int weights_read_param(weights *w, const safetensors *file, const model_param *p, error *e)
{
    size_t length = model_param_length(p);
    const safetensors_entry *t = safetensors_find(file, p->name, e);
    if (!t)
        return -1;
    int matches = t->count == length && (p->rows == 1 ? t->dims == 1 : t->dims == 2 && t->dim[0] == (uint64_t)p->rows);
    if (!matches)
        return error_set(e, ERROR_USAGE,
                         "%s: tensor '%s' has another shape than the %d x %d that its configuration asks for",
                         file->path, p->name, p->rows, p->cols);
    double *value = malloc(length * sizeof *value + 1);
    if (!value)
        return error_set(e, ERROR_ENVIRONMENT, "%s: no memory for tensor '%s'", file->path, p->name);
    int status = safetensors_read(file, t, value, e);
    for (size_t i = 0; i < length && status == 0; i++) {
        if (!isfinite(value[i]))
            status =
                error_set(e, ERROR_USAGE, "%s: tensor '%s' holds a number that is not finite", file->path, p->name);
        w->trained.value[p->offset + i] = (real)value[i];
    }
    free(value);
    return status;
}

static int weights_read(weights *w, const safetensors *file, const registry *r, error *e)
{
    if (weights_read_config(w, file, r, e) < 0 || weights_build(w, r, e) < 0)
        return -1;
    for (int i = 0; i < w->trained.params_count; i++)
        if (weights_read_param(w, file, &w->trained.params[i], e) < 0)
            return -1;
    for (int i = 0; i < file->count; i++)
        if (!model_find(&w->trained, file->entry[i].name))
            return error_set(e, ERROR_USAGE, "%s: tensor '%s' has no place in the network of its configuration",
                             file->path, file->entry[i].name);
    model_changed(&w->trained);
    return 0;
}

int weights_open(weights *w, const char *path, const registry *r, error *e)
{
    safetensors file;
    *w = (weights){.memory = {NULL, 0}};
    if (safetensors_open(&file, path, e) < 0)
        return -1;
    int status = weights_read(w, &file, r, e);
    safetensors_close(&file);
    return status;
}

void weights_close(weights *w)
{
    layered_free(&w->stacks);
    layered_free(&w->eval_stacks);
    arena_free(&w->memory);
}

#include "train.h"

#include <stdlib.h>

#include "checkpoint.h"
#include "exposure.h"
#include "lengths.h"
#include "stopwatch.h"

/* ------------------------------------------------------------------------------------------------ rates */

double train_rate(const run_config *c, int step)
{
    int warmup = c->train.warmup, steps = c->train.steps;
    if (step < warmup)
        return c->train.lr * (step + 1) / warmup;
    double done = steps > warmup ? (double)(step - warmup) / (steps - warmup) : 0, share = 1;
    if (c->train.schedule == CONFIG_SCHEDULE_COSINE)
        share = 0.5 * (1 + cos(3.14159265358979323846 * done));
    else if (c->train.schedule == CONFIG_SCHEDULE_LINEAR)
        share = 1 - done;
    return c->train.lr * (c->train.min_lr + (1 - c->train.min_lr) * share);
}

/* ------------------------------------------------------------------------------------------------ set-up */

/* A step is worked off in parts whose activations stay near the core, but not in ever smaller ones the wider the network is:
 * each part reads all weights and adds to all their gradients. Only speed and memory depend on this. */
enum { TRAIN_PART_REALS = 1 << 15, TRAIN_PART_TOKENS = 256, TRAIN_VALIDATION_ITEMS = 128 };

int train_part_tokens(const run_config *c, int longest)
{
    int tokens = TRAIN_PART_REALS / c->model.width;
    tokens = tokens > TRAIN_PART_TOKENS ? tokens : TRAIN_PART_TOKENS;
    return tokens > longest ? tokens : longest;
}

int trainer_create(trainer *t, arena *a, const run_config *c, const task *what, model *m, error *e)
{
    int longest = task_tokens(what, c->train.len);
    *t = (trainer){ .config = c, .task = what, .model = m, .part_tokens = train_part_tokens(c, longest),
                    .best_loss = INFINITY };
    int most = t->part_tokens < c->train.batch * longest ? t->part_tokens : c->train.batch * longest;
    int sequences = c->train.batch > TRAIN_VALIDATION_ITEMS ? c->train.batch : TRAIN_VALIDATION_ITEMS;
    if (adamw_create(&t->optimiser, a, m, c, e) < 0 ||
        workspace_create(&t->work, a, m, NULL, NULL, c->train.batch, most, longest, 1, e) < 0 ||
        workspace_create(&t->check, a, m, NULL, NULL, TRAIN_VALIDATION_ITEMS, t->part_tokens, longest, 0, e) < 0)
        return -1;
    int failed = batch_buffer_create(&t->data, a, c->train.batch, c->train.batch * longest) < 0;
    failed |= batch_buffer_create(&t->check_data, a, TRAIN_VALIDATION_ITEMS, TRAIN_VALIDATION_ITEMS * longest) < 0;
    t->part_start = ARENA_NEW(a, int, sequences + 1);
    t->best = ARENA_NEW(a, real, c->train.select == CONFIG_SELECT_BEST ? m->length : 0);
    if (failed || !t->part_start || !t->best)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for a batch of %d sequences", c->train.batch);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ one step */

/* How many sequences from `first` on fit a part. At least one. */
static int trainer_part(const batch_buffer *b, int first, int tokens)
{
    int count = 1;
    while (first + count < b->sequences && b->start[first + count + 1] - b->start[first] <= tokens)
        count++;
    return count;
}

static int trainer_scored(const batch_buffer *b)
{
    int scored = 0;
    for (int t = 0; t < b->start[b->sequences]; t++)
        scored += b->target[t] != TASK_NOT_SCORED;
    return scored;
}

static void trainer_reach(trainer *t, const batch *b)
{
    for (int l = 0; l < t->model->shape.layers; l++)
        for (int n = 0; n < b->sequences; n++) {
            const placement *place = t->work.place[(size_t)l * (size_t)t->work.max_sequences + (size_t)n];
            t->reach = fmax(t->reach, placement_farthest(place->pos, place->len));
        }
}

void train_source(const run_config *c, int answers, int step, int n, uint64_t *index, uint32_t *item)
{
    uint64_t size = (uint64_t)c->train.batch, number = (uint64_t)step * size + (uint64_t)n;
    if (answers && c->train.data > 0)
        number %= (uint64_t)c->train.data;
    *index = number / size;
    *item = (uint32_t)(number % size);
}

static void trainer_draw(trainer *t, int step)
{
    const run_config *c = t->config;
    int answers = task_of(t->task)->kind == TASK_ANSWER;
    batch_buffer_clear(&t->data);
    for (int n = 0; n < c->train.batch; n++) {
        uint64_t index;
        uint32_t item;
        train_source(c, answers, step, n, &index, &item);
        batch_buffer_draw(&t->data, t->task, TASK_TRAIN, (uint64_t)c->seed, index, item, lengths_draw(c, index, item));
    }
}

double trainer_step(trainer *t, int step, double *norm)
{
    const run_config *c = t->config;
    uint64_t seed = (uint64_t)c->seed;
    int phase = exposure_phase(step, c->train.steps), number = t->offset + step;
    trainer_draw(t, number);
    /* Every scored token of the step weighs the same, whatever part it falls into. */
    int scored = trainer_scored(&t->data);
    double factor = scored ? 1.0 / scored : 0, sum = 0;
    for (int first = 0, count; first < t->data.sequences; first += count) {
        count = trainer_part(&t->data, first, t->part_tokens);
        batch b = batch_buffer_part(&t->data, first, count, seed, (uint64_t)number, 1, t->part_start);
        model_forward(t->model, &t->work, &b);
        trainer_reach(t, &b);
        sum += model_loss(t->model, &t->work, &b, factor, NULL, NULL);
        model_backward(t->model, &t->work, &b);
        if (t->exposure)
            exposure_add_tokens(t->exposure, phase, t->model, &t->work, &b);
    }
    if (t->exposure)
        exposure_add_rows(t->exposure, phase, t->model);
    *norm = adamw_update(&t->optimiser, t->model, train_rate(c, step));
    return sum * factor;
}

/* ------------------------------------------------------------------------------------------------ validation */

void trainer_validate(trainer *t, double *exact, double *loss)
{
    const run_config *c = t->config;
    uint64_t seed = (uint64_t)c->seed, stream = UINT64_MAX; /* lengths of validation: a step that training never reaches */
    static const int one_round = TRAIN_VALIDATION_ITEMS;
    batch_buffer *data = &t->check_data;
    batch_buffer_clear(data);
    for (int n = 0; n < one_round; n++) {
        int len = lengths_draw(c, stream, (uint32_t)n);
        batch_buffer_draw(data, t->task, TASK_VALIDATION, seed, 0, (uint32_t)n, len);
    }
    long scored = trainer_scored(data), right = 0;
    double sum = 0;
    for (int first = 0, count; first < data->sequences; first += count) {
        count = trainer_part(data, first, t->part_tokens);
        batch b = batch_buffer_part(data, first, count, seed, stream, 0, t->part_start);
        int guess[b.start[count]];
        model_forward(t->model, &t->check, &b);
        sum += model_loss(t->model, &t->check, &b, 0, NULL, guess);
        for (int n = 0; n < count; n++) {
            int all = 1;
            for (int i = b.start[n]; i < b.start[n + 1]; i++)
                all &= b.target[i] == TASK_NOT_SCORED || b.target[i] == guess[i];
            right += all;
        }
    }
    *loss = scored ? sum / (double)scored : NAN;
    *exact = task_of(t->task)->kind == TASK_ANSWER ? (double)right / one_round : NAN;
}

/* ------------------------------------------------------------------------------------------------ all steps */

int trainer_lost(const trainer *t, double loss, double norm)
{
    return !isfinite(loss) || !isfinite(norm) || loss > 1000 * log((double)t->model->vocab + 1);
}

static int trainer_point(run_result *out, run_point p, error *e)
{
    run_point *grown = realloc(out->curve, sizeof *grown * ((size_t)out->curve_count + 1));
    if (!grown)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for the training curve");
    out->curve = grown;
    out->curve[out->curve_count++] = p;
    return 0;
}

static void trainer_remember(trainer *t, int step, double exact, double loss)
{
    if (t->config->train.select == CONFIG_SELECT_BEST && !(loss < t->best_loss))
        return;
    t->best_step = step;
    t->best_loss = loss;
    t->best_exact = exact;
    if (t->config->train.select == CONFIG_SELECT_BEST)
        memcpy(t->best, t->model->value, sizeof(real) * t->model->length);
}

/* The curve keeps about this many points, evenly spaced, besides those at which validation ran. */
enum { TRAIN_CURVE_POINTS = 200 };

static int trainer_due(const run_config *c, int step)
{
    return step == c->train.steps || (c->train.check_every && step % c->train.check_every == 0);
}

/* One sitting of a training: from where the last one stopped until it is done, is interrupted or diverges. */
typedef struct trainer_sitting {
    const run_watch *watch;
    const char *state;
    checkpoint_cost before;       /* cost of the sittings before this one */
    double began, told, saved;    /* moments of this one */
    int ended;                    /* 1: early stop, interruption, divergence */
} trainer_sitting;

/* Between two states of a training that goes on; and how long one must have taken to be worth a state at its end. */
enum { TRAIN_STATE_SECONDS = 60, TRAIN_STATE_LEAST = 5 };

static checkpoint_cost trainer_cost(const trainer_sitting *s)
{
    return (checkpoint_cost){ s->before.train_seconds + stopwatch_wall() - s->began,
                              s->before.cpu_seconds + stopwatch_cpu() };
}

/* A training that cannot be saved now is no reason to give it up: it is tried again a minute later. */
static void trainer_save(const trainer *t, trainer_sitting *s, const run_result *out, int steps, int ended)
{
    error unsaved = ERROR_INIT;
    s->saved = stopwatch_wall();
    checkpoint_save(s->state, t, out, steps, ended, trainer_cost(s), &unsaved);
}

/* Step `step` and what follows from it. -1: no memory. */
static int trainer_advance(trainer *t, trainer_sitting *s, int step, run_result *out, error *e)
{
    const run_config *c = t->config;
    int every = c->train.steps / TRAIN_CURVE_POINTS + 1, due = trainer_due(c, step + 1);
    run_point p = { .step = step + 1, .lr = train_rate(c, step), .validation_exact = NAN, .validation_loss = NAN };
    p.loss = trainer_step(t, step, &p.grad_norm);
    if (t->exposure && t->exposure->failed)
        return error_set(e, ERROR_ENVIRONMENT, "no memory to record what positions meet");
    out->tokens_seen += t->data.start[t->data.sequences];
    out->status_step = step + 1;
    if (trainer_lost(t, p.loss, p.grad_norm)) {
        out->status = RUN_DIVERGED;
        s->ended = 1;
        return trainer_point(out, p, e);
    }
    if (due) {
        trainer_validate(t, &p.validation_exact, &p.validation_loss);
        trainer_remember(t, step + 1, p.validation_exact, p.validation_loss);
        s->ended = c->train.stop_at > 0 && p.validation_exact >= c->train.stop_at;
    }
    if ((due || (step + 1) % every == 0 || step == 0) && trainer_point(out, p, e) < 0)
        return -1;
    if (s->watch && s->watch->tell && (stopwatch_wall() - s->told > 0.1 || step + 1 == c->train.steps)) {
        s->told = stopwatch_wall();
        s->watch->tell(s->watch->self, "train", step + 1, c->train.steps, p.loss);
    }
    return 0;
}

/* Whether somebody wants this to end; the state is written then, and now and then. */
static void trainer_pause(const trainer *t, trainer_sitting *s, run_result *out, int steps)
{
    int wanted = s->watch && s->watch->stop && *s->watch->stop;
    if (wanted)
        out->status = RUN_INTERRUPTED;
    if (s->state && (wanted || stopwatch_wall() - s->saved > TRAIN_STATE_SECONDS))
        trainer_save(t, s, out, steps, 0);
    s->ended |= wanted;
}

static void trainer_finish(trainer *t, run_result *out)
{
    const run_config *c = t->config;
    if (c->train.select == CONFIG_SELECT_BEST) {
        memcpy(t->model->value, t->best, sizeof(real) * t->model->length);
        model_changed(t->model);
    }
    out->selected_step = t->best_step;
    out->fit_score = task_of(t->task)->kind == TASK_ANSWER ? t->best_exact : t->best_loss;
    out->fitted = task_of(t->task)->kind == TASK_ANSWER ? t->best_exact >= c->eval.fit : isfinite(t->best_loss);
}

int trainer_run(trainer *t, const run_watch *watch, const char *state, run_result *out, error *e)
{
    trainer_sitting s = { .watch = watch, .state = state, .began = stopwatch_wall(), .saved = stopwatch_wall() };
    if (t->config->train.positions && !(t->exposure = out->exposure = exposure_new(t->model, e)))
        return -1;
    int step = state ? checkpoint_load(state, t, out, &s.ended, &s.before, e) : 0;
    if (step < 0)
        return -1;
    out->status = RUN_OK;
    out->status_step = step;
    while (step < t->config->train.steps && !s.ended) {
        if (trainer_advance(t, &s, step, out, e) < 0)
            return -1;
        step++;
        if (!s.ended)
            trainer_pause(t, &s, out, step);
    }
    checkpoint_cost cost = trainer_cost(&s);
    if (out->status == RUN_OK && state && cost.train_seconds > TRAIN_STATE_LEAST)
        trainer_save(t, &s, out, step, 1); /* evaluation may be interrupted, too */
    if (out->status == RUN_OK)
        trainer_finish(t, out);
    if (t->exposure)
        exposure_norms(t->exposure, t->model);
    out->train_seconds = cost.train_seconds;
    out->cpu_seconds = cost.cpu_seconds;
    return 0;
}

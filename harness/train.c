#include "train.h"

#include <stdlib.h>

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

/* A step is worked off in parts whose activations stay near the core; only speed and memory depend on this. */
enum { TRAIN_PART_REALS = 1 << 15, TRAIN_VALIDATION_ITEMS = 128 };

static int trainer_part_tokens(const run_config *c, int longest)
{
    int tokens = TRAIN_PART_REALS / c->model.width;
    return tokens > longest ? tokens : longest;
}

int trainer_create(trainer *t, arena *a, const run_config *c, const task *what, model *m, error *e)
{
    int longest = task_tokens(what, c->train.len);
    *t = (trainer){ .config = c, .task = what, .model = m, .part_tokens = trainer_part_tokens(c, longest),
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

double trainer_step(trainer *t, int step, double *norm)
{
    const run_config *c = t->config;
    uint64_t seed = (uint64_t)c->seed;
    batch_buffer_clear(&t->data);
    for (int n = 0; n < c->train.batch; n++)
        batch_buffer_draw(&t->data, t->task, TASK_TRAIN, seed, (uint64_t)step, (uint32_t)n,
                          lengths_draw(c, (uint64_t)step, (uint32_t)n));
    /* Every scored token of the step weighs the same, whatever part it falls into. */
    int scored = trainer_scored(&t->data);
    double factor = scored ? 1.0 / scored : 0, sum = 0;
    for (int first = 0, count; first < t->data.sequences; first += count) {
        count = trainer_part(&t->data, first, t->part_tokens);
        batch b = batch_buffer_part(&t->data, first, count, seed, (uint64_t)step, 1, t->part_start);
        model_forward(t->model, &t->work, &b);
        trainer_reach(t, &b);
        sum += model_loss(t->model, &t->work, &b, factor, NULL, NULL);
        model_backward(t->model, &t->work, &b);
    }
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

/* A loss this far above that of a uniform guess does not come back. */
static int trainer_lost(const trainer *t, double loss, double norm)
{
    return !isfinite(loss) || !isfinite(norm) || loss > 1000 * log((double)t->model->vocab + 1);
}

static int trainer_point(run_result *out, int *room, run_point p, error *e)
{
    if (out->curve_count == *room) {
        int more = *room ? 2 * *room : 256;
        run_point *grown = realloc(out->curve, sizeof *grown * (size_t)more);
        if (!grown)
            return error_set(e, ERROR_ENVIRONMENT, "no memory for the training curve");
        out->curve = grown;
        *room = more;
    }
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

int trainer_run(trainer *t, const run_watch *watch, run_result *out, error *e)
{
    const run_config *c = t->config;
    int room = 0, every = c->train.steps / TRAIN_CURVE_POINTS + 1;
    double told = 0;
    out->status = RUN_OK;
    for (int step = 0; step < c->train.steps; step++) {
        run_point p = { .step = step + 1, .lr = train_rate(c, step), .validation_exact = NAN, .validation_loss = NAN };
        p.loss = trainer_step(t, step, &p.grad_norm);
        out->tokens_seen += t->data.start[t->data.sequences];
        out->status_step = step + 1;
        int due = trainer_due(c, step + 1), stop = 0;
        if (trainer_lost(t, p.loss, p.grad_norm)) {
            out->status = RUN_DIVERGED;
            return trainer_point(out, &room, p, e);
        }
        if (due) {
            trainer_validate(t, &p.validation_exact, &p.validation_loss);
            trainer_remember(t, step + 1, p.validation_exact, p.validation_loss);
            stop = c->train.stop_at > 0 && p.validation_exact >= c->train.stop_at;
        }
        if ((due || (step + 1) % every == 0 || step == 0) && trainer_point(out, &room, p, e) < 0)
            return -1;
        if (watch && watch->stop && *watch->stop) {
            out->status = RUN_INTERRUPTED;
            return 0;
        }
        if (watch && watch->tell && (stopwatch_wall() - told > 0.1 || step + 1 == c->train.steps)) {
            told = stopwatch_wall();
            watch->tell(watch->self, "train", step + 1, c->train.steps, p.loss);
        }
        if (stop)
            break;
    }
    if (c->train.select == CONFIG_SELECT_BEST) {
        memcpy(t->model->value, t->best, sizeof(real) * t->model->length);
        model_changed(t->model);
    }
    out->selected_step = t->best_step;
    out->fit_score = task_of(t->task)->kind == TASK_ANSWER ? t->best_exact : t->best_loss;
    out->fitted = task_of(t->task)->kind == TASK_ANSWER ? t->best_exact >= c->eval.fit : isfinite(t->best_loss);
    return 0;
}

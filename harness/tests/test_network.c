/* The whole network: gradients, parts of a batch, parameters, memory, the optimiser. */
#include "network_fixture.h"

#include "adamw.h"
#include "network_gradient.h"

/* ------------------------------------------------------------------------------------------------ gradients */

#ifdef PE_REAL_DOUBLE /* in float the same checks would need limits so loose that real faults pass */

Test(network_gradient, plain)
{
    network_gradient("nope", "");
}

Test(network_gradient, every_stage)
{
    network_gradient("learned+shaw(clip=3)+t5(buckets=4,max_distance=6)+rope", "");
}

Test(network_gradient, bidirectional)
{
    network_gradient("shaw(clip=2)+t5(buckets=8,max_distance=6)+rope(layout=half)", "model.causal=false");
}

Test(network_gradient, bias_for_each_layer)
{
    network_gradient("t5(buckets=6,max_distance=8,shared=false)+alibi", "model.layers=3");
}

Test(network_gradient, layers_that_differ)
{
    network_gradient("[rope,t5(buckets=4,max_distance=6)+learned,nope]", "model.layers=3");
}

Test(network_gradient, rms_norm_tied_head_scaled_embedding)
{
    network_gradient("rope", "model.norm=rms model.tied_head=true model.scale_embedding=true");
}

Test(network_gradient, layers_that_share_weights)
{
    network_gradient("shaw(clip=3)", "model.share_layers=true model.layers=3");
}

Test(network_gradient, exact_gelu)
{
    network_gradient("sinusoidal", "model.gelu=exact");
}

/* 8 * 64 doubles fill a page: the rows of the hidden layer have a gap behind them. */
Test(network_gradient, hidden_rows_apart)
{
    network_gradient("rope", "model.width=8 model.mlp=64 model.layers=2");
}

Test(network_gradient, positions_from_a_map)
{
    network_gradient("t5(buckets=4,max_distance=6)+rope+learned(rows=20)@interpolate(factor=2)", "");
    network_gradient("t5(buckets=4,max_distance=6)+rope+learned(rows=20)@shift", "");
    network_gradient("shaw(clip=3)+rope+learned(rows=20)@random(span=20)", "");
    network_gradient("t5(buckets=4,max_distance=6)+rope+learned(rows=20)@random_float(span=19,scope=sequence)", "");
    network_gradient("shaw(clip=3)+rope+learned(rows=30)@cape", "");
    network_gradient("t5(buckets=4,max_distance=6)+rope+learned@task(start=auto)", "");
}

Test(network_gradient, temperatures)
{
    network_gradient("rope+shaw(clip=3)+ssmax", "");
    network_gradient("ssmax(start=1)+logn(length=4)+alibi", "model.causal=false");
    network_gradient("[rope,rope,rope,temper(form=llama4,interval=2)]", "model.layers=4");
}

#endif

/* ------------------------------------------------------------------------------------------------ batches */

/* One batch, or its sequences in parts, or each alone: the same gradient, though their lengths and scored tokens differ, and
 * a part with nothing to score adds nothing (no division by 0). */
Test(network, parts_of_a_batch_add_up)
{
    fixture f;
    fixture_open(&f, "t5+rope", "", 9, 1);
    fixture_draw(&f, 3, 8, 0);
    for (int t = f.start[2]; t < f.start[3]; t++)
        f.target[t] = -1;
    real whole[8192], parts[8192];
    cr_assert_lt(f.model.length, 8192);
    double loss = fixture_loss(&f, 0.125);
    model_backward(&f.model, &f.work, &f.batch);
    memcpy(whole, f.model.grad, sizeof(real) * f.model.length);
    batch all = f.batch;
    for (int size = 1; size <= 4; size *= 2) {
        memset(f.model.grad, 0, sizeof(real) * f.model.length);
        double sum = 0;
        for (int first = 0; first < 8; first += size) {
            int start[9];
            for (int n = 0; n <= size; n++)
                start[n] = all.start[first + n] - all.start[first];
            f.batch = (batch){ .sequences = size, .start = start, .input = all.input + all.start[first],
                               .target = all.target + all.start[first], .first_sequence = first, .training = 1 };
            sum += fixture_loss(&f, 0.125);
            model_backward(&f.model, &f.work, &f.batch);
        }
        memcpy(parts, f.model.grad, sizeof(real) * f.model.length);
        cr_assert(fabs(sum - loss) < 1e-4);
        for (size_t i = 0; i < f.model.length; i++)
            cr_assert(fabs((double)(whole[i] - parts[i])) < 1e-5, "parts of %d, parameter %zu: %g, not %g", size, i,
                      (double)parts[i], (double)whole[i]);
    }
    fixture_close(&f);
}

Test(network, a_pass_repeats_to_the_bit)
{
    fixture f;
    fixture_open(&f, "shaw+alibi", "", 9, 1);
    fixture_draw(&f, 4, 6, 0);
    real first[8192];
    for (int round = 0; round < 2; round++) {
        memset(f.model.grad, 0, sizeof(real) * f.model.length);
        fixture_loss(&f, 1);
        model_backward(&f.model, &f.work, &f.batch);
        if (round == 0) {
            memcpy(first, f.model.grad, sizeof(real) * f.model.length);
        }
    }
    cr_assert_arr_eq(first, f.model.grad, sizeof(real) * f.model.length);
    fixture_close(&f);
}

/* ------------------------------------------------------------------------------------------------ parameters */

static long network_count(const char *encoding)
{
    fixture f;
    fixture_open(&f, encoding, "model.width=64 model.heads=4", 128, 0);
    long all = model_parameters(&f.model), own = model_encoding_parameters(&f.model);
    fixture_close(&f);
    fixture plain;
    fixture_open(&plain, "nope", "model.width=64 model.heads=4", 128, 0);
    cr_assert_eq(all - model_parameters(&plain.model), own, "%s", encoding);
    fixture_close(&plain);
    return own;
}

Test(network, models_differ_by_the_encodings_own_parameters)
{
    cr_assert_eq(network_count("learned"), 128 * 64);
    cr_assert_eq(network_count("sinusoidal"), 0);
    cr_assert_eq(network_count("rope"), 0);
    cr_assert_eq(network_count("alibi"), 0);
    cr_assert_eq(network_count("t5"), 32 * 4);
    cr_assert_eq(network_count("t5(shared=false)"), 2 * 32 * 4);
    cr_assert_eq(network_count("shaw(clip=16)"), 2 * 2 * 33 * 16);
    cr_assert_eq(network_count("kerple"), 2 * 4);
    cr_assert_eq(network_count("fire"), 2 * (2 + 32 + 32 + 4 * 32 + 4));
}

Test(network, every_parameter_begins_a_cache_line)
{
    fixture f;
    fixture_open(&f, "fire", "", 8, 0);
    for (int i = 0; i < f.model.params_count; i++)
        cr_expect_eq((uintptr_t)(f.model.value + f.model.params[i].offset) % 64, 0, "%s", f.model.params[i].name);
    fixture_close(&f);
}

Test(network, a_tied_head_is_counted_once)
{
    fixture tied, apart;
    fixture_open(&tied, "nope", "model.tied_head=true", 8, 0);
    fixture_open(&apart, "nope", "", 8, 0);
    cr_assert_eq(model_parameters(&apart.model) - model_parameters(&tied.model), FIXTURE_VOCAB * 12);
    fixture_close(&tied);
    fixture_close(&apart);
}

/* Runs with one seed start from the same weights in all that they share. */
Test(network, shared_parameters_start_alike)
{
    fixture a, b;
    fixture_open(&a, "nope", "", 8, 0);
    fixture_open(&b, "learned+shaw", "", 8, 0);
    model_init(&a.model, 5);
    model_init(&b.model, 5);
    for (int i = 0; i < a.model.params_count; i++) {
        const model_param *p = &a.model.params[i], *q = model_find(&b.model, p->name);
        cr_assert_not_null(q);
        cr_assert_arr_eq(a.model.value + p->offset, b.model.value + q->offset, sizeof(real) * model_param_length(p));
    }
    model_init(&b.model, 6);
    const model_param *p = model_find(&a.model, "head.w"), *q = model_find(&b.model, "head.w");
    cr_assert_arr_neq(a.model.value + p->offset, b.model.value + q->offset, sizeof(real) * model_param_length(p));
    fixture_close(&a);
    fixture_close(&b);
}

/* ------------------------------------------------------------------------------------------------ length */

/* 64 times a training length of 64: buffers grow with the length, not with its square. */
Test(network, evaluation_memory_is_linear_in_length)
{
    error e = ERROR_INIT;
    size_t used[2];
    for (int i = 0; i < 2; i++) {
        fixture f;
        fixture_open(&f, "rope+t5", "model.width=16 model.heads=4", 64, 0);
        int len = i ? 4096 : 2048;
        arena own = { NULL, 0 };
        workspace work;
        cr_assert_eq(workspace_create(&work, &own, &f.model, NULL, NULL, 1, len, len, 0, &e), 0);
        int *input = ARENA_NEW(&own, int, len), *target = ARENA_NEW(&own, int, len), start[2] = { 0, len };
        for (int t = 0; t < len; t++) {
            input[t] = t % FIXTURE_VOCAB;
            target[t] = -1;
        }
        target[len - 1] = 1;
        used[i] = own.used;
        batch b = { .sequences = 1, .start = start, .input = input, .target = target };
        model_forward(&f.model, &work, &b);
        cr_assert(isfinite(model_loss(&f.model, &work, &b, 0, NULL, NULL)));
        arena_free(&own);
        fixture_close(&f);
    }
    cr_assert_lt((double)used[1] / (double)used[0], 2.1);
}

/* ------------------------------------------------------------------------------------------------ optimiser */

/* Weight decay with no gradient: listed parameters shrink by lr * decay, all others keep their bits. */
Test(adamw, decay_touches_what_it_says)
{
    error e = ERROR_INIT;
    for (int rule = CONFIG_DECAY_MATRICES; rule <= CONFIG_DECAY_ALL; rule++) {
        fixture f;
        fixture_open(&f, "learned+t5+shaw", "train.weight_decay=0.1", 8, 1);
        f.config.train.decay = rule;
        adamw o;
        cr_assert_eq(adamw_create(&o, &f.memory, &f.model, &f.config, &e), 0);
        real before[16384];
        memcpy(before, f.model.value, sizeof(real) * f.model.length);
        adamw_update(&o, &f.model, 0.5);
        int tables = 0, matrices = 0;
        for (int i = 0; i < f.model.params_count; i++) {
            const model_param *p = &f.model.params[i];
            double keep = adamw_decays(&o, p) ? 0.95 : 1;
            matrices += p->matrix;
            tables += p->owner != NULL && adamw_decays(&o, p);
            cr_assert(rule != CONFIG_DECAY_MATRICES || adamw_decays(&o, p) == p->matrix);
            for (size_t k = p->offset; k < p->offset + model_param_length(p); k++)
                cr_assert(fabs((double)f.model.value[k] - keep * (double)before[k]) < 1e-7, "%s", p->name);
        }
        cr_assert_eq(matrices, 4 * 2 + 1);
        cr_assert_eq(tables > 0, rule != CONFIG_DECAY_MATRICES);
        fixture_close(&f);
    }
}

static void adamw_gradient(fixture *f, adamw *o, double value, int bad)
{
    error e = ERROR_INIT;
    fixture_open(f, "nope", "train.clip=1 train.weight_decay=0", 8, 1);
    cr_assert_eq(adamw_create(o, &f->memory, &f->model, &f->config, &e), 0);
    memset(f->model.grad, 0, sizeof(real) * f->model.length);
    for (int i = 0; i < 100; i++)
        f->model.grad[i] = (real)value;
    if (bad)
        f->model.grad[50] = INFINITY;
}

/* 100 gradients of 1e20: the norm, 1e21, is past what floats can square, and the first moment is (1-b1) * 0.1 each. */
Test(adamw, clipping_survives_large_gradients)
{
    fixture f;
    adamw o;
    adamw_gradient(&f, &o, 1e20, 0);
    double norm = adamw_update(&o, &f.model, 1e-3);
    cr_assert(fabs(norm / 1e21 - 1) < 1e-6);
    for (int i = 0; i < 100; i++)
        cr_assert(fabs((double)o.first[i] - (1 - o.beta1) * 0.1) < 1e-7);
    fixture_close(&f);
}

Test(adamw, an_infinite_gradient_changes_nothing)
{
    fixture f;
    adamw o;
    adamw_gradient(&f, &o, 1, 1);
    real before[8192];
    memcpy(before, f.model.value, sizeof(real) * f.model.length);
    cr_assert(!isfinite(adamw_update(&o, &f.model, 1e-3)));
    cr_assert_arr_eq(before, f.model.value, sizeof(real) * f.model.length);
    cr_assert_eq(o.step, 0);
    for (size_t i = 0; i < f.model.length; i++)
        cr_assert(f.model.grad[i] == 0 && o.first[i] == 0);
    fixture_close(&f);
}

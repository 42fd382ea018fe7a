/* What the measurements of speed.h count and refuse, and that they measure what they say. No test depends on how long
 * anything took. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "gemm.h"
#include "speed.h"
#include "speed_peak.h"
#include "speed_side.h"

static const speed_setting tiny = { .name = "tiny", .width = 16, .layers = 2, .heads = 2, .len = 12, .batch = 3, .vocab = 8,
                                    .training = 1 };

static registry *registry_or_fail(void)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    return r;
}

/* ------------------------------------------------------------------------------------------------ what is counted */

/* By hand: A 6 (12*2*64^2 + 32*64) + 6*2*65*64, and so on. */
Test(speed, useful_operations_a_token)
{
    static const double train[] = { 652032, 5164032, 31073280 };
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(speed_flops(&speed_settings[i], 1), train[i], "%s: %.0f", speed_settings[i].name,
                     speed_flops(&speed_settings[i], 1));
        cr_expect_eq(speed_flops(&speed_settings[i], 0), train[i] / 3);
    }
    cr_expect_eq(speed_flops(&speed_settings[3], 0), 5784576); /* 2 (12*4*128^2 + 64*128) + 2*4*4097*128 */
}

/* The formula against a count of every product: of token t, its 3 + 1 + 4 + 4 square maps, the head, and t + 1 keys. */
Test(speed, useful_operations_are_those_of_the_products)
{
    double sum = 0, d = tiny.width;
    for (int t = 0; t < tiny.len; t++) {
        sum += 2 * d * tiny.vocab;
        for (int l = 0; l < tiny.layers; l++)
            sum += 2 * d * (3 * d + d + 4 * d) + 2 * 4 * d * d + 2 * (2 * d * (t + 1));
    }
    cr_expect_float_eq(sum / tiny.len, speed_flops(&tiny, 0), 1e-9);
}

Test(speed, reference_networks)
{
    cr_assert_eq(SPEED_SETTINGS, 4);
    for (int i = 0; i < SPEED_SETTINGS; i++) {
        const speed_setting *s = &speed_settings[i];
        cr_expect_eq(s->name[0], 'A' + i);
        cr_expect_eq(s->width % s->heads, 0);
        cr_expect_eq(s->training, i < 3);
    }
}

Test(speed, quartiles)
{
    double x[] = { 4, 1, 3, 2 }, one[] = { 7 };
    speed_spread s = speed_spread_of(x, 4);
    cr_expect_eq(s.median, 2.5);
    cr_expect_eq(s.low, 1.75);
    cr_expect_eq(s.high, 3.25);
    s = speed_spread_of(one, 1);
    cr_expect(s.median == 7 && s.low == 7 && s.high == 7);
}

Test(speed, steps_fill_the_time)
{
    cr_expect_eq(speed_side_steps(0.1, 0.5), 5);
    cr_expect_eq(speed_side_steps(2, 0.5), 1);
    cr_expect_eq(speed_side_steps(0, 0.5), 1);
}

Test(speed, the_peak_is_a_number)
{
    double peak = speed_peak(3);
    cr_expect(isfinite(peak) && peak > 1e6, "%g", peak);
    cr_expect_gt(strlen(speed_peak_kernel()), 0);
}

/* ------------------------------------------------------------------------------------------------ one round */

static void expect_round(const char *stack, int training, double seconds)
{
    error e = ERROR_INIT;
    registry *r = registry_or_fail();
    speed_setting s = tiny;
    speed_round out;
    s.training = training;
    cr_assert_eq(speed_once(r, stack, &s, seconds, &out, &e), 0, "%s", e.message);
    cr_expect(out.step_seconds > 0 && out.first_step_at > 0);
    cr_expect_float_eq(out.tokens * out.step_seconds, s.batch * s.len, 1e-6);
    cr_expect_float_eq(out.mfu * out.peak / out.tokens, speed_flops(&s, training), 1e-3);
    cr_expect_gt(out.arena_bytes, 4000);
    cr_expect_gt(out.resident_bytes, 1 << 20, "%ld", out.resident_bytes);
    registry_free(r);
}

Test(speed, a_round_of_training)
{
    expect_round("alibi", 1, 0.002);
}

Test(speed, a_round_of_evaluation)
{
    expect_round("rope", 0, 0.002);
}

Test(speed, the_first_step_alone)
{
    expect_round("nope", 0, 0);
}

/* A network that is evaluated only has no room for gradients. */
Test(speed, evaluation_needs_less_memory)
{
    error e = ERROR_INIT;
    registry *r = registry_or_fail();
    speed_side train, eval, both;
    cr_assert_eq(speed_side_open(&train, r, "nope", &tiny, SPEED_TRAIN, &e), 0, "%s", e.message);
    cr_assert_eq(speed_side_open(&eval, r, "nope", &tiny, SPEED_EVAL, &e), 0, "%s", e.message);
    cr_assert_eq(speed_side_open(&both, r, "nope", &tiny, SPEED_TRAIN | SPEED_EVAL, &e), 0, "%s", e.message);
    cr_expect_null(eval.model.grad);
    cr_expect_lt(eval.memory.used, train.memory.used);
    cr_expect_gt(both.memory.used, train.memory.used);
    cr_expect_eq(both.train_bytes, train.train_bytes);
    speed_side_close(&train);
    speed_side_close(&eval);
    speed_side_close(&both);
    registry_free(r);
}

/* It learns the tokens' frequencies: what is timed is training, with all its parts. */
Test(speed, what_is_timed_is_training)
{
    error e = ERROR_INIT;
    registry *r = registry_or_fail();
    speed_setting s = tiny;
    s.batch = 300; /* more than a part holds */
    speed_side side;
    cr_assert_eq(speed_side_open(&side, r, "nope", &s, SPEED_TRAIN, &e), 0, "%s", e.message);
    cr_assert_lt(side.train.max_tokens, s.batch * s.len, "one part would not show that all are worked off");
    real *before = malloc(sizeof(real) * side.model.length);
    memcpy(before, side.model.value, sizeof(real) * side.model.length);
    speed_side_step(&side, 1, NULL);
    cr_expect_eq(side.optimiser.step, 1);
    size_t moved = 0;
    for (size_t i = 0; i < side.model.length; i++)
        moved += before[i] != side.model.value[i];
    cr_expect_gt(moved, side.model.length * 9 / 10);
    free(before);
    speed_side_close(&side);
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ costs */

Test(speed, a_cost_is_a_ratio)
{
    error e = ERROR_INIT;
    registry *r = registry_or_fail();
    speed_cost cost;
    cr_assert_eq(speed_measure(r, "learned", &tiny, 3, 0.001, &cost, &e), 0, "%s", e.message);
    cr_expect_str_eq(cost.encoding, "learned");
    cr_expect_eq(cost.parameters, tiny.len * tiny.width);
    cr_expect(cost.train.low > 0 && cost.train.low <= cost.train.median && cost.train.median <= cost.train.high);
    cr_expect(cost.eval.low > 0 && cost.eval.low <= cost.eval.median && cost.eval.median <= cost.eval.high);
    cr_expect(isfinite(cost.train.high) && isfinite(cost.eval.high));
    cr_expect(cost.train_tokens > 0 && cost.eval_tokens > 0 && cost.train_bytes > cost.eval_bytes);
    speed_setting s = tiny;
    s.training = 0;
    cr_assert_eq(speed_measure(r, "learned", &s, 3, 0.001, &cost, &e), 0, "%s", e.message);
    cr_expect(cost.train_tokens == 0 && cost.eval_tokens > 0);
    registry_free(r);
}

Test(speed, what_cannot_be_timed_is_refused)
{
    error e = ERROR_INIT;
    registry *r = registry_or_fail();
    speed_cost cost;
    speed_round round;
    cr_expect_eq(speed_measure(r, "albi", &tiny, 1, 0, &cost, &e), -1);
    cr_expect_eq(e.kind, ERROR_USAGE);
    cr_expect(strstr(e.message, "alibi"), "%s", e.message);
    error_clear(&e);
    cr_expect_eq(speed_once(r, "rope@task", &tiny, 0, &round, &e), -1);
    cr_expect_eq(e.kind, ERROR_USAGE);
    error_clear(&e);
    cr_expect_eq(speed_check(r, "rope+rope", &tiny, &e), -1);
    cr_expect_eq(e.kind, ERROR_USAGE);
    error_clear(&e);
    cr_expect_eq(speed_check(r, "rope+alibi", &tiny, &e), 0, "%s", e.message);
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ where it goes */

Test(breakdown, every_second_is_charged_to_one_section)
{
    breakdown b = breakdown_begin(BREAKDOWN_DATA);
    double begin = b.since, sum = 0;
    for (int i = 0; i < 100; i++)
        breakdown_at(&b, (breakdown_section)(i % BREAKDOWN_SECTIONS));
    for (int k = 0; k < BREAKDOWN_SECTIONS; k++)
        sum += b.seconds[k];
    cr_expect_float_eq(sum, b.since - begin, 1e-9);
    breakdown_at(NULL, BREAKDOWN_GEMM);
}

/* Sections in which an encoding has time are those in which it has hooks, and shares are shares. */
static void expect_parts(const char *stack, int training, int has_encoding)
{
    error e = ERROR_INIT;
    registry *r = registry_or_fail();
    speed_setting s = tiny;
    speed_parts p;
    double sum = 0;
    s.training = training;
    cr_assert_eq(speed_break_down(r, stack, &s, 3, 0.002, &p, &e), 0, "%s", e.message);
    cr_expect_str_eq(p.encoding, stack);
    for (int k = 0; k < BREAKDOWN_SECTIONS; k++) {
        sum += p.share[k];
        if (k != BREAKDOWN_ENCODING && (training || k != BREAKDOWN_OPTIMISER))
            cr_expect_gt(p.seconds[k], 0, "%s: %s", stack, speed_section_names[k]);
    }
    if (has_encoding)
        cr_expect_gt(p.seconds[BREAKDOWN_ENCODING], 0, "%s", stack);
    cr_expect_float_eq(sum, 1, 1e-9);
    cr_expect(p.step_seconds > 0 && isfinite(p.gemm_rate) && isfinite(p.attention_rate));
    registry_free(r);
}

Test(breakdown, sections_of_a_step)
{
    expect_parts("nope", 1, 0);
    expect_parts("nope", 0, 0);
    expect_parts("cope+fox", 1, 1);
    expect_parts("rope+kerple", 1, 1);
    expect_parts("learned+shaw", 0, 1);
}

/* Who is watched does what he does otherwise. */
Test(breakdown, watching_changes_nothing)
{
    error e = ERROR_INIT;
    registry *r = registry_or_fail();
    speed_side alone, watched;
    breakdown b = breakdown_begin(BREAKDOWN_DATA);
    cr_assert_eq(speed_side_open(&alone, r, "rope+t5+fox", &tiny, SPEED_TRAIN, &e), 0, "%s", e.message);
    cr_assert_eq(speed_side_open(&watched, r, "rope+t5+fox", &tiny, SPEED_TRAIN, &e), 0, "%s", e.message);
    for (int i = 0; i < 3; i++) {
        speed_side_step(&alone, 1, NULL);
        speed_side_step(&watched, 1, &b);
    }
    cr_expect_arr_eq(alone.model.value, watched.model.value, sizeof(real) * alone.model.length);
    speed_side_close(&alone);
    speed_side_close(&watched);
    registry_free(r);
}

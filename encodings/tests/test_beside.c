/* test_beside.c - relative and contextual encodings under masks, in stacks, and where they are refused. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>

#include "check.h"
#include "pairs.h"
#include "rig.h"
#include "specimens.h"

/* ------------------------------------------------------------------------------------------------ masks */

static const char *const masked_stacks[] = {"fox", "cope",    "dape",     "alibi+dape",
                                            "txl", "txl+fox", "fox+cope", "rope+cope"};
enum { MASKED_STACKS = sizeof masked_stacks / sizeof masked_stacks[0] };

/* A41. Two tokens of padding on the left, hidden from all: their rows see nothing. */
Test(beside, a_row_that_sees_nothing_is_zero_and_disturbs_nobody)
{
    enum { LEN = 9, PAD = 2, WIDTH = 8 };
    unsigned char mask[LEN * LEN];
    for (int at = 0; at < LEN * LEN; at++)
        mask[at] = at / LEN >= PAD && at % LEN >= PAD;
    for (int n = 0; n < MASKED_STACKS; n++) {
        pairs padded, plain;
        double pos[LEN - PAD];
        for (int i = 0; i < LEN - PAD; i++)
            pos[i] = i + PAD;
        pairs_open(&padded, masked_stacks[n], 2, 4, LEN, 1, NULL);
        pairs_open(&plain, masked_stacks[n], 2, 4, LEN - PAD, 1, pos);
        refhost_settings settings = padded.settings;
        trial t;
        error e = ERROR_INIT;
        trial_result r;
        settings.mask = mask;
        cr_assert_eq(trial_open(&t, &padded.stack, &settings, 17, &e), 0, "%s", e.message);
        t.in.weights = NULL;
        real *const from[] = {t.x, t.q, t.k, t.v}, *const to[] = {plain.t.x, plain.t.q, plain.t.k, plain.t.v};
        for (int i = 0; i < 4; i++)
            memcpy(to[i], from[i] + PAD * WIDTH, (LEN - PAD) * WIDTH * sizeof(real));
        refhost_output want = refhost_forward(plain.t.host, &plain.t.in);
        cr_assert_eq(trial_run(&t, &r, &e), 0, "%s", e.message);
        cr_assert_eq(trial_first_not_finite(&r), -1, "%s", masked_stacks[n]);
        const real *o = r.values + r.section[TRIAL_O].begin, *dq = r.values + r.section[TRIAL_DQ].begin;
        for (int i = 0; i < PAD * WIDTH; i++)
            cr_assert(o[i] == 0 && dq[i] == 0, "%s: row %d is not 0", masked_stacks[n], i / WIDTH);
        for (int i = PAD * WIDTH; i < LEN * WIDTH; i++)
            rig_near((double)o[i], (double)want.o[i - PAD * WIDTH], 30 * rig_tolerance(), masked_stacks[n]);
        trial_result_free(&r);
        trial_close(&t);
        pairs_close(&padded);
        pairs_close(&plain);
    }
}

/* A42. Weights of later tokens are exactly 0, rows sum to 1, and token 4 leaves the rows before it bit by bit. */
Test(beside, later_tokens_do_not_show)
{
    enum { LEN = 5, WIDTH = 8 };
    for (int n = 0; n < MASKED_STACKS; n++) {
        pairs p;
        real before[LEN * WIDTH];
        pairs_open(&p, masked_stacks[n], 2, 4, LEN, 1, NULL);
        refhost_output out = refhost_forward(p.t.host, &p.t.in);
        memcpy(before, out.o, sizeof before);
        for (int row = 0; row < 2 * LEN; row++) {
            double sum = 0;
            for (int j = 0; j < LEN; j++) {
                sum += (double)out.p[row * LEN + j];
                cr_assert(j <= row % LEN || out.p[row * LEN + j] == 0);
            }
            rig_near(sum, 1, 1e-6, masked_stacks[n]);
        }
        for (int i = 4 * WIDTH; i < LEN * WIDTH; i++) {
            p.t.x[i] += 1;
            p.t.q[i] -= 2;
            p.t.k[i] *= 3;
            p.t.v[i] = 7;
        }
        out = refhost_forward(p.t.host, &p.t.in);
        cr_assert_arr_eq(out.o, before, 4 * WIDTH * sizeof(real), "%s", masked_stacks[n]);
        cr_assert_arr_neq(out.o + 4 * WIDTH, before + 4 * WIDTH, WIDTH * sizeof(real), "%s", masked_stacks[n]);
        pairs_close(&p);
    }
}

/* ------------------------------------------------------------------------------------------------ stacks */

static void stacked_keep(void *user, const check_line *line)
{
    check_line_print(line, user, 2048);
}

/* Gradients, claims and protocol of members beside each other. */
Test(beside, stacks_pass_the_checks)
{
    static const char *const texts[] = {"rope+cope", "alibi+dape(hidden=4)", "txl+fox", "fox+cope",
                                        "dpb(units=4)+dape"};
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++) {
        char text[2048];
        int failed = -1;
        cr_assert_eq(check_stack(r, texts[n], stacked_keep, text, &failed, &e), 0, "%s", e.message);
        cr_expect_eq(failed, 0, "%s", text);
    }
    registry_free(r);
}

Test(beside, a_window_and_dape_pass_the_checks)
{
    error e = ERROR_INIT;
    pairs p;
    pairs_open_behind(&p, &specimen_blinkers, "dape(hidden=4,kernel=3)", 2, 4, 8, 1);
    claims_report claims;
    protocol_report protocol;
    cr_assert_eq(claims_check(&p.stack, &claims, &e), 0, "%s", e.message);
    cr_expect_eq(claims.failures, 0, "%s", claims.message);
    cr_assert_eq(protocol_check(&p.stack, &protocol, &e), 0, "%s", e.message);
    cr_expect_eq(protocol.failures, 0, "%s", protocol.message);
    if (sizeof(real) == sizeof(double)) {
        gradient_report gradient;
        cr_assert_eq(gradient_check(&p.stack, &gradient, &e), 0, "%s", e.message);
        cr_expect_eq(gradient.failures, 0, "%s", gradient.message);
    }
    pairs_close(&p);
}

/* What reads q or k themselves sees where they have been turned to. */
Test(beside, a_rotation_takes_shift_invariance_from_readers_of_heads)
{
    static const struct {
        const char *text;
        int invariant;
    } cases[] = {{"shaw", 1}, {"shaw+rope", 0}, {"rope+cope", 0}, {"txl+rope", 0}, {"rope+fox", 1}, {"rope+dape", 1}};
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        pe_stack s;
        cr_assert_eq(stack_parse(r, cases[n].text, &s, &e), 0, "%s", e.message);
        cr_expect_eq((stack_claims(&s) & PE_SHIFT_INVARIANT) != 0, cases[n].invariant, "%s", cases[n].text);
        stack_free(&s);
    }
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ refusals */

static void refused(const pe_stack *s, int causal, const char *words)
{
    error e = ERROR_INIT;
    pe_shape shape = rig_shape(2, 4, 16, causal);
    cr_expect_neq(stack_check(s, &shape, 64, &e), 0, "expected a refusal: %s", words);
    cr_expect_not_null(strstr(e.message, words), "expected '%s' in '%s'", words, e.message);
}

/* Beside a rotation that doubles q and k: what takes them for vectors of head_dim is refused, the others are not. */
Test(beside, a_rotation_that_widens_is_refused_beside_readers_of_heads)
{
    static const char *const readers[] = {"shaw", "txl", "cope"}, *const others[] = {"fox", "dape", "dpb"};
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    for (int n = 0; n < 6; n++) {
        pe_stack s;
        cr_assert_eq(stack_parse(r, n < 3 ? readers[n] : others[n - 3], &s, &e), 0, "%s", e.message);
        s.member[s.count++] = (stack_member){&specimen_turning, NULL};
        char words[96];
        pe_shape shape = rig_shape(2, 4, 16, 1);
        snprintf(words, sizeof words, "%s reads q and k as vectors of head_dim 4, but beside turning they have 8",
                 n < 3 ? readers[n] : others[n - 3]);
        if (n < 3)
            refused(&s, 1, words);
        else
            cr_expect_eq(stack_check(&s, &shape, 64, &e), 0, "%s", e.message);
        stack_free(&s);
    }
    registry_free(r);
}

static void backwards_place(const pe_map_context *c, double *pos)
{
    for (int t = 0; t < c->len; t++)
        pos[t] = c->len - 1 - t;
}

static const pe_map backwards = {
    PE_MAP_HEAD,
    .name = "backwards",
    .title = "A map",
    .source = "made for tests",
    .formula = "pos_t = len - 1 - t",
    .unordered = 1,
    .place = backwards_place,
};

Test(beside, positions_that_fall_are_refused_where_order_is_needed)
{
    static const char *const bear_it[] = {"txl(clamp=3)", "cope", "fox", "dape", "dpb"};
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    for (int n = 0; n < 6; n++) {
        pe_stack s;
        pe_shape shape = rig_shape(2, 4, 16, 1);
        cr_assert_eq(stack_parse(r, n == 0 ? "shaw" : bear_it[n - 1], &s, &e), 0, "%s", e.message);
        s.map = &backwards;
        if (n == 0)
            refused(&s, 1, "shaw needs positions that do not decrease, but under the map backwards they may");
        else
            cr_expect_eq(stack_check(&s, &shape, 64, &e), 0, "%s", e.message);
        stack_free(&s);
    }
    registry_free(r);
}

Test(beside, what_does_not_fit_is_refused_in_words)
{
    static const struct {
        const char *text, *words;
        int causal;
    } cases[] = {
        {"cope", "cope has no meaning without a causal mask", 0},
        {"fox", "fox has no meaning without a causal mask", 0},
        {"fox(data=fixed,time_min=8,time_max=4)", "time_max=4 is below time_min=8", 1},
        {"dape(kernel=4)", "kernel=4 is even", 1},
    };
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        pe_stack s;
        cr_assert_eq(stack_parse(r, cases[n].text, &s, &e), 0, "%s", e.message);
        refused(&s, cases[n].causal, cases[n].words);
        stack_free(&s);
    }
    pe_stack s;
    cr_assert_eq(stack_parse(r, "dape", &s, &e), 0, "%s", e.message);
    pe_shape wide = rig_shape(65, 2, 16, 1);
    cr_expect_neq(stack_check(&s, &wide, 64, &e), 0);
    cr_expect_not_null(strstr(e.message, "65 heads are too many; at most 64"), "%s", e.message);
    stack_free(&s);
    registry_free(r);
}

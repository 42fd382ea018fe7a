/* test_proven.c - what is proven of rotations, and what is said of them and is not so. */
#include <criterion/criterion.h>

#include <math.h>

#include "rotary_fixture.h"

/* C2: rotations keep lengths, and q.k depends on the difference of positions only: any vectors, any places. */
Test(rotary, rotations_are_orthogonal)
{
    enum { DIM = 16, LEN = 40 };
    static const char *const texts[] = {"rope",
                                        "rope(fraction=0.5)",
                                        "rope(keep=0.5)",
                                        "rope(scaling=ntk)",
                                        "rope(scaling=llama3)",
                                        "rope(frequencies=per_head)",
                                        "rerope"};
    static real before[LEN * DIM], after[LEN * DIM];
    double pos[LEN];
    for (int t = 0; t < LEN; t++)
        pos[t] = 37.25 * t;
    for (size_t v = 0; v < sizeof texts / sizeof *texts; v++) {
        rotary_noise(9, before, LEN * DIM);
        rotary_noise(9, after, LEN * DIM);
        rotary_turn(texts[v], rig_shape(1, DIM, 64, 1), pos, LEN, 0, PE_QUERY, after);
        for (int t = 0; t < LEN; t++) {
            double norm[2] = {0, 0};
            for (int i = 0; i < DIM; i++) {
                norm[0] += (double)before[t * DIM + i] * before[t * DIM + i];
                norm[1] += (double)after[t * DIM + i] * after[t * DIM + i];
            }
            rig_near(norm[1], norm[0], 2 * rig_tolerance() * norm[0], texts[v]);
        }
    }
}

/* C3: what decays with the distance s is a bound: the mean length of the partial sums of e^(i s theta_p). */
Test(rotary, decay_is_that_of_a_bound)
{
    static const double at[] = {1, 4, 16, 64, 256, 1024};
    static const double want[2][6] = {{15.95, 11.14, 7.65, 5.70, 3.84, 3.07}, {31.5, 22.6, 15.8, 10.1, 6.5, 4.0}};
    for (int n = 0; n < 2; n++) {
        int dim = 64 << n;
        real u[6 * 128];
        for (int i = 0; i < 6 * dim; i++)
            u[i] = (real)(i % 2 == 0);
        rotary_turn("rope(layout=interleaved)", rig_shape(1, dim, 64, 1), at, 6, 0, PE_QUERY, u);
        for (int t = 0; t < 6; t++) {
            double x = 0, y = 0, sum = 0;
            for (int p = 0; p < dim / 2; p++) {
                x += (double)u[t * dim + 2 * p];
                y += (double)u[t * dim + 2 * p + 1];
                sum += hypot(x, y);
            }
            rig_near(sum / (dim / 2), want[n][t], n == 0 ? 0.00501 : 0.0501, "bound");
        }
    }
}

static double proven_normal(uint32_t *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += rig_noise(state);
    return sum;
}

/* C4: scores of vectors that know nothing of each other do not decay: their mean is 0 at every distance, and so is
 * their spread the same. */
Test(rotary, no_decay_for_generic_vectors)
{
    enum { DIM = 16, DISTANCES = 5, DRAWS = 4000 };
    static const double pos[DISTANCES] = {0, 1, 7, 64, 1000};
    double sum[DISTANCES] = {0}, squares[DISTANCES] = {0};
    uint32_t state = 12345;
    for (int n = 0; n < DRAWS; n++) {
        real q[DIM], k[DISTANCES * DIM];
        for (int i = 0; i < DIM; i++)
            q[i] = (real)proven_normal(&state);
        for (int i = 0; i < DIM; i++)
            k[i] = (real)proven_normal(&state);
        for (int t = 1; t < DISTANCES; t++)
            memcpy(k + t * DIM, k, DIM * sizeof *k);
        rotary_turn("rope", rig_shape(1, DIM, 64, 1), pos, DISTANCES, 0, PE_KEY, k);
        for (int t = 0; t < DISTANCES; t++) {
            double s = 0;
            for (int i = 0; i < DIM; i++)
                s += (double)q[i] * k[t * DIM + i];
            sum[t] += s;
            squares[t] += s * s;
        }
    }
    for (int t = 0; t < DISTANCES; t++) {
        double mean = sum[t] / DRAWS, variance = squares[t] / DRAWS - mean * mean;
        cr_assert(fabs(mean) <= 3 * sqrt(variance / DRAWS), "distance %g: mean %g", pos[t], mean);
        cr_assert(fabs(variance / DIM - 1) < 0.1, "distance %g: variance %g, not %d", pos[t], variance, DIM);
    }
}

/* C4: for any query and any distance there is a key that is matched best at just that distance. */
Test(rotary, some_key_prefers_any_distance)
{
    enum { DIM = 16, LEN = 64 };
    real q[DIM], u[LEN * DIM];
    rotary_noise(3, q, DIM);
    for (int best = 0; best < LEN; best += 9) {
        /* A query at LEN - 1, and at every place the key that was made by turning it forwards by `best`. */
        const double turn = best;
        double pos[LEN], score[LEN];
        real k[DIM];
        memcpy(k, q, sizeof q);
        rotary_turn("rope", rig_shape(1, DIM, 64, 1), &turn, 1, 0, PE_KEY, k);
        for (int t = 0; t < LEN; t++) {
            pos[t] = t;
            memcpy(u + t * DIM, k, sizeof k);
        }
        rotary_turn("rope", rig_shape(1, DIM, 64, 1), pos, LEN, 0, PE_KEY, u);
        real query[LEN * DIM];
        memcpy(query, q, sizeof q);
        const double last = LEN - 1;
        rotary_turn("rope", rig_shape(1, DIM, 64, 1), &last, 1, 0, PE_QUERY, query);
        int found = 0;
        for (int t = 0; t < LEN; t++) {
            score[t] = 0;
            for (int i = 0; i < DIM; i++)
                score[t] += (double)query[i] * u[t * DIM + i];
            if (score[t] > score[found])
                found = t;
        }
        cr_assert_eq(LEN - 1 - found, best, "distance %d is matched best, not %d", LEN - 1 - found, best);
    }
}

/* C5: between whole distances a score is near the straight line, by d max|h_j| / (32 ln c); interpolated positions are
 * such distances. */
Test(rotary, interpolation_is_bounded)
{
    enum { DIM = 64, STEPS = 8, LEN = 12 * STEPS + 1 };
    static real k[LEN * DIM];
    double pos[LEN], a[LEN], worst = 0;
    for (int t = 0; t < LEN; t++)
        pos[t] = (double)t / STEPS;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        real q[DIM], first[DIM];
        double largest = 0;
        rotary_noise(seed, q, DIM);
        rotary_noise(seed + 100, first, DIM);
        for (int i = 0; i < DIM; i++)
            q[i] *= seed % 2 == 0 && i >= 2 ? (real)0.1 : 1; /* the fastest pair alone: the worst case, nearly */
        for (int p = 0; p < DIM / 2; p++)
            largest = fmax(largest, hypot(q[2 * p], q[2 * p + 1]) * hypot(first[2 * p], first[2 * p + 1]));
        for (int t = 0; t < LEN; t++)
            memcpy(k + t * DIM, first, sizeof first);
        rotary_turn("rope(layout=interleaved)", rig_shape(1, DIM, 64, 1), pos, LEN, 0, PE_KEY, k);
        for (int t = 0; t < LEN; t++) {
            a[t] = 0;
            for (int i = 0; i < DIM; i++)
                a[t] += (double)q[i] * k[t * DIM + i];
        }
        for (int t = 0; t < LEN - 1; t++) {
            int whole = t / STEPS * STEPS;
            double line = a[whole] + (a[whole + STEPS] - a[whole]) * (t - whole) / STEPS;
            worst = fmax(worst, fabs(a[t] - line) / (DIM * largest / (32 * log(10000))));
        }
    }
    cr_assert_float_eq(32 * log(10000), 294.73, 0.005);
    cr_assert(worst <= 1, "%g of the bound", worst);
    cr_assert(worst > 0.25, "%g of the bound: this proves little", worst);

    real scaled[4 * DIM], plain[4 * DIM];
    const double far[] = {1, 2, 7, 30}, near[] = {0.25, 0.5, 1.75, 7.5};
    rotary_noise(1, scaled, 4 * DIM);
    rotary_noise(1, plain, 4 * DIM);
    rotary_turn("rope(scaling=linear,factor=4)", rig_shape(1, DIM, 64, 1), far, 4, 0, PE_KEY, scaled);
    rotary_turn("rope", rig_shape(1, DIM, 64, 1), near, 4, 0, PE_KEY, plain);
    cr_assert_arr_eq(scaled, plain, sizeof plain);
}

/* The statistics, against values computed elsewhere. */
#include <criterion/criterion.h>

#include <math.h>

#include "rng.h"
#include "stats.h"

#define assert_near(got, expected, tolerance)                                                                          \
    cr_assert(fabs((got) - (expected)) <= (tolerance), "%.17g is not %.17g", (double)(got), (double)(expected))

/* Nine seeds at 0.5 and one at 1: the headline is the mean, not the best seed. Python 3.11, statistics.mean, stdev,
 * median. */
Test(stats, nine_seeds_and_a_lucky_one)
{
    const double x[] = {0.5, 0.5, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5};
    assert_near(stat_mean(x, 10), 0.55, 1e-15);
    assert_near(stat_sd(x, 10), 0.15811388300841897, 1e-15);
    assert_near(stat_median(x, 10), 0.5, 0);
}

/* Michelson's first ten measurements of the speed of light (km/s less 299000). Python 3.11, as above. */
Test(stats, ten_measurements)
{
    const double x[] = {850, 740, 900, 1070, 930, 850, 950, 980, 980, 880};
    assert_near(stat_mean(x, 10), 913, 1e-12);
    assert_near(stat_sd(x, 10), 90.92732140439296, 1e-11);
    assert_near(stat_median(x, 10), 915, 0);
    assert_near(stat_median(x, 9), 930, 0);
}

Test(stats, one_seed_has_no_spread)
{
    const double x[] = {0.75};
    double low = 0, high = 0;
    stat_bootstrap(x, 1, 7, &low, &high);
    cr_assert(isnan(stat_sd(x, 1)) && isnan(low) && isnan(high));
    assert_near(stat_mean(x, 1), 0.75, 0);
    assert_near(stat_median(x, 1), 0.75, 0);
}

/* The first example of scipy.stats.rankdata's manual: [0, 2, 3, 2] has ranks 1, 2.5, 4, 2.5. */
Test(stats, ranks_of_ties_are_averaged)
{
    const double x[] = {0, 2, 3, 2};
    const double ascending[] = {1, 2.5, 4, 2.5}, descending[] = {4, 2.5, 1, 2.5};
    double rank[4];
    stat_ranks(x, 4, 0, rank);
    for (int i = 0; i < 4; i++)
        assert_near(rank[i], ascending[i], 0);
    stat_ranks(x, 4, 1, rank);
    for (int i = 0; i < 4; i++)
        assert_near(rank[i], descending[i], 0);
}

Test(stats, what_has_no_value_has_no_rank)
{
    const double x[] = {0.5, NAN, 0.9};
    double rank[3];
    stat_ranks(x, 3, 1, rank);
    cr_assert(isnan(rank[1]));
    assert_near(rank[0], 2, 0);
    assert_near(rank[2], 1, 0);
}

/* ------------------------------------------------------------------------------------------------ the interval */

/* Two values: Student's t with one degree of freedom, whose 97.5 % point is tan(0.475 pi) = 12.7062. */
Test(stats, two_seeds_give_students_interval)
{
    const double x[] = {0, 1};
    double low, high, half = tan(0.475 * 3.14159265358979323846) * 0.5;
    stat_bootstrap(x, 2, 7, &low, &high);
    assert_near(low, 0.5 - half, 1e-9);
    assert_near(high, 0.5 + half, 1e-9);
}

/* All 27 resamples of three values, enumerated in Python: 2.5 % lies within the first of them, so drawing must find it.
 */
Test(stats, three_seeds_give_what_enumeration_gives)
{
    const double x[] = {1, 2, 4};
    double low, high;
    stat_bootstrap(x, 3, 7, &low, &high);
    assert_near(low, -3.222222222222222, 1e-9);
    assert_near(high, 6.777777777777779, 1e-9);
}

/* All 3125 resamples of five values, enumerated in Python; 4000 draws come near. */
Test(stats, five_seeds_come_near_enumeration)
{
    const double x[] = {0.1, 0.7, 0.2, 0.9, 0.4};
    double low, high;
    stat_bootstrap(x, 5, 7, &low, &high);
    assert_near(low, 0.03353055153248036, 0.04);
    assert_near(high, 1.1818929364973076, 0.04);
}

Test(stats, equal_seeds_give_a_point)
{
    const double x[] = {0.25, 0.25, 0.25};
    double low, high;
    stat_bootstrap(x, 3, 7, &low, &high);
    assert_near(low, 0.25, 0);
    assert_near(high, 0.25, 0);
}

Test(stats, interval_follows_from_its_arguments)
{
    const double x[] = {0.11, 0.73, 0.2, 0.94, 0.4, 0.52, 0.67, 0.31, 0.85};
    double low, high, again_low, again_high;
    stat_bootstrap(x, 9, 7, &low, &high);
    stat_bootstrap(x, 9, 7, &again_low, &again_high);
    cr_assert(low == again_low && high == again_high);
    stat_bootstrap(x, 9, 8, &again_low, &again_high);
    cr_assert(low != again_low || high != again_high);
}

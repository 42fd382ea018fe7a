/* Where two curves cross: by hand, and by simulation of the resamples. */
#include <criterion/criterion.h>
#include <math.h>

#include "rng.h"
#include "stats.h"

static const double crossing_x[] = {1, 4, 16, 64};

Test(crossing, lies_on_the_line_over_the_logarithm)
{
    stat_crossed c;
    const double d[] = {2, 1, -1, -3};
    stat_crossing(crossing_x, d, 1, 4, 1, &c);
    cr_assert(fabs(c.at - 8) < 1e-12, "half way from 4 to 16 is 8, not %g", c.at);
    cr_assert(c.count == 1 && isnan(c.low) && isnan(c.share), "one pair knows no spread");
    const double steep[] = {3, -1, -1, -1};
    stat_crossing(crossing_x, steep, 1, 4, 1, &c);
    cr_assert(fabs(c.at - pow(4, 0.75)) < 1e-12);
}

Test(crossing, none_and_several)
{
    stat_crossed c;
    const double never[] = {3, 1, 2, 0.5, 1, 0.5, 1, 2};
    stat_crossing(crossing_x, never, 2, 4, 1, &c);
    cr_assert(isnan(c.at) && c.count == 0 && c.share == 0 && isnan(c.low));
    const double twice[] = {1, -1, 1, 1};
    stat_crossing(crossing_x, twice, 1, 4, 1, &c);
    cr_assert(fabs(c.at - 2) < 1e-12 && c.count == 2);
    const double touches[] = {1, 0, 1, 1}, through[] = {1, 0, -1, -1}, zero[] = {0, 0, 0, 0};
    stat_crossing(crossing_x, touches, 1, 4, 1, &c);
    cr_assert(isnan(c.at) && c.count == 0);
    stat_crossing(crossing_x, through, 1, 4, 1, &c);
    cr_assert(c.at == 4 && c.count == 1);
    stat_crossing(crossing_x, zero, 1, 4, 1, &c);
    cr_assert(isnan(c.at));
    stat_crossing(crossing_x, through, 0, 4, 1, &c);
    cr_assert(isnan(c.at));
}

/* Pairs are resampled whole. Of two that cross at 2 and at 32, a resample is one of them twice or both: their mean
 * difference crosses in the middle. So a quarter crosses at 2, a half at 8, a quarter at 32. */
Test(crossing, pairs_are_resampled_whole)
{
    stat_crossed c;
    const double d[] = {1, -1, -3, -5, 5, 3, 1, -1};
    stat_crossing(crossing_x, d, 2, 4, 1, &c);
    cr_assert(fabs(c.at - 8) < 1e-12 && c.share == 1);
    cr_assert(fabs(c.low - 2) < 1e-12 && fabs(c.high - 32) < 1e-12, "%g to %g", c.low, c.high);
}

/* Where one pair of three never crosses, the mean may: the share says how sure that is. 1 of 27 resamples holds the
 * pair that stays above alone; with two of it the mean is 9, 7, 5, 3 at best. */
Test(crossing, the_share_is_of_resamples_that_cross)
{
    stat_crossed c;
    const double d[] = {1, -1, -3, -5, 1, -1, -3, -5, 30, 30, 30, 30};
    stat_crossing(crossing_x, d, 3, 4, 1, &c);
    cr_assert(isnan(c.at), "30 outweighs");
    cr_assert(fabs(c.share - 8.0 / 27) < 0.03, "only resamples without the third pair cross, not %g", c.share);
    cr_assert(fabs(c.low - 2) < 1e-12 && fabs(c.high - 2) < 1e-12);
}

Test(crossing, equal_arguments_give_equal_results)
{
    stat_crossed a, b, other;
    double d[10 * 4];
    rng r = rng_stream(1, RNG_TRAIN, 0, 0);
    for (int i = 0; i < 40; i++)
        d[i] = rng_normal(&r) + 1.5 - i % 4;
    stat_crossing(crossing_x, d, 10, 4, 5, &a);
    stat_crossing(crossing_x, d, 10, 4, 5, &b);
    stat_crossing(crossing_x, d, 10, 4, 6, &other);
    cr_assert(a.low == b.low && a.high == b.high && a.share == b.share && a.at == other.at);
    cr_assert(a.low < a.at && a.at < a.high);
    cr_assert(other.low != a.low || other.high != a.high || other.share != a.share);
}

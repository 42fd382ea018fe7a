/* Tests and distributions of stats.h against values computed elsewhere: "R" is R 4.2.2 with coin 1.4.2 and
 * exactRankTests 0.8-35 (Debian 12); calls stand beside the numbers. */
#include <criterion/criterion.h>

#include <math.h>

#include "stats.h"

#define assert_near(got, expected, tolerance)                                                                          \
    do {                                                                                                               \
        double seen_ = (got), due_ = (expected);                                                                       \
        cr_assert(fabs(seen_ - due_) <= (tolerance), "%.17g is not %.17g", seen_, due_);                               \
    } while (0)
#define count_of(array) ((int)(sizeof(array) / sizeof *(array)))

/* ------------------------------------------------------------------------------------------------ signed ranks */

/* wilcox.test(d, exact=TRUE). */
Test(wilcoxon, without_ties)
{
    const double d[] = {0.10, 0.22, -0.05, 0.31, 0.07, 0.18, -0.02, 0.25};
    double biserial;
    assert_near(stat_wilcoxon(d, 8, &biserial), 0.0390625, 1e-15);
    assert_near(biserial, (33.0 - 3) / 36, 1e-15); /* the two negative ones have ranks 1 and 2 */
}

/* Darwin's maize, crossed less self-fertilised plants, in eighths of an inch (Fisher 1935): V = 96, wilcox.test and
 * wilcox.exact give the same p; t.test gives mean and deviation. */
Test(wilcoxon, darwins_maize)
{
    const double d[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
    double biserial;
    assert_near(stat_wilcoxon(d, 15, &biserial), 0.041259765625, 1e-15);
    assert_near(biserial, (96.0 - 24) / 120, 1e-15);
    stat_paired s;
    stat_pair(d, 15, 1, &s);
    assert_near(s.mean, 20.933333333333334, 1e-13);
    assert_near(s.sd, 37.744378326289798, 1e-12);
    assert_near(s.effect, 0.55460797770651849, 1e-14);
    cr_assert(s.n == 15 && s.nonzero == 15);
    cr_assert(s.low < s.mean && s.mean < s.high);
}

/* wilcox.exact(d) and wilcoxsign_test(d ~ 0, distribution="exact") agree. */
Test(wilcoxon, ties_share_their_ranks)
{
    const double d[] = {1, 1, -1, 2, 2, 3, -2, 4};
    assert_near(stat_wilcoxon(d, 8, NULL), 0.1640625, 1e-15);
}

/* wilcoxsign_test(d ~ 0, distribution="exact", zero.method="Pratt"). */
Test(wilcoxon, zeros_are_ranked_and_left_out)
{
    const double d[] = {0, 0, 1, 2, -1, 3, 3, 0, 2, 4};
    assert_near(stat_wilcoxon(d, 10, NULL), 0.046875, 1e-15);
}

/* 0.3 - 0.1 and 0.4 - 0.2 differ in the last bit of a double, and are one result. */
Test(wilcoxon, rounding_breaks_no_tie)
{
    const double d[] = {0.3 - 0.1, 0.4 - 0.2, -(0.5 - 0.3), 0.9 - 0.5, 0.8 - 0.4, 0.7 - 0.1, -0.4, 0.8};
    const double same[] = {1, 1, -1, 2, 2, 3, -2, 4};
    cr_assert(d[0] != d[1], "or there is nothing to test");
    assert_near(stat_wilcoxon(d, 8, NULL), stat_wilcoxon(same, 8, NULL), 0);
    cr_assert(stat_difference(0.3 - 0.1, 0.4 - 0.2) == 0 && stat_difference(0.3, 0.2) != 0);
}

/* All signs of up to 12 ranks, one by one: another way to the same sum. */
Test(wilcoxon, equals_enumeration)
{
    const double sets[][12] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12},
                               {1, 1, 1, 2, -2, 2, 3, -4, 4, 4, 5, 5},
                               {0, 0, -1, 1, 1, 2, 2, 3, 3, 3, -3, 4}};
    for (int set = 0; set < count_of(sets); set++) {
        const double *d = sets[set];
        double rank[12], seen = 0, total = 0;
        long extreme = 0, all = 0;
        for (int i = 0; i < 12; i++) {
            double below = 0, equal = 0;
            for (int j = 0; j < 12; j++) {
                below += fabs(d[j]) < fabs(d[i]);
                equal += j != i && fabs(d[j]) == fabs(d[i]);
            }
            rank[i] = d[i] == 0 ? 0 : below + 1 + equal / 2;
            total += rank[i];
            seen += d[i] > 0 ? rank[i] : 0;
        }
        for (unsigned signs = 0; signs < 1u << 12; signs++) {
            double sum = 0;
            for (int i = 0; i < 12; i++)
                sum += signs >> i & 1 ? rank[i] : 0;
            all++;
            extreme += fabs(sum - total / 2) >= fabs(seen - total / 2);
        }
        assert_near(stat_wilcoxon(d, 12, NULL), (double)extreme / (double)all, 1e-15);
    }
}

/* wilcoxsign_test of 0.1 .. 0.5: the least that five pairs can say. */
Test(wilcoxon, few_pairs_cannot_reach_five_percent)
{
    const double d[] = {0.1, 0.2, 0.3, 0.4, 0.5};
    assert_near(stat_wilcoxon(d, 5, NULL), 0.0625, 0);
    assert_near(stat_wilcoxon_least(5), 0.0625, 0);
    assert_near(stat_wilcoxon_least(6), 0.03125, 0);
    assert_near(stat_wilcoxon_least(1), 1, 0);
    assert_near(stat_wilcoxon_least(0), 1, 0);
}

Test(wilcoxon, nothing_to_test)
{
    const double zeros[] = {0, 0, 0, 0};
    double biserial = 7;
    assert_near(stat_wilcoxon(zeros, 4, &biserial), 1, 0);
    assert_near(biserial, 0, 0);
    cr_assert(isnan(stat_wilcoxon(zeros, 0, &biserial)) && isnan(biserial));
}

/* ------------------------------------------------------------------------------------------------ pairs */

Test(pairs, one_has_no_spread)
{
    stat_paired s;
    stat_pair((double[]){0.25}, 1, 1, &s);
    cr_assert(s.n == 1 && s.mean == 0.25 && isnan(s.sd) && isnan(s.low) && isnan(s.p) && isnan(s.effect) &&
              s.needed == 0);
    stat_pair(NULL, 0, 1, &s);
    cr_assert(s.n == 0 && isnan(s.mean));
}

Test(pairs, equal_differences_have_no_effect_size)
{
    stat_paired s;
    stat_pair((double[]){0.8 - 0.7, 0.4 - 0.3, 0.3 - 0.2}, 3, 1, &s);
    cr_assert(isnan(s.effect) && s.needed == 0 && s.biserial == 1 && s.p == 0.25);
    cr_assert(fabs(s.low - 0.1) < 1e-12 && fabs(s.high - 0.1) < 1e-12);
}

/* power.t.test(delta=d, sd=1, power=.8, type="paired", strict=TRUE): 198.15, 33.37, 14.30, 9.94, 4.22, 2.72. */
Test(pairs, needed_for_power_of_80_percent)
{
    static const struct {
        double effect;
        int pairs;
    } rows[] = {{0.2, 199}, {0.5, 34}, {-0.5, 34}, {0.8, 15}, {1, 10}, {2, 5}, {4, 3}};
    for (int i = 0; i < count_of(rows); i++)
        cr_assert_eq(stat_pairs_needed(rows[i].effect), rows[i].pairs, "%g: %d", rows[i].effect,
                     stat_pairs_needed(rows[i].effect));
    cr_assert_eq(stat_pairs_needed(0), 0);
    cr_assert_eq(stat_pairs_needed(NAN), 0);
    cr_assert_eq(stat_pairs_needed(1e-6), STAT_PAIRS_MAX);
    assert_near(stat_power(0, 5), 0.05, 1e-6); /* without an effect the power is the level */
    assert_near(stat_power(0, 2), 0.05, 1e-5);
    assert_near(stat_power(0, 50000), 0.05, 1e-6);
}

/* ------------------------------------------------------------------------------------------------ many tests */

/* p.adjust(p, "holm"). */
Test(holm, p_adjust_of_r)
{
    const double a[] = {0.01, 0.04, 0.03, 0.005}, a_due[] = {0.03, 0.06, 0.06, 0.02};
    const double b[] = {0.0625, 0.3, 0.02, 0.02, 0.9}, b_due[] = {0.1875, 0.6, 0.1, 0.1, 0.9};
    double got[5];
    cr_assert_eq(stat_holm(a, 4, got), 4);
    for (int i = 0; i < 4; i++)
        assert_near(got[i], a_due[i], 1e-15);
    stat_holm(b, 5, got);
    for (int i = 0; i < 5; i++)
        assert_near(got[i], b_due[i], 1e-15);
}

Test(holm, what_was_not_tested_does_not_count)
{
    double p[] = {0.01, NAN, 0.04};
    cr_assert_eq(stat_holm(p, 3, p), 2);
    assert_near(p[0], 0.02, 1e-15);
    assert_near(p[2], 0.04, 1e-15);
    cr_assert(isnan(p[1]));
}

/* ------------------------------------------------------------------------------------------------ blocks */

/* Three ways of rounding first base, 22 players (Hollander & Wolfe 1973, the example of R's friedman.test): seconds,
 * with ties. friedman.test gives 11.142857, p 0.003805; F and pf from it. */
Test(friedman, rounding_first_base)
{
    static const double seconds[22][3] = {
        {5.40, 5.50, 5.55}, {5.85, 5.70, 5.75}, {5.20, 5.60, 5.50}, {5.55, 5.50, 5.40}, {5.90, 5.85, 5.70},
        {5.45, 5.55, 5.60}, {5.40, 5.40, 5.35}, {5.45, 5.50, 5.35}, {5.25, 5.15, 5.00}, {5.85, 5.80, 5.70},
        {5.25, 5.20, 5.10}, {5.65, 5.55, 5.45}, {5.60, 5.35, 5.45}, {5.05, 5.00, 4.95}, {5.50, 5.50, 5.40},
        {5.45, 5.55, 5.50}, {5.55, 5.55, 5.35}, {5.45, 5.50, 5.55}, {5.50, 5.45, 5.25}, {5.65, 5.60, 5.40},
        {5.70, 5.65, 5.55}, {6.30, 6.30, 6.25}};
    double rank[22][3];
    for (int i = 0; i < 22; i++)
        stat_ranks(seconds[i], 3, 0, rank[i]);
    stat_friedman_result r;
    stat_friedman(rank[0], 22, 3, &r);
    assert_near(r.chi2, 11.14285714285714, 1e-12);
    assert_near(r.p_chi2, 0.003805040775511363, 1e-14);
    assert_near(r.f, 7.121739130434782, 1e-12);
    assert_near(r.p_f, 0.00217129838760752, 1e-14);
}

/* Four blocks that agree on three treatments: one arrangement in 6^3. With a tie in each there are 3 arrangements. */
Test(friedman, blocks_that_all_agree)
{
    const double clear[] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, tied[] = {1, 2.5, 2.5, 1, 2.5, 2.5, 1, 2.5, 2.5};
    stat_friedman_result r;
    stat_friedman(clear, 4, 3, &r);
    cr_assert(isinf(r.f) && fabs(r.chi2 - 8) < 1e-12);
    assert_near(r.p_f, 1.0 / 216, 1e-12);
    stat_friedman(tied, 3, 3, &r);
    assert_near(r.p_f, 1.0 / 9, 1e-12);
}

Test(friedman, nothing_to_compare)
{
    const double rank[] = {2, 2, 2, 2, 2, 2};
    stat_friedman_result r;
    stat_friedman(rank, 2, 3, &r);
    cr_assert(isnan(r.chi2) && isnan(r.p_f), "all tied");
    stat_friedman((double[]){1, 2, 3}, 1, 3, &r);
    cr_assert(isnan(r.chi2) && isnan(r.p_f), "one block");
}

/* qtukey(.95, k, Inf) / sqrt(2); to three digits the table of Demsar 2006. */
Test(nemenyi, critical_values)
{
    static const struct {
        int k;
        double q;
    } rows[] = {{2, 1.9599639847662103},  {3, 2.3437005879021418},  {4, 2.5690317774207276},
                {5, 2.7277743825185543},  {6, 2.8497054432712940},  {7, 2.9483200607221756},
                {8, 3.0308785225952040},  {9, 3.1017304575085647},  {10, 3.1636837535027902},
                {20, 3.5437991319196462}, {50, 3.9923433998658884}, {100, 4.3024885735907734}};
    for (int i = 0; i < count_of(rows); i++)
        assert_near(stat_nemenyi_q(rows[i].k), rows[i].q, 2e-7);
    assert_near(stat_critical_difference(4, 14), 1.25, 0.005); /* Demsar's example: 4 classifiers, 14 data sets */
    cr_assert(isnan(stat_critical_difference(1, 5)) && isnan(stat_critical_difference(3, 0)));
}

/* ------------------------------------------------------------------------------------------------ distributions */

/* pgamma(x, a, lower=FALSE) */
Test(distributions, gamma)
{
    assert_near(stat_gamma_upper(2.5, 3), 0.30621891841327842, 1e-14);
    assert_near(stat_gamma_upper(2.5, 0.5), 0.96256577324729642, 1e-14);
    assert_near(stat_gamma_upper(30, 60) / 6.8762649687320996e-06, 1, 1e-11);
    assert_near(stat_gamma_upper(3, 100) / 1.8976107553682281e-40, 1, 1e-11);
    assert_near(stat_gamma_upper(0.5, 1e-3), 0.96432940827032010, 1e-14);
    cr_assert(stat_gamma_upper(1, 0) == 1 && stat_gamma_upper(1, INFINITY) == 0 && isnan(stat_gamma_upper(1, NAN)));
}

/* pbeta(x, a, b) */
Test(distributions, beta)
{
    assert_near(stat_beta(2, 5, 0.3), 0.579825, 1e-14);
    assert_near(stat_beta(0.5, 0.5, 0.9), 0.79516723530086663, 1e-14);
    assert_near(stat_beta(30, 20, 0.5), 0.076203885980739128, 1e-14);
    assert_near(stat_beta(0.5, 3, 1e-4), 0.018748750037500008, 1e-15);
    cr_assert(stat_beta(2, 3, 0) == 0 && stat_beta(2, 3, 1) == 1 && isnan(stat_beta(2, 3, NAN)));
}

/* qt(.975, df) */
Test(distributions, student)
{
    static const double rows[][2] = {{1, 12.7062047361746941}, {2, 4.3026527297494619},  {4, 2.7764451051977934},
                                     {9, 2.2621571627982049},  {29, 2.0452296421327034}, {1000, 1.9623390808264076}};
    for (int i = 0; i < count_of(rows); i++)
        assert_near(stat_t_quantile(0.975, rows[i][0]), rows[i][1], 1e-10);
}

/* The range of two normals is sqrt 2 |Z|. */
Test(distributions, range_of_two)
{
    for (double q = 0.25; q < 8; q += 0.25)
        assert_near(stat_range_cdf(q, 2), 2 * stat_normal_cdf(q * M_SQRT1_2) - 1, 1e-13);
    assert_near(stat_range_cdf(0, 5), 0, 0);
    assert_near(stat_range_cdf(30, 5), 1, 1e-12);
}

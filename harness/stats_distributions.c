/* stats_distributions.c - the distribution functions of stats.h, from their definitions, series and continued fractions
 * (Abramowitz & Stegun 1964, 6.5 and 26.5). */
#include "stats.h"

#include <math.h>

enum { DIST_STEPS = 400, DIST_TERMS = 10000 };

/* How many terms of a continued fraction are enough: they fall by a factor that comes near 1 as the square root of the
 * larger parameter grows. */
static int dist_fraction_terms(double most)
{
    return 60 + (int)(8 * sqrt(most));
}

double stat_normal_cdf(double z)
{
    return erfc(-z * M_SQRT1_2) / 2;
}

/* ------------------------------------------------------------------------------------------------ gamma */

/* P(a,x) = x^a e^-x / Gamma(a+1) (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...), A&S 6.5.29: quick for x < a + 1. */
static double dist_gamma_series(double a, double x)
{
    double term = 1, sum = 1;
    for (int i = 1; i < DIST_TERMS && term > sum * 1e-17; i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a + 1));
}

/* Q(a,x) as the continued fraction 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...))), A&S 6.5.31, by its even part,
 * evaluated from behind, for x >= a + 1. */
static double dist_gamma_fraction(double a, double x)
{
    double value = 0;
    for (int i = dist_fraction_terms(a); i >= 1; i--)
        value = i * (i - a) / (x + 2 * i + 1 - a - value);
    return exp(a * log(x) - x - lgamma(a)) / (x + 1 - a - value);
}

double stat_gamma_upper(double a, double x)
{
    if (isnan(a) || isnan(x))
        return NAN;
    if (x <= 0)
        return 1;
    if (isinf(x))
        return 0;
    return x < a + 1 ? 1 - dist_gamma_series(a, x) : dist_gamma_fraction(a, x);
}

/* ------------------------------------------------------------------------------------------------ beta */

/* The continued fraction 1 + d1/(1 + d2/(1 + ...)) of A&S 26.5.8, from behind. */
static double dist_beta_fraction(double a, double b, double x)
{
    double value = 1;
    for (int m = dist_fraction_terms(fmax(a, b)); m >= 1; m--) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1));
        value = 1 + odd / (1 + even / value);
    }
    return value;
}

/* The fraction is quick on the near side of the mean; the other side is its mirror. */
double stat_beta(double a, double b, double x)
{
    if (isnan(a) || isnan(b) || isnan(x))
        return NAN;
    if (x <= 0 || x >= 1)
        return x > 0;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front / (a * dist_beta_fraction(a, b, x));
    return 1 - front / (b * dist_beta_fraction(b, a, 1 - x));
}

double stat_f_upper(double f, double df1, double df2)
{
    return f <= 0 ? 1 : stat_beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * f));
}

/* P(T > t) = I_x(df/2, 1/2) / 2 with x = df / (df + t^2): bisected. */
double stat_t_quantile(double p, double df)
{
    double low = 0, high = 1;
    while (stat_beta(df / 2, 0.5, df / (df + high * high)) / 2 > 1 - p && high < 1e12)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
        double middle = (low + high) / 2;
        *(stat_beta(df / 2, 0.5, df / (df + middle * middle)) / 2 > 1 - p ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* ------------------------------------------------------------------------------------------------ range */

/* The largest of k stands at z and the others within q below it: k times the integral of
 * phi(z) (Phi(z) - Phi(z-q))^(k-1), by Simpson's rule; past 9 standard deviations there is nothing. */
double stat_range_cdf(double q, int k)
{
    double sum = 0, step = 18.0 / DIST_STEPS;
    if (q <= 0)
        return 0;
    for (int i = 0; i <= DIST_STEPS; i++) {
        double z = -9 + i * step;
        double value = exp(-z * z / 2) * pow(stat_normal_cdf(z) - stat_normal_cdf(z - q), k - 1);
        sum += (i == 0 || i == DIST_STEPS ? 1 : i % 2 ? 4 : 2) * value;
    }
    return k * sum * step / 3 / sqrt(2 * M_PI);
}

double stat_nemenyi_q(int treatments)
{
    double low = 0, high = 20; /* of a million normals 95 % lie within a range of 11 */
    if (treatments < 2)
        return NAN;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(stat_range_cdf(middle, treatments) < 0.95 ? &low : &high) = middle;
    }
    return (low + high) / 2 * M_SQRT1_2;
}

double stat_critical_difference(int treatments, int blocks)
{
    if (treatments < 2 || blocks < 1)
        return NAN;
    return stat_nemenyi_q(treatments) * sqrt(treatments * (treatments + 1.0) / (6.0 * blocks));
}

/* ------------------------------------------------------------------------------------------------ power */

/* T = (Z + delta) / S with S^2 = chi2/df: given S = s, |T| exceeds c with probability Phi(delta - cs) + Phi(-delta -
 * cs). Averaged over the density 2 (df/2)^(df/2) / Gamma(df/2) s^(df-1) exp(-df s^2/2) of S by Simpson's rule. S has
 * mean near 1 and deviation near 1/sqrt(2 df). */
double stat_power(double effect, int n)
{
    double df = n - 1, delta = fabs(effect) * sqrt(n), c = stat_t_quantile(0.975, df);
    double reach = 12 / sqrt(2 * df), begin = fmax(0, 1 - reach), step = (1 + reach - begin) / DIST_STEPS, sum = 0;
    double scale = log(2) + df / 2 * log(df / 2) - lgamma(df / 2);
    for (int i = 0; i <= DIST_STEPS; i++) {
        double s = begin + i * step;
        double density = s > 0 ? exp(scale + (df - 1) * log(s) - df * s * s / 2) : df == 1 ? exp(scale) : 0;
        double power = stat_normal_cdf(delta - c * s) + stat_normal_cdf(-delta - c * s);
        sum += (i == 0 || i == DIST_STEPS ? 1 : i % 2 ? 4 : 2) * density * power;
    }
    return sum * step / 3;
}

/* From where the normal distribution would say, ((1.96 + 0.84) / effect)^2, a few steps away. */
int stat_pairs_needed(double effect)
{
    if (isnan(effect) || effect == 0)
        return 0;
    double near = pow(2.8015852 / effect, 2);
    int n = near >= STAT_PAIRS_MAX ? STAT_PAIRS_MAX : near < 2 ? 2 : (int)near;
    while (n > 2 && stat_power(effect, n - 1) >= 0.8)
        n--;
    while (n < STAT_PAIRS_MAX && stat_power(effect, n) < 0.8)
        n++;
    return n;
}

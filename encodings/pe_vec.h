/* pe_vec.h - vectors of reals as wide as the registers that the compiler may use. Part of pe.h.
 *
 * gcc's own vectoriser adds up a reduction lane after lane, in order, which costs a short row more than all else; with these
 * types the lanes are folded by halves, everything stays in registers, and the code is the same on every processor. Built-in
 * encodings and the harness's kernels are compiled for several levels of instructions and chosen when the program starts; a
 * plug-in has what its own flags say (-march=native).
 */
#include "pe.h" /* which includes this file at its end: before the guard, so that it is whole there in either order */

#ifndef PE_VEC_H
#define PE_VEC_H

#if defined(__AVX512F__)
enum { PE_VEC_BYTES = 64 };
#elif defined(__AVX__)
enum { PE_VEC_BYTES = 32 };
#else
enum { PE_VEC_BYTES = 16 };
#endif
/* Reals in a vector, and in the 16 bytes that serve for what does not fill one. */
enum { PE_VEC_LANES = PE_VEC_BYTES / sizeof(real), PE_VEC_QUARTER = 16 / sizeof(real) };

#define PE_VEC_INLINE static inline __attribute__((always_inline))

typedef real pe_vec __attribute__((vector_size(PE_VEC_BYTES)));
typedef real pe_vec_unaligned __attribute__((vector_size(PE_VEC_BYTES), aligned(sizeof(real)), may_alias));
/* What comparisons give: all bits of a lane or none. */
typedef pe_integer pe_vec_mask __attribute__((vector_size(PE_VEC_BYTES)));
/* The bits of 32-bit reals as whole numbers that may wrap around. */
typedef uint32_t pe_vec_bits __attribute__((vector_size(PE_VEC_BYTES)));

PE_VEC_INLINE pe_vec pe_vec_load(const real *p)
{
    return *(const pe_vec_unaligned *)p;
}

PE_VEC_INLINE void pe_vec_store(real *p, pe_vec v)
{
    *(pe_vec_unaligned *)p = v;
}

PE_VEC_INLINE pe_vec pe_vec_fill(real x)
{
    return (pe_vec){0} + x;
}

/* The first n < PE_VEC_LANES lanes from p, `other` in the rest. Lanes pass through memory one by one, which is slow: most rows
 * are whole vectors and have n = 0. */
PE_VEC_INLINE pe_vec pe_vec_load_first(const real *p, int n, real other)
{
    if (n == 0)
        return pe_vec_fill(other);
    real lane[PE_VEC_LANES];
    for (int l = 0; l < PE_VEC_LANES; l++)
        lane[l] = l < n ? p[l] : other;
    return pe_vec_load(lane);
}

PE_VEC_INLINE void pe_vec_store_first(real *p, pe_vec v, int n)
{
    if (n == 0)
        return;
    real lane[PE_VEC_LANES];
    pe_vec_store(lane, v);
    for (int l = 0; l < n; l++)
        p[l] = lane[l];
}

PE_VEC_INLINE pe_vec pe_vec_select(pe_vec_mask where, pe_vec a, pe_vec b)
{
    return (pe_vec)(((pe_vec_mask)a & where) | ((pe_vec_mask)b & ~where));
}

/* Lane by lane a > b ? a : b and a < b ? a : b: b where one is not a number. One instruction, for which gcc would write four: in
 * C it knows no such choice between vectors. */
#if defined(__x86_64__) && defined(__AVX__)
#define PE_VEC_ONE(instruction, to, a, b) __asm__("v" instruction " %2, %1, %0" : "=v"(to) : "v"(a), "v"(b))
enum { PE_VEC_HAS_ONE = sizeof(real) == sizeof(float) };
#else
#define PE_VEC_ONE(instruction, to, a, b) (void)(to)
enum { PE_VEC_HAS_ONE = 0 };
#endif
#define PE_VEC_CHOICE(name, instruction, than)                                                                         \
    PE_VEC_INLINE pe_vec name(pe_vec a, pe_vec b)                                                                      \
    {                                                                                                                  \
        pe_vec c = pe_vec_select(a than b, a, b);                                                                      \
        if (PE_VEC_HAS_ONE)                                                                                            \
            PE_VEC_ONE(instruction, c, a, b);                                                                          \
        return c;                                                                                                      \
    }
PE_VEC_CHOICE(pe_vec_max, "maxps", >)
PE_VEC_CHOICE(pe_vec_min, "minps", <)

/* Lanes j, j+1, ... < n. */
PE_VEC_INLINE pe_vec_mask pe_vec_below(int j, int n)
{
    pe_vec_mask lane;
    for (int l = 0; l < PE_VEC_LANES; l++)
        lane[l] = l;
    return lane < (pe_integer)(n - j);
}

/* One number out of all lanes, by halves down to 16 bytes and then lane by lane. The copies are registers to the compiler. */
typedef real pe_vec_half __attribute__((vector_size(32)));
typedef real pe_vec_quarter __attribute__((vector_size(16)));
typedef pe_integer pe_vec_half_mask __attribute__((vector_size(32)));
typedef pe_integer pe_vec_quarter_mask __attribute__((vector_size(16)));

#define PE_VEC_FOLD(name, both, both_of_two)                                                                              \
    PE_VEC_INLINE real name(pe_vec v)                                                                                        \
    {                                                                                                                  \
        enum { LAST = 16 / sizeof(real) };                                                                             \
        pe_vec_half half[PE_VEC_BYTES == 64 ? 2 : 1];                                                                        \
        pe_vec_quarter quarter[2];                                                                                        \
        real lane[LAST];                                                                                               \
        memcpy(half, &v, PE_VEC_BYTES == 16 ? 16 : sizeof half);                                                          \
        if (PE_VEC_BYTES == 64)                                                                                           \
            half[0] = both(pe_vec_half, pe_vec_half_mask, half[0], half[PE_VEC_BYTES == 64]);                                   \
        memcpy(quarter, half, PE_VEC_BYTES == 16 ? 16 : sizeof quarter);                                                  \
        if (PE_VEC_BYTES >= 32)                                                                                           \
            quarter[0] = both(pe_vec_quarter, pe_vec_quarter_mask, quarter[0], quarter[1]);                                  \
        memcpy(lane, quarter, sizeof lane);                                                                            \
        return LAST == 4 ? both_of_two(both_of_two(lane[0], lane[2 % LAST]), both_of_two(lane[1], lane[3 % LAST]))     \
                         : both_of_two(lane[0], lane[1]);                                                              \
    }

#define PE_VEC_PLUS(type, mask, a, b) ((a) + (b))
#define PE_VEC_PLUS_TWO(a, b) ((a) + (b))
#define PE_VEC_LARGER(type, mask, a, b) ((type)(((mask)(a) & ((a) > (b))) | ((mask)(b) & ~((a) > (b)))))
#define PE_VEC_LARGER_TWO(a, b) ((a) > (b) ? (a) : (b))

PE_VEC_FOLD(pe_vec_sum, PE_VEC_PLUS, PE_VEC_PLUS_TWO)
PE_VEC_FOLD(pe_vec_top, PE_VEC_LARGER, PE_VEC_LARGER_TWO)

PE_VEC_INLINE pe_vec_quarter pe_vec_quarter_load(const real *p)
{
    typedef real unaligned __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));
    return *(const unaligned *)p;
}

PE_VEC_INLINE real pe_vec_quarter_sum(pe_vec_quarter v)
{
    return PE_VEC_QUARTER == 4 ? (v[0] + v[2 % PE_VEC_QUARTER]) + (v[1] + v[3 % PE_VEC_QUARTER]) : v[0] + v[1];
}

/* ------------------------------------------------------------------------------------------------ functions */

/* e^x for x up to 88, 0 below -87, and ln(1 + x) for x >= 0, to about 3e-7 of the result; libm's, lane by lane, in the double
 * twin, which so checks them. A scalar call costs 10 to 50 times as much a number. */

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low
 * bits (which any value-changing optimisation would break). ln 2 is subtracted in two parts, so that r is exact. The polynomial
 * is the Taylor series to r^7, whose rest is below 2^-27. */
PE_VEC_INLINE pe_vec pe_vec_exp(pe_vec x)
{
    if (sizeof(real) == sizeof(double)) {
        for (int l = 0; l < PE_VEC_LANES; l++)
            x[l] = (real)exp((double)x[l]);
        return x;
    }
    const real shift = 12582912;
    pe_vec t = x * (real)1.44269504088896341 + shift, n = t - shift;
    pe_vec r = (x - n * (real)0.693145751953125) - n * (real)1.428606765330187e-06;
    pe_vec p = pe_vec_fill((real)(1 / 5040.));
    p = p * r + (real)(1 / 720.);
    p = p * r + (real)(1 / 120.);
    p = p * r + (real)(1 / 24.);
    p = p * r + (real)(1 / 6.);
    p = p * r + (real)0.5;
    p = p * r + 1;
    p = p * r + 1;
    pe_vec y = (pe_vec)((pe_vec_bits)p + ((pe_vec_bits)t << 23));
    return (pe_vec)((pe_vec_mask)y & ~(x < (real)-87));
}

/* u = 1 + x = 2^n m with m from about 0.7 to 1.4, ln m = 2 artanh((m - 1) / (m + 1)) by its series; what rounding took
 * from u comes back as the first term, (x - (u - 1)) / u. 0x3f3504f3 are the bits of sqrt(1/2). */
PE_VEC_INLINE pe_vec pe_vec_log1p(pe_vec x)
{
    if (sizeof(real) == sizeof(double)) {
        for (int l = 0; l < PE_VEC_LANES; l++)
            x[l] = (real)log1p((double)x[l]);
        return x;
    }
    pe_vec u = 1 + x, lost = (x - (u - 1)) / u;
    pe_vec_bits above = (pe_vec_bits)u - 0x3f3504f3u;
    pe_vec n = __builtin_convertvector((pe_vec_mask)above >> 23, pe_vec);
    pe_vec m = (pe_vec)((above & 0x7fffffu) + 0x3f3504f3u), t = (m - 1) / (m + 1), square = t * t;
    pe_vec series = (real)(2 / 5.) + square * ((real)(2 / 7.) + square * (real)(2 / 9.));
    series = square * ((real)(2 / 3.) + square * series);
    return n * (real)0.693359375 + ((2 * t + t * series) + (lost - n * (real)2.12194440e-4));
}

#endif

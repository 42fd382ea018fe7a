/* The random numbers: the published vectors, streams that never meet, and distributions that are what they say. All
 * seeds are fixed, so a limit that holds once holds always. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "rng.h"

/* Six standard deviations above what chi-square of this many degrees of freedom has on average. */
static double chi_limit(int freedom)
{
    return freedom + 6.0 * sqrt(2.0 * freedom) + 6.0;
}

static double chi_uniform(const long *count, int cells, long draws)
{
    double expected = (double)draws / cells, sum = 0.0;
    for (int i = 0; i < cells; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

/* Rows "philox4x32 10" of kat_vectors, which Random123 1.14.0 publishes with its tests. */
Test(rng, known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], block[4];
    } rows[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rng r = {.used = 4};
        memcpy(r.key, rows[i].key, sizeof r.key);
        memcpy(r.counter, rows[i].counter, sizeof r.counter);
        for (int word = 0; word < 4; word++)
            cr_assert_eq(rng_u32(&r), rows[i].block[word], "vector %zu, word %d", i, word);
    }
}

/* Data and weights of every recorded run hang on these: a change here needs a new format of records. */
Test(rng, pinned_stream)
{
    static const uint32_t expected[] = {0x8386a035, 0xef26c57f, 0x39753309, 0xac3554d2, 0x7e179190, 0x3d1e48cf};
    rng r = rng_stream(1, RNG_TRAIN, 2, 3);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_expect_eq(rng_u32(&r), expected[i], "word %zu", i);
    cr_expect_eq(rng_hash("layer.0.query"), UINT64_C(0x24e644b373513683));
    cr_expect_eq(rng_hash(""), UINT64_C(0xefd01f60ba992926));
}

Test(rng, equal_names_equal_numbers)
{
    rng a = rng_stream(7, RNG_TEST, 100, 5), b = rng_stream(7, RNG_TEST, 100, 5);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(rng_u32(&a), rng_u32(&b));
}

static int u64_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* 64 bits of 200,000 streams: by chance two would be equal once in a thousand million tries. */
Test(rng, different_names_different_numbers)
{
    enum { SEEDS = 20, PURPOSES = 8, INDICES = 50, ITEMS = 25, STREAMS = SEEDS * PURPOSES * INDICES * ITEMS };
    uint64_t *first = malloc(STREAMS * sizeof *first);
    int n = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int purpose = RNG_WEIGHTS; purpose <= RNG_BOOTSTRAP; purpose++)
            for (uint64_t index = 0; index < INDICES; index++)
                for (uint32_t item = 0; item < ITEMS; item++) {
                    rng r = rng_stream(seed, (rng_purpose)purpose, index, item);
                    first[n++] = rng_u64(&r);
                }
    cr_assert_eq(n, STREAMS);
    qsort(first, STREAMS, sizeof *first, u64_order);
    for (int i = 1; i < STREAMS; i++)
        cr_assert_neq(first[i], first[i - 1]);
    free(first);
}

/* Both halves of a 64-bit index and the whole item count. */
Test(rng, every_bit_of_a_name_counts)
{
    rng plain = rng_stream(0, RNG_WEIGHTS, 0, 0);
    uint64_t reference = rng_u64(&plain);
    for (int bit = 0; bit < 64; bit++) {
        rng by_seed = rng_stream(UINT64_C(1) << bit, RNG_WEIGHTS, 0, 0);
        rng by_index = rng_stream(0, RNG_WEIGHTS, UINT64_C(1) << bit, 0);
        cr_expect_neq(rng_u64(&by_seed), reference, "seed bit %d", bit);
        cr_expect_neq(rng_u64(&by_index), reference, "index bit %d", bit);
    }
    for (int bit = 0; bit < 32; bit++) {
        rng by_item = rng_stream(0, RNG_WEIGHTS, 0, UINT32_C(1) << bit);
        cr_expect_neq(rng_u64(&by_item), reference, "item bit %d", bit);
    }
}

/* Neighbouring streams: the sum of products of centred numbers stays within six standard deviations of 0. */
Test(rng, neighbouring_streams_are_uncorrelated)
{
    enum { DRAWS = 100000 };
    rng base = rng_stream(1, RNG_TRAIN, 10, 10);
    rng others[] = {rng_stream(2, RNG_TRAIN, 10, 10), rng_stream(1, RNG_VALIDATION, 10, 10),
                    rng_stream(1, RNG_TRAIN, 11, 10), rng_stream(1, RNG_TRAIN, 10, 11), rng_second(&base)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        rng a = base, b = others[i];
        double sum = 0.0;
        for (int n = 0; n < DRAWS; n++)
            sum += (rng_uniform(&a) - 0.5) * (rng_uniform(&b) - 0.5);
        cr_expect_lt(fabs(sum), 6.0 * sqrt(DRAWS) / 12.0, "stream %zu", i);
    }
}

Test(rng, second_begins_far_away)
{
    rng r = rng_stream(3, RNG_TEST, 4, 5), second = rng_second(&r), far = r;
    far.counter[0] = UINT32_C(0x80000000);
    for (int i = 0; i < 100; i++) {
        uint32_t word = rng_u32(&second);
        cr_assert_eq(word, rng_u32(&far));
        cr_assert_neq(word, rng_u32(&r));
    }
}

Test(rng, words_make_u64_low_first)
{
    rng a = rng_stream(1, RNG_TEST, 0, 0), b = a;
    uint64_t low = rng_u32(&a), high = rng_u32(&a);
    cr_assert_eq(rng_u64(&b), low | high << 32);
}

Test(rng, below_is_uniform)
{
    static const uint32_t sizes[] = {1, 2, 3, 5, 6, 7, 10, 64, 100, 150, 1000};
    enum { DRAWS = 300000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        long count[1000] = {0};
        rng r = rng_stream(1, RNG_TEST, sizes[i], 0);
        for (int n = 0; n < DRAWS; n++) {
            uint32_t value = rng_below(&r, sizes[i]);
            cr_assert_lt(value, sizes[i]);
            count[value]++;
        }
        double chi = chi_uniform(count, (int)sizes[i], DRAWS);
        cr_expect_leq(chi, chi_limit((int)sizes[i] - 1), "n = %u: chi-square %g", sizes[i], chi);
    }
}

/* With n = 3/4 of 2^32 a draw without rejection gives one result in three twice as often as the others. */
Test(rng, below_is_exact_for_huge_n)
{
    enum { DRAWS = 300000 };
    const uint32_t n = UINT32_C(3) << 30;
    long rest[3] = {0}, third[3] = {0};
    rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t value = rng_below(&r, n);
        cr_assert_lt(value, n);
        rest[value % 3]++;
        third[value >> 30]++;
    }
    cr_expect_leq(chi_uniform(rest, 3, DRAWS), chi_limit(2));
    cr_expect_leq(chi_uniform(third, 3, DRAWS), chi_limit(2));
}

Test(rng, uniform_is_uniform)
{
    enum { DRAWS = 400000, CELLS = 100 };
    long count[CELLS] = {0};
    double sum = 0.0, squares = 0.0;
    int odd = 0;
    rng r = rng_stream(2, RNG_TEST, 0, 0);
    for (int i = 0; i < DRAWS; i++) {
        double u = rng_uniform(&r);
        cr_assert(u >= 0.0 && u < 1.0);
        count[(int)(u * CELLS)]++;
        sum += u;
        squares += u * u;
        odd += (int)fmod(u * 0x1p53, 2.0); /* the last of 53 bits */
    }
    cr_expect_leq(chi_uniform(count, CELLS, DRAWS), chi_limit(CELLS - 1));
    cr_expect_float_eq(sum / DRAWS, 0.5, 6.0 * sqrt(1.0 / 12.0 / DRAWS));
    cr_expect_float_eq(squares / DRAWS, 1.0 / 3.0, 6.0 * sqrt(4.0 / 45.0 / DRAWS));
    cr_expect_lt(abs(odd - DRAWS / 2), (int)(6.0 * sqrt(DRAWS) / 2.0));
}

/* Cells of equal probability by the error function, and four moments. */
Test(rng, normal_is_normal)
{
    enum { DRAWS = 400000, CELLS = 64 };
    long count[CELLS] = {0};
    double moment[5] = {0};
    rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (int i = 0; i < DRAWS; i++) {
        double x = rng_normal(&r), power = 1.0;
        cr_assert(isfinite(x));
        int cell = (int)(0.5 * erfc(-x / sqrt(2.0)) * CELLS);
        count[cell < CELLS ? cell : CELLS - 1]++;
        for (int k = 0; k < 5; k++, power *= x)
            moment[k] += power / DRAWS;
    }
    cr_expect_leq(chi_uniform(count, CELLS, DRAWS), chi_limit(CELLS - 1));
    cr_expect_float_eq(moment[1], 0.0, 6.0 * sqrt(1.0 / DRAWS));
    cr_expect_float_eq(moment[2], 1.0, 6.0 * sqrt(2.0 / DRAWS));
    cr_expect_float_eq(moment[3], 0.0, 6.0 * sqrt(15.0 / DRAWS));
    cr_expect_float_eq(moment[4], 3.0, 6.0 * sqrt(96.0 / DRAWS));
}

Test(rng, every_output_bit_is_fair)
{
    enum { DRAWS = 200000 };
    int ones[32] = {0};
    rng r = rng_stream(4, RNG_TEST, 0, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t word = rng_u32(&r);
        for (int bit = 0; bit < 32; bit++)
            ones[bit] += (int)(word >> bit & 1);
    }
    for (int bit = 0; bit < 32; bit++)
        cr_expect_lt(abs(ones[bit] - DRAWS / 2), (int)(6.0 * sqrt(DRAWS) / 2.0), "bit %d", bit);
}

Test(rng, hash_tells_texts_apart)
{
    enum { TEXTS = 20000 };
    uint64_t *hash = malloc(TEXTS * sizeof *hash);
    for (int i = 0; i < TEXTS; i++) {
        char text[32];
        snprintf(text, sizeof text, "layer.%d.weight", i);
        hash[i] = rng_hash(text);
    }
    qsort(hash, TEXTS, sizeof *hash, u64_order);
    for (int i = 1; i < TEXTS; i++)
        cr_assert_neq(hash[i], hash[i - 1]);
    free(hash);
    cr_expect_neq(rng_hash("ab"), rng_hash("ba"));
    cr_expect_eq(rng_hash("ab"), rng_hash("ab"));
}

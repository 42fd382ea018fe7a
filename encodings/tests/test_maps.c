/* test_maps.c - where tokens are said to stand. */
#include <criterion/criterion.h>

#include <math.h>

#include "registry.h"

enum { MAP_LEN_MAX = 4096 };

/* Places `len` of `total` tokens under a map text; train_len 64. */
static void place(const char *map, int len, int total, int training, double last_position, double pos[MAP_LEN_MAX])
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack s;
    cr_assert(r && stack_parse(r, "nope", &s, &e) == 0 && stack_set_map(r, &s, map, &e) == 0, "%s", e.message);
    pe_map_context c = {.options = s.map_options,
                        .len = len,
                        .total_len = total,
                        .train_len = 64,
                        .training = training,
                        .last_position = last_position};
    for (int t = 0; t < len; t++)
        pos[t] = NAN;
    s.map->place(&c, pos);
    for (int t = 0; t < len; t++)
        cr_assert(isfinite(pos[t]) && pos[t] >= (t ? pos[t - 1] : 0), "%s: token %d of %d stands at %g", map, t, len,
                  pos[t]);
    stack_free(&s);
    registry_free(r);
}

static void is_identity(const char *map, int len, int training)
{
    static double pos[MAP_LEN_MAX];
    place(map, len, len, training, INFINITY, pos);
    for (int t = 0; t < len; t++)
        cr_assert_eq(pos[t], t, "%s at length %d moves token %d to %g", map, len, t, pos[t]);
}

/* Positions that begin behind a reserved row for padding, so that full-length input crashed (A27): real tokens stand at
 * 0 .. len-1, and which row of a table position 0 reads is the table's offset. */
Test(map, identity_counts)
{
    is_identity("identity", 1, 1);
    is_identity("identity", 513, 0);
}

Test(map, interpolate_leaves_training_lengths_alone)
{
    for (int len = 1; len <= 64; len++) {
        is_identity("interpolate", len, 1);
        is_identity("interpolate", len, 0);
    }
}

Test(map, interpolate_fills_the_training_range_exactly)
{
    static double pos[MAP_LEN_MAX];
    for (int len = 65; len <= MAP_LEN_MAX; len = len * 3 / 2) {
        place("interpolate", len, len, 0, INFINITY, pos);
        cr_assert_eq(pos[0], 0);
        cr_assert_eq(pos[len - 1], 63, "length %d ends at %.17g", len, pos[len - 1]);
        for (int t = 1; t < len; t++)
            cr_assert_float_eq(pos[t] - pos[t - 1], 63.0 / (len - 1), 1e-12);
    }
}

Test(map, interpolate_stays_within_a_short_table)
{
    static double pos[MAP_LEN_MAX];
    place("interpolate", 1000, 1000, 0, 40, pos);
    cr_assert_eq(pos[999], 40);
    place("interpolate", 64, 64, 1, 40, pos);
    cr_assert_eq(pos[63], 40, "in training too");
    place("interpolate", 10, 10, 0, 0, pos);
    cr_assert_eq(pos[9], 0, "one row for all");
}

Test(map, interpolate_decodes_where_the_whole_sequence_stands)
{
    static double whole[MAP_LEN_MAX], part[MAP_LEN_MAX];
    place("interpolate", 200, 200, 0, INFINITY, whole);
    place("interpolate", 77, 200, 0, INFINITY, part);
    for (int t = 0; t < 77; t++)
        cr_assert_eq(part[t], whole[t]);
}

Test(map, interpolate_by_a_fixed_factor_divides_at_every_length)
{
    static double pos[MAP_LEN_MAX];
    place("interpolate(factor=4)", 10, 10, 1, INFINITY, pos);
    for (int t = 0; t < 10; t++)
        cr_assert_eq(pos[t], t / 4.0);
}

Test(map, clamp_stops_at_its_limit)
{
    static double pos[MAP_LEN_MAX];
    is_identity("clamp", 64, 1);
    place("clamp", 100, 100, 0, INFINITY, pos);
    for (int t = 0; t < 100; t++)
        cr_assert_eq(pos[t], t < 64 ? t : 63);
    place("clamp", 100, 100, 0, 40, pos);
    cr_assert_eq(pos[99], 40);
    place("clamp(limit=7)", 100, 100, 0, INFINITY, pos);
    cr_assert_eq(pos[7], 7);
    cr_assert_eq(pos[99], 7);
}

Test(map, those_that_lend_a_meaning_say_so)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_eq(registry_find_map(r, "identity", &e)->gives_meaning, 0);
    cr_assert_eq(registry_find_map(r, "interpolate", &e)->gives_meaning, 1);
    cr_assert_eq(registry_find_map(r, "clamp", &e)->gives_meaning, 1);
    registry_free(r);
}

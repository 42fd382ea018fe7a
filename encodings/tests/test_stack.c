/* test_stack.c - texts to stacks and layered lists, their one canonical form, and what is refused. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "registry.h"

static const pe_shape stack_shape = {
    .width = 32, .heads = 4, .head_dim = 8, .layers = 4, .train_len = 32, .causal = 1};
static const pe_shape two_sided_shape = {
    .width = 32, .heads = 4, .head_dim = 8, .layers = 4, .train_len = 32, .causal = 0};

static registry *stack_registry(void)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    return r;
}

static void canonical(const char *text, const char *expected)
{
    registry *r = stack_registry();
    layered_stack s;
    error e = ERROR_INIT;
    char printed[STACK_TEXT_MAX];
    cr_assert_eq(layered_parse(r, text, &s, &e), 0, "'%s': %s", text, e.message);
    cr_assert_eq((size_t)layered_print(&s, printed, sizeof printed), strlen(printed));
    cr_assert_str_eq(printed, expected, "'%s' prints as '%s', not '%s'", text, printed, expected);
    layered_free(&s);
    registry_free(r);
}

/* Refused while parsing. */
static void malformed(const char *text, const char *fault)
{
    registry *r = stack_registry();
    layered_stack s;
    error e = ERROR_INIT;
    cr_assert_eq(layered_parse(r, text, &s, &e), -1, "'%s' was taken", text);
    cr_assert_eq(e.kind, ERROR_USAGE);
    cr_assert(strstr(e.message, fault), "'%s': no '%s' in: %s", text, fault, e.message);
    registry_free(r);
}

/* Parsed, but refused under this shape; NULL: nothing is wrong with it. */
static void checked(const char *text, const pe_shape *shape, const char *fault)
{
    registry *r = stack_registry();
    layered_stack s;
    error e = ERROR_INIT;
    cr_assert_eq(layered_parse(r, text, &s, &e), 0, "'%s': %s", text, e.message);
    int status = layered_check(&s, shape, 16 * shape->train_len, &e);
    cr_assert_eq(status, fault ? -1 : 0, "'%s': %s", text, status ? e.message : "was taken");
    if (fault) {
        cr_assert_eq(e.kind, ERROR_USAGE);
        cr_assert(strstr(e.message, fault), "'%s': no '%s' in: %s", text, fault, e.message);
    }
    layered_free(&s);
    registry_free(r);
}

Test(stack, has_one_canonical_text)
{
    canonical("rope", "rope");
    canonical("  rope  ", "rope");
    canonical("rope()", "rope");
    canonical("rope( )", "rope");
    canonical("rope(base=1e4)", "rope");
    canonical("rope(base=1e2)", "rope(base=100)");
    canonical("rope(layout=interleaved,base=100)", "rope(base=100,layout=interleaved)");
    canonical("rope ( base = 100.0 , layout = half )", "rope(base=100)");
    canonical("nope + alibi", "nope+alibi");
    canonical("alibi+nope", "alibi+nope");
    canonical("rope@identity", "rope");
    canonical(" rope + shaw( clip = 4 ) @ clamp ( limit = 31 ) ", "rope+shaw(clip=4)@clamp(limit=31)");
    canonical("learned(rows=auto)@interpolate(factor=auto)", "learned@interpolate");
    canonical("t5(max_distance=auto)", "t5(max_distance=auto)");
}

Test(layered, has_one_canonical_text)
{
    canonical("[rope]", "rope");
    canonical("[ rope , nope ]", "[rope,nope]");
    canonical("[rope,rope,rope,nope]", "[rope,rope,rope,nope]");
    canonical("[rope,nope,rope,nope]", "[rope,nope]");
    canonical("[rope,rope]", "rope");
    canonical("[rope(base=1e4),rope]", "rope");
    canonical("[rope(base=100,layout=interleaved),alibi+nope]", "[rope(base=100,layout=interleaved),alibi+nope]");
    canonical("[rope,nope]@clamp(limit=7)", "[rope,nope]@clamp(limit=7)");
    canonical("[rope@clamp(limit=7),nope@clamp(limit=7.0)]", "[rope,nope]@clamp(limit=7)");
    canonical("[rope,nope]@identity", "[rope,nope]");
    canonical("[rope]@clamp", "rope@clamp");
}

Test(stack, malformed_texts_are_refused)
{
    malformed("", "missing");
    malformed("   ", "missing");
    malformed("+", "missing");
    malformed("rope+", "missing");
    malformed("+rope", "missing");
    malformed("rope++nope", "missing");
    malformed("rope@", "missing");
    malformed("@clamp", "missing");
    malformed("rope@clamp@clamp", "maps do not stack");
    malformed("rope@rope", "unknown position map 'rope'");
    malformed("clamp", "is a position map");
    malformed("rop", "did you mean 'rope'?");
    malformed("rope nope", "unknown encoding 'rope nope'");
    malformed("rope(", "'(' without");
    malformed("rope)", "')' without");
    malformed("rope(base=100", "'(' without");
    malformed("rope(base=100))", "')' without");
    malformed("rope(base=[100)", "')' without");
    malformed("rope(base=100)x", "not a name with options");
    malformed("rope[base=100]", "not a name with options");
    malformed("\"rope\"", "not a name with options");
    malformed("(rope)", "does not begin with a name");
    malformed("rope(100)", "rope: '100' is not name=value");
    malformed("rope(bse=100)", "rope: unknown option 'bse'; did you mean 'base'?");
    malformed("rope(base=100,base=100)", "given twice");
    malformed("rope(base=12a8)", "rope: base=12a8");
    malformed("nope(base=1)", "nope: unknown option 'base'; its options: none");
    malformed("nope+nope+nope+nope+nope+nope+nope+nope+nope", "at most 8 members");
    malformed("rope((((((((((((((((((((((((((((((((((((((((((((", "nest too deeply");
}

Test(layered, malformed_lists_are_refused)
{
    malformed("[", "'[' without");
    malformed("]", "']' without");
    malformed("[]", "a layer without an encoding");
    malformed("[rope,]", "a layer without an encoding");
    malformed("[,rope]", "a layer without an encoding");
    malformed("[rope,,nope]", "a layer without an encoding");
    malformed("[[rope]]", "do not nest");
    malformed("[rope,[nope,rope]]", "do not nest");
    malformed("[rope][nope]", "one is wanted");
    malformed("[rope]nope", "behind the list");
    malformed("[rope", "'[' without");
    malformed("rope,nope", "unknown encoding 'rope,nope'");
    malformed("[rope@clamp,nope]", "differ in their position map");
    malformed("[rope@clamp(limit=3),nope@clamp(limit=4)]", "differ in their position map");
    malformed("[rope@clamp,nope]@clamp", "inside the list and one behind it");
    malformed("[rope,nope]@clamp@clamp", "maps do not stack");
    malformed("[rope,nop]", "did you mean 'nope'?");
}

Test(stack, check_names_the_member)
{
    checked("rope+alibi+t5+shaw+learned+sinusoidal+nope", &stack_shape, NULL);
    checked("rope+alibi+t5+shaw+learned+sinusoidal+nope", &two_sided_shape, NULL);
    checked("alibi+nope+alibi", &stack_shape, "alibi stands twice");
    checked("rope(base=1)+rope(base=2)", &stack_shape, "rope stands twice");
    checked("alibi(form=causal)", &stack_shape, NULL);
    checked("alibi(form=causal)", &two_sided_shape, "alibi: form=causal has no meaning without a causal mask");
    checked("nope+rope(fraction=0.4)", &stack_shape, "rope: 3 of head_dim 8");
    checked("t5(buckets=2)", &two_sided_shape, "t5: buckets=2");
    checked("learned(rows=31)", &stack_shape, "learned: a training sequence of 32 tokens");
    checked("learned(rows=31)@clamp(limit=30)", &stack_shape, NULL);
    checked("learned(rows=31)@clamp", &stack_shape, NULL);
    checked("learned(rows=16)@interpolate(factor=2)", &stack_shape, "learned: a training sequence of 32 tokens");
    checked("learned(rows=17)@interpolate(factor=2)", &stack_shape, NULL);
}

Test(layered, check_divides_the_layers)
{
    checked("[rope,nope]", &stack_shape, NULL);
    checked("[rope,rope,rope,nope]", &stack_shape, NULL);
    checked("[rope,rope,nope]", &stack_shape, "3 encodings does not divide 4 layers");
    checked("[rope,nope,nope,nope,nope,nope,nope,nope]", &stack_shape, "8 encodings does not divide 4 layers");
    checked("[rope,alibi(form=causal)]", &two_sided_shape, "layer 1: alibi: form=causal");
}

/* Members of the tests' own, for refusals that no built-in calls for yet. */
static void turn(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    (void)c, (void)role, (void)u, (void)token_stride, (void)head_stride;
}

Test(stack, two_members_that_rotate_are_refused)
{
    pe_descriptor a = {.name = "one", .rotate = turn}, b = {.name = "other", .rotate = turn};
    registry *r = stack_registry();
    error e = ERROR_INIT;
    pe_stack s = {.count = 2, .member = {{&a, NULL}, {&b, NULL}}, .map = registry_find_map(r, "identity", &e)};
    cr_assert_eq(stack_check(&s, &stack_shape, 64, &e), -1);
    cr_assert_str_eq(e.message, "one and other both rotate q and k; a stack has room for one that does");
    registry_free(r);
}

Test(stack, a_causal_only_member_is_refused_without_the_mask)
{
    pe_descriptor a = {.name = "decay", .causal_only = 1};
    registry *r = stack_registry();
    error e = ERROR_INIT;
    pe_stack s = {.count = 1, .member = {{&a, NULL}}, .map = registry_find_map(r, "identity", &e)};
    cr_assert_eq(stack_check(&s, &stack_shape, 64, &e), 0, "%s", e.message);
    cr_assert_eq(stack_check(&s, &two_sided_shape, 64, &e), -1);
    cr_assert_str_eq(e.message, "decay has no meaning without a causal mask");
    registry_free(r);
}

/* Three heads of nine dimensions: what turns pairs is refused before anything is allocated, and says why; the rest runs.
 */
Test(stack, odd_head_dim_is_refused_by_those_that_turn_pairs)
{
    const pe_shape odd = {.width = 27, .heads = 3, .head_dim = 9, .layers = 2, .train_len = 32, .causal = 1};
    static const char *const in_pairs[] = {"rope", "xpos", "rerope"};
    registry *r = stack_registry();
    for (int i = 0; i < registry_encoding_count(r); i++) {
        const pe_descriptor *d = registry_encoding(r, i);
        int turns = 0;
        for (size_t k = 0; k < sizeof in_pairs / sizeof *in_pairs; k++)
            turns |= strcmp(d->name, in_pairs[k]) == 0;
        if (turns || !d->rotate)
            checked(d->name, &odd, turns ? "head_dim 9" : NULL);
    }
    checked("rope", &odd, "even");
    checked("rope(fraction=0.9)", &odd, NULL);
    registry_free(r);
}

/* A27: a table of 514 rows that begins at row 2 holds 512 tokens, one of 514 that begins at 4 holds 510. */
Test(stack, tables_name_their_usable_length)
{
    pe_shape shape = stack_shape;
    shape.train_len = 512;
    checked("learned(rows=514,offset=2)", &shape, NULL);
    shape.train_len = 513;
    checked("learned(rows=514,offset=2)", &shape, "its usable length is 512");
    shape.train_len = 510;
    checked("learned(rows=514,offset=4)", &shape, NULL);
    shape.train_len = 511;
    checked("learned(rows=514,offset=4)", &shape, "its usable length is 510");
    checked("learned(rows=4,offset=4)", &shape, "none left after offset=4");
}

Test(stack, last_position_and_claims_are_those_of_all_members)
{
    registry *r = stack_registry();
    error e = ERROR_INIT;
    pe_stack s;
    cr_assert_eq(stack_parse(r, "rope+learned(rows=48)", &s, &e), 0);
    cr_assert_eq(stack_last_position(&s, &stack_shape), 47.0);
    cr_assert_eq(stack_claims(&s), 0u);
    stack_free(&s);
    cr_assert_eq(stack_parse(r, "rope+alibi", &s, &e), 0);
    cr_assert(isinf(stack_last_position(&s, &stack_shape)));
    cr_assert_eq(stack_claims(&s), (unsigned)(PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH));
    stack_free(&s);
    registry_free(r);
}

Test(stack, set_map_replaces_the_map)
{
    registry *r = stack_registry();
    error e = ERROR_INIT;
    pe_stack s;
    char text[STACK_TEXT_MAX];
    cr_assert_eq(stack_parse(r, "rope@clamp(limit=3)", &s, &e), 0);
    cr_assert_eq(stack_set_map(r, &s, " interpolate(factor=4) ", &e), 0, "%s", e.message);
    stack_print(&s, text, sizeof text);
    cr_assert_str_eq(text, "rope@interpolate(factor=4)");
    cr_assert_eq(stack_set_map(r, &s, "interpolate(factor=0)", &e), -1);
    cr_assert(strstr(e.message, "interpolate: factor=0"), "%s", e.message);
    stack_print(&s, text, sizeof text);
    cr_assert_str_eq(text, "rope@interpolate(factor=4)", "a refused map must leave the stack as it was");
    error_clear(&e);
    cr_assert_eq(stack_set_map(r, &s, "identity", &e), 0);
    stack_print_map(&s, text, sizeof text);
    cr_assert_str_eq(text, "");
    stack_print_members(&s, text, sizeof text);
    cr_assert_str_eq(text, "rope");
    stack_free(&s);
    registry_free(r);
}

static uint32_t fuzz_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

Test(layered, random_texts_print_idempotently_or_are_refused)
{
    static const char *const pieces[] = {"rope",
                                         "nope",
                                         "alibi",
                                         "t5",
                                         "learned",
                                         "clamp",
                                         "rope(base=100)",
                                         "shaw(clip=2)",
                                         "+",
                                         "+",
                                         "@",
                                         "@clamp",
                                         "[",
                                         "]",
                                         "[",
                                         "]",
                                         ",",
                                         ",",
                                         "(",
                                         ")",
                                         "=",
                                         "base",
                                         " ",
                                         "\"",
                                         "\\",
                                         "1",
                                         "[rope",
                                         "nope]",
                                         "@interpolate(factor=2)",
                                         "\xc3\xa9"};
    registry *r = stack_registry();
    uint32_t state = 11;
    int taken = 0;
    for (int round = 0; round < 60000; round++) {
        char text[256] = "";
        for (int n = (int)(fuzz_next(&state) % 8); n > 0; n--)
            strcat(text, pieces[fuzz_next(&state) % (sizeof pieces / sizeof *pieces)]);
        layered_stack s, back;
        error e = ERROR_INIT;
        if (layered_parse(r, text, &s, &e) != 0) {
            cr_assert(e.kind == ERROR_USAGE && e.message[0], "'%s' was refused without a word", text);
            continue;
        }
        taken++;
        char first[STACK_TEXT_MAX], second[STACK_TEXT_MAX];
        layered_print(&s, first, sizeof first);
        error_clear(&e);
        cr_assert_eq(layered_parse(r, first, &back, &e), 0, "'%s' printed '%s', refused: %s", text, first, e.message);
        layered_print(&back, second, sizeof second);
        cr_assert_str_eq(first, second);
        layered_free(&s);
        layered_free(&back);
    }
    cr_assert_gt(taken, 1000, "the texts hardly ever pass: this tests too little");
    registry_free(r);
}

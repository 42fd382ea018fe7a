/* test_registry.c - what the registry holds, what it says of unknown names, and whom it lets in. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "descriptor.h"
#include "registry.h"

#ifdef PE_REAL_DOUBLE
#define PRECISION "f64"
#define OTHER_PRECISION "f32"
#else
#define PRECISION "f32"
#define OTHER_PRECISION "f64"
#endif

static const pe_shape registry_shape = {
    .width = 32, .heads = 4, .head_dim = 8, .layers = 4, .train_len = 32, .causal = 1};

static registry *built_in(void)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    return r;
}

/* ------------------------------------------------------------------------------------------------ names */

Test(registry, holds_every_line_of_the_list_in_its_order)
{
    static const char *const encodings[] = {
#define PE_ENCODING(name) #name,
#include "list.h"
    };
    static const char *const maps[] = {
#define PE_MAP(name) #name,
#include "list.h"
    };
    registry *r = built_in();
    cr_assert_eq((size_t)registry_encoding_count(r), sizeof encodings / sizeof *encodings);
    cr_assert_eq((size_t)registry_map_count(r), sizeof maps / sizeof *maps);
    for (int i = 0; i < registry_encoding_count(r); i++)
        cr_assert_str_eq(registry_encoding(r, i)->name, encodings[i], "file, line and name are one word");
    for (int i = 0; i < registry_map_count(r); i++)
        cr_assert_str_eq(registry_map(r, i)->name, maps[i]);
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ extensions */

/* The canonical text of a stack once it is stretched; its reason in e when it cannot be. The caller frees nothing. */
static int extended_text(const registry *r, const char *stack, const char *method, char text[STACK_TEXT_MAX], error *e)
{
    static const stack_stretch by = {.factor = 2.5, .ends = 2.25};
    layered_stack s;
    cr_assert_eq(layered_parse(r, stack, &s, e), 0, "%s", e->message);
    int status = layered_extend(r, &s, method, &by, e);
    if (status == 0)
        status = layered_check(&s, &registry_shape, 80, e);
    layered_print(&s, text, STACK_TEXT_MAX);
    layered_free(&s);
    return status;
}

Test(extension, stretches_stacks)
{
    static const char *const cases[][3] = {
        {"rope", "none", "rope"},
        {"rope", "linear", "rope(scaling=linear,factor=2.5)"},
        {"rope(base=500)+fox", "yarn", "rope(base=500,scaling=yarn,factor=2.5)+fox"},
        {"rope", "yarn( beta_fast = auto , factor=8)", "rope(scaling=yarn,factor=8,beta_fast=auto)"},
        {"[rope,nope]", "ntk", "[rope(scaling=ntk,alpha=2.5),nope]"},
        {"[rope,rope(base=500)]", "dynamic",
         "[rope(scaling=dynamic,factor=1),rope(base=500,scaling=dynamic,factor=1)]"},
        {"learned(rows=99)@shift", "interpolate", "learned(rows=99)@interpolate(factor=2.25)"},
        {"alibi", "interpolate(factor=auto)", "alibi@interpolate"},
        {"alibi", "clamp(limit=7)", "alibi@clamp(limit=7)"},
    };
    registry *r = built_in();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error e = ERROR_INIT;
        char text[STACK_TEXT_MAX];
        cr_assert_eq(extended_text(r, cases[i][0], cases[i][1], text, &e), 0, "%s: %s", cases[i][1], e.message);
        cr_assert_str_eq(text, cases[i][2]);
    }
    registry_free(r);
}

Test(extension, says_what_has_no_meaning)
{
    static const char *const cases[][3] = {
        {"alibi", "linear", "no member of the stack has it"},
        {"cope", "interpolate", "no member of the stack reads positions"},
        {"rope(frequencies=per_head)", "yarn", "rope: yarn has no meaning under its option frequencies"},
        {"rope(fraction=0.25)", "ntk", "needs d > 2"},
        {"rope(scaling=ntk,alpha=3)", "linear", "alpha has no meaning with scaling=linear"},
        {"rope", "interpolate(factor=0)", "out of bounds"},
    };
    registry *r = built_in();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error e = ERROR_INIT;
        char text[STACK_TEXT_MAX];
        cr_assert_eq(extended_text(r, cases[i][0], cases[i][1], text, &e), -1, "%s", cases[i][1]);
        cr_assert(e.kind == ERROR_USAGE && strstr(e.message, cases[i][2]), "%s: %s", cases[i][1], e.message);
    }
    registry_free(r);
}

/* What every built-in declares can be done to it as it stands by default. */
Test(extension, of_every_built_in_works)
{
    registry *r = built_in();
    int count = 0;
    for (int i = 0; i < registry_encoding_count(r); i++) {
        const pe_descriptor *d = registry_encoding(r, i);
        for (const pe_extension *x = d->extensions; x && x->name; x++, count++) {
            error e = ERROR_INIT;
            char text[STACK_TEXT_MAX];
            cr_assert_eq(extended_text(r, d->name, x->name, text, &e), 0, "%s %s: %s", d->name, x->name, e.message);
            cr_assert(strcmp(text, d->name) != 0, "%s changes nothing", x->name);
        }
    }
    cr_assert_geq(count, 5);
    registry_free(r);
}

Test(extension, one_that_cannot_be_is_refused)
{
    static const pe_extension cases[] = {
        {"Linear", "scaling=linear", NULL},
        {"none", "scaling=linear", NULL},
        {"linear", NULL, NULL},
        {"linear", "scaling=linear,factor={length}", NULL},
        {"linear", "scalin=linear", NULL},
        {"linear", "scaling=linear", "frequency"},
    };
    registry *r = built_in();
    error e = ERROR_INIT;
    const pe_descriptor *rope = registry_find_encoding(r, "rope", &e);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pe_extension table[] = {cases[i], {0}};
        pe_descriptor d = *rope;
        d.extensions = table;
        error_clear(&e);
        cr_assert_eq(descriptor_check(&d, &e), -1, "case %zu", i);
        cr_assert_eq(e.kind, ERROR_USAGE);
    }
    registry_free(r);
}

Test(registry, built_ins_are_complete_and_consistent)
{
    registry *r = built_in();
    for (int i = 0; i < registry_encoding_count(r); i++) {
        error e = ERROR_INIT;
        const pe_descriptor *d = registry_encoding(r, i);
        cr_assert_eq(descriptor_check(d, &e), 0, "%s: %s", d->name, e.message);
    }
    for (int i = 0; i < registry_map_count(r); i++) {
        error e = ERROR_INIT;
        const pe_map *m = registry_map(r, i);
        cr_assert_eq(descriptor_check_map(m, &e), 0, "%s: %s", m->name, e.message);
    }
    registry_free(r);
}

/* Every text is printed somewhere: by `list`, in generated documents, beside plots. */
Test(registry, texts_are_plain_ascii)
{
    registry *r = built_in();
    for (int i = 0; i < registry_encoding_count(r); i++) {
        const pe_descriptor *d = registry_encoding(r, i);
        const char *texts[] = {d->title, d->source, d->formula, d->notes ? d->notes : ""};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            for (const char *c = texts[t]; *c; c++)
                cr_assert(*c >= ' ' && *c <= '~', "%s: a character outside ASCII in '%s'", d->name, texts[t]);
    }
    registry_free(r);
}

Test(registry, unknown_names_get_the_nearest)
{
    registry *r = built_in();
    error e = ERROR_INIT;
    cr_assert_null(registry_find_encoding(r, "ropee", &e));
    cr_assert_str_eq(e.message, "unknown encoding 'ropee'; did you mean 'rope'?");
    cr_assert_eq(e.kind, ERROR_USAGE);
    error_clear(&e);
    cr_assert_null(registry_find_encoding(r, "quaternion", &e));
    cr_assert(strstr(e.message, "there are: nope, "), "%s", e.message);
    error_clear(&e);
    cr_assert_null(registry_find_encoding(r, "clamp", &e));
    cr_assert(strstr(e.message, "'clamp' is a position map"), "%s", e.message);
    error_clear(&e);
    cr_assert_null(registry_find_map(r, "clmp", &e));
    cr_assert_str_eq(e.message, "unknown position map 'clmp'; did you mean 'clamp'?");
    error_clear(&e);
    const pe_map *clamp = registry_find_map(r, "clamp", &e);
    cr_assert(clamp && strcmp(clamp->name, "clamp") == 0 && e.kind == ERROR_NONE);
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ plug-ins */

static void plugin_path(const char *name, const char *precision, char path[1024])
{
    snprintf(path, 1024, "%s/%s_%s.so", PLUGIN_DIR, name, precision);
}

Test(plugin, the_right_one_joins)
{
    char path[1024];
    registry *r = built_in();
    error e = ERROR_INIT;
    int encodings = registry_encoding_count(r), maps = registry_map_count(r);
    plugin_path("good", PRECISION, path);
    cr_assert_eq(registry_load_plugin(r, path, &e), 0, "%s", e.message);
    cr_assert_eq(registry_encoding_count(r), encodings + 1);
    cr_assert_eq(registry_map_count(r), maps + 1);
    layered_stack s;
    char text[STACK_TEXT_MAX];
    cr_assert_eq(layered_parse(r, "halves(weight=2.0)+rope@every_second", &s, &e), 0, "%s", e.message);
    layered_print(&s, text, sizeof text);
    cr_assert_str_eq(text, "halves(weight=2)+rope@every_second");
    cr_assert_eq(layered_check(&s, &registry_shape, 64, &e), 0, "%s", e.message);
    layered_free(&s);
    cr_assert_eq(registry_load_plugin(r, path, &e), -1, "loading it twice would make its names ambiguous");
    cr_assert(strstr(e.message, "'halves' is taken"), "%s", e.message);
    cr_assert_eq(registry_encoding_count(r), encodings + 1);
    registry_free(r);
}

/* The hooks of all these abort, so surviving shows that none was called. */
static void plugin_refused(const char *path, error_kind kind, const char *first, const char *second)
{
    registry *r = built_in();
    error e = ERROR_INIT;
    int encodings = registry_encoding_count(r), maps = registry_map_count(r);
    cr_assert_eq(registry_load_plugin(r, path, &e), -1, "%s was taken", path);
    cr_assert_eq(e.kind, kind, "%s", e.message);
    cr_assert(strstr(e.message, path), "the file is not named: %s", e.message);
    cr_assert(strstr(e.message, first) && strstr(e.message, second), "no '%s' and '%s' in: %s", first, second,
              e.message);
    cr_assert_eq(registry_encoding_count(r), encodings, "nothing of a refused plug-in may stay");
    cr_assert_eq(registry_map_count(r), maps);
    registry_free(r);
}

static void fixture_refused(const char *name, const char *first, const char *second)
{
    char path[1024];
    plugin_path(name, PRECISION, path);
    plugin_refused(path, ERROR_USAGE, first, second);
}

static const char *number_text(char text[64], const char *before, size_t number)
{
    snprintf(text, 64, "%s%zu", before, number);
    return text;
}

Test(plugin, another_abi_is_refused_with_both_versions)
{
    char theirs[64], ours[64];
    fixture_refused("abi", number_text(theirs, "abi ", PE_ABI + 1), number_text(ours, "this program with ", PE_ABI));
    fixture_refused("head_abi", number_text(theirs, "abi ", PE_ABI + 6),
                    number_text(ours, "this program with ", PE_ABI));
}

/* Built against the header before this one: smaller structs too, but the abi is what is told. */
Test(plugin, an_older_abi_is_refused_with_both_versions)
{
    char theirs[64], ours[64];
    fixture_refused("older", number_text(theirs, "was built with abi ", PE_ABI - 1),
                    number_text(ours, "this program with ", PE_ABI));
}

Test(plugin, another_real_is_refused_with_both_sizes)
{
    char ours[64];
    fixture_refused("real", "sizeof(real) 16", number_text(ours, "this program with ", sizeof(real)));
}

Test(plugin, another_struct_size_is_refused_with_both_sizes)
{
    char theirs[64], ours[64];
    fixture_refused("small", number_text(theirs, "sizeof(pe_descriptor) ", sizeof(pe_descriptor) - sizeof(void *)),
                    number_text(ours, "this program with ", sizeof(pe_descriptor)));
    fixture_refused("map_size", number_text(theirs, "sizeof(pe_map) ", sizeof(pe_map) + sizeof(void *)),
                    number_text(ours, "this program with ", sizeof(pe_map)));
    fixture_refused("head_size", "sizeof(pe_descriptor) 24",
                    number_text(ours, "this program with ", sizeof(pe_descriptor)));
}

Test(plugin, a_missing_symbol_is_refused)
{
    fixture_refused("missing", "no symbol pe_plugin_" PRECISION, "PE_PLUGIN");
    char path[1024];
    plugin_path("good", OTHER_PRECISION, path);
    plugin_refused(path, ERROR_USAGE, "no symbol pe_plugin_" PRECISION, "was not built for");
}

Test(plugin, an_inconsistent_descriptor_is_refused)
{
    fixture_refused("taken", "'rope'", "taken");
    fixture_refused("twice", "'halves'", "taken");
    fixture_refused("capital", "'Halves'", "lower-case");
    fixture_refused("reserved", "the name 'all'", "in specs");
    fixture_refused("no_formula", "'halves'", "lacks its title, source or formula");
    fixture_refused("bad_default", "weight=much", "not a number");
    fixture_refused("half_hooks", "'halves'", "lacks score_bwd");
}

Test(plugin, what_is_no_shared_object_is_refused)
{
    plugin_refused("encodings/tests/test_registry.c", ERROR_ENVIRONMENT, "cannot load the plug-in", "");
    plugin_refused("/no/such/plugin.so", ERROR_ENVIRONMENT, "cannot load the plug-in", "");
    plugin_refused("encodings", ERROR_ENVIRONMENT, "cannot load the plug-in", "");
    char path[5000];
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = '\0';
    registry *r = built_in();
    error e = ERROR_INIT;
    cr_assert_eq(registry_load_plugin(r, path, &e), -1);
    cr_assert(strstr(e.message, "too long"));
    registry_free(r);
}

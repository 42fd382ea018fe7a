/* test_options.c - numbers, words and option texts. */
#include <criterion/criterion.h>

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

typedef struct sample_options {
    int count, flag, layout;
    double base, limit;
    pe_list list;
    char path[PE_TEXT_MAX];
} sample_options;

static const pe_option sample_rows[] = {
    {"count", PE_OPTION_INT, offsetof(sample_options, count), "auto", 1, 64, 1, NULL, "a whole number"},
    {"flag", PE_OPTION_BOOL, offsetof(sample_options, flag), "false", 0, 0, 0, NULL, "a switch"},
    {"layout", PE_OPTION_CHOICE, offsetof(sample_options, layout), "half", 0, 0, 0, "half|interleaved", "a choice"},
    {"base", PE_OPTION_REAL, offsetof(sample_options, base), "1e4", 1e-3, INFINITY, 0, NULL, "a number"},
    {"limit", PE_OPTION_REAL, offsetof(sample_options, limit), "auto", -1, 1, 1, NULL, "a number or auto"},
    {"list", PE_OPTION_LIST, offsetof(sample_options, list), "1;2", 0, 100, 0, NULL, "numbers"},
    {"path", PE_OPTION_TEXT, offsetof(sample_options, path), "", 0, 0, 0, NULL, "a file"},
    {0},
};

static int sample_parse(const char *text, sample_options *out, error *e)
{
    return options_parse(sample_rows, "owner", text, strlen(text), out, e);
}

/* Parses, prints, and compares with the canonical text. */
static void canonical(const char *text, const char *expected)
{
    sample_options o;
    error e = ERROR_INIT;
    char printed[8192];
    cr_assert_eq(sample_parse(text, &o, &e), 0, "'%s' was refused: %s", text, e.message);
    int length = options_print(sample_rows, &o, printed, sizeof printed);
    cr_assert_str_eq(printed, expected, "'%s' prints as '%s', not '%s'", text, printed, expected);
    cr_assert_eq((size_t)length, strlen(expected));
}

/* The message must contain all of the pieces. */
static void refused(const char *text, const char *first, const char *second)
{
    sample_options o;
    error e = ERROR_INIT;
    cr_assert_eq(sample_parse(text, &o, &e), -1, "'%s' was taken", text);
    cr_assert_eq(e.kind, ERROR_USAGE);
    cr_assert(strstr(e.message, "owner") == e.message, "the owner is not named: %s", e.message);
    cr_assert(strstr(e.message, first) && strstr(e.message, second), "'%s' and '%s' are not both in: %s", first, second,
              e.message);
}

/* ------------------------------------------------------------------------------------------------ numbers */

static void prints_as(double value, const char *expected)
{
    char text[64];
    number_print(value, text, sizeof text);
    cr_assert_str_eq(text, expected, "%.17g prints as %s, not %s", value, text, expected);
}

Test(number, prints_the_shortest_exact_text)
{
    prints_as(0, "0");
    prints_as(-0.0, "-0");
    prints_as(1, "1");
    prints_as(1e4, "10000");
    prints_as(1e-3, "0.001");
    prints_as(1e-5, "1e-05");
    prints_as(1e15, "1000000000000000");
    prints_as(1e16, "1e+16");
    prints_as(1.5e300, "1.5e+300");
    prints_as(0.1, "0.1");
    prints_as(0.1 + 0.2, "0.30000000000000004");
    prints_as(1.0 / 3, "0.3333333333333333");
    prints_as(-123.456, "-123.456");
    prints_as(12345678.9, "12345678.9");
    prints_as(5e-324, "5e-324");
    prints_as(1.7976931348623157e308, "1.7976931348623157e+308");
    prints_as(INFINITY, "inf");
    prints_as(-INFINITY, "-inf");
}

Test(number, round_trips)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        double value, back;
        memcpy(&value, &state, sizeof value);
        if (!isfinite(value))
            continue;
        char text[64];
        number_print(value, text, sizeof text);
        cr_assert_eq(number_parse(text, &back), 0, "%s does not parse", text);
        cr_assert(memcmp(&back, &value, sizeof back) == 0, "%s reads back as %.17g", text, back);
    }
}

Test(number, takes_decimal_texts_only)
{
    static const char *const good[] = {"12", "+12", "12.", "12.0", "1.2e1", "120E-1", "0012", "1200e-2"};
    static const char *const bad[] = {"",    " 12",   "12 ",   "12a8",     "1e",     "1e+", ".",
                                      "-",   "0x10",  "inf",   "nan",      "nan(1)", "1,5", "1e999",
                                      "--1", "1.2.3", "1e5.0", "infinity", "1_000"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cr_assert_eq(number_parse(good[i], &value), 0, "'%s' is a number", good[i]);
        cr_assert_eq(value, 12.0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(number_parse(bad[i], &value), -1, "'%s' is no number", bad[i]);
    cr_assert_eq(number_parse(".5", &value), 0);
    cr_assert_eq(value, 0.5);
}

Test(number, has_a_point_in_every_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_AT.utf8"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set)
        cr_skip_test("no locale with a decimal comma is installed");
    char text[64];
    snprintf(text, sizeof text, "%.2f", 0.25);
    cr_assert_str_eq(text, "0,25", "the locale has no decimal comma");
    double value;
    cr_assert_eq(number_parse("0.25", &value), 0);
    cr_assert_eq(value, 0.25);
    cr_assert_eq(number_parse("0,25", &value), -1);
    prints_as(1234.5, "1234.5");
    canonical("base=0.25", "base=0.25");
}

/* ------------------------------------------------------------------------------------------------ words */

Test(nearest, finds_what_was_meant)
{
    static const char *const names[] = {"rope", "alibi", "nope", "learned", "sinusoidal", "lr", "weight_decay", "t5"};
    size_t count = sizeof names / sizeof *names;
    cr_assert_str_eq(nearest_word("ropee", names, count), "rope");
    cr_assert_str_eq(nearest_word("Rope", names, count), "rope");
    cr_assert_str_eq(nearest_word("rpoe", names, count), "rope");
    cr_assert_str_eq(nearest_word("ailbi", names, count), "alibi");
    cr_assert_str_eq(nearest_word("sinusodial", names, count), "sinusoidal");
    cr_assert_str_eq(nearest_word("sin", names, count), "sinusoidal");
    cr_assert_str_eq(nearest_word("weigth_decay", names, count), "weight_decay");
    cr_assert_str_eq(nearest_word("learing_rate", names, count), "lr");
    cr_assert_null(nearest_word("kerple", names, count));
    cr_assert_null(nearest_word("xy", names, count));
    cr_assert_null(nearest_word("", names, count));
    cr_assert_null(nearest_word("rope", names, 0));
    char long_word[200];
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    cr_assert_null(nearest_word(long_word, names, count));
}

/* ------------------------------------------------------------------------------------------------ options */

Test(options, defaults_fill_every_field)
{
    sample_options o;
    memset(&o, 0x5a, sizeof o);
    options_defaults(sample_rows, &o);
    cr_assert_eq(o.count, PE_AUTO_INT);
    cr_assert_eq(o.flag, 0);
    cr_assert_eq(o.layout, 0);
    cr_assert_eq(o.base, 10000.0);
    cr_assert_eq(o.limit, PE_AUTO_REAL);
    cr_assert(o.list.count == 2 && o.list.value[0] == 1 && o.list.value[1] == 2);
    cr_assert_str_eq(o.path, "");
}

Test(options, have_one_canonical_text)
{
    canonical("", "");
    canonical("   ", "");
    canonical("base=10000,count=auto,flag=no,layout=half,list=1;2", "");
    canonical("base=1e-3", "base=0.001");
    canonical(" base = 0.0010 ", "base=0.001");
    canonical("base=1E3", "base=1000");
    canonical("layout=interleaved,base=100,flag=on", "flag=true,layout=interleaved,base=100");
    canonical("count=1e1", "count=10");
    canonical("limit=-0", "limit=0");
    canonical("limit=-1,count=64", "count=64,limit=-1");
    canonical("list= 0.50 ; 3e1;7", "list=0.5;30;7");
    canonical("path=corpora/a.txt", "path=corpora/a.txt");
    canonical("path=a b.txt", "path=a b.txt");
    canonical("path=\"a b.txt\"", "path=a b.txt");
    canonical("path=\"\"", "");
    canonical("path=\"a, b (c].txt\",flag=1", "flag=true,path=\"a, b (c].txt\"");
    canonical("path=f(a,b)[1]", "path=f(a,b)[1]");
    canonical("path=text(file=\"a, (b\")", "path=text(file=\"a, (b\")");
    canonical("path=\"\\\"\\\\\\n\\t\\r\"", "path=\"\\\"\\\\\\n\\t\\r\"");
    canonical("path=\" padded \"", "path=\" padded \"");
    canonical("path=a=b", "path=a=b");
    canonical("path=a\\b", "path=a\\b");
}

Test(options, faults_name_owner_option_value_and_bounds)
{
    refused("bas=1", "unknown option 'bas'", "did you mean 'base'?");
    refused("zzzzzz=1", "unknown option 'zzzzzz'", "count, flag, layout, base, limit, list, path");
    refused("base=1,base=1", "'base'", "given twice");
    refused("base=", "'base'", "no value");
    refused("base= ,flag=1", "'base'", "no value");
    refused("base", "'base'", "not name=value");
    refused("=1", "'=1'", "name of an option");
    refused("base=1,", "empty option", "comma");
    refused(",", "empty option", "comma");
    refused("count=12a8", "count=12a8", "not a number (wanted: 1 to 64, or auto)");
    refused("count=1.5", "count=1.5", "not a whole number");
    refused("count=0", "count=0", "out of bounds (1 to 64, or auto)");
    refused("count=65", "count=65", "out of bounds");
    refused("count=1e10", "count=1e10", "out of bounds");
    refused("base=auto", "base=auto", "not a number (wanted: at least 0.001)");
    refused("base=nan", "base=nan", "not a number");
    refused("base=1e-9", "base=1e-9", "out of bounds (at least 0.001)");
    refused("flag=maybe", "flag=maybe", "neither true nor false");
    refused("layout=hlaf", "layout=hlaf", "did you mean 'half'?");
    refused("layout=2", "layout=2", "half|interleaved");
    refused("list=1;;2", "list=1;;2", "list of numbers");
    refused("list=1;", "list=1;", "list of numbers");
    refused("list=1;x", "list=1;x", "not a number");
    refused("list=1;101", "list=1;101", "out of bounds (0 to 100)");
    refused("path=a(b", "'(' without", "a(b");
    refused("path=a)b", "')' without", "a)b");
    refused("path=(a]", "']' without", "(a]");
    refused("path=\"abc", "quote", "does not end");
    refused("path=\"abc\"d", "path=", "follows the closing quote");
    refused("path=\"a\\q\"", "path=", "backslash");
    refused("path=a\tb", "path=", "control character");
}

Test(options, long_values_are_refused_not_cut)
{
    char text[4096];
    sample_options o;
    error e = ERROR_INIT;
    memset(text, 'a', sizeof text);
    memcpy(text, "path=", 5);
    cr_assert_eq(options_parse(sample_rows, "owner", text, 5 + PE_TEXT_MAX - 1, &o, &e), 0, "%s", e.message);
    cr_assert_eq(strlen(o.path), (size_t)PE_TEXT_MAX - 1);
    cr_assert_eq(options_parse(sample_rows, "owner", text, 5 + PE_TEXT_MAX, &o, &e), -1);
    cr_assert(strstr(e.message, "longer than 511"));
    char list[4 + 2 + 2 * (PE_LIST_MAX + 1) + 1] = "list=1";
    for (int i = 1; i < PE_LIST_MAX; i++)
        strcat(list, ";1");
    error_clear(&e);
    cr_assert_eq(sample_parse(list, &o, &e), 0, "%s", e.message);
    cr_assert_eq(o.list.count, PE_LIST_MAX);
    strcat(list, ";1");
    cr_assert_eq(sample_parse(list, &o, &e), -1);
    cr_assert(strstr(e.message, "more than 256"));
}

Test(options, a_zero_byte_is_refused)
{
    sample_options o;
    error e = ERROR_INIT;
    cr_assert_eq(options_parse(sample_rows, "owner", "path=a\0b", 8, &o, &e), -1);
    cr_assert(strstr(e.message, "zero byte"));
}

Test(options, set_takes_one_value)
{
    sample_options o;
    error e = ERROR_INIT;
    options_defaults(sample_rows, &o);
    cr_assert_eq(options_set(sample_rows, "owner", "count", " 7 ", &o, &e), 0);
    cr_assert_eq(options_set(sample_rows, "owner", "path", "a, b", &o, &e), 0);
    cr_assert_eq(o.count, 7);
    cr_assert_str_eq(o.path, "a, b");
    cr_assert_eq(options_set(sample_rows, "owner", "path", "", &o, &e), 0);
    cr_assert_str_eq(o.path, "");
    cr_assert_eq(options_set(sample_rows, "owner", "count", "", &o, &e), -1);
    cr_assert(strstr(e.message, "empty value"));
    cr_assert_eq(o.count, 7, "a refused value must not change the field");
}

/* What one value prints is what options_set takes. */
Test(options, one_value_round_trips)
{
    static const char *const texts[] = {"", "plain", "a, b", "\"", " x", "f(g,h)", "f(g", "back\\slash", "line\nbreak"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sample_options o, back;
        error e = ERROR_INIT;
        char printed[2048];
        options_defaults(sample_rows, &o);
        options_defaults(sample_rows, &back);
        strcpy(o.path, texts[i]);
        options_print_value(&sample_rows[6], &o, printed, sizeof printed);
        cr_assert_eq(options_set(sample_rows, "owner", "path", printed, &back, &e), 0, "%s", e.message);
        cr_assert_str_eq(back.path, texts[i]);
    }
}

Test(options, a_short_buffer_is_never_overrun)
{
    sample_options o;
    error e = ERROR_INIT;
    cr_assert_eq(sample_parse("base=100,path=corpora/a.txt", &o, &e), 0);
    int whole = options_print(sample_rows, &o, NULL, 0);
    for (size_t size = 1; size < 40; size++) {
        char *text = malloc(size); /* exactly sized, for the address sanitizer */
        cr_assert_eq(options_print(sample_rows, &o, text, size), whole);
        cr_assert_lt(strlen(text), size);
        free(text);
    }
}

Test(options, broken_tables_are_refused)
{
    static const struct {
        pe_option row;
        const char *fault;
    } cases[] = {
        {{"a", PE_OPTION_INT, 0, "5", 0, 4, 0, NULL, "h"}, "out of bounds"},
        {{"a", PE_OPTION_INT, 0, "x", 0, 4, 0, NULL, "h"}, "not a number"},
        {{"a", PE_OPTION_INT, 0, "2", 4, 0, 0, NULL, "h"}, "wrong order"},
        {{"a", PE_OPTION_INT, 4, "2", 0, 4, 0, NULL, "h"}, "does not lie in its struct"},
        {{"a", PE_OPTION_REAL, 0, "2", 0, 4, 0, NULL, "h"}, "does not lie in its struct"},
        {{"a", PE_OPTION_INT, 0, NULL, 0, 4, 0, NULL, "h"}, "lacks its default"},
        {{"a", PE_OPTION_INT, 0, "2", 0, 4, 0, NULL, NULL}, "lacks its default"},
        {{"a", PE_OPTION_CHOICE, 0, "x", 0, 0, 0, NULL, "h"}, "lacks its default"},
        {{"a", PE_OPTION_BOOL, 0, "true", 0, 0, 1, NULL, "h"}, "cannot be auto"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pe_option table[] = {cases[i].row, {0}};
        error e = ERROR_INIT;
        cr_assert_eq(options_check_table(table, "owner", sizeof(int), &e), -1, "case %zu was taken", i);
        cr_assert(strstr(e.message, cases[i].fault), "case %zu: %s", i, e.message);
    }
    pe_option twice[] = {
        {"a", PE_OPTION_INT, 0, "2", 0, 4, 0, NULL, "h"}, {"a", PE_OPTION_INT, 0, "2", 0, 4, 0, NULL, "h"}, {0}};
    error e = ERROR_INIT;
    cr_assert_eq(options_check_table(twice, "owner", sizeof(int), &e), -1);
    cr_assert(strstr(e.message, "two options are named 'a'"));
    error_clear(&e);
    cr_assert_eq(options_check_table(sample_rows, "owner", sizeof(sample_options), &e), 0, "%s", e.message);
    cr_assert_eq(options_check_table(NULL, "owner", 0, &e), 0);
}

/* ------------------------------------------------------------------------------------------------ random texts */

static uint32_t fuzz_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Pieces that make nearly right texts: pure noise would never come past the first check. */
Test(options, random_texts_print_idempotently_or_are_refused)
{
    static const char *const pieces[] = {
        "base", "count", "flag", "layout", "list",   "path",    "limit",      "=",          "=",
        ",",    ",",     "1",    "0.5",    "auto",   "true",    "half",       "(",          ")",
        "[",    "]",     "\"",   "\\",     ";",      " ",       "e3",         "-",          "\x01",
        "\xff", "a b",   "+",    "base=2", "path=x", "count=3", "list=1;2;3", "limit=auto", "path=\""};
    uint32_t state = 7;
    int taken = 0;
    for (int round = 0; round < 60000; round++) {
        char text[256] = "";
        for (int n = (int)(fuzz_next(&state) % 9); n > 0; n--)
            strcat(text, pieces[fuzz_next(&state) % (sizeof pieces / sizeof *pieces)]);
        sample_options o, back;
        error e = ERROR_INIT;
        if (sample_parse(text, &o, &e) != 0) {
            cr_assert(e.kind == ERROR_USAGE && e.message[0], "'%s' was refused without a word", text);
            continue;
        }
        taken++;
        char first[8192], second[8192];
        options_print(sample_rows, &o, first, sizeof first);
        cr_assert_eq(sample_parse(first, &back, &e), 0, "'%s' printed '%s', which is refused: %s", text, first,
                     e.message);
        options_print(sample_rows, &back, second, sizeof second);
        cr_assert_str_eq(first, second);
    }
    cr_assert_gt(taken, 1000, "the texts hardly ever pass: this tests too little");
}

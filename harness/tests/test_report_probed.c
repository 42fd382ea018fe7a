/* Probes in a report: numbers of made-up records, counted by hand. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probed.h"
#include "report.h"
#include "report_fixture.h"
#include "scratch.h"

static scratch probed_room;

static void probed_setup(void)
{
    scratch_open(&probed_room);
}

static void probed_teardown(void)
{
    scratch_close(&probed_room);
}

TestSuite(probed, .init = probed_setup, .fini = probed_teardown);

/* The words alone: gnuplot is not even looked for. */
static char *probed_report(void)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    registry *known = registry_new(&e);
    cr_assert_eq(report_write(probed_room.dir, known, "plots", REPORT_MD, PLOT_SVG, &e), -1);
    registry_free(known);
    return scratch_text(&probed_room, "report.md");
}

static void probed_write(const char *encoding, int seed, int tables, long windows)
{
    double hidden[3] = {8, 2, 4};
    double wide[3] = {8, 1, 2};
    run_probe_table table = {.name = "made.table", .found = {16, 240, 1.5, 4.25, 0.125}};
    run_probes probes = {
        .hidden = {.count = 3, .tokens = 1024, .sequences = 64, .read_error = hidden, .wide_error = wide, .guess = 8},
        .tables = tables,
        .table = &table,
        .windows = windows,
        .in_order_loss = windows ? 2 : NAN,
        .shuffled_loss = windows ? 2.5 : NAN};
    made_write(probed_room.dir,
               &(made_run){.encoding = encoding,
                           .seed = seed,
                           .score = {1, 0.5, 0.5},
                           .settings = "eval.probe=true",
                           .probes = &probes},
               NULL);
}

Test(probed, numbers_of_one_run)
{
    error e = ERROR_INIT;
    results r;
    probed_numbers x;
    probed_write("table", 1, 1, 40);
    cr_assert_eq(results_load(probed_room.dir, &r, &e), 0, "%s", e.message);
    cr_assert(probed_takes(&r.run[0]));
    probed_read(&r.run[0], &x);
    cr_assert(x.first == 1 && x.best == 0.25 && x.best_layer == 1 && x.last == 0.5);
    cr_assert(x.wide_first == 1 && x.wide_best == 0.125 && x.wide_last == 0.25);
    cr_assert(x.positions == 1.5 && x.guess == 4.25 && x.order == 0.125);
    cr_assert(x.in_order == 2 && x.shuffled == 2.5 && x.cost == 0.5);
    results_free(&r);
}

/* Records of before say nothing of it. */
Test(probed, no_section_without_a_record_of_it)
{
    made_folder(probed_room.dir);
    char *md = probed_report();
    cr_assert_null(strstr(md, "Probes"));
    free(md);
}

Test(probed, a_row_for_each_encoding)
{
    for (int seed = 1; seed <= 2; seed++) {
        probed_write("plain", seed, 0, 0);
        probed_write("table", seed, 1, 40);
    }
    made_baseline(probed_room.dir, "plain");
    char *md = probed_report();
    cr_assert(strstr(md, "## Probes"));
    cr_assert(strstr(md,
                     "| `table` | lengths 4-16, uniform, mean 10.0 | 100.0 (100.0 to 100.0) | 25.0 (25.0 to 25.0) | "
                     "1.0 (1.0 to 1.0) | 50.0 (50.0 to 50.0) | 100.0 (100.0 to 100.0) | 12.5 (12.5 to 12.5) |\n"),
              "%s", md);
    cr_assert(strstr(md, "| `table` | lengths 4-16, uniform, mean 10.0 | 1.50 (1.50 to 1.50) | 4.2 (4.2 to 4.2) | "
                         "12.5 (12.5 to 12.5) | 2.000 (2.000 to 2.000) | 2.500 (2.500 to 2.500) | "
                         "+0.500 (0.500 to 0.500) |\n"),
              "%s", md);
    const char *second = strstr(md, "Tables and prefixes");
    cr_assert(second && strstr(md, "| `plain` (baseline) | lengths 4-16") < second);
    cr_assert_null(strstr(second, "| `plain` (baseline) | lengths 4-16")); /* it has neither */
    free(md);
}

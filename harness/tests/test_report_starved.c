/* Starved positions in a report: numbers of made-up records, counted by hand. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_fixture.h"
#include "report_starved.h"
#include "scratch.h"

static scratch starved_room_dir;

static void starved_setup(void)
{
    scratch_open(&starved_room_dir);
}

static void starved_teardown(void)
{
    scratch_close(&starved_room_dir);
}

TestSuite(starved, .init = starved_setup, .fini = starved_teardown);

/* The words alone: gnuplot is not even looked for. */
static char *starved_report(void)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    registry *known = registry_new(&e);
    cr_assert_eq(report_write(starved_room_dir.dir, known, "plots", REPORT_MD, PLOT_SVG, &e), -1);
    cr_assert(strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    registry_free(known);
    return scratch_text(&starved_room_dir, "report.md");
}

/* 16 positions, each with 10 tokens in each quarter of training; the squared gradient of a position is `late` times
 * that of the others in the last 4. A table of 16 rows has the same, and rows of norm 1, 2 in the last 4. */
enum { STARVED_POSITIONS = 16 };
typedef struct starved_made {
    run_met met[STARVED_POSITIONS][RUN_PHASES];
    double norm[STARVED_POSITIONS], first[STARVED_POSITIONS], loss[STARVED_POSITIONS], accuracy[STARVED_POSITIONS];
    long n[STARVED_POSITIONS];
    run_exposure_table table;
    run_exposure exposure;
} starved_made;

static void starved_make(starved_made *m, double late, double loss_late, int with_table)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < STARVED_POSITIONS; i++) {
        for (int p = 0; p < RUN_PHASES; p++)
            m->met[i][p] = (run_met){10, i >= 12 ? late * (p + 1) : p + 1};
        m->norm[i] = i >= 12 ? 2 : 1;
        m->first[i] = 0.5;
        m->loss[i] = i == 0 ? NAN : i >= 12 ? 1 + loss_late : 1;
        m->accuracy[i] = i == 0 ? NAN : i >= 12 ? 0.25 : 0.5;
        m->n[i] = i == 0 ? 0 : 5;
    }
    m->table = (run_exposure_table){.name = "made.table",
                                    .rows = STARVED_POSITIONS,
                                    .cols = 4,
                                    .first_norm = m->first,
                                    .norm = m->norm,
                                    .met = &m->met[0][0]};
    m->exposure = (run_exposure){.positions = STARVED_POSITIONS,
                                 .met = &m->met[0][0],
                                 .beyond = 3,
                                 .tables = with_table,
                                 .table = &m->table,
                                 .tested = STARVED_POSITIONS,
                                 .loss = m->loss,
                                 .accuracy = m->accuracy,
                                 .n = m->n};
}

static void starved_write(const char *encoding, const char *settings, int seed, double late, double loss_late,
                          int with_table)
{
    starved_made m;
    starved_make(&m, late, loss_late, with_table);
    made_write(
        starved_room_dir.dir,
        &(made_run){
            .encoding = encoding, .seed = seed, .score = {1, 0.5, 0.5}, .settings = settings, .exposure = &m.exposure},
        NULL);
}

#define STARVED_EVEN "train.positions=true"
#define STARVED_SKEW "train.positions=true|train.lengths=geometric|train.length_ratio=0.5"

/* Shares: 4 late positions of 16, each worth `late`: 4 late / (12 + 4 late). 1/3: 0.1; 1: 0.25. */
static void starved_folder(void)
{
    for (int seed = 1; seed <= 2; seed++) {
        starved_write("plain", STARVED_EVEN, seed, 1, 0.1 * seed, 0);
        starved_write("plain", STARVED_SKEW, seed, 1, 0.1 * seed, 0);
        starved_write("table", STARVED_EVEN, seed, 1, 0.1 * seed, 1);
        starved_write("table", STARVED_SKEW, seed, 1.0 / 3, 0.5 + 0.1 * seed, 1);
    }
    made_baseline(starved_room_dir.dir, "plain");
}

Test(starved, numbers_of_one_run)
{
    error e = ERROR_INIT;
    results r;
    starved_numbers x;
    starved_write("table", STARVED_SKEW, 1, 1.0 / 3, 0.5, 1);
    cr_assert_eq(results_load(starved_room_dir.dir, &r, &e), 0, "%s", e.message);
    cr_assert(starved_takes(&r.run[0]));
    starved_read(&r.run[0], &x);
    cr_assert(fabs(x.tokens - 0.25) < 1e-12 && fabs(x.gradient - 0.1) < 1e-12 && fabs(x.rows - 0.1) < 1e-12);
    cr_assert(fabs(x.norm - 2) < 1e-12 && fabs(x.loss - 0.5) < 1e-12 && fabs(x.accuracy + 0.25) < 1e-12);
    results_free(&r);
}

/* Records of before say nothing of positions. */
Test(starved, no_section_without_a_record_of_it)
{
    made_folder(starved_room_dir.dir);
    char *md = starved_report();
    cr_assert_null(strstr(md, "Starved"));
    cr_assert_eq(scratch_count(&starved_room_dir, "positions.csv"), 0);
    free(md);
}

Test(starved, a_row_for_each_encoding_and_training)
{
    starved_folder();
    char *md = starved_report();
    cr_assert(strstr(md, "## Starved positions"));
    const char *even = strstr(md, "| *lengths 4-16, uniform, mean 10.0* |");
    const char *skewed = strstr(md, "| *lengths 4-16, geometric 0.5, mean 5.0* |");
    cr_assert(even && skewed && even < skewed, "%s", md);
    const char *first = strstr(even, "| `table` | 25.0 (25.0 to 25.0) | 25.0 (25.0 to 25.0) | 25.0 (25.0 to 25.0) | "
                                     "2.00 (2.00 to 2.00) | +0.150 (");
    cr_assert(first && first < skewed, "%s", md);
    const char *row = strstr(skewed, "| `table` | 25.0 (25.0 to 25.0) | 10.0 (10.0 to 10.0) | 10.0 (10.0 to 10.0) | "
                                     "2.00 (2.00 to 2.00) | +0.650 (");
    cr_assert(row, "%s", md);
    /* paired with the baseline of the same seed, the difference is the same for both */
    cr_assert(strstr(row, "| +0.500 (0.500 to 0.500) | -25.0 (-25.0 to -25.0) |"), "%s", row);
    cr_assert(strstr(skewed, "| `plain` (baseline) | 25.0 (25.0 to 25.0) | 25.0 (25.0 to 25.0) | \342\200\224 | "
                             "\342\200\224 | +0.150 ("),
              "%s", md);
    free(md);
}

/* y of the n-th point of a method in a figure's data; NAN: there is none. */
static double starved_point(const char *stem, const char *panel, const char *method, int n)
{
    char name[64];
    snprintf(name, sizeof name, "plots/%s.tsv", stem);
    char *tsv = scratch_text(&starved_room_dir, name), *rest = tsv;
    double found = NAN;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char at[256], label[64];
        double x, y;
        if (sscanf(line, "%255[^\t]\t%63[^\t]\t%lf\t%lf", at, label, &x, &y) == 4 && strcmp(at, panel) == 0 &&
            strcmp(label, method) == 0 && n-- == 0)
            found = y;
    }
    free(tsv);
    return found;
}

/* 16 positions are 16 bins; an even share is 100. */
Test(starved, figures_hold_each_position)
{
    static const char skew[] = "lengths 4-16, geometric 0.5, mean 5.0", even[] = "lengths 4-16, uniform, mean 10.0";
    starved_folder();
    free(starved_report());
    for (int i = 0; i < STARVED_POSITIONS; i++) {
        double want = (i >= 12 ? 1.0 / 3 : 1) / (12 + 4.0 / 3) * 16 * 100;
        double got = starved_point("starved-gradient", skew, "table", i);
        cr_assert(fabs(got - want) < 1e-9, "position %d: %g, not %g", i, got, want);
        cr_assert(fabs(starved_point("starved-gradient", even, "plain", i) - 100) < 1e-9);
        double loss = starved_point("starved-loss", skew, "table", i);
        cr_assert(i == 0 ? isnan(loss) : fabs(loss - (i >= 12 ? 1.65 : 1)) < 1e-9, "position %d: %g", i, loss);
        double accuracy = starved_point("starved-accuracy", even, "table", i);
        cr_assert(i == 0 ? isnan(accuracy) : fabs(accuracy - (i >= 12 ? 0.25 : 0.5)) < 1e-9);
    }
    cr_assert(isnan(starved_point("starved-gradient", skew, "table", STARVED_POSITIONS)));
}

/* A row for each position and quarter, of the input and of the table; what is known at the end stands in the last
 * quarter. */
Test(starved, positions_csv_holds_all_of_it)
{
    starved_write("table", STARVED_SKEW, 1, 1.0 / 3, 0.5, 1);
    free(starved_report());
    char *csv = scratch_text(&starved_room_dir, "positions.csv"), *rest = csv;
    int lines = 0;
    double updates = 0, share = 0;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line; lines++) {
        char *cell[16], *at = line;
        for (int i = 0; i < 16; i++)
            cell[i] = strsep(&at, ",");
        cr_assert(cell[15] && !at, "16 columns");
        if (lines == 0) {
            cr_assert_str_eq(cell[7], "position");
            continue;
        }
        int is_input = !*cell[5], is_last = strcmp(cell[6], "30") == 0, position = atoi(cell[7]);
        updates += atof(cell[8]);
        share += atof(cell[10]);
        cr_assert_eq(*cell[12] != '\0', !is_input && is_last);
        cr_assert_eq(*cell[13] != '\0', is_input && is_last && position > 0, "quarter %s, position %d", cell[6],
                     position);
        cr_assert(is_input || strcmp(cell[5], "made.table") == 0);
    }
    cr_assert_eq(lines, 1 + 2 * 4 * STARVED_POSITIONS);
    cr_assert_eq(updates, 2 * 4 * STARVED_POSITIONS * 10);
    cr_assert(fabs(share - 8) < 1e-9, "shares of each quarter add up to 1");
    free(csv);
}

/* cmd_report.c - a results folder to a page and figures. */
#include <stdio.h>

#include "command.h"
#include "places.h"
#include "report.h"

static int cmd_report_run(const command_host *host, const args *a, error *e)
{
    static const char *const files[] = {"report.html", "report.md", "report.tex"};
    const char *dir = a->word[0];
    char scripts[PLACES_PATH_MAX];
    int formats = REPORT_HTML | REPORT_MD, plots = PLOT_SVG;
    if (command_load_plugins(host, a, e) || args_choices(a, "format", "html|md|tex", &formats, e) || args_choices(a, "plots", "svg|pdf|png", &plots, e) ||
        places_plots(host->program, scripts, e) || report_write(dir, host->registry, scripts, formats, plots, e))
        return -1;
    for (int i = 0; i < 3; i++)
        if (formats & 1 << i)
            printf("%s/%s\n", dir, files[i]);
    printf("%s/sources.bib\n", dir);
    return 0;
}

static const args_option cmd_report_arguments[] = {
    {.name = "format", .value = "html,md,tex", .help = "the pages to write (default html,md)"},
    {.name = "plots",
     .value = "svg,pdf,png",
     .help = "how the figures are drawn (default svg; the HTML page always has its own)"},
    COMMAND_PLUGIN_OPTION,
    {0},
};

static const command_example cmd_report_example[] = {
    {"report results/quick", "report.html and report.md with SVG figures"},
    {"report results/main --format tex --plots pdf", "tables and figures for a paper"},
    {0},
};

const command command_report = {
    .name = "report",
    .summary = "draw the figures of a sweep and write a page about it",
    .words = "DIR",
    .least_words = 1,
    .most_words = 1,
    .description =
        "Collects the records of DIR anew, draws every figure with gnuplot and writes DIR/report.html (one file with "
        "everything in it, for a browser), DIR/report.md and DIR/report.tex, with a section on methods that can stand in "
        "a paper. DIR/sources.bib has the works that encodings, position maps and tasks come from; report.tex cites "
        "them. What a plug-in brought is known only if it is loaded here too. Without gnuplot the pages and the data "
        "of the figures are written all the same, and the exit status is 3.",
    .options = cmd_report_arguments,
    .examples = cmd_report_example,
    .run = cmd_report_run,
};

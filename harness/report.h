/* report.h - a results folder to a page a person can read, and figures a paper can use. */
#ifndef REPORT_H
#define REPORT_H

#include "error.h"
#include "registry.h"

enum { REPORT_HTML = 1, REPORT_MD = 2, REPORT_TEX = 4 };
enum { PLOT_SVG = 1, PLOT_PDF = 2, PLOT_PNG = 4 };

/* Collects, draws every figure (gnuplot, scripts of plots/, data files beside the pictures) and writes dir/report.html
 * (self-contained), report.md, report.tex and dir/sources.bib, the works that what was run comes from, by the
 * descriptors in r. `plots_dir` holds the .gp scripts. Without gnuplot the scripts' data and the pages are still
 * written, and the result is -1 with ERROR_ENVIRONMENT saying what is needed. */
int report_write(const char *dir, const registry *r, const char *plots_dir, int formats, int plots, error *e);

#endif

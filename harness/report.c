/* report.c - the report, from a folder of records to pages and figures. */
#include "report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report_document.h"

/* Pages show SVG, LaTeX takes PDF, whatever else was asked for. */
static int report_formats_needed(int formats, int plots)
{
    if (formats & (REPORT_HTML | REPORT_MD))
        plots |= PLOT_SVG;
    if (formats & REPORT_TEX)
        plots |= PLOT_PDF;
    return plots;
}

/* What goes wrong with one figure does not keep the others back; the first reason is told. */
static int report_draw(const report_figures *f, const char *plots_dir, const char *dir, int formats, error *e)
{
    int status = 0;
    for (int i = 0; i < f->count; i++) {
        int wanted = f->item[i].part_of < 0 ? formats : formats & PLOT_SVG; /* single panels are for pages */
        if (wanted && figure_draw(plots_dir, f->item[i].script, dir, f->item[i].stem, f->item[i].title, wanted, e) < 0)
            status = -1;
    }
    return status;
}

static int report_pages(const report_view *v, const report_figures *f, const report_sources *s, const char *dir,
                        const char *plots_dir, int formats, error *e)
{
    document d;
    int status = 0;
    report_document(v, f, s, &d);
    if (formats & REPORT_HTML && doc_write_html(&d, dir, plots_dir, e) < 0)
        status = -1;
    if (formats & REPORT_MD && doc_write_md(&d, dir, e) < 0)
        status = -1;
    if (formats & REPORT_TEX && doc_write_tex(&d, dir, e) < 0)
        status = -1;
    doc_free(&d);
    return status;
}

static int report_make(const report_view *v, const registry *r, const char *dir, const char *plots_dir, int formats,
                       int plots, error *e)
{
    char folder[PATH_MAX];
    report_figures *figures = malloc(sizeof *figures);
    report_sources *sources = malloc(sizeof *sources);
    if (!figures || !sources) {
        free(figures);
        free(sources);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    report_sources_find(v, r, sources);
    snprintf(folder, sizeof folder, "%s/plots", dir);
    int status = 0;
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        status = error_set(e, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(errno));
    if (status == 0)
        status = report_figures_write(v, folder, figures, e);
    if (status == 0) {
        status = report_draw(figures, plots_dir, folder, report_formats_needed(formats, plots), e);
        if (report_pages(v, figures, sources, dir, plots_dir, formats, e) < 0 ||
            report_sources_save(sources, dir, e) < 0)
            status = -1;
    }
    buffer_free(&sources->bib);
    free(sources);
    free(figures);
    return status;
}

int report_write(const char *dir, const registry *r, const char *plots_dir, int formats, int plots, error *e)
{
    report_view v;
    error fault = ERROR_INIT; /* of records that could not be read: told last, for the report holds all others */
    int status = view_load(dir, &v, &fault);
    if (v.methods > 0 && report_make(&v, r, dir, plots_dir, formats, plots, e) < 0)
        status = -1;
    view_free(&v);
    if (fault.kind != ERROR_NONE)
        error_set(e, fault.kind, "%s", fault.message);
    return status;
}

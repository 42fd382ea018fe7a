/* profile_write.c - a profile as a folder: data, figures, pages. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "figure.h"
#include "profile_show.h"
#include "record.h"
#include "report.h"

static int write_folder(const char *path, error *e)
{
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    return 0;
}

static int write_json(const profile *p, const char *dir, error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/profile.json", dir);
    json_t *data = profile_json(p);
    int status = record_write(path, data, e);
    json_decref(data);
    return status;
}

/* What goes wrong with one picture does not keep the others back. */
static int write_pictures(const profile_figures *f, const char *folder, const char *plots_dir, int plots, error *e)
{
    int status = 0;
    for (int i = 0; i < f->count; i++)
        if (figure_draw(plots_dir, f->item[i].script, folder, f->item[i].stem, f->item[i].title, plots | PLOT_SVG, e) <
            0)
            status = -1;
    return status;
}

int profile_write(const profile *p, const char *dir, const char *plots_dir, int plots, error *e)
{
    char folder[PATH_MAX];
    profile_figures figures;
    document page;
    snprintf(folder, sizeof folder, "%s/plots", dir);
    if (write_folder(dir, e) < 0 || write_folder(folder, e) < 0 || write_json(p, dir, e) < 0 ||
        profile_figures_write(p, folder, &figures, e) < 0)
        return -1;
    int status = write_pictures(&figures, folder, plots_dir, plots, e);
    profile_document(p, &figures, &page);
    if (doc_write_html(&page, dir, plots_dir, e) < 0 || doc_write_md(&page, dir, e) < 0)
        status = -1;
    doc_free(&page);
    return status;
}

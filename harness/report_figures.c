#include "report_figures.h"
#include "report_data.h"
#include "report_methods.h"
#include "report_starved.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

report_figure *report_figure_add(report_figures *f, const char *stem, const char *script, const char *title, error *e)
{
    if (f->count == REPORT_FIGURES_MAX) {
        error_set(e, ERROR_ENVIRONMENT, "a report holds %d figures at most", REPORT_FIGURES_MAX);
        return NULL;
    }
    report_figure *item = &f->item[f->count++];
    *item = (report_figure){.script = script, .part_of = -1};
    snprintf(item->stem, sizeof item->stem, "%s", stem);
    snprintf(item->title, sizeof item->title, "%s", title);
    return item;
}

/* The panels of a whole figure stand in rows of up to three; one alone may be wider than high. */
static void report_shape(figure *f)
{
    f->columns = f->panels <= 3 ? f->panels : f->panels == 4 ? 2 : 3;
    f->panel_width = f->panels == 1 ? 600 : f->columns == 2 ? 520 : 410;
    f->panel_height = f->panels == 1 ? 360 : 310;
}

/* A part's heading takes the place of the task's, which goes before the subtitle where there are several. */
int report_part_words(const report_view *v, int part, const char *task, const char *undivided, buffer *subtitle,
                      figure_panel *out)
{
    int tasks = 0;
    for (int i = 0; i < v->panels; i++)
        tasks += v->panel[i].primary;
    buffer words = BUFFER_INIT;
    if (v->parts > 1 && tasks > 1)
        buffer_format(&words, "%.*s: ", (int)strcspn(task, "("), task);
    buffer_add(&words, buffer_text(subtitle));
    buffer_free(subtitle);
    out->title = strdup(v->parts > 1 ? v->part[part] : undivided);
    out->subtitle = buffer_take(&words);
    out->shares = task;
    return out->title && out->subtitle ? 0 : -1;
}

int report_panels_write(figure *f, report_figure_kind kind, const char *script, const char *dir, report_figures *out,
                        error *e)
{
    int whole = out->count, left_out = 0;
    int status = 0;
    report_shape(f);
    for (int i = 0; i < f->panels; i++)
        left_out += f->panel[i].left_out;
    report_figure *item = report_figure_add(out, f->name, script, f->title, e);
    if (!item || figure_write(f, dir, e) < 0)
        status = -1;
    else
        item->left_out = left_out;
    for (int i = 0; status == 0 && f->panels > 1 && i < f->panels; i++) {
        char stem[REPORT_STEM_MAX], title[1024];
        snprintf(stem, sizeof stem, "%s-%d", f->name, i + 1);
        snprintf(title, sizeof title, "%s: %s", f->title, f->panel[i].title);
        figure one = {.name = stem,
                      .title = title,
                      .columns = 1,
                      .panel_width = 540,
                      .panel_height = 330,
                      .panels = 1,
                      .panel = &f->panel[i]};
        item = report_figure_add(out, stem, script, title, e);
        if (!item || figure_write(&one, dir, e) < 0)
            status = -1;
        else
            item->part_of = whole;
    }
    if (status == 0)
        out->first[kind] = whole;
    figure_free(f);
    return status;
}

char *report_panel_title(const report_view *v, const view_panel *p)
{
    int several = 0;
    for (int i = 0; i < v->panels; i++)
        several |= strcmp(v->panel[i].task, p->task) == 0 && v->panel[i].train_len != p->train_len;
    buffer title = BUFFER_INIT;
    buffer_add(&title, p->task);
    if (several)
        buffer_format(&title, ", trained at %d", p->train_len);
    return buffer_take(&title);
}

int report_figures_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    *out = (report_figures){.divided = v->parts < 2 ? NULL : v->by_setting ? "setting" : "encoding"};
    for (int i = 0; i < REPORT_FIGURE_KINDS; i++)
        out->first[i] = -1;
    if (report_extrapolation_write(v, dir, out, e) < 0 || report_reach_write(v, dir, out, e) < 0 ||
        report_ranks_write(v, dir, out, e) < 0 || report_positions_write(v, dir, out, e) < 0 ||
        report_training_write(v, dir, out, e) < 0 || report_quality_write(v, dir, out, e) < 0 ||
        report_starved_write(v, dir, out, e) < 0 || report_data_write(v, dir, out, e) < 0 ||
        report_extended_write(v, dir, out, e) < 0)
        return -1;
    return 0;
}

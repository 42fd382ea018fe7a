/* report_starved.h - what positions met in training: the section "Starved positions" of a report. */
#ifndef REPORT_STARVED_H
#define REPORT_STARVED_H

#include "report_document.h"
#include "report_group.h"
#include "starved.h"

/* The table of the section; nothing where no run recorded it. */
void report_starved_table(const report_view *v, document *d);

/* Figures (report_starved_figures.c). */
int report_starved_write(const report_view *v, const char *dir, report_figures *out, error *e);

#endif

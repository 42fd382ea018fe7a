/* report_probed.h - what trained weights know of positions: the section "Probes" of a report. */
#ifndef REPORT_PROBED_H
#define REPORT_PROBED_H

#include "report_document.h"

/* Whether a run recorded it. */
int report_is_probed(const report_view *v);

/* The tables of the section; nothing where no run recorded it. */
void report_probed_tables(const report_view *v, document *d);

#endif

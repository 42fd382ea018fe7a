/* svg.h - gnuplot's SVG files made fit for pages: readable in dark themes, by screen readers, and beside each other. */
#ifndef SVG_H
#define SVG_H

#include "buffer.h"
#include "error.h"

/* The whole file. */
int svg_read(const char *path, buffer *out, error *e);

/* Rewrites a fresh file: `title` for readers who cannot see it, a list of sans-serif fonts, and the dark palette where the
 * viewer asks for dark colours. */
int svg_finish(buffer *svg, const char *title, error *e);

/* Appends a finished file to a page: without the XML heading and the style of its own (the page has one for all), scaled to
 * the page's width, and with `prefix` before each id, because ids are the page's. */
int svg_inline(const char *svg, const char *prefix, buffer *page);

#endif

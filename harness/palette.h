/* palette.h - a colour and a point shape for each method, the same in every figure and every sweep.
 *
 * They follow from the method's name alone, so that adding an encoding recolours none of the others and no script or
 * table of ours lists names. The colours are derived from Okabe & Ito (2008), which colour-blind readers can tell apart,
 * darkened until a label in them can be read on white; each has a lighter twin for dark pages.
 */
#ifndef PALETTE_H
#define PALETTE_H

#include "buffer.h"

enum { PALETTE_COLOURS = 8, PALETTE_SHAPES = 6, PALETTE_DASHES = 4 };

typedef struct palette_style {
    int colour;
    int shape;
    int dash; /* 0: solid; counts up where a colour comes again in one report */
} palette_style;

/* Styles of `count` different names. Two names never share both colour and shape (up to 48 names); on a clash the name
 * that comes later in the alphabet takes the next shape that is free. */
void palette_assign(const char *const *names, int count, palette_style *out);

/* What is not a method. */
typedef enum palette_role {
    PALETTE_INK = PALETTE_COLOURS, /* text and axes */
    PALETTE_MUTED,                 /* annotations, chance level */
    PALETTE_GRID,
    PALETTE_SHADE,                 /* ground of the lengths met in training */
    PALETTE_PAGE,                  /* ground; halo of points */
    PALETTE_ALL
} palette_role;

/* 0xRRGGBB of a colour 0 .. PALETTE_COLOURS-1 or a role, on a light and on a dark page. */
unsigned palette_rgb(int colour, int dark);

/* A sequential ramp for shares in [0,1], pale to deep, and the text colour that can be read on it. */
unsigned palette_ramp(double share);
unsigned palette_ramp_text(double share);

/* gnuplot's point types: filled shapes, each with its hollow twin. */
int palette_point(const palette_style *s, int hollow);

/* A point of that shape as an SVG of 12 x 12 px in the CSS colour --m<colour>. */
void palette_marker_svg(const palette_style *s, buffer *out);

/* CSS that gives the colours in gnuplot's SVG files their dark twins: the files hold the light colours as attributes, which
 * any rule overrides. `scope` is put before each selector: "" or "[data-theme=dark] ". */
void palette_dark_css(const char *scope, buffer *out);

#endif

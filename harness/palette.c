#include "palette.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

static const unsigned palette_light[PALETTE_ALL] = {0x0072b2, 0xd55e00, 0x009e73, 0xb8568f, 0xcf8600,
                                                    0x3a9fd8, 0x5c5c5c, 0x8a7c00, /* methods */
                                                    0x24292f, 0x6e7781, 0xe6e8eb, 0xf2f4f7, 0xffffff};
static const unsigned palette_dark[PALETTE_ALL] = {0x4ba9ee, 0xff7d52, 0x2fc998, 0xe592c3, 0xf4ae3d, 0x93d4fb, 0xc2c7cd,
                                                   0xb9c14b, 0xe3e7eb, 0x98a2ad, 0x30373f, 0x1f252c, 0x14181d};

unsigned palette_rgb(int colour, int dark)
{
    return dark ? palette_dark[colour] : palette_light[colour];
}

/* ------------------------------------------------------------------------------------------------ names to styles */

/* The multiplier was searched for among odd numbers so that names in common use fall on different styles. It decides
 * colours only: any other would do, and changing it recolours every figure. */
static uint64_t palette_hash(const char *name)
{
    return rng_hash(name) * 0x26bea76c0f9db0bbULL >> 32;
}

static int palette_compare(const void *a, const void *b)
{
    return strcmp(**(const char *const *const *)a, **(const char *const *const *)b);
}

static int palette_taken(const palette_style *out, const char *const *names, const char *const **order, int before,
                         const palette_style *s)
{
    for (int i = 0; i < before; i++) {
        const palette_style *other = &out[order[i] - names];
        if (other->colour == s->colour && other->shape == s->shape)
            return 1;
    }
    return 0;
}

void palette_assign(const char *const *names, int count, palette_style *out)
{
    const char *const **order =
        calloc((size_t)count + 1, sizeof *order); /* so that the callers' order does not matter */
    int used[PALETTE_COLOURS] = {0};
    for (int i = 0; order && i < count; i++)
        order[i] = &names[i];
    if (order)
        qsort(order, (size_t)count, sizeof *order, palette_compare);
    for (int i = 0; i < count; i++) {
        const char *const *name = order ? order[i] : &names[i];
        uint64_t hash = palette_hash(*name);
        palette_style s = {.colour = (int)(hash % PALETTE_COLOURS),
                           .shape = (int)(hash / PALETTE_COLOURS % PALETTE_SHAPES)};
        for (int tries = 1; order && tries <= PALETTE_COLOURS * PALETTE_SHAPES; tries++) {
            if (!palette_taken(out, names, order, i, &s))
                break;
            s.shape = (s.shape + 1) % PALETTE_SHAPES;
            if (tries % PALETTE_SHAPES == 0)
                s.colour = (s.colour + 1) % PALETTE_COLOURS;
        }
        s.dash = used[s.colour]++ % PALETTE_DASHES;
        out[name - names] = s;
    }
    free(order);
}

int palette_point(const palette_style *s, int hollow)
{
    static const int filled[PALETTE_SHAPES] = {7, 5, 9, 13, 11, 15}; /* circle, square, up, diamond, down, pentagon */
    return filled[s->shape] - hollow;
}

void palette_marker_svg(const palette_style *s, buffer *out)
{
    static const char *const shape[PALETTE_SHAPES] = {
        "<circle cx=\"6\" cy=\"6\" r=\"4.2\"/>", "<path d=\"M2 2h8v8h-8z\"/>",
        "<path d=\"M6 1.2L11 10.2H1z\"/>",       "<path d=\"M6 .6L11.4 6 6 11.4.6 6z\"/>",
        "<path d=\"M6 10.8L11 1.8H1z\"/>",       "<path d=\"M6 .9l5 3.7-1.9 5.9H2.9L1 4.6z\"/>",
    };
    buffer_format(out,
                  "<svg class=\"marker\" viewBox=\"0 0 12 12\" aria-hidden=\"true\" style=\"fill:var(--m%d)\">%s</svg>",
                  s->colour, shape[s->shape]);
}

/* ------------------------------------------------------------------------------------------------ colours */

static double palette_blend(double a, double b, double t)
{
    return a + (b - a) * t;
}

/* Three stops of one hue, from nearly white to the deep blue of the first method colour. */
unsigned palette_ramp(double share)
{
    static const double stop[3][3] = {{238, 243, 248}, {122, 178, 216}, {8, 81, 133}};
    double t = fmin(fmax(share, 0), 1) * 2;
    int low = t >= 1;
    unsigned rgb = 0;
    for (int i = 0; i < 3; i++)
        rgb = rgb << 8 | (unsigned)lround(palette_blend(stop[low][i], stop[low + 1][i], t - low));
    return rgb;
}

unsigned palette_ramp_text(double share)
{
    return share > 0.77 ? 0xf7fafc : 0x05090d; /* no colour of a role: dark themes must not change it */
}

/* stroke="rgb(0,114,178)", fill="rgb(...)" and color="rgb(...)", as svg_finish leaves them. */
void palette_dark_css(const char *scope, buffer *out)
{
    static const char *const property[] = {"stroke", "fill", "color"};
    for (int i = 0; i < PALETTE_ALL; i++) {
        unsigned from = palette_light[i], to = palette_dark[i];
        for (int p = 0; p < 3; p++)
            buffer_format(out, "%ssvg [%s=\"rgb(%u,%u,%u)\"]{%s:#%06x}\n", scope, property[p], from >> 16,
                          from >> 8 & 255, from & 255, property[p], to);
    }
}

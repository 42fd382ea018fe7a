/* Colours and shapes: they stay with their method, differ, and can be read. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure.h"
#include "palette.h"

Test(palette, adding_a_method_recolours_no_other)
{
    const char *few[] = {"gamma", "alpha"}, *many[] = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"};
    palette_style before[2], after[6];
    palette_assign(few, 2, before);
    palette_assign(many, 6, after);
    cr_assert(before[1].colour == after[0].colour && before[1].shape == after[0].shape);
    cr_assert(before[0].colour == after[2].colour && before[0].shape == after[2].shape);
}

Test(palette, order_of_names_does_not_matter)
{
    const char *one[] = {"a", "b", "c", "d"}, *other[] = {"d", "b", "a", "c"};
    static const int place[] = {2, 1, 3, 0};
    palette_style x[4], y[4];
    palette_assign(one, 4, x);
    palette_assign(other, 4, y);
    for (int i = 0; i < 4; i++)
        cr_assert(memcmp(&x[i], &y[place[i]], sizeof x[i]) == 0);
}

Test(palette, forty_eight_methods_differ)
{
    char text[48][8];
    const char *names[48];
    palette_style s[48];
    for (int i = 0; i < 48; i++) {
        snprintf(text[i], sizeof text[i], "m%d", i);
        names[i] = text[i];
    }
    palette_assign(names, 48, s);
    for (int i = 0; i < 48; i++)
        for (int k = 0; k < i; k++)
            cr_assert(s[i].colour != s[k].colour || s[i].shape != s[k].shape, "%d %d", i, k);
}

/* Contrast by WCAG 2: labels are written in these colours. 3 is asked of large text and graphics. */
static double luminance(unsigned rgb)
{
    double sum = 0;
    static const double weight[] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; i++) {
        double c = (rgb >> (16 - 8 * i) & 255) / 255.0;
        sum += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

Test(palette, colours_can_be_read_on_both_grounds)
{
    for (int dark = 0; dark <= 1; dark++) {
        double page = luminance(palette_rgb(PALETTE_PAGE, dark));
        for (int i = 0; i <= PALETTE_MUTED; i++) {
            double ink = luminance(palette_rgb(i, dark));
            double contrast = (fmax(ink, page) + 0.05) / (fmin(ink, page) + 0.05);
            cr_assert(contrast >= (i >= PALETTE_INK ? 4.5 : 2.9), "%d %d: %g", i, dark, contrast);
        }
    }
    for (double share = 0; share <= 1; share += 0.05) {
        double ground = luminance(palette_ramp(share)), ink = luminance(palette_ramp_text(share));
        cr_assert((fmax(ink, ground) + 0.05) / (fmin(ink, ground) + 0.05) >= 4.5, "%g", share);
    }
}

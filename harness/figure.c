#include "figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

figure_curve *figure_add_curve(figure_panel *p, const char *label, palette_style style, int points)
{
    figure_curve *grown = realloc(p->curve, (size_t)(p->curves + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    p->curve = grown;
    figure_curve *c = &grown[p->curves];
    *c = (figure_curve){.label = strdup(label), .style = style, .count = points};
    c->point = calloc((size_t)points + 1, sizeof *c->point);
    if (!c->label || !c->point) {
        free(c->label);
        free(c->point);
        return NULL;
    }
    for (int i = 0; i < points; i++)
        c->point[i] = (figure_point){.x = NAN, .y = NAN, .low = NAN, .high = NAN};
    p->curves++;
    return c;
}

void figure_drop(figure *f)
{
    figure_panel *p = &f->panel[--f->panels];
    for (int c = 0; c < p->curves; c++) {
        free(p->curve[c].label);
        free(p->curve[c].point);
    }
    free(p->curve);
    free(p->title);
    free(p->subtitle);
}

void figure_free(figure *f)
{
    while (f->panels > 0)
        figure_drop(f);
    free(f->panel);
    f->panel = NULL;
    f->panels = 0;
}

/* ------------------------------------------------------------------------------------------------ ranges and tics */

/* "10⁻⁵" */
static void figure_add_power(buffer *out, int exponent)
{
    static const char *const digits[] = {"\342\201\260", "\302\271",     "\302\262",     "\302\263",     "\342\201\264",
                                         "\342\201\265", "\342\201\266", "\342\201\267", "\342\201\270", "\342\201\271"};
    char text[16];
    snprintf(text, sizeof text, "%d", abs(exponent));
    buffer_add(out, exponent < 0 ? "10\342\201\273" : "10");
    for (const char *p = text; *p; p++)
        buffer_add(out, digits[*p - '0']);
}

static void figure_add_tic(figure_tic *tics, int *count, double at, int decimals)
{
    if (*count == FIGURE_TICS_MAX)
        return;
    buffer text = BUFFER_INIT;
    double exponent = at > 0 ? log10(at) : 0;
    if (fabs(exponent - round(exponent)) < 1e-9 && (exponent > 4.5 || exponent < -3.5))
        figure_add_power(&text, (int)lround(exponent));
    else if (fabs(at) >= 1e5 || (at != 0 && fabs(at) < 1e-3))
        buffer_number(&text, at);
    else
        buffer_fixed(&text, at, decimals);
    tics[*count].at = at;
    snprintf(tics[*count].text, sizeof tics[*count].text, "%s", buffer_text(&text));
    (*count)++;
    buffer_free(&text);
}

/* About five round steps: 1, 2 or 5 times a power of ten. The range is widened to whole steps. */
static void figure_linear_tics(double *low, double *high, figure_tic *tics, int *count)
{
    double span = *high > *low ? *high - *low : fmax(fabs(*high), 1);
    double power = pow(10, floor(log10(span / 4))), step = power;
    static const double round[] = {1, 2, 5, 10};
    for (int i = 0; i < 4 && span / step > 6; i++)
        step = round[i] * power;
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    long first = lround(floor(*low / step + 1e-9)), last = lround(ceil(*high / step - 1e-9));
    if (last <= first)
        last = first + 1;
    *low = (double)first * step;
    *high = (double)last * step;
    for (long k = first; k <= last; k++)
        figure_add_tic(tics, count, (double)k * step, decimals);
}

/* The k-th of ... 0.5, 1, 2, 5, 10, 20 ...; the 0th is 1. */
static double figure_one_two_five(long k)
{
    static const double round[] = {1, 2, 5};
    long decade = k >= 0 ? k / 3 : -((2 - k) / 3);
    return round[k - 3 * decade] * pow(10, (double)decade);
}

/* Steps of 1, 2, 5 over up to three decades, powers of ten (thinned out) over more. The range is widened to the next
 * step. */
static void figure_log_tics(double *low, double *high, figure_tic *tics, int *count)
{
    long first = 3 * lround(floor(log10(*low))), last = 3 * lround(ceil(log10(*high)));
    while (figure_one_two_five(first + 1) <= *low * (1 + 1e-9))
        first++;
    while (figure_one_two_five(last - 1) >= *high * (1 - 1e-9) && last - 1 > first)
        last--;
    long stride = last - first <= 9 ? 1 : 3 * (1 + (last - first) / 24);
    *low = figure_one_two_five(first);
    *high = figure_one_two_five(last);
    for (long k = stride == 1 ? first : -3 * (-first / 3); k <= last; k += stride) {
        double at = figure_one_two_five(k);
        if (k >= first)
            figure_add_tic(tics, count, at, at < 1 ? (int)ceil(-log10(at) - 1e-9) : 0);
    }
}

static void figure_extend(double value, double *low, double *high)
{
    if (isnan(value))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* A logarithmic axis has no place for 0 and below: a point there becomes a gap, a band that reaches there has no lower
 * edge. */
static void figure_leave_out(figure_panel *p, figure_point *point)
{
    if (point->y <= 0) {
        point->y = point->low = point->high = NAN;
        p->left_out++;
    }
    if (point->low <= 0)
        point->low = point->high = NAN;
}

/* The axis ends where the curves do, so that their labels stand beside their ends. */
static void figure_fit_x(figure_panel *p, double low, double high)
{
    p->x_fitted = 1;
    low = p->x_from_zero ? fmin(low, 0) : low;
    high = high > low ? high : low + 1; /* one x alone */
    p->x_high = high;
    figure_linear_tics(&low, &high, p->x_tic, &p->x_tics);
    p->x_low = low;
    while (p->x_tics > 1 && p->x_tic[p->x_tics - 1].at > p->x_high)
        p->x_tics--;
}

void figure_fit(figure_panel *p, double low, double high)
{
    double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
    for (int c = 0; c < p->curves; c++) {
        for (int i = 0; i < p->curve[c].count; i++) {
            figure_point *point = &p->curve[c].point[i];
            if (p->y_log > 0)
                figure_leave_out(p, point);
            figure_extend(point->x, &x_low, &x_high);
            figure_extend(point->y, &y_low, &y_high);
            figure_extend(point->low, &y_low, &y_high);
            figure_extend(point->high, &y_low, &y_high);
        }
    }
    if (!(y_low <= y_high)) /* nothing to show: an axis all the same */
        y_low = p->y_log > 0 ? 1 : 0, y_high = p->y_log > 0 ? 10 : 1;
    if (!(x_low <= x_high))
        x_low = 0, x_high = 1;
    y_low = isnan(low) ? y_low : low;
    y_high = isnan(high) ? y_high : high;
    p->y_tics = 0;
    if (p->y_log > 0)
        figure_log_tics(&y_low, &y_high, p->y_tic, &p->y_tics);
    else
        figure_linear_tics(&y_low, &y_high, p->y_tic, &p->y_tics);
    p->y_low = y_low;
    p->y_high = y_high;
    if (p->x_tics == 0)
        figure_fit_x(p, x_low, x_high);
}

static int figure_shares(const figure_panel *a, const figure_panel *b)
{
    return a->shares && b->shares && strcmp(a->shares, b->shares) == 0;
}

static void figure_share_axes(figure_panel *p, int panels)
{
    double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
    for (int i = 0; i < panels; i++) {
        x_low = fmin(x_low, p[i].x_low);
        x_high = fmax(x_high, p[i].x_high);
        y_low = fmin(y_low, p[i].y_low);
        y_high = fmax(y_high, p[i].y_high);
    }
    for (int i = 0; i < panels; i++) {
        if (p[i].x_fitted) {
            p[i].x_tics = 0;
            figure_fit_x(&p[i], x_low, x_high);
        }
        figure_fit(&p[i], y_low, y_high);
    }
}

void figure_share(figure *f)
{
    int end;
    for (int first = 0; first < f->panels; first = end) {
        for (end = first + 1; end < f->panels && figure_shares(&f->panel[first], &f->panel[end]);)
            end++;
        if (end - first > 1)
            figure_share_axes(&f->panel[first], end - first);
    }
}

/* ------------------------------------------------------------------------------------------------ labels */

typedef struct figure_height {
    double z; /* height less the room that the labels below need: must not fall from label to label */
    int index;
} figure_height;

static int figure_compare(const void *a, const void *b)
{
    const figure_height *x = a, *y = b;
    int order = (x->z > y->z) - (x->z < y->z);
    return order ? order : x->index - y->index;
}

/* Pool adjacent violators: neighbours out of order share their mean. */
static void figure_pool(figure_height *h, int n)
{
    for (int end = 1; end <= n; end++) {
        int first = end - 1;
        double sum = h[first].z;
        while (first > 0 && h[first - 1].z > sum / (end - first)) {
            double level = h[first - 1].z; /* of the whole block before */
            for (; first > 0 && h[first - 1].z == level; first--)
                sum += level;
        }
        for (int i = first; i < end; i++)
            h[i].z = sum / (end - first);
    }
}

void figure_spread(double *y, int n, double gap, double low, double high)
{
    figure_height *h = calloc((size_t)n + 1, sizeof *h);
    if (!h)
        return;
    gap = n > 1 ? fmin(gap, (high - low) / (n - 1)) : gap;
    for (int i = 0; i < n; i++)
        h[i] = (figure_height){.z = y[i], .index = i};
    qsort(h, (size_t)n, sizeof *h, figure_compare);
    for (int i = 0; i < n; i++)
        h[i].z -= i * gap;
    figure_pool(h, n);
    for (int i = 0; i < n; i++)
        y[h[i].index] = fmin(fmax(h[i].z, low), high - (n - 1) * gap) + i * gap;
    free(h);
}

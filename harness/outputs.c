#include "outputs.h"

#include <string.h>

#include "task.h"

void outputs_choose(workspace *w, const batch *b)
{
    int every = b->every_token || w->watch;
    w->kept_count = 0;
    for (int n = 0; n < b->sequences; n++) {
        int end = b->start[n + 1], before = w->kept_count;
        for (int t = b->start[n]; t < end; t++)
            if (every || b->target[t] != TASK_NOT_SCORED)
                w->kept[w->kept_count++] = t;
        w->first_row[n] = (w->kept_count > before ? w->kept[before] : end) - b->start[n];
    }
}

void outputs_gather(const workspace *w, const real *all, int width, real *rows)
{
    for (int i = 0; i < w->kept_count; i++)
        memcpy(rows + (size_t)i * (size_t)width, all + (size_t)w->kept[i] * (size_t)width, sizeof(real) * (size_t)width);
}

/* From the last token down: kept[i] >= i, so no row is written over before it has moved. */
void outputs_spread(const workspace *w, int tokens, int width, real *rows)
{
    int i = w->kept_count - 1;
    for (int t = tokens - 1; t >= 0; t--) {
        real *to = rows + (size_t)t * (size_t)width;
        if (i < 0 || w->kept[i] != t)
            memset(to, 0, sizeof(real) * (size_t)width);
        else if (i-- != t)
            memcpy(to, rows + (size_t)(i + 1) * (size_t)width, sizeof(real) * (size_t)width);
    }
}

int outputs_row(const workspace *w, int t)
{
    int low = 0, high = w->kept_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (w->kept[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->kept_count && w->kept[low] == t ? low : -1;
}

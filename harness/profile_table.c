#include "profile.h"

#include <stdlib.h>

int profile_table_make(const table *t, profile_table *out, error *e)
{
    *out = (profile_table){.rows = t->rows, .cols = t->cols};
    if (t->rows < 2 || t->rows > PROFILE_ROWS_MAX)
        return error_set(e, ERROR_USAGE, "a table of %d row%s cannot be profiled; 2 to %d can", t->rows,
                         t->rows == 1 ? "" : "s", PROFILE_ROWS_MAX);
    return profile_gram(t, out, e) < 0 || profile_spectrum(t, out, e) < 0 ||
                   readout_table(t->value, t->rows, t->cols, &out->probe, e) < 0
               ? -1
               : 0;
}

void profile_table_free(profile_table *p)
{
    free(p->cosine);
    free(p->dot_mean);
    free(p->dot_spread);
    free(p->cosine_mean);
    free(p->norm);
    free(p->singular);
    free(p->component);
    free(p->power);
    *p = (profile_table){0};
}

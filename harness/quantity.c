#include "quantity.h"

#include <string.h>

#include "probed.h"
#include "starved.h"

const quantity_kind *quantity_kind_at(int i)
{
    static const quantity_kind *const kinds[QUANTITY_KINDS] = {&starved_quantities, &probed_quantities};
    return kinds[i];
}

int quantity_takes(const quantity_kind *k, const run_record *run)
{
    return run->ok && json_is_object(json_object_get(run->record, k->section));
}

int quantity_is_on(const quantity *q, const run_config *c)
{
    for (const pe_option *row = config_rows; row->name; row++)
        if (strcmp(row->name, q->row) == 0)
            return *(const int *)((const char *)c + row->offset);
    return 0;
}

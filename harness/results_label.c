#include "results_label.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "options.h"

enum { LABEL_VALUE_MAX = 8192 };

/* Rows that a label never needs: its group shares the first two, and seeds are what is averaged over. */
static int label_is_grouping(const char *row)
{
    return strcmp(row, "encoding") == 0 || strcmp(row, "task") == 0 || strcmp(row, "seed") == 0;
}

/* Whether runs first .. end-1 hold more than one value in this row. */
static int label_differs(const results *r, int first, int end, const pe_option *row)
{
    char one[LABEL_VALUE_MAX], other[LABEL_VALUE_MAX];
    options_print_value(row, &r->run[first].config, one, sizeof one);
    for (int i = first + 1; i < end; i++) {
        options_print_value(row, &r->run[i].config, other, sizeof other);
        if (strcmp(one, other) != 0)
            return 1;
    }
    return 0;
}

/* " [" before the first difference, ", " before the others: "name [train.len=64, train.lr=0.0003]". */
static void label_add(const run_record *item, const pe_option *row, buffer *label)
{
    char value[LABEL_VALUE_MAX];
    options_print_value(row, &item->config, value, sizeof value);
    buffer_add(label, label->length == strlen(item->config.encoding) ? " [" : ", ");
    buffer_format(label, "%s=%s", row->name, value);
}

static int label_group(results *r, int first, int end, error *e)
{
    buffer *label = calloc((size_t)(end - first), sizeof *label);
    if (!label)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = first; i < end; i++)
        buffer_add(&label[i - first], r->run[i].config.encoding);
    for (const pe_option *row = config_rows; row->name; row++) {
        if (label_is_grouping(row->name) || !label_differs(r, first, end, row))
            continue;
        for (int i = first; i < end; i++)
            label_add(&r->run[i], row, &label[i - first]);
    }
    int short_of_memory = 0;
    for (int i = first; i < end; i++) {
        if (label[i - first].length > strlen(r->run[i].config.encoding))
            buffer_add(&label[i - first], "]");
        r->run[i].label = buffer_take(&label[i - first]);
        short_of_memory |= !r->run[i].label;
    }
    free(label);
    return short_of_memory ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}

int results_label(results *r, error *e)
{
    int end;
    for (int first = 0; first < r->count; first = end) {
        for (end = first + 1; end < r->count; end++)
            if (strcmp(r->run[first].config.task, r->run[end].config.task) != 0 ||
                strcmp(r->run[first].config.encoding, r->run[end].config.encoding) != 0)
                break;
        if (label_group(r, first, end, e) < 0)
            return -1;
    }
    return 0;
}

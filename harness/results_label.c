#include "results_label.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "options.h"
#include "work.h"

enum { LABEL_VALUE_MAX = 8192 };

/* Rows that a label never needs: its group shares the first two, seeds are what is averaged over, and options of
 * evaluation are always shown: nobody may take them for trained. */
static int label_is_grouping(const char *row)
{
    return strcmp(row, "encoding") == 0 || strcmp(row, "task") == 0 || strcmp(row, "seed") == 0 ||
           strcmp(row, "eval.encoding_options") == 0;
}

/* "rope", or "rope tested as rope(scaling=yarn)". Returns the length. */
static size_t label_begin(const run_record *item, buffer *label)
{
    buffer_add(label, item->config.encoding);
    if (item->config.eval.encoding_options[0])
        buffer_format(label, " tested as %s", item->config.eval.encoding_options);
    return label->length;
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

/* Whether the rate follows from the other settings among runs first .. end-1, as it does where each cell's was chosen by
 * tuning: it then tells no runs apart that something else does not. */
static int label_rate_follows(const results *r, int first, int end)
{
    for (int i = first; i < end; i++)
        for (int j = i + 1; j < end; j++)
            if (r->run[i].config.train.lr != r->run[j].config.train.lr) {
                run_config one = r->run[i].config, other = r->run[j].config;
                one.train.lr = other.train.lr;
                one.seed = other.seed;
                if (work_shape(&one, 0) == work_shape(&other, 0))
                    return 0;
            }
    return 1;
}

/* " [" before the first difference, ", " before the others: "name [train.len=64, train.lr=0.0003]". begin: the label's
 * length without differences. */
static void label_add(const run_record *item, const pe_option *row, size_t begin, buffer *label)
{
    char value[LABEL_VALUE_MAX];
    options_print_value(row, &item->config, value, sizeof value);
    buffer_add(label, label->length == begin ? " [" : ", ");
    buffer_format(label, "%s=%s", row->name, value);
}

static int label_group(results *r, int first, int end, error *e)
{
    buffer *label = calloc((size_t)(end - first), sizeof *label);
    size_t *begin = calloc((size_t)(end - first), sizeof *begin);
    if (!label || !begin) {
        free(label);
        free(begin);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    for (int i = first; i < end; i++)
        begin[i - first] = label_begin(&r->run[i], &label[i - first]);
    int rate_follows = r->tuned && label_rate_follows(r, first, end);
    for (const pe_option *row = config_rows; row->name; row++) {
        if (label_is_grouping(row->name) || !label_differs(r, first, end, row) ||
            (rate_follows && strcmp(row->name, "train.lr") == 0))
            continue;
        for (int i = first; i < end; i++)
            label_add(&r->run[i], row, begin[i - first], &label[i - first]);
    }
    int short_of_memory = 0;
    for (int i = first; i < end; i++) {
        if (label[i - first].length > begin[i - first])
            buffer_add(&label[i - first], "]");
        r->run[i].label = buffer_take(&label[i - first]);
        short_of_memory |= !r->run[i].label;
    }
    free(label);
    free(begin);
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

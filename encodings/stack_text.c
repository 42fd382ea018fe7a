#include "stack_text.h"

#include <stdio.h>

int stack_split_item(scan_span item, const char *what, char name[STACK_NAME_MAX], scan_span *options, error *e)
{
    const char *fault;
    size_t end;
    if (item.length == 0)
        return error_set(e, ERROR_USAGE, "%s is missing", what);
    if (scan_until(item, "([\"", &end, &fault) != 0)
        return error_set(e, ERROR_USAGE, "%s in '%.*s'", fault, (int)item.length, item.at);
    *options = (scan_span){item.at + end, 0};
    if (end < item.length && (item.at[end] != '(' || item.at[item.length - 1] != ')'))
        return error_set(e, ERROR_USAGE, "'%.*s' is not a name with options in round brackets", (int)item.length,
                         item.at);
    if (end < item.length)
        *options = (scan_span){item.at + end + 1, item.length - end - 2};
    scan_span word = scan_trim((scan_span){item.at, end});
    if (word.length == 0 || word.length >= STACK_NAME_MAX)
        return error_set(e, ERROR_USAGE, "'%.*s' does not begin with a name", (int)item.length, item.at);
    snprintf(name, STACK_NAME_MAX, "%.*s", (int)word.length, word.at);
    return 0;
}

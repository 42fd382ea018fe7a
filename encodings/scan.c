#include "scan.h"

#include <string.h>

enum { SCAN_DEPTH_MAX = 32 };

/* The index just past the quoted text that begins at `begin`, or 0 if it does not end. */
static size_t scan_quoted(scan_span text, size_t begin)
{
    for (size_t i = begin + 1; i < text.length; i++) {
        if (text.at[i] == '\\')
            i++;
        else if (text.at[i] == '"')
            return i + 1;
    }
    return 0;
}

static int scan_fault(const char **fault, const char *description)
{
    *fault = description;
    return -1;
}

int scan_until(scan_span text, const char *stops, size_t *length, const char **fault)
{
    char closing[SCAN_DEPTH_MAX];
    int depth = 0;
    size_t i = 0;
    while (i < text.length) {
        char c = text.at[i];
        if (c == '\0')
            return scan_fault(fault, "a zero byte");
        if (depth == 0 && strchr(stops, c))
            break;
        if (c == '"') {
            i = scan_quoted(text, i);
            if (i == 0)
                return scan_fault(fault, "a quote that does not end");
            continue;
        }
        if (c == '(' || c == '[') {
            if (depth == SCAN_DEPTH_MAX)
                return scan_fault(fault, "brackets that nest too deeply");
            closing[depth++] = c == '(' ? ')' : ']';
        } else if (c == ')' || c == ']') {
            if (depth == 0 || closing[--depth] != c)
                return scan_fault(fault, c == ')' ? "a ')' without its '('" : "a ']' without its '['");
        }
        i++;
    }
    if (depth > 0)
        return scan_fault(fault, closing[depth - 1] == ')' ? "a '(' without its ')'" : "a '[' without its ']'");
    *length = i;
    return 0;
}

static int scan_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

scan_span scan_trim(scan_span text)
{
    while (text.length > 0 && scan_is_space(text.at[0])) {
        text.at++;
        text.length--;
    }
    while (text.length > 0 && scan_is_space(text.at[text.length - 1]))
        text.length--;
    return text;
}

scan_span scan_take(scan_span *text, size_t length)
{
    scan_span taken = scan_trim((scan_span){text->at, length});
    size_t used = length < text->length ? length + 1 : length;
    text->at += used;
    text->length -= used;
    return taken;
}

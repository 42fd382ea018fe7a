/* scan.h - finds the end of a token in option and stack texts, where brackets nest and quoted text hides both. */
#ifndef SCAN_H
#define SCAN_H

#include <stddef.h>

typedef struct scan_span {
    const char *at; /* not NUL-terminated */
    size_t length;
} scan_span;

/* The length of the longest prefix of `text` before the first character of `stops` that stands outside all brackets and
 * quotes; the whole length when there is none. Returns 0, or -1 with *fault set to a short description ("')' without
 * '('", "a quote that does not end"). */
int scan_until(scan_span text, const char *stops, size_t *length, const char **fault);

/* Without the white space at both ends. */
scan_span scan_trim(scan_span text);

/* The first `length` characters, trimmed; `text` is advanced past them and past the stop that follows, if any. */
scan_span scan_take(scan_span *text, size_t length);

#endif

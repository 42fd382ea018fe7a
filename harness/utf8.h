/* utf8.h - is it text? JSON holds UTF-8 only, and a terminal should be sent nothing else. */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>

/* Bytes of the longest prefix that is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
 * The text is good when this is its length. */
size_t utf8_prefix(const char *text);

#endif

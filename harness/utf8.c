#include "utf8.h"

/* Bytes of the character that begins at p, or 0. The second byte's range shuts out what the first one alone would let
 * in. */
static int utf8_character(const unsigned char *p)
{
    if (*p < 0x80)
        return 1;
    int length = *p >= 0xc2 && *p < 0xe0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;
    unsigned low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
    unsigned high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;
    for (int i = 1; i < length; i++, low = 0x80, high = 0xbf)
        if (p[i] < low || p[i] > high) /* the NUL at the end is out of range too */
            return 0;
    return length;
}

size_t utf8_prefix(const char *text)
{
    const unsigned char *begin = (const unsigned char *)text, *p = begin;
    for (int length; *p && (length = utf8_character(p)); p += length)
        ;
    return (size_t)(p - begin);
}

/* html.h - text as HTML. */
#ifndef HTML_H
#define HTML_H

#include "buffer.h"

/* & < > " ' as references; control characters, which no page may hold, as spaces. */
void html_escape(buffer *out, const char *text);

/* The same for a text with the marks of document.h, which become elements. */
void html_inline(buffer *out, const char *text);

#endif

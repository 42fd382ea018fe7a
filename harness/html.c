#include "html.h"

#include <string.h>

#include "document.h"

static const char *html_reference(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void html_plain(buffer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *reference = html_reference(text[i]);
        if (reference)
            buffer_add(out, reference);
        else
            buffer_bytes(out, (unsigned char)text[i] < 0x20 && text[i] != '\n' ? " " : &text[i], 1);
    }
}

void html_escape(buffer *out, const char *text)
{
    html_plain(out, text, strlen(text));
}

static void html_code(buffer *out, const char *text, size_t length)
{
    buffer_add(out, "<code>");
    html_plain(out, text, length);
    buffer_add(out, "</code>");
}

static void html_link(buffer *out, const char *address, size_t address_length, const char *text, size_t length)
{
    buffer_add(out, "<a href=\"");
    html_plain(out, address, address_length);
    buffer_add(out, "\">");
    html_plain(out, text, length);
    buffer_add(out, "</a>");
}

static const doc_dialect html_dialect = {.plain = html_plain,
                                         .code = html_code,
                                         .link = html_link,
                                         .strong = {"<strong>", "</strong>"},
                                         .muted = {"<span class=\"muted\">", "</span>"}};

void html_inline(buffer *out, const char *text)
{
    doc_inline(out, text, &html_dialect);
}

#include "svg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "palette.h"

int svg_read(const char *path, buffer *out, error *e)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    char piece[8192];
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buffer_bytes(out, piece, n);
    int failed = ferror(f);
    fclose(f);
    return failed || out->failed ? error_set(e, ERROR_ENVIRONMENT, "%s: cannot be read", path) : 0;
}

static void svg_add_style(buffer *out)
{
    buffer_add(out, "\n<style>\n@media (prefers-color-scheme: dark) {\n");
    palette_dark_css("", out);
    buffer_add(out, "}\n</style>\n");
}

static const char svg_fonts[] = "font-family=\"DejaVu Sans,Verdana,system-ui,sans-serif\"";

/* What gnuplot writes and what a page needs: it knows bold only as part of the font's name. */
static const struct {
    const char *from, *to;
} svg_replacements[] = {
    {"font-family=\"DejaVu Sans\"", ""},
    {"font-family=\"DejaVu Sans:Bold\"", " font-weight=\"bold\""},
};

/* Writes what stands at `text` if it must be rewritten and returns its length; 0: it stays. Colours come as rgb(  0,
 * 114, 178) or rgb(0,114,178); only the second is left, so that one rule finds them all. */
static size_t svg_rewrite(const char *text, buffer *out)
{
    for (size_t i = 0; i < sizeof svg_replacements / sizeof svg_replacements[0]; i++) {
        size_t length = strlen(svg_replacements[i].from);
        if (strncmp(text, svg_replacements[i].from, length) != 0)
            continue;
        buffer_add(out, svg_fonts);
        buffer_add(out, svg_replacements[i].to);
        return length;
    }
    if (strncmp(text, "rgb(", 4) != 0)
        return 0;
    size_t length = strcspn(text, ")");
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ')
            buffer_bytes(out, &text[i], 1);
    return length;
}

static void svg_add_rewritten(buffer *out, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "fr"); /* the letters that what is rewritten begins with */
        buffer_bytes(out, text, plain);
        text += plain;
        size_t length = *text ? svg_rewrite(text, out) : 0;
        if (length == 0 && *text)
            buffer_bytes(out, text, length = 1);
        text += length;
    }
}

int svg_finish(buffer *svg, const char *title, error *e)
{
    static const char opening[] = "<title>", closing[] = "</title>";
    const char *text = buffer_text(svg), *root = strstr(text, "<svg"), *root_end = root ? strchr(root, '>') : NULL;
    const char *old = strstr(text, opening), *old_end = old ? strstr(old, closing) : NULL;
    if (!root_end || !old_end || old < root_end)
        return error_set(e, ERROR_ENVIRONMENT, "gnuplot wrote no SVG that this program knows");
    buffer out = BUFFER_INIT;
    buffer_bytes(&out, text, (size_t)(root_end - text));
    buffer_add(&out, " role=\"img\">");
    svg_add_style(&out);
    buffer_add(&out, opening);
    html_escape(&out, title);
    svg_add_rewritten(&out, old_end);
    buffer_free(svg);
    *svg = out;
    return 0;
}

/* id='x', href='#x' and url(#x), with either quote. */
static int svg_is_reference(const char *at, const char *end)
{
    static const char *const before[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        size_t length = strlen(before[i]);
        if ((size_t)(end - at) >= length && strncmp(at, before[i], length) == 0)
            return (int)length;
    }
    return 0;
}

static void svg_add_prefixed(buffer *page, const char *text, const char *prefix)
{
    const char *end = text + strlen(text), *kept = text;
    for (const char *at = text; at < end;) {
        int length = svg_is_reference(at, end);
        at += length ? length : 1;
        if (!length)
            continue;
        buffer_bytes(page, kept, (size_t)(at - kept));
        buffer_add(page, prefix);
        kept = at;
    }
    buffer_bytes(page, kept, (size_t)(end - kept));
}

/* The root element: as wide as it was drawn where there is room, never so narrow that its text cannot be read. */
static int svg_add_root(buffer *page, const char *root)
{
    int width, height;
    const char *box = strstr(root, "viewBox=\"");
    if (!box || sscanf(box, "viewBox=\"0 0 %d %d\"", &width, &height) != 2)
        return -1;
    buffer_format(page,
                  "<svg class=\"plot\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" "
                  "xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 %d %d\" "
                  "style=\"max-width:%dpx;min-width:%dpx\">",
                  width, height, width * 5 / 4, width * 3 / 5);
    return 0;
}

int svg_inline(const char *svg, const char *prefix, buffer *page)
{
    static const char style_end[] = "</style>";
    const char *root = strstr(svg, "<svg"), *style = root ? strstr(root, style_end) : NULL;
    if (!style || svg_add_root(page, root) < 0)
        return -1;
    svg_add_prefixed(page, style + strlen(style_end), prefix);
    return 0;
}

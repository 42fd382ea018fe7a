#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void check_run(const pe_stack *stack, check_line *line)
{
    *line = (check_line){.with_gradient = sizeof(real) == sizeof(double), .refused = ERROR_INIT};
    stack_print_members(stack, line->stack, sizeof line->stack);
    /* The protocol first: hooks that write where they must not would spoil what the others measure. */
    int status = protocol_check(stack, &line->protocol, &line->refused);
    if (status == 0 && line->protocol.failures == 0) {
        status = claims_check(stack, &line->claims, &line->refused);
        if (status == 0 && line->with_gradient)
            status = gradient_check(stack, &line->gradient, &line->refused);
    }
    line->failed = status < 0 || line->protocol.failures || line->claims.failures || line->gradient.failures;
}

typedef struct check_job {
    const registry *registry;
    check_line_fn *f;
    void *user;
    int *failed;
} check_job;

static int check_report(const check_job *job, const pe_stack *stack, error *e)
{
    check_line *line = malloc(sizeof *line);
    if (!line)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    check_run(stack, line);
    *job->failed += line->failed;
    job->f(job->user, line);
    free(line);
    return 0;
}

/* Entries that differ in nothing but the layer they stand in are checked once. */
static int check_text(const check_job *job, const char *text, error *e)
{
    layered_stack layers;
    if (layered_parse(job->registry, text, &layers, e) < 0)
        return -1;
    int status = 0;
    for (int i = 0; status == 0 && i < layers.count; i++) {
        char mine[STACK_TEXT_MAX], theirs[STACK_TEXT_MAX];
        int seen = 0;
        stack_print_members(&layers.pattern[i], mine, sizeof mine);
        for (int j = 0; j < i && !seen; j++) {
            stack_print_members(&layers.pattern[j], theirs, sizeof theirs);
            seen = strcmp(mine, theirs) == 0;
        }
        if (!seen)
            status = check_report(job, &layers.pattern[i], e);
    }
    layered_free(&layers);
    return status;
}

static int check_encoding(const check_job *job, const pe_descriptor *d, error *e)
{
    if (check_text(job, d->name, e) < 0)
        return -1;
    for (const char *const *example = d->examples; example && *example; example++) {
        char text[STACK_TEXT_MAX];
        snprintf(text, sizeof text, "%s(%s)", d->name, *example);
        if (check_text(job, text, e) < 0)
            return error_prefix(e, "example of %s", d->name);
    }
    return 0;
}

int check_stack(const registry *r, const char *text, check_line_fn *f, void *user, int *failed, error *e)
{
    const check_job job = {r, f, user, failed};
    *failed = 0;
    if (text)
        return check_text(&job, text, e);
    for (int i = 0; i < registry_encoding_count(r); i++)
        if (check_encoding(&job, registry_encoding(r, i), e) < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ printing */

typedef struct check_text_out {
    char *text;
    size_t size, used;
} check_text_out;

static void check_print(check_text_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void check_print(check_text_out *out, const char *format, ...)
{
    if (out->used >= out->size)
        return;
    va_list args;
    va_start(args, format);
    int written = vsnprintf(out->text + out->used, out->size - out->used, format, args);
    va_end(args);
    out->used += written > 0 ? (size_t)written : 0;
}

void check_line_print(const check_line *line, char *text, size_t size)
{
    check_text_out out = {text, size, 0};
    check_print(&out, "%-36s", line->stack);
    if (line->refused.kind != ERROR_NONE) {
        check_print(&out, "  refused\n    %s", line->refused.message);
        return;
    }
    int broken = line->protocol.failures > 0;
    if (broken)
        check_print(&out, "  gradient not tried  claims not tried");
    else {
        if (!line->with_gradient)
            check_print(&out, "  gradient in double precision only");
        else
            check_print(&out, "  gradient %s %.1e", line->gradient.failures ? "FAILED" : "ok", line->gradient.worst);
        check_print(&out, "  claims %s", line->claims.failures ? "FAILED" : "ok");
    }
    check_print(&out, "  protocol %s", broken ? "FAILED" : "ok");
    const struct {
        int failures;
        const char *message;
    } reports[] = {{line->gradient.failures, line->gradient.message},
                   {line->claims.failures, line->claims.message},
                   {line->protocol.failures, line->protocol.message}};
    for (int i = 0; i < 3; i++) {
        if (reports[i].failures > 0)
            check_print(&out, "\n    %s", reports[i].message);
        if (reports[i].failures > 1)
            check_print(&out, " (and %d more)", reports[i].failures - 1);
    }
}

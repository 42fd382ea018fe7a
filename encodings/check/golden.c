/* golden.c - walks the cases of a file. */
#include "golden.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "golden_case.h"

static const golden_op *golden_find_op(const char *name)
{
    static const golden_op *const groups[] = {golden_absolute_ops, golden_rotary_ops, golden_scaling_ops,
                                              golden_bias_ops, golden_decay_ops, golden_relative_ops,
                                              golden_contextual_ops, golden_randomized_ops};
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (const golden_op *op = groups[g]; op->name; op++)
            if (strcmp(op->name, name) == 0)
                return op;
    return NULL;
}

/* A key that no operation looked at may change what the numbers mean. */
static void golden_expect_all_read(golden_case *c)
{
    static const char *const sections[] = {"params", "in", "out"};
    for (int s = 0; s < 3; s++) {
        const char *key;
        json_t *value;
        json_object_foreach(json_object_get(c->json, sections[s]), key, value)
        {
            int known = json_is_null(value);
            for (int i = 0; i < c->read_count && !known; i++)
                known = strcmp(c->read[i], key) == 0;
            if (!known)
                golden_skip(c, "%s.%s is not understood", sections[s], key);
        }
    }
}

static void golden_read_tolerance(golden_case *c)
{
    const json_t *tol = json_object_get(c->json, "tol");
    const json_t *mine = json_object_get(tol, sizeof(real) == sizeof(double) ? "f64" : "f32");
    if (!mine)
        mine = json_object_get(tol, "f64"); /* whole numbers only: the same in every precision */
    if (json_array_size(mine) != 2) {
        golden_skip(c, "the tolerance is missing");
        return;
    }
    c->atol = json_number_value(json_array_get(mine, 0));
    c->rtol = json_number_value(json_array_get(mine, 1));
}

static void golden_run_case(golden_case *c)
{
    const golden_op *op = c->op ? golden_find_op(c->op) : NULL;
    golden_read_tolerance(c);
    if (c->outcome != GOLDEN_PASSED)
        return;
    if (!op) {
        golden_skip(c, "no encoding here computes the operation '%s'", c->op ? c->op : "");
        return;
    }
    op->run(c);
    if (c->outcome == GOLDEN_PASSED && c->e->kind == ERROR_NONE) {
        golden_expect_all_read(c);
        if (c->outcome == GOLDEN_PASSED && c->compared == 0)
            golden_skip(c, "there was nothing to compare");
    }
}

void golden_tell(const golden_line *line, golden_line_fn *f, void *user, golden_report *out)
{
    int *count = line->outcome == GOLDEN_PASSED   ? &out->passed
                 : line->outcome == GOLDEN_FAILED ? &out->failed
                                                  : &out->skipped;
    ++*count;
    if (f)
        f(user, line);
}

static int golden_visit(const registry *r, const char *path, const json_t *json, golden_line_fn *f, void *user,
                        golden_report *out, error *e)
{
    golden_case *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    const char *id = json_string_value(json_object_get(json, "id"));
    const char *variant = json_string_value(json_object_get(json, "variant"));
    *c = (golden_case){.registry = r,
                       .json = json,
                       .op = json_string_value(json_object_get(json, "op")),
                       .variant = variant ? variant : "",
                       .e = e};
    golden_run_case(c);
    int status = e->kind == ERROR_NONE ? 0 : error_prefix(e, "%s, case %s", path, id ? id : "?");
    if (status == 0) {
        golden_line line = {path, id ? id : "?", c->op ? c->op : "?", c->outcome, c->compared, c->worst, c->remark};
        golden_tell(&line, f, user, out);
    }
    for (int i = 0; i < c->memory_count; i++)
        free(c->memory[i]);
    free(c);
    return status;
}

json_t *golden_read(const char *path, error *e)
{
    json_error_t fault;
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &status) != 0 || S_ISDIR(status.st_mode)) {
        error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(file ? EISDIR : errno));
        if (file)
            fclose(file);
        return NULL;
    }
    json_t *root = json_loadf(file, 0, &fault);
    fclose(file);
    if (!root) {
        error_set(e, ERROR_USAGE, "%s:%d:%d: %s", path, fault.line, fault.column, fault.text);
        return NULL;
    }
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (schema && strcmp(schema, "pe-golden/1") == 0)
        return root;
    error_set(e, ERROR_USAGE, "%s: its schema is '%s', not pe-golden/1", path, schema ? schema : "");
    json_decref(root);
    return NULL;
}

int golden_run(const registry *r, const char *path, const json_t *root, golden_line_fn *f, void *user,
               golden_report *out, error *e)
{
    const json_t *cases = json_object_get(root, "cases");
    int status = 0;
    if (!json_is_array(cases))
        status = error_set(e, ERROR_USAGE, "%s: it has no list of cases", path);
    for (size_t i = 0; status == 0 && i < json_array_size(cases); i++)
        status = golden_visit(r, path, json_array_get(cases, i), f, user, out, e);
    return status;
}

int golden_run_file(const registry *r, const char *path, golden_line_fn *f, void *user, golden_report *out, error *e)
{
    json_t *root = golden_read(path, e);
    int status = root ? golden_run(r, path, root, f, user, out, e) : -1;
    json_decref(root);
    return status;
}

void golden_line_print(const golden_line *line, char *text, size_t size)
{
    static const char *const words[] = {"ok", "FAILED", "skipped"};
    int used = snprintf(text, size, "%-7s  %-34s  %-22s", words[line->outcome], line->id, line->op);
    if (line->outcome != GOLDEN_SKIPPED && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, "  %5d numbers, at worst %.2g of the tolerance",
                         line->compared, line->worst);
    if (line->remark[0] && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "%s%s", line->outcome == GOLDEN_SKIPPED ? "  " : "; ", line->remark);
}

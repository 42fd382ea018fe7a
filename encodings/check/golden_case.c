/* golden_case.c - reading a case and comparing with it. */
#include "golden_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ outcomes */

static void golden_say(golden_case *c, const char *format, va_list args)
{
    vsnprintf(c->remark, sizeof c->remark, format, args);
}

void golden_skip(golden_case *c, const char *format, ...)
{
    if (c->outcome != GOLDEN_PASSED)
        return;
    va_list args;
    va_start(args, format);
    golden_say(c, format, args);
    va_end(args);
    c->outcome = GOLDEN_SKIPPED;
}

void golden_fail(golden_case *c, const char *format, ...)
{
    if (c->outcome == GOLDEN_FAILED)
        return;
    va_list args;
    va_start(args, format);
    golden_say(c, format, args);
    va_end(args);
    c->outcome = GOLDEN_FAILED;
}

void golden_remark(golden_case *c, const char *format, ...)
{
    if (c->outcome != GOLDEN_PASSED)
        return;
    va_list args;
    va_start(args, format);
    golden_say(c, format, args);
    va_end(args);
}

/* ------------------------------------------------------------------------------------------------ reading */

void *golden_memory(golden_case *c, size_t count, size_t size)
{
    int room = c->memory_count < (int)(sizeof c->memory / sizeof c->memory[0]);
    void *memory = room ? calloc(count > 0 ? count : 1, size) : NULL;
    if (!memory) {
        error_set(c->e, ERROR_ENVIRONMENT, "out of memory");
        return NULL;
    }
    return c->memory[c->memory_count++] = memory;
}

static const json_t *golden_member(const golden_case *c, const char *section, const char *name)
{
    const json_t *value = json_object_get(json_object_get(c->json, section), name);
    return json_is_null(value) ? NULL : value;
}

static void golden_note_read(golden_case *c, const char *name)
{
    for (int i = 0; i < c->read_count; i++)
        if (strcmp(c->read[i], name) == 0)
            return;
    if (c->read_count < GOLDEN_NAMES_MAX)
        c->read[c->read_count++] = name;
}

int golden_has(golden_case *c, const char *name)
{
    return golden_member(c, "params", name) != NULL;
}

int golden_has_in(const golden_case *c, const char *name)
{
    return golden_member(c, "in", name) != NULL;
}

int golden_has_out(const golden_case *c, const char *name)
{
    return golden_member(c, "out", name) != NULL;
}

double golden_number(golden_case *c, const char *name, double otherwise)
{
    const json_t *value = golden_member(c, "params", name);
    golden_note_read(c, name);
    if (!value)
        return otherwise;
    if (json_is_boolean(value))
        return json_is_true(value);
    if (!json_is_number(value)) {
        golden_skip(c, "parameter %s is not a number", name);
        return otherwise;
    }
    return json_number_value(value);
}

const char *golden_text(golden_case *c, const char *name, const char *otherwise)
{
    const json_t *value = golden_member(c, "params", name);
    golden_note_read(c, name);
    if (value && !json_is_string(value))
        golden_skip(c, "parameter %s is not a string", name);
    return json_is_string(value) ? json_string_value(value) : otherwise;
}

int golden_whole_or(golden_case *c, const char *name, int otherwise)
{
    double value = golden_number(c, name, otherwise);
    if (value == floor(value) && fabs(value) <= 1e9)
        return (int)value;
    golden_skip(c, "parameter %s is no whole number", name);
    return otherwise;
}

int golden_whole(golden_case *c, const char *name)
{
    if (!golden_has(c, name))
        golden_skip(c, "parameter %s is missing", name);
    return golden_whole_or(c, name, 0);
}

static int golden_read_shape(golden_case *c, const json_t *shape, golden_array *a)
{
    a->rank = (int)json_array_size(shape);
    a->count = 1;
    if (a->rank < 1 || a->rank > GOLDEN_RANK_MAX)
        return -1;
    for (int i = 0; i < a->rank; i++) {
        json_int_t size = json_integer_value(json_array_get(shape, (size_t)i));
        if (size < 0 || size > 1000000)
            return -1;
        a->shape[i] = (int)size;
        a->count *= (size_t)size;
    }
    (void)c;
    return 0;
}

static const golden_array *golden_read_array(golden_case *c, const char *section, const char *name, int rank)
{
    const json_t *value = golden_member(c, section, name);
    const json_t *data = json_object_get(value, "data");
    golden_array *a = golden_memory(c, 1, sizeof *a);
    if (!a)
        return NULL;
    golden_note_read(c, name);
    if (!value) {
        golden_skip(c, "%s.%s is missing", section, name);
        return NULL;
    }
    if (golden_read_shape(c, json_object_get(value, "shape"), a) < 0 || a->count != json_array_size(data) ||
        (rank > 0 && a->rank != rank)) {
        golden_skip(c, "%s.%s has a shape that is not understood", section, name);
        return NULL;
    }
    a->data = golden_memory(c, a->count, sizeof *a->data);
    if (!a->data)
        return NULL;
    for (size_t i = 0; i < a->count; i++) {
        const json_t *element = json_array_get(data, i);
        if (!json_is_number(element)) {
            golden_skip(c, "%s.%s[%zu] is not a number", section, name, i);
            return NULL;
        }
        a->data[i] = json_number_value(element);
    }
    return a;
}

const golden_array *golden_in(golden_case *c, const char *name, int rank)
{
    return golden_read_array(c, "in", name, rank);
}

const golden_array *golden_out(golden_case *c, const char *name, int rank)
{
    return golden_read_array(c, "out", name, rank);
}

/* ------------------------------------------------------------------------------------------------ comparing */

static void golden_name_element(const golden_array *a, const char *name, size_t i, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", name);
    size_t below = a->count;
    for (int d = 0; d < a->rank && used > 0 && (size_t)used < size; d++) {
        below /= (size_t)a->shape[d];
        used += snprintf(text + used, size - (size_t)used, "[%zu]", i / below % (size_t)a->shape[d]);
    }
}

static void golden_miss(golden_case *c, const golden_array *want, const char *name, size_t i, double got,
                        double allowed)
{
    char element[96];
    golden_name_element(want, name, i, element, sizeof element);
    golden_fail(c, "%s: expected %.17g, got %.17g, %.2g apart where %.2g is allowed", element, want->data[i], got,
                fabs(got - want->data[i]), allowed);
}

/* The expected array, if it is there and of this size. */
static const golden_array *golden_want(golden_case *c, const char *name, const double *got, size_t count)
{
    const golden_array *want = got ? golden_out(c, name, 0) : NULL;
    if (want && want->count != count) {
        golden_skip(c, "out.%s has %zu elements, not %zu", name, want->count, count);
        return NULL;
    }
    return want;
}

void golden_compare(golden_case *c, const char *name, const double *got, size_t count, const unsigned char *hidden)
{
    const golden_array *want = golden_want(c, name, got, count);
    for (size_t i = 0; want && i < count; i++) {
        if (hidden && hidden[i])
            continue;
        double allowed = c->atol + c->rtol * fabs(want->data[i]), apart = fabs(got[i] - want->data[i]);
        c->compared++;
        c->worst = fmax(c->worst, apart == 0 ? 0 : allowed > 0 ? apart / allowed : INFINITY);
        if (!(apart <= allowed))
            golden_miss(c, want, name, i, got[i], allowed);
    }
}

void golden_compare_exact(golden_case *c, const char *name, const double *got, size_t count,
                          const unsigned char *hidden, const golden_array *alternative, const golden_array *ambiguous)
{
    const golden_array *want = golden_want(c, name, got, count);
    int choice = alternative && ambiguous && alternative->count == count && ambiguous->count == count;
    for (size_t i = 0; want && i < count; i++) {
        if (hidden && hidden[i])
            continue;
        c->compared++;
        if (got[i] != want->data[i] && !(choice && ambiguous->data[i] != 0 && got[i] == alternative->data[i]))
            golden_miss(c, want, name, i, got[i], 0);
    }
}

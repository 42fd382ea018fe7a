#include "descriptor.h"

#include <ctype.h>
#include <stdlib.h>

#include "options.h"
#include "registry.h"

int descriptor_check_layout(const char *what, const char *field, size_t theirs, size_t ours, error *e)
{
    if (theirs == ours)
        return 0;
    return error_set(e, ERROR_USAGE, "%s was built with %s %zu, this program with %zu", what, field, theirs, ours);
}

static int descriptor_is_word(const char *name)
{
    if (!name || !islower((unsigned char)name[0]))
        return 0;
    for (const char *c = name; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_')
            return 0;
    return strlen(name) < 32;
}

/* Words that stand for many encodings in a spec; an encoding of that name could not be told from them. */
static int descriptor_is_reserved(const char *name)
{
    return strcmp(name, "all") == 0 || strcmp(name, "examples") == 0;
}

static int descriptor_check_texts(const char *what, const char *name, const char *title, const char *source,
                                  const char *formula, error *e)
{
    if (!descriptor_is_word(name))
        return error_set(e, ERROR_USAGE, "%s has a name that is not one word of lower-case letters: '%.40s'", what,
                         name ? name : "");
    if (descriptor_is_reserved(name))
        return error_set(e, ERROR_USAGE, "%s has the name '%s', which has a meaning of its own in specs", what, name);
    if (!title || !source || !formula || !*title || !*source || !*formula)
        return error_set(e, ERROR_USAGE, "%s '%s' lacks its title, source or formula", what, name);
    return 0;
}

/* The table itself, and every example against it. */
static int descriptor_check_options(const char *name, const pe_option *rows, size_t size, const char *const *examples,
                                    error *e)
{
    if (options_check_table(rows, name, size, e) != 0)
        return -1;
    void *values = calloc(1, size ? size : 1);
    if (!values)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    int status = 0;
    for (int i = 0; status == 0 && examples && examples[i]; i++)
        status = options_parse(rows, name, examples[i], strlen(examples[i]), values, e);
    free(values);
    return status;
}

/* Options of an extension must be options of its owner for any lengths. */
static int descriptor_check_stretch(const char *name, const char *pattern, const pe_option *rows, size_t size, error *e)
{
    static const stack_stretch some = {.factor = 2, .ends = 2};
    char text[STACK_TEXT_MAX];
    if (stack_extend_fill(pattern, &some, text, sizeof text) != 0)
        return error_set(e, ERROR_USAGE, "'%s' has an extension with unknown words in braces: '%.200s'", name, pattern);
    void *values = calloc(1, size ? size : 1);
    if (!values)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    int status = options_parse(rows, name, text, strlen(text), values, e);
    free(values);
    return status;
}

static int descriptor_check_extensions(const pe_descriptor *d, error *e)
{
    for (const pe_extension *x = d->extensions; x && x->name; x++) {
        int known = x->unless == NULL;
        for (const pe_option *row = d->options; row && row->name; row++)
            known |= x->unless && strcmp(row->name, x->unless) == 0;
        if (!descriptor_is_word(x->name) || strcmp(x->name, STACK_EXTEND_NONE) == 0 || !x->options || !known)
            return error_set(e, ERROR_USAGE, "encoding '%s' has an extension that lacks a name or options, or depends on "
                             "an option that there is not: '%.40s'", d->name, x->name);
        if (descriptor_check_stretch(d->name, x->options, d->options, d->options_size, e) != 0)
            return -1;
    }
    return 0;
}

/* Backward hooks may be absent only where no parameter and no input gets a gradient. */
static int descriptor_check_hooks(const pe_descriptor *d, error *e)
{
    const char *missing = d->embed && d->params && !d->embed_bwd ? "embed_bwd"
                          : d->gate && !d->gate_bwd              ? "gate_bwd"
                          : d->rotate && !d->rotate_bwd          ? "rotate_bwd"
                          : d->score && !d->score_bwd            ? "score_bwd"
                          : d->bias && d->params && !d->bias_bwd ? "bias_bwd"
                          : d->value && !d->value_bwd            ? "value_bwd"
                          : d->prepare && !d->sizes              ? "sizes"
                          : d->gate && !d->sizes                 ? "sizes"
                          : d->gate && !d->score                 ? "score"
                          : d->reads_bias && !d->score           ? "score"
                          : d->rotated_dim && !d->rotate         ? "rotate"
                                                                 : NULL;
    if (missing)
        return error_set(e, ERROR_USAGE, "encoding '%s' lacks %s", d->name, missing);
    return 0;
}

int descriptor_check(const pe_descriptor *d, error *e)
{
    if (descriptor_check_layout("an encoding", "abi", (size_t)d->abi, PE_ABI, e) != 0 ||
        descriptor_check_layout("an encoding", "sizeof(real)", d->real_size, sizeof(real), e) != 0 ||
        descriptor_check_layout("an encoding", "sizeof(pe_descriptor)", d->struct_size, sizeof *d, e) != 0 ||
        descriptor_check_texts("an encoding", d->name, d->title, d->source, d->formula, e) != 0)
        return -1;
    if (!d->family || !*d->family)
        return error_set(e, ERROR_USAGE, "encoding '%s' lacks its family", d->name);
    if (descriptor_check_options(d->name, d->options, d->options_size, d->examples, e) != 0 ||
        descriptor_check_extensions(d, e) != 0)
        return -1;
    return descriptor_check_hooks(d, e);
}

int descriptor_check_map(const pe_map *m, error *e)
{
    if (descriptor_check_layout("a position map", "abi", (size_t)m->abi, PE_ABI, e) != 0 ||
        descriptor_check_layout("a position map", "sizeof(pe_map)", m->struct_size, sizeof *m, e) != 0 ||
        descriptor_check_texts("a position map", m->name, m->title, m->source, m->formula, e) != 0)
        return -1;
    if (descriptor_check_options(m->name, m->options, m->options_size, m->examples, e) != 0 ||
        (m->extension && descriptor_check_stretch(m->name, m->extension, m->options, m->options_size, e) != 0))
        return -1;
    if (!m->place)
        return error_set(e, ERROR_USAGE, "position map '%s' lacks place", m->name);
    return 0;
}

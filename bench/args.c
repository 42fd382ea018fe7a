#include "args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { ARGS_NAMES_MAX = 32, ARGS_NAME_SIZE = 64 };

static const args_option *args_find(const args_option *options, const char *name, size_t length)
{
    for (const args_option *o = options; o && o->name; o++)
        if (strlen(o->name) == length && !strncmp(o->name, name, length))
            return o;
    return NULL;
}

static int args_unknown(const args *a, const char *name, size_t length, error *e)
{
    const char *names[ARGS_NAMES_MAX] = {"help"};
    size_t count = 1;
    for (const args_option *o = a->options; o && o->name && count < ARGS_NAMES_MAX; o++)
        names[count++] = o->name;
    char word[ARGS_NAME_SIZE];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *nearest = nearest_word(word, names, count);
    if (nearest)
        return error_set(e, ERROR_USAGE, "%s: unknown option '--%.*s'; did you mean '--%s'?", a->owner, (int)length,
                         name, nearest);
    return error_set(e, ERROR_USAGE, "%s: unknown option '--%.*s'; see 'posbench help %s'", a->owner, (int)length, name,
                     a->owner);
}

/* Takes argv[at], which begins with two dashes, and its value. Returns the number of words taken, or -1. */
static int args_take(args *a, int argc, char **argv, int at, error *e)
{
    const char *name = argv[at] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const args_option *option = args_find(a->options, name, length);
    if (!option)
        return args_unknown(a, name, length, e);
    if (!option->repeats && args_flag(a, option->name))
        return error_set(e, ERROR_USAGE, "%s: option '--%s' is given twice", a->owner, option->name);
    struct args_given *given = &a->given[a->given_count];
    *given = (struct args_given){option, NULL};
    if (!option->value && equals)
        return error_set(e, ERROR_USAGE, "%s: option '--%s' takes no value, got '%s'", a->owner, option->name,
                         equals + 1);
    int taken = 1;
    if (option->value && equals) {
        given->value = equals + 1;
    } else if (option->value) {
        if (at + 1 >= argc || !strncmp(argv[at + 1], "--", 2)) /* a value that begins so is written --name=VALUE */
            return error_set(e, ERROR_USAGE, "%s: option '--%s' needs a value: --%s %s", a->owner, option->name,
                             option->name, option->value);
        given->value = argv[at + 1];
        taken = 2;
    }
    if (option->value && !*given->value)
        return error_set(e, ERROR_USAGE, "%s: the value of option '--%s' is empty", a->owner, option->name);
    a->given_count++;
    return taken;
}

int args_parse(const args_option *options, const char *owner, int argc, char **argv, args *out, error *e)
{
    *out = (args){.owner = owner, .options = options};
    out->word = calloc((size_t)argc + 1, sizeof *out->word);
    out->given = calloc((size_t)argc + 1, sizeof *out->given);
    int ok = out->word && out->given;
    if (!ok)
        error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", owner);
    int only_words = 0;
    for (int at = 0; ok && at < argc;) {
        const char *text = argv[at];
        if (only_words || text[0] != '-' || !text[1]) { /* a lone dash means standard input */
            out->word[out->word_count++] = text;
            at++;
        } else if (!strcmp(text, "--")) {
            only_words = 1;
            at++;
        } else if (text[1] == '-') {
            int taken = args_take(out, argc, argv, at, e);
            ok = taken > 0;
            at += taken;
        } else {
            error_set(e, ERROR_USAGE, "%s: unknown option '%s'; options are written --name, see 'posbench help %s'",
                      owner, text, owner);
            ok = 0;
        }
    }
    if (ok)
        return 0;
    args_free(out);
    return -1;
}

void args_free(args *a)
{
    free(a->word);
    free(a->given);
    *a = (args){0};
}

const char *args_nth(const args *a, const char *name, int n)
{
    for (int i = 0; i < a->given_count; i++)
        if (!strcmp(a->given[i].option->name, name) && n-- == 0)
            return a->given[i].value;
    return NULL;
}

const char *args_value(const args *a, const char *name)
{
    return args_nth(a, name, 0);
}

int args_flag(const args *a, const char *name)
{
    int count = 0;
    for (int i = 0; i < a->given_count; i++)
        count += !strcmp(a->given[i].option->name, name);
    return count;
}

int args_integer(const args *a, const char *name, int least, int most, int *value, error *e)
{
    const char *text = args_value(a, name);
    if (!text)
        return 0;
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    int digits_only = strspn(text, "+-0123456789") == strlen(text);
    if (end == text || *end || !digits_only)
        return error_set(e, ERROR_USAGE, "%s: --%s: '%s' is not a whole number", a->owner, name, text);
    if (errno == ERANGE || number < least || number > most)
        return error_set(e, ERROR_USAGE, "%s: --%s: %s is not in %d .. %d", a->owner, name, text, least, most);
    *value = (int)number;
    return 0;
}

/* Splits "text|json" into words that live in `store`. Returns their number. */
static int args_split(const char *choices, char store[ARGS_NAMES_MAX][ARGS_NAME_SIZE], const char **words)
{
    int count = 0;
    for (const char *at = choices; *at && count < ARGS_NAMES_MAX; count++) {
        size_t length = strcspn(at, "|");
        snprintf(store[count], ARGS_NAME_SIZE, "%.*s", (int)length, at);
        words[count] = store[count];
        at += length + (at[length] == '|');
    }
    return count;
}

/* The index of text[length] among the choices; `what` it was given for ("--format", "list") opens the message. */
static int args_choice_of(const args *a, const char *what, const char *text, size_t length, const char *choices,
                          error *e)
{
    char store[ARGS_NAMES_MAX][ARGS_NAME_SIZE];
    const char *words[ARGS_NAMES_MAX];
    int count = args_split(choices, store, words);
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && !strncmp(words[i], text, length))
            return i;
    char word[ARGS_NAME_SIZE];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    const char *nearest = nearest_word(word, words, (size_t)count);
    if (nearest)
        return error_set(e, ERROR_USAGE, "%s: %s'%.*s' is not one of %s; did you mean '%s'?", a->owner, what,
                         (int)length, text, choices, nearest);
    return error_set(e, ERROR_USAGE, "%s: %s'%.*s' is not one of %s", a->owner, what, (int)length, text, choices);
}

int args_choice(const args *a, const char *name, const char *choices, int *value, error *e)
{
    const char *text = args_value(a, name);
    if (!text)
        return 0;
    char what[ARGS_NAME_SIZE];
    snprintf(what, sizeof what, "--%s: ", name);
    int choice = args_choice_of(a, what, text, strlen(text), choices, e);
    if (choice < 0)
        return -1;
    *value = choice;
    return 0;
}

int args_word_choice(const args *a, int word, const char *choices, int *value, error *e)
{
    int choice = args_choice_of(a, "", a->word[word], strlen(a->word[word]), choices, e);
    if (choice < 0)
        return -1;
    *value = choice;
    return 0;
}

int args_choices(const args *a, const char *name, const char *choices, int *bits, error *e)
{
    const char *text = args_value(a, name);
    if (!text)
        return 0;
    char what[ARGS_NAME_SIZE];
    snprintf(what, sizeof what, "--%s: ", name);
    int chosen = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        int choice = args_choice_of(a, what, at, length, choices, e);
        if (choice < 0)
            return -1;
        chosen |= 1 << choice;
        if (!at[length])
            break;
        at += length + 1;
    }
    *bits = chosen;
    return 0;
}

#include "postmortem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record.h"
#include "run.h"

/* The last line that says something; cuts `words`. */
static const char *postmortem_line(char *words)
{
    size_t length = strlen(words);
    while (length > 0 && (words[length - 1] == '\n' || words[length - 1] == ' '))
        words[--length] = '\0';
    const char *newline = strrchr(words, '\n');
    return newline ? newline + 1 : words;
}

/* A text that filled its buffer may end within a character: takes the rest of that away. */
static void postmortem_mend(char *text, size_t size)
{
    size_t length = strlen(text);
    if (length + 1 < size)
        return;
    while (length > 0 && (text[length - 1] & 0xc0) == 0x80)
        text[--length] = '\0';
    if (length > 0 && (text[length - 1] & 0x80))
        text[--length] = '\0';
}

int postmortem_write(const char *path, const run_config *c, const child *dead, const char *fault, char *message,
                     size_t size, error *e)
{
    char words[CHILD_WORDS_MAX + 1], how[64];
    child_print_status(dead->status, how, sizeof how);
    child_last_words(dead, words);
    json_t *last_words = *words ? json_string(words) : json_null();
    const char *line = postmortem_line(words);
    snprintf(message, size, "%s: %s", how, fault ? fault : *line ? line : "no record and no message");
    postmortem_mend(message, size);

    host_facts host;
    host_facts_read(&host);
    run_result r = {.status = RUN_FAILED,
                    .fit_score = NAN,
                    .map_reach = NAN,
                    .train_seconds = NAN,
                    .evaluate_seconds = NAN,
                    .cpu_seconds = dead->cpu_seconds,
                    .peak_bytes = dead->peak_bytes};
    snprintf(r.message, sizeof r.message, "%s", message);
    postmortem_mend(r.message, sizeof r.message);
    json_t *record = record_json(c, &r, &host);
    json_object_set_new(record, "last_words", last_words);
    int result = record_write(path, record, e);
    json_decref(record);
    return result;
}

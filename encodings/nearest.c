/* nearest.c - which of the known words was meant? */
#include "options.h"

#include <ctype.h>
#include <string.h>

enum { NEAREST_WORD_MAX = 63 };

static int nearest_min(int a, int b)
{
    return a < b ? a : b;
}

static int nearest_letter(char c)
{
    return tolower((unsigned char)c);
}

/* Edits that turn a into b: insert, delete, replace, or swap two neighbours (Damerau's optimal string alignment). */
static int nearest_distance(const char *a, const char *b)
{
    int edits[NEAREST_WORD_MAX + 1][NEAREST_WORD_MAX + 1];
    int rows = (int)strlen(a), cols = (int)strlen(b);
    for (int i = 0; i <= rows; i++)
        edits[i][0] = i;
    for (int j = 0; j <= cols; j++)
        edits[0][j] = j;
    for (int i = 1; i <= rows; i++) {
        for (int j = 1; j <= cols; j++) {
            int differs = nearest_letter(a[i - 1]) != nearest_letter(b[j - 1]);
            int best = nearest_min(edits[i - 1][j] + 1, edits[i][j - 1] + 1);
            best = nearest_min(best, edits[i - 1][j - 1] + differs);
            if (i > 1 && j > 1 && nearest_letter(a[i - 1]) == nearest_letter(b[j - 2]) &&
                nearest_letter(a[i - 2]) == nearest_letter(b[j - 1]))
                best = nearest_min(best, edits[i - 2][j - 2] + 1);
            edits[i][j] = best;
        }
    }
    return edits[rows][cols];
}

/* "learning_rate" is meant by "lr": the candidate consists of the initials of the word's parts. */
static int nearest_is_initials(const char *word, const char *candidate)
{
    size_t at = 0;
    for (size_t i = 0; word[i]; i++)
        if (word[i] != '_' && word[i] != '-' && (i == 0 || word[i - 1] == '_' || word[i - 1] == '-'))
            if (nearest_letter(word[i]) != nearest_letter(candidate[at++]))
                return 0;
    return at > 1 && candidate[at] == '\0';
}

const char *nearest_word(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    if (length == 0 || length > NEAREST_WORD_MAX)
        return NULL;
    const char *best = NULL, *shortened = NULL;
    int best_edits = (int)(length + 2) / 3 + 1; /* one slip for every three letters; more is another word */
    for (size_t i = 0; i < count; i++) {
        if (strlen(candidates[i]) > NEAREST_WORD_MAX)
            continue;
        int edits = nearest_distance(word, candidates[i]);
        /* A candidate of which nothing would remain is no guess at all. */
        if (edits < best_edits && edits < (int)length && edits < (int)strlen(candidates[i])) {
            best = candidates[i];
            best_edits = edits;
        }
        int begins = length >= 3 && strncmp(word, candidates[i], length) == 0;
        if (!shortened && (begins || nearest_is_initials(word, candidates[i])))
            shortened = candidates[i];
    }
    return best ? best : shortened;
}

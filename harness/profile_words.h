/* profile_words.h - sentences and small tables that the terminal and the page share. Private to profile. */
#ifndef PROFILE_WORDS_H
#define PROFILE_WORDS_H

#include "profile_show.h"

enum { PROFILE_WORDS_MAX = 24 };

/* "table of 1024 positions and 768 numbers each"; "rope, not trained, 128 positions". */
void profile_words_target(const profile *p, buffer *out);

/* One finding a line, without a mark at its end: of which there are `count`, each to be freed. */
typedef struct profile_words {
    int count;
    char *line[PROFILE_WORDS_MAX];
} profile_words;

void profile_words_table(const profile_table *t, profile_words *w);
void profile_words_rotary(const profile_rotary *r, profile_words *w);
void profile_words_attention(const profile_attention *a, profile_words *w);
void profile_words_hidden(const readout_states *h, profile_words *w);
void profile_words_free(profile_words *w);

/* Distances that a small table shows: 0, 1, 2, 4, 8 ... below count. Returns their number. */
enum { PROFILE_STEPS_MAX = 16 };
int profile_steps(int count, int steps[PROFILE_STEPS_MAX]);

#endif

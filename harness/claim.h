/* claim.h - "this run is mine": how workers that share a results folder, but nothing else, never do a run twice.
 *
 * A claim is a small file, <folder>/<key>, made with O_EXCL, so that one worker wins. It says which process on which
 * machine holds it, and its holder touches it every few seconds. Whether a holder lives is decided
 *   - on its own machine by the process table, at once: gone, a zombie, or another process under the same number (its
 *     start time differs) is dead; one that is merely stopped is alive;
 *   - on any other machine, or in another container, by the age of the file: dead after CLAIM_STALE_SECONDS.
 * Ages are measured by the file system's own clock, so the clocks of the machines need not agree.
 *
 * A dead holder's claim is taken over under a claim on the claim: <key>.over is won with O_EXCL, the holder is judged
 * once more, and <key>.over is renamed onto <key>. The claim never vanishes in between, and only one worker can replace
 * it. A holder that was wrongly held for dead (its machine slept) learns it from claim_refresh and must give up.
 */
#ifndef CLAIM_H
#define CLAIM_H

#include <limits.h>
#include <stddef.h>
#include <time.h>

#include "error.h"

enum { CLAIM_REFRESH_SECONDS = 5, CLAIM_STALE_SECONDS = 90 };

typedef struct claims {
    char folder[PATH_MAX];
    char self[512]; /* what this process writes into its claims; no other process ever writes the same */
} claims;

/* Learns who this process is. Touches no file. */
int claims_open(claims *c, const char *folder, error *e);

/* Removes the folder if no claim is left in it. */
void claims_close(const claims *c);

/* 1: the claim on `key` (a file name) is now this process's; 0: another live worker has it; -1: ERROR_ENVIRONMENT. The
 * folder is made when it is missing. A process must not take a key that it holds already. */
int claim_take(const claims *c, const char *key, error *e);

/* The heartbeat. 1: still ours; 0: it was taken over: stop the work; -1: the file system failed, e says how. */
int claim_refresh(const claims *c, const char *key, error *e);

/* Gives it back; no effect on a claim that is not ours. */
void claim_release(const claims *c, const char *key);

/* 1: there is a claim, of a live worker or a dead one. */
int claim_exists(const claims *c, const char *key);

/* 1: a live worker, this one included, holds it. Takes and removes nothing. */
int claim_is_live(const claims *c, const char *key);

/* The time by the clock of the file system that holds the claims; by ours where there is no folder yet. */
time_t claim_clock(const claims *c);

/* 1: process `pid` of this machine runs, and if start is not 0, is the one that started then (claim_process_start). */
int claim_process_lives(long pid, unsigned long long start);

/* When a process of this machine started, in clock ticks since boot; 0: there is none, it is dead, or nobody knows. */
unsigned long long claim_process_start(long pid);

#endif

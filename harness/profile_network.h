/* profile_network.h - what profiles of stacks and of trained networks share. Private to profile. */
#ifndef PROFILE_NETWORK_H
#define PROFILE_NETWORK_H

#include "profile.h"

/* One thread, no subnormals: as in a run. */
void profile_network_begin(void);

/* Places `rows` tokens; refuses those without a meaning (ERROR_USAGE). */
int profile_network_place(look *k, int rows, error *e);

/* Table, biases and rotations of the placed tokens. */
int profile_network_positions(look *k, profile *out, error *e);

#endif

/* lengths.h - how long sequences are: the distribution of training lengths (config rows train.lengths, ...) and the
 * draws from it. With n = len - min_len + 1 lengths:
 *
 *   uniform     each with probability 1/n
 *   fixed       len alone
 *   geometric   P(l + 1) = ratio P(l): below 1 long sequences are rare, which starves late positions
 *   weights     w_1 .. w_K: the range is cut into K bands of n/K lengths (whole ones, so some hold one more); band b is
 *               drawn with probability w_b / sum w, its lengths are equally likely
 */
#ifndef LENGTHS_H
#define LENGTHS_H

#include "config.h"

/* Uniform over min_len .. max_len, from the stream of (seed, index, item). Test ranges draw so too. */
int lengths_uniform(uint64_t seed, uint64_t index, uint32_t item, int min_len, int max_len);

/* The length of training or validation sequence `item` of step `index`: one draw from the stream of (seed, index,
 * item). c must have passed config_check. */
int lengths_draw(const run_config *c, uint64_t index, uint32_t item);

/* The probability of a length, 0 outside of min_len .. len, and the mean. */
double lengths_probability(const run_config *c, int len);
double lengths_mean(const run_config *c);

/* Refuses settings of the distribution that do not fit each other or the lengths; *row is the row to blame.
 * train.min_len must be a number. ERROR_USAGE. */
int lengths_check(const run_config *c, const char **row, error *e);

#endif

/* specimens.h - small sound encodings that between them use every stage, and that tests take apart.
 *
 *   slope     bias       s_ij -= slope_h |d|                       a parameter for each head
 *   keyed     score      s_ij += scale f(d) sum_c w_c q_ic k_jc    saves f; gradients to q, k and w
 *   turning   rotate     u -> (u cos pos/3, u sin pos/3)           twice as many reals per head
 *   forget    gate       s_ij += sum_{j<l<=i} ln sigmoid(w.x_l)    gate, causal only
 *   mixing    bias,score s_ij += a_h bias_ij on top of the bias    reads_bias
 *   lifted    embed      x_t += sin(pos_t / 5)                     nothing to learn
 *   blinkers  bias       -INFINITY where |d| > 4.6, else -slope |d|
 *   echo      value      o_ic += sum_j p_ij w_c cos(d)
 */
#ifndef SPECIMENS_H
#define SPECIMENS_H

#include "pe.h"

extern const pe_descriptor specimen_slope, specimen_keyed, specimen_turning, specimen_forget, specimen_mixing,
    specimen_lifted, specimen_echo, specimen_blinkers;

#endif

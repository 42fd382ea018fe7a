/* subnormals.h - numbers below the smallest normal one. */
#ifndef SUBNORMALS_H
#define SUBNORMALS_H

/* Subnormals become 0 on this thread, in arithmetic and as inputs: late in training they would make steps many times
 * slower. Call once for each run. */
void subnormals_flush(void);

#endif

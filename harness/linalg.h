/* linalg.h - LAPACK through its C interface, LAPACKE, loaded when it is asked for.
 *
 * Few commands need it, and OpenBLAS, which usually stands behind it, takes longer to load than most commands take: it
 * starts a thread for each core and looks at the machine. A sweep starts this program for every run.
 */
#ifndef LINALG_H
#define LINALG_H

#include <lapacke.h>

#include "error.h"

typedef struct linalg {
    void *library;
    __typeof__(LAPACKE_dgesdd) *dgesdd; /* singular values */
    __typeof__(LAPACKE_dgelsd) *dgelsd; /* least squares of least norm */
    __typeof__(LAPACKE_dposv) *dposv;   /* a positive definite system */
} linalg;

/* Loads it, for one thread; the second time costs nothing, for it stays loaded. ERROR_ENVIRONMENT when it is not there.
 * Release with linalg_close. */
int linalg_open(linalg *l, error *e);
void linalg_close(linalg *l);

/* What LAPACK returned, not 0, when it looked for `what`: -1 with e set. */
int linalg_failed(const char *what, int info, error *e);

#endif

#include "linalg.h"

#include <dlfcn.h>

/* POSIX lets a function's address stand in a void *, ISO C does not speak of it. */
static void linalg_find(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
}

int linalg_open(linalg *l, error *e)
{
    *l = (linalg){.library = dlopen("liblapacke.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (!l->library)
        return error_set(e, ERROR_ENVIRONMENT, "LAPACKE cannot be loaded (%s); Debian's package liblapacke has it",
                         dlerror());
    linalg_find(l->library, "LAPACKE_dgesdd", &l->dgesdd);
    linalg_find(l->library, "LAPACKE_dgelsd", &l->dgelsd);
    linalg_find(l->library, "LAPACKE_dposv", &l->dposv);
    void (*use_threads)(int) = NULL;
    linalg_find(l->library, "openblas_set_num_threads", &use_threads); /* when that is what stands behind it */
    if (use_threads)
        use_threads(1);
    if (l->dgesdd && l->dgelsd && l->dposv)
        return 0;
    linalg_close(l);
    return error_set(e, ERROR_ENVIRONMENT, "the LAPACKE that is installed lacks what is needed: version 3 is");
}

void linalg_close(linalg *l)
{
    if (l->library)
        dlclose(l->library);
    *l = (linalg){0};
}

int linalg_failed(const char *what, int info, error *e)
{
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return error_set(e, ERROR_ENVIRONMENT, "no memory to find %s", what);
    return error_set(e, ERROR_RUN, "%s could not be found: LAPACK returned %d", what, info);
}

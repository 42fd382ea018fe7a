#include "places.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

int places_program(char path[PLACES_PATH_MAX], error *e)
{
    ssize_t length = readlink("/proc/self/exe", path, PLACES_PATH_MAX - 1);
    if (length < 0)
        return error_set(e, ERROR_ENVIRONMENT, "/proc/self/exe: %s", strerror(errno));
    path[length] = '\0';
    return 0;
}

/* Joins the folder of `program` (or, when it is NULL, nothing) and `rest`; 1 if that is there for `mode`. */
static int places_try(const char *program, const char *rest, int mode, char path[PLACES_PATH_MAX])
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    int folder = slash ? (int)(slash - program) + 1 : 0;
    int length = snprintf(path, PLACES_PATH_MAX, "%.*s%s", folder, program ? program : "", rest);
    return length < PLACES_PATH_MAX && !access(path, mode);
}

/* What lies in `installed` of the data folder and in `source` of the source tree; what: for the message. */
static int places_data(const char *program, const char *installed, const char *source, const char *what,
                       char path[PLACES_PATH_MAX], error *e)
{
    char beside[256], data[PLACES_PATH_MAX], tree[PLACES_PATH_MAX];
    snprintf(beside, sizeof beside, "../share/posbench/%s", installed);
    snprintf(data, sizeof data, "%s/%s", POSBENCH_DATA, installed);
    snprintf(tree, sizeof tree, "%s/%s", POSBENCH_SOURCE, source);
    if (places_try(program, beside, R_OK, path) || places_try(NULL, data, R_OK, path) || places_try(NULL, tree, R_OK, path))
        return 0;
    return error_set(e, ERROR_ENVIRONMENT, "%s are neither in " POSBENCH_DATA " nor in " POSBENCH_SOURCE, what);
}

int places_specs(const char *program, char path[PLACES_PATH_MAX], error *e)
{
    return places_data(program, "specs", "bench/specs", "the bundled specs", path, e);
}

int places_claims(const char *program, char path[PLACES_PATH_MAX], error *e)
{
    return places_data(program, "claims", "bench/claims", "the files of claims", path, e);
}

int places_plots(const char *program, char path[PLACES_PATH_MAX], error *e)
{
    return places_data(program, "plots", "plots", "the plots' scripts", path, e);
}

static int places_is_yaml(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && !strcmp(name + length - 5, ".yaml");
}

static int places_select(const struct dirent *entry)
{
    return places_is_yaml(entry->d_name);
}

int places_spec_names(const char *folder, char names[PLACES_SPECS_MAX][PLACES_NAME_SIZE], error *e)
{
    struct dirent **entries;
    int found = scandir(folder, &entries, places_select, alphasort), count = 0;
    if (found < 0)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < found; i++) {
        if (count < PLACES_SPECS_MAX) {
            int length = (int)strlen(entries[i]->d_name) - 5;
            snprintf(names[count++], PLACES_NAME_SIZE, "%.*s", length, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}

int places_spec_path(const char *folder, const char *name, char path[PLACES_PATH_MAX], error *e)
{
    if ((size_t)snprintf(path, PLACES_PATH_MAX, "%s/%s.yaml", folder, name) < PLACES_PATH_MAX)
        return 0;
    return error_set(e, ERROR_USAGE, "the spec's path is longer than %d characters", PLACES_PATH_MAX - 1);
}

static int places_unknown_spec(const char *folder, const char *name, error *e)
{
    char names[PLACES_SPECS_MAX][PLACES_NAME_SIZE];
    const char *candidates[PLACES_SPECS_MAX];
    int count = places_spec_names(folder, names, e);
    if (count < 0)
        return -1;
    for (int i = 0; i < count; i++)
        candidates[i] = names[i];
    const char *nearest = nearest_word(name, candidates, (size_t)count);
    if (nearest)
        return error_set(e, ERROR_USAGE, "no spec '%s' here or among the bundled ones; did you mean '%s'?", name,
                         nearest);
    return error_set(e, ERROR_USAGE, "no spec '%s' here or among the bundled ones; see 'posbench list specs'", name);
}

int places_spec(const char *program, const char *name, char path[PLACES_PATH_MAX], error *e)
{
    struct stat status;
    int is_path = strchr(name, '/') || places_is_yaml(name) || (!stat(name, &status) && S_ISREG(status.st_mode));
    if (is_path && snprintf(path, PLACES_PATH_MAX, "%s", name) >= PLACES_PATH_MAX)
        return error_set(e, ERROR_USAGE, "the spec's path is longer than %d characters", PLACES_PATH_MAX - 1);
    if (is_path)
        return 0;
    char folder[PLACES_PATH_MAX];
    if (places_specs(program, folder, e) || places_spec_path(folder, name, path, e))
        return -1;
    return !access(path, R_OK) ? 0 : places_unknown_spec(folder, name, e);
}

int places_twin(const char *program, char path[PLACES_PATH_MAX], error *e)
{
    if (places_try(program, "posbench-f64", X_OK, path) ||
        places_try(program, "../libexec/posbench/posbench-f64", X_OK, path) ||
        places_try(NULL, POSBENCH_LIBEXEC "/posbench-f64", X_OK, path))
        return 0;
    return error_set(
        e, ERROR_ENVIRONMENT,
        "posbench-f64, the double-precision twin that checks gradients, is neither beside %s nor in " POSBENCH_LIBEXEC,
        program);
}

/* places.h - where the program finds what it was installed or built with. */
#ifndef PLACES_H
#define PLACES_H

#include <stddef.h>

#include "error.h"

enum { PLACES_PATH_MAX = 4096 };

/* The absolute path of the running executable. */
int places_program(char path[PLACES_PATH_MAX], error *e);

/* The folder with the bundled specs, the claims, or the plots' scripts: beside an installed program (../share/posbench), where it
 * was configured to be installed, or in the source tree it was built from; the first that exists. */
int places_specs(const char *program, char path[PLACES_PATH_MAX], error *e);
int places_claims(const char *program, char path[PLACES_PATH_MAX], error *e);
int places_plots(const char *program, char path[PLACES_PATH_MAX], error *e);

/* The names of the bundled specs (files of `folder` without .yaml) in alphabetical order. Returns their number, or -1.
 */
enum { PLACES_SPECS_MAX = 64, PLACES_NAME_SIZE = 256 };
int places_spec_names(const char *folder, char names[PLACES_SPECS_MAX][PLACES_NAME_SIZE], error *e);

/* folder/name.yaml */
int places_spec_path(const char *folder, const char *name, char path[PLACES_PATH_MAX], error *e);

/* A spec as the user named it: a path if it has a slash, ends in .yaml or is a file; else the name of a bundled one.
 * ERROR_USAGE with the nearest bundled name. */
int places_spec(const char *program, const char *name, char path[PLACES_PATH_MAX], error *e);

/* The double-precision twin of this program: beside it, or in libexec. ERROR_ENVIRONMENT when it is not there. */
int places_twin(const char *program, char path[PLACES_PATH_MAX], error *e);

#endif

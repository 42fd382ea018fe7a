/* descriptor.h - is what an encoding or a map says about itself complete and consistent?
 *
 * A test runs these over the built-ins, the plug-in loader over every newcomer. None of them calls a hook.
 */
#ifndef DESCRIPTOR_H
#define DESCRIPTOR_H

#include "error.h"
#include "pe.h"

/* Refuses another abi, size of real or struct before it looks at any other field; then missing texts, a name that is
 * not one word, options that do not parse, and forward hooks without the backward ones that pe.h asks for. ERROR_USAGE.
 */
int descriptor_check(const pe_descriptor *d, error *e);
int descriptor_check_map(const pe_map *m, error *e);

/* "mine.so was built with abi 2, this program with 1". */
int descriptor_check_layout(const char *what, const char *field, size_t theirs, size_t ours, error *e);

#endif

/* golden_config.h - files of whole networks: which stack the "config" of one describes, and what its position parameters
 * are called here.
 *
 * The network that such a file is held against is the harness's (harness/golden_model.h), which knows no encoding by
 * name. What it would have to know of them stands here, as a table.
 */
#ifndef GOLDEN_CONFIG_H
#define GOLDEN_CONFIG_H

#include <jansson.h>
#include <stddef.h>

/* The stack, as a text for stack_parse. known[known_count]: keys of config that the caller reads itself. Returns 0, or -1
 * with a sentence in reason: a key that is not understood may change what the numbers mean. Whether there is such an
 * encoding is for the registry to say. */
int golden_config_stack(const json_t *config, const char *const *known, size_t known_count, char *text, size_t size,
                        char *reason, size_t reason_size);

/* The name of a parameter in our table: "layer0.shaw.k" is "layer0.shaw.key". A name that is in no row stays as it is. */
void golden_config_param(const char *name, char *text, size_t size);

#endif

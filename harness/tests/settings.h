/* settings.h - run configurations from a line of text, for tests: "name=value|name=value" over the defaults. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "config.h"

/* The built-in encodings and maps. Asserts that memory suffices; the caller frees it. */
registry *setting_registry(void);

/* Sets the values; config_set's errors. */
int setting_apply(run_config *c, const char *settings, error *e);

/* Sets them and asserts that config_check takes the result. */
void setting_checked(run_config *c, const char *settings);

#endif

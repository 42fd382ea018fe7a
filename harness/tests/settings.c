#include "settings.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

registry *setting_registry(void)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert(r != NULL, "%s", e.message);
    return r;
}

int setting_apply(run_config *c, const char *settings, error *e)
{
    char copy[4096], *rest = copy;
    config_defaults(c);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *item; (item = strsep(&rest, "|")) != NULL;) {
        char *equals = strchr(item, '=');
        if (!*item)
            continue;
        *equals = '\0';
        if (config_set(c, item, equals + 1, e) < 0)
            return -1;
    }
    return 0;
}

void setting_checked(run_config *c, const char *settings)
{
    error e = ERROR_INIT;
    registry *r = setting_registry();
    cr_assert(setting_apply(c, settings, &e) == 0, "%s: %s", settings, e.message);
    cr_assert(config_check(c, r, &e) == 0, "%s: %s", settings, e.message);
    registry_free(r);
}

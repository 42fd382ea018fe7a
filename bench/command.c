#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "places.h"
#include "record.h"

#define COMMAND(name) extern const command command_##name;
#define TWIN_COMMAND(name) extern const command command_##name;
#include "command_list.h"
#undef COMMAND
#undef TWIN_COMMAND

static const command *const command_all[] = {
#ifdef PE_REAL_DOUBLE
#define COMMAND(name)
#else
#define COMMAND(name) &command_##name,
#endif
#define TWIN_COMMAND(name) &command_##name,
#include "command_list.h"
#undef COMMAND
#undef TWIN_COMMAND
};

int command_count(void)
{
    return (int)(sizeof command_all / sizeof *command_all);
}

const command *command_at(int i)
{
    return command_all[i];
}

const command *command_find(const char *name, error *e)
{
    const char *names[sizeof command_all / sizeof *command_all];
    for (int i = 0; i < command_count(); i++) {
        names[i] = command_all[i]->name;
        if (!strcmp(names[i], name))
            return command_all[i];
    }
    const char *nearest = nearest_word(name, names, (size_t)command_count());
    if (nearest)
        error_set(e, ERROR_USAGE, "unknown command '%s'; did you mean '%s'?", name, nearest);
    else
        error_set(e, ERROR_USAGE, "unknown command '%s'; see 'posbench --help'", name);
    return NULL;
}

int command_load_plugins(const command_host *host, const args *a, error *e)
{
    const char *path;
    for (int i = 0; (path = args_nth(a, "plugin", i)); i++)
        if (registry_load_plugin(host->registry, path, e))
            return -1;
    return 0;
}

int command_print_json(json_t *data, error *e)
{
    size_t size;
    char *text = data ? record_text(data, &size) : NULL;
    json_decref(data);
    if (!text)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    fwrite(text, 1, size, stdout);
    free(text);
    return 0;
}

int command_run_in_double(const command_host *host, error *e)
{
    char twin[PLACES_PATH_MAX];
    if (places_twin(host->program, twin, e))
        return -1;
    execv(twin, host->argv);
    return error_set(e, ERROR_ENVIRONMENT, "%s: %s", twin, strerror(errno));
}

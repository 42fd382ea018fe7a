/* registry.c - the built-ins of list.h and what plug-ins add. stack.c turns texts into stacks of them. */
#include "registry.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "descriptor.h"
#include "level.h"
#include "options.h"

#define PE_ENCODING(name) LEVEL_DECLARE(const pe_descriptor, pe_encoding_##name)
#define PE_MAP(name) extern const pe_map pe_map_##name;
#include "list.h"

#define REGISTRY_QUOTE(symbol) #symbol
#define REGISTRY_NAME(symbol) REGISTRY_QUOTE(symbol)

struct registry {
    int encoding_count, map_count, plugin_count;
    const pe_descriptor **encodings;
    const pe_map **maps;
    void **plugins; /* dlopen handles: the descriptors live in them */
};

/* Room for one more pointer at the end of an array of `count`. 0, or -1 with e set. */
static int registry_grow(void *array_pointer, int count, error *e)
{
    void **array = array_pointer;
    void *grown = realloc(*array, ((size_t)count + 1) * sizeof(void *));
    if (!grown)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    *array = grown;
    return 0;
}

static int registry_add_encoding(registry *r, const pe_descriptor *d, error *e)
{
    if (registry_grow(&r->encodings, r->encoding_count, e) != 0)
        return -1;
    r->encodings[r->encoding_count++] = d;
    return 0;
}

static int registry_add_map(registry *r, const pe_map *m, error *e)
{
    if (registry_grow(&r->maps, r->map_count, e) != 0)
        return -1;
    r->maps[r->map_count++] = m;
    return 0;
}

registry *registry_new(error *e)
{
    registry *r = calloc(1, sizeof *r);
    if (!r) {
        error_set(e, ERROR_ENVIRONMENT, "out of memory");
        return NULL;
    }
    int status = 0, level = level_of_cpu();
#define PE_ENCODING(name) status |= registry_add_encoding(r, LEVEL_PICK(level, pe_encoding_##name), e);
#define PE_MAP(name) status |= registry_add_map(r, &pe_map_##name, e);
#include "list.h"
    if (status != 0) {
        registry_free(r);
        return NULL;
    }
    return r;
}

void registry_free(registry *r)
{
    if (!r)
        return;
    for (int i = r->plugin_count; i-- > 0;)
        dlclose(r->plugins[i]);
    free(r->plugins);
    free(r->encodings);
    free(r->maps);
    free(r);
}

int registry_encoding_count(const registry *r)
{
    return r->encoding_count;
}

const pe_descriptor *registry_encoding(const registry *r, int i)
{
    return r->encodings[i];
}

int registry_map_count(const registry *r)
{
    return r->map_count;
}

const pe_map *registry_map(const registry *r, int i)
{
    return r->maps[i];
}

static const pe_descriptor *registry_lookup_encoding(const registry *r, const char *name)
{
    for (int i = 0; i < r->encoding_count; i++)
        if (strcmp(r->encodings[i]->name, name) == 0)
            return r->encodings[i];
    return NULL;
}

static const pe_map *registry_lookup_map(const registry *r, const char *name)
{
    for (int i = 0; i < r->map_count; i++)
        if (strcmp(r->maps[i]->name, name) == 0)
            return r->maps[i];
    return NULL;
}

/* "unknown encoding 'ropee'; did you mean 'rope'?" */
static void registry_unknown(const char *what, const char *name, const char *const *names, int count, error *e)
{
    const char *near = nearest_word(name, names, (size_t)count);
    if (near) {
        error_set(e, ERROR_USAGE, "unknown %s '%.80s'; did you mean '%s'?", what, name, near);
        return;
    }
    char list[1024] = "none";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    error_set(e, ERROR_USAGE, "unknown %s '%.80s'; there are: %s", what, name, list);
}

enum { REGISTRY_NAMES_MAX = 256 };

const pe_descriptor *registry_find_encoding(const registry *r, const char *name, error *e)
{
    const pe_descriptor *found = registry_lookup_encoding(r, name);
    if (!found && registry_lookup_map(r, name)) {
        error_set(e, ERROR_USAGE, "'%s' is a position map, not an encoding: write it after '@'", name);
    } else if (!found) {
        const char *names[REGISTRY_NAMES_MAX] = {NULL};
        int count = 0;
        while (count < r->encoding_count && count < REGISTRY_NAMES_MAX) {
            names[count] = r->encodings[count]->name;
            count++;
        }
        registry_unknown("encoding", name, names, count, e);
    }
    return found;
}

const pe_map *registry_find_map(const registry *r, const char *name, error *e)
{
    const pe_map *found = registry_lookup_map(r, name);
    if (!found) {
        const char *names[REGISTRY_NAMES_MAX] = {NULL};
        int count = 0;
        while (count < r->map_count && count < REGISTRY_NAMES_MAX) {
            names[count] = r->maps[count]->name;
            count++;
        }
        registry_unknown("position map", name, names, count, e);
    }
    return found;
}

/* ------------------------------------------------------------------------------------------------ plug-ins */

/* Everything that can be read without running the plug-in's code. */
static int registry_check_plugin(const registry *r, const char *path, const pe_plugin *p, error *e)
{
    if (descriptor_check_layout(path, "abi", (size_t)p->abi, PE_ABI, e) != 0 ||
        descriptor_check_layout(path, "sizeof(real)", p->real_size, sizeof(real), e) != 0 ||
        descriptor_check_layout(path, "sizeof(pe_descriptor)", p->descriptor_size, sizeof(pe_descriptor), e) != 0 ||
        descriptor_check_layout(path, "sizeof(pe_map)", p->map_size, sizeof(pe_map), e) != 0)
        return -1;
    for (int i = 0; p->encodings && p->encodings[i]; i++) {
        const pe_descriptor *d = p->encodings[i];
        if (descriptor_check(d, e) != 0)
            return error_prefix(e, "%s", path);
        int taken = registry_lookup_encoding(r, d->name) || registry_lookup_map(r, d->name);
        for (int j = 0; j < i; j++)
            taken |= strcmp(p->encodings[j]->name, d->name) == 0;
        if (taken)
            return error_set(e, ERROR_USAGE, "%s: the name of encoding '%s' is taken", path, d->name);
    }
    for (int i = 0; p->maps && p->maps[i]; i++) {
        const pe_map *m = p->maps[i];
        if (descriptor_check_map(m, e) != 0)
            return error_prefix(e, "%s", path);
        int taken = registry_lookup_encoding(r, m->name) || registry_lookup_map(r, m->name);
        for (int j = 0; j < i; j++)
            taken |= strcmp(p->maps[j]->name, m->name) == 0;
        for (int j = 0; p->encodings && p->encodings[j]; j++)
            taken |= strcmp(p->encodings[j]->name, m->name) == 0;
        if (taken)
            return error_set(e, ERROR_USAGE, "%s: the name of position map '%s' is taken", path, m->name);
    }
    return 0;
}

/* All or nothing: counts are only raised once every pointer has its room. */
static int registry_adopt(registry *r, void *handle, const pe_plugin *p, error *e)
{
    int encodings = r->encoding_count, maps = r->map_count, status = 0;
    for (int i = 0; status == 0 && p->encodings && p->encodings[i]; i++)
        status = registry_add_encoding(r, p->encodings[i], e);
    for (int i = 0; status == 0 && p->maps && p->maps[i]; i++)
        status = registry_add_map(r, p->maps[i], e);
    if (status == 0)
        status = registry_grow(&r->plugins, r->plugin_count, e);
    if (status != 0) {
        r->encoding_count = encodings;
        r->map_count = maps;
        return -1;
    }
    r->plugins[r->plugin_count++] = handle;
    return 0;
}

int registry_load_plugin(registry *r, const char *path, error *e)
{
    static const char symbol[] = REGISTRY_NAME(PE_PLUGIN_SYMBOL);
    char file[4096];
    /* Without a slash dlopen would search the system's libraries. */
    int length = snprintf(file, sizeof file, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (length >= (int)sizeof file)
        return error_set(e, ERROR_USAGE, "the path of the plug-in is too long: %.80s...", path);
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return error_set(e, ERROR_ENVIRONMENT, "cannot load the plug-in: %s", dlerror());
    const pe_plugin *plugin = dlsym(handle, symbol);
    int status = 0;
    if (!plugin)
        status = error_set(e, ERROR_USAGE, "%s: no symbol %s; it does not end in PE_PLUGIN, or was not built for %s",
                           path, symbol, sizeof(real) == sizeof(float) ? "float" : "double (-DPE_REAL_DOUBLE)");
    else if (registry_check_plugin(r, path, plugin, e) != 0 || registry_adopt(r, handle, plugin, e) != 0)
        status = -1;
    if (status != 0)
        dlclose(handle);
    return status;
}

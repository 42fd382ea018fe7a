#include "folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_NAMES_ROOM = 160, FOLDER_PROBE_BYTES = 256 * 1024 };

/* ------------------------------------------------------------------------------------------------ paths */

static int folder_make(const char *path, error *e)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0777) == 0 || errno == EEXIST)
            continue;
        struct stat s;
        int why = errno; /* EROFS and EACCES also come for folders that are there */
        if (stat(part, &s) < 0 || !S_ISDIR(s.st_mode))
            return error_set(e, ERROR_ENVIRONMENT, "cannot make the folder %s: %s", part, strerror(why));
    }
    struct stat s;
    if (stat(path, &s) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    return S_ISDIR(s.st_mode) ? 0 : error_set(e, ERROR_ENVIRONMENT, "%s: not a folder", path);
}

int folder_open(folder *f, const char *out_dir, int make, error *e)
{
    if (!out_dir || !*out_dir)
        return error_set(e, ERROR_USAGE, "the results folder has no name");
    if (strlen(out_dir) + FOLDER_NAMES_ROOM >= sizeof f->out)
        return error_set(e, ERROR_USAGE, "the path of the results folder is too long: %.64s...", out_dir);
    snprintf(f->out, sizeof f->out, "%s%s", out_dir[0] == '-' ? "./" : "", out_dir);
    snprintf(f->runs, sizeof f->runs, "%.*s/runs", (int)(sizeof f->runs - FOLDER_NAMES_ROOM), f->out);
    return make ? folder_make(f->runs, e) : 0;
}

/* runs/<key><suffix>; folder_open left room for it. */
static void folder_path(const folder *f, const char *key, const char *suffix, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s%s", f->runs, key, suffix) >= PATH_MAX)
        path[0] = '\0';
}

void folder_record_path(const folder *f, const char *key, char path[PATH_MAX])
{
    folder_path(f, key, ".json", path);
}

/* ------------------------------------------------------------------------------------------------ records */

static folder_state folder_state_of(const json_t *record)
{
    static const struct {
        run_status status;
        folder_state state;
    } states[] = {{RUN_OK, FOLDER_OK},
                  {RUN_DIVERGED, FOLDER_DIVERGED},
                  {RUN_FAILED, FOLDER_FAILED},
                  {RUN_INTERRUPTED, FOLDER_INTERRUPTED}};
    const char *word = json_string_value(json_object_get(record, "status"));
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(word, run_status_name(states[i].status)) == 0)
            return states[i].state;
    return FOLDER_BAD;
}

static void folder_stamp(const char *path, folder_entry *out)
{
    struct stat s;
    if (stat(path, &s) < 0)
        memset(&s, 0, sizeof s);
    out->written = s.st_mtim;
    out->file = s.st_ino;
}

void folder_look(const folder *f, const char *key, folder_entry *out)
{
    char path[PATH_MAX];
    error fault = ERROR_INIT;
    memset(out, 0, sizeof *out);
    out->seconds = NAN;
    folder_record_path(f, key, path);
    folder_stamp(path, out);
    if (out->file == 0)
        return;
    json_t *record = record_read(path, &fault);
    const char *own = record ? json_string_value(json_object_get(record, "key")) : NULL;
    if (record && strcmp(own, key) != 0)
        error_set(&fault, ERROR_ENVIRONMENT, "%s: it is the record of another run, %.16s...", path, own);
    else if (record && (out->state = folder_state_of(record)) == FOLDER_BAD)
        error_set(&fault, ERROR_ENVIRONMENT, "%s: its status is none", path);
    if (fault.kind != ERROR_NONE) {
        out->state = FOLDER_BAD;
        snprintf(out->message, sizeof out->message, "%.511s", fault.message);
    } else {
        const json_t *cost = json_object_get(record, "cost");
        const json_t *train = json_object_get(cost, "train_seconds"), *test = json_object_get(cost, "evaluate_seconds");
        const char *message = json_string_value(json_object_get(record, "message"));
        if (json_is_number(train) && json_is_number(test))
            out->seconds = json_number_value(train) + json_number_value(test);
        snprintf(out->message, sizeof out->message, "%s", message ? message : "");
    }
    json_decref(record);
}

int folder_changed(const folder *f, const char *key, const folder_entry *seen)
{
    char path[PATH_MAX];
    folder_entry now;
    folder_record_path(f, key, path);
    folder_stamp(path, &now);
    return now.file != seen->file || now.written.tv_sec != seen->written.tv_sec ||
           now.written.tv_nsec != seen->written.tv_nsec;
}

int folder_move_aside(const folder *f, const char *key, char where[PATH_MAX], error *e)
{
    char path[PATH_MAX], suffix[32] = ".json.bad";
    folder_record_path(f, key, path);
    for (int i = 2;; i++) {
        folder_path(f, key, suffix, where);
        if (access(where, F_OK) < 0 && errno == ENOENT)
            break;
        snprintf(suffix, sizeof suffix, ".json.bad.%d", i);
    }
    if (rename(path, where) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "cannot move %s aside: %s", path, strerror(errno));
    return 0;
}

void folder_remove_record(const folder *f, const char *key)
{
    char path[PATH_MAX];
    folder_record_path(f, key, path);
    unlink(path);
}

int folder_has_room(const folder *f, const char *key, error *e)
{
    char record[PATH_MAX], path[PATH_MAX + FILE_TEMPORARY_ROOM];
    folder_record_path(f, key, record);
    file_temporary_name(record, path, sizeof path); /* if we die here, it is swept up like any other */
    char *bytes = calloc(1, FOLDER_PROBE_BYTES);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), why = fd < 0 ? errno : 0;
    if (fd >= 0) {
        ssize_t n = bytes ? write(fd, bytes, FOLDER_PROBE_BYTES) : 0;
        why = n < 0 || fsync(fd) < 0 ? errno : n < FOLDER_PROBE_BYTES && bytes ? ENOSPC : 0;
        close(fd);
        unlink(path);
    }
    free(bytes);
    return why ? error_set(e, ERROR_ENVIRONMENT, "%s: %s", f->runs, strerror(why)) : 0;
}

/* ------------------------------------------------------------------------------------------------ other files */

/* Calls see(name) for each name in a folder that does not begin with a dot, and adds up what it returns. */
static int folder_walk(const char *path, int (*see)(void *self, const char *name), void *self)
{
    DIR *d = opendir(path);
    int sum = 0;
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (entry->d_name[0] != '.')
            sum += see(self, entry->d_name);
    if (d)
        closedir(d);
    return sum;
}

/* The key of "<key>.json..." or 0. */
static int folder_key_of(const char *name, char key[CONFIG_KEY_SIZE])
{
    size_t length = strspn(name, "0123456789abcdef");
    if (length != CONFIG_KEY_SIZE - 1 || strncmp(name + length, ".json", 5) != 0)
        return 0;
    memcpy(key, name, length);
    key[length] = '\0';
    return 1;
}

typedef struct folder_cleaner {
    const char *path;
    const claims *claims;
    int holds_records;
} folder_cleaner;

static int folder_clean_one(void *self, const char *name)
{
    const folder_cleaner *cleaner = self;
    char path[PATH_MAX], key[CONFIG_KEY_SIZE];
    struct stat s;
    const char *dot = strrchr(name, '.');
    if (!strstr(name, ".tmp") || snprintf(path, sizeof path, "%s/%s", cleaner->path, name) >= (int)sizeof path ||
        lstat(path, &s) < 0 || !S_ISREG(s.st_mode))
        return 0;
    /* The writer's process number ends the name; the writer may live on another machine, though. */
    int writer_lives = dot && isdigit((unsigned char)dot[1]) && claim_process_lives(strtol(dot + 1, NULL, 10), 0);
    int old = claim_clock(cleaner->claims) - s.st_mtime > CLAIM_STALE_SECONDS;
    int left_over = cleaner->holds_records && folder_key_of(name, key)
                        ? !claim_is_live(cleaner->claims, key) && (!writer_lives || old)
                        : !writer_lives && old;
    return left_over && unlink(path) == 0;
}

int folder_clean(const folder *f, const claims *c)
{
    folder_cleaner runs = {f->runs, c, 1}, out = {f->out, c, 0};
    return folder_walk(f->runs, folder_clean_one, &runs) + folder_walk(f->out, folder_clean_one, &out);
}

typedef struct folder_keys {
    const char **sorted;
    int count;
} folder_keys;

static int folder_key_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int folder_foreign_one(void *self, const char *name)
{
    const folder_keys *keys = self;
    char key[CONFIG_KEY_SIZE];
    const char *wanted = key;
    if (!folder_key_of(name, key) || strcmp(name + CONFIG_KEY_SIZE - 1, ".json") != 0)
        return 0;
    return !bsearch(&wanted, keys->sorted, (size_t)keys->count, sizeof *keys->sorted, folder_key_order);
}

int folder_foreign(const folder *f, const char (*keys)[CONFIG_KEY_SIZE], int count)
{
    folder_keys k = {malloc(((size_t)count + 1) * sizeof *k.sorted), count};
    if (!k.sorted)
        return 0;
    for (int i = 0; i < count; i++)
        k.sorted[i] = keys[i];
    qsort(k.sorted, (size_t)count, sizeof *k.sorted, folder_key_order);
    int n = folder_walk(f->runs, folder_foreign_one, &k);
    free(k.sorted);
    return n;
}

json_t *folder_budget_json(const spec_tune *tune)
{
    json_t *rates = json_array(), *seeds = json_array();
    for (int i = 0; i < tune->rates; i++)
        json_array_append_new(rates, json_real(tune->rate[i]));
    for (int i = 0; i < tune->seeds; i++)
        json_array_append_new(seeds, json_integer(SPEC_TUNE_SEED + i));
    return json_pack("{s:o, s:o}", "lr", rates, "seeds", seeds);
}

/* What is not meant now has its key too, unless the key waits for a rate that tuning has to choose. */
static json_t *folder_run_json(const spec *s, const char (*keys)[CONFIG_KEY_SIZE], int run)
{
    const run_config *c = &s->runs[run];
    char key[CONFIG_KEY_SIZE];
    if (run >= s->count)
        config_key(c, key);
    json_t *its_key = run < s->count ? json_string(keys[run]) : s->tune.rates ? json_null() : json_string(key);
    return json_pack("{s:o, s:s, s:s, s:i}", "key", its_key, "encoding", c->encoding, "task", c->task, "seed", c->seed);
}

/* The whole grid in its order, whichever part of it is meant now. */
static json_t *folder_spec_json(const spec *s, const char (*keys)[CONFIG_KEY_SIZE])
{
    int all = s->count + s->rest;
    int *run_at = calloc((size_t)all + 1, sizeof *run_at);
    json_t *runs = json_array();
    for (int i = 0; run_at && i < all; i++)
        run_at[s->place ? s->place[i] : i] = i;
    for (int i = 0; run_at && i < all; i++)
        json_array_append_new(runs, folder_run_json(s, keys, run_at[i]));
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:o}", "schema", "posbench-sweep/1", "name", s->name, "title",
                             s->title, "baseline", s->baseline, "runs", runs);
    if (json && s->tune.rates)
        json_object_set_new(json, "tune", folder_budget_json(&s->tune));
    if (!run_at) {
        json_decref(json);
        return NULL;
    }
    free(run_at);
    return json;
}

static int folder_says(const char *path, const char *text, size_t size)
{
    int same = 0;
    FILE *file = fopen(path, "re");
    char *there = malloc(size + 1);
    if (file && there)
        same = fread(there, 1, size + 1, file) == size && memcmp(there, text, size) == 0;
    if (file)
        fclose(file);
    free(there);
    return same;
}

int folder_store_spec(const folder *f, const claims *c, const spec *s, const char (*keys)[CONFIG_KEY_SIZE], error *e)
{
    char path[PATH_MAX];
    size_t size;
    json_t *json = folder_spec_json(s, keys);
    char *text = json ? record_text(json, &size) : NULL;
    json_decref(json);
    if (!text)
        return error_set(e, ERROR_ENVIRONMENT, "%s/spec.json: out of memory, or a text that is not UTF-8", f->out);
    snprintf(path, sizeof path, "%.*s/spec.json", (int)(sizeof path - FOLDER_NAMES_ROOM), f->out);
    int result = 0;
    if (!folder_says(path, text, size)) {
        /* Workers of one sweep start together and would write the same: one of them does it. */
        result = claim_take(c, "spec.json", e);
        if (result == 1)
            result = file_write_atomic(path, text, size, e);
        claim_release(c, "spec.json");
    }
    free(text);
    return result;
}

#include "claim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* CLAIM_GONE: released between two looks at it. */
typedef enum claim_state { CLAIM_GONE, CLAIM_LIVE, CLAIM_STALE } claim_state;

/* A take-over can itself die half-way, so its file may need taking over; more often in a row is a broken disk. */
enum { CLAIM_DEPTH_MAX = 3, CLAIM_TRIES = 8 };

/* ------------------------------------------------------------------------------------------------ processes */

/* Reads a small file whole, and says when that very file was touched last if `touched` is not NULL. Returns its length,
 * or -1 with errno. */
static long claim_slurp(const char *path, char *text, size_t size, time_t *touched)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t used = 0;
    struct stat s = {0};
    ssize_t got = touched ? fstat(fd, &s) : 0;
    while (got >= 0 && used + 1 < size && (got = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    int why = errno;
    close(fd);
    errno = why;
    text[used] = '\0';
    if (touched)
        *touched = s.st_mtime;
    return got < 0 ? -1 : (long)used;
}

/* /proc/<pid>/stat: "pid (name) state ...", where the name may hold spaces and brackets; the start time is field 22. */
static int claim_process_stat(long pid, char *state, unsigned long long *start)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (claim_slurp(path, text, sizeof text, NULL) < 0)
        return -1;
    const char *p = strrchr(text, ')');
    if (!p || sscanf(p, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", state,
                     start) != 2)
        return -1;
    return 0;
}

unsigned long long claim_process_start(long pid)
{
    char state;
    unsigned long long start;
    if (claim_process_stat(pid, &state, &start) < 0 || state == 'Z' || state == 'X')
        return 0;
    return start;
}

int claim_process_lives(long pid, unsigned long long start)
{
    if (pid <= 0 || (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
        return 0;
    char state;
    unsigned long long now;
    if (claim_process_stat(pid, &state, &now) < 0)
        return 1; /* it answers to its number, and /proc hides it: believe the number */
    return state != 'Z' && state != 'X' && (start == 0 || start == now);
}

/* Process numbers compare only within one boot of one kernel and one container. */
static void claim_machine(char *out, size_t size, const char *host)
{
    char boot[64], space[64];
    long n = claim_slurp("/proc/sys/kernel/random/boot_id", boot, sizeof boot, NULL);
    if (n <= 0)
        snprintf(boot, sizeof boot, "%.63s", host);
    boot[strcspn(boot, "\n ")] = '\0';
    n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = '\0';
    snprintf(out, size, "%s/%s", boot, space);
}

/* ------------------------------------------------------------------------------------------------ one claim file */

int claims_open(claims *c, const char *folder, error *e)
{
    char host[128], machine[160], since[32];
    if (snprintf(c->folder, sizeof c->folder, "%s", folder) >= (int)sizeof c->folder - 128)
        return error_set(e, ERROR_ENVIRONMENT, "%s: the path is too long", folder);
    if (gethostname(host, sizeof host) < 0)
        snprintf(host, sizeof host, "unknown");
    host[sizeof host - 1] = '\0';
    claim_machine(machine, sizeof machine, host);
    time_t now = time(NULL);
    struct tm utc;
    strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(c->self, sizeof c->self, "posbench-claim/1\nmachine %s\npid %ld\nstart %llu\nhost %s\nsince %s\n", machine,
             (long)getpid(), claim_process_start((long)getpid()), host, since);
    return 0;
}

void claims_close(const claims *c)
{
    rmdir(c->folder); /* refused while somebody's claim is in it, which is what we want */
}

/* By touching the folder: the file server stamps it with its own time. */
time_t claim_clock(const claims *c)
{
    struct stat s;
    if (utimensat(AT_FDCWD, c->folder, NULL, 0) < 0 || stat(c->folder, &s) < 0)
        return time(NULL);
    return s.st_mtime;
}

static claim_state claim_judge(const claims *c, const char *path)
{
    char text[sizeof c->self], machine[160];
    time_t touched;
    if (claim_slurp(path, text, sizeof text, &touched) < 0)
        return errno == ENOENT ? CLAIM_GONE : CLAIM_LIVE; /* unreadable is no reason to do it twice */
    long pid;
    unsigned long long start;
    if (sscanf(text, "posbench-claim/1\nmachine %159s\npid %ld\nstart %llu\n", machine, &pid, &start) == 3) {
        char here[160];
        sscanf(c->self, "posbench-claim/1\nmachine %159s\n", here);
        if (strcmp(machine, here) == 0)
            return claim_process_lives(pid, start) ? CLAIM_LIVE : CLAIM_STALE;
    }
    /* Another machine's; or empty, because its maker is about to write it or died before it could. */
    return claim_clock(c) - touched > CLAIM_STALE_SECONDS ? CLAIM_STALE : CLAIM_LIVE;
}

/* 1: made; 0: there is one; -1: e is set. */
static int claim_make(const claims *c, const char *path, error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == ENOENT && mkdir(c->folder, 0777) == 0) /* the last to leave removes the folder */
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == EEXIST ? 0 : error_set(e, ERROR_ENVIRONMENT, "cannot make %s: %s", path, strerror(errno));
    size_t length = strlen(c->self);
    ssize_t written = write(fd, c->self, length);
    int why = written < 0 ? errno : ENOSPC;
    if (close(fd) == 0 && written == (ssize_t)length)
        return 1;
    unlink(path);
    return error_set(e, ERROR_ENVIRONMENT, "cannot write %s: %s", path, strerror(why));
}

/* 1: `path` holds our own text. -1: it cannot be read, errno says why. */
static int claim_is_ours(const claims *c, const char *path)
{
    char text[sizeof c->self];
    if (claim_slurp(path, text, sizeof text, NULL) < 0)
        return -1;
    return strcmp(text, c->self) == 0;
}

static int claim_take_path(const claims *c, const char *path, int depth, error *e);

/* The holder of `path` seemed dead. 1: it was, and the claim is ours; 0: somebody lives there after all; 2: look again.
 */
static int claim_take_over(const claims *c, const char *path, int depth, error *e)
{
    char over[PATH_MAX + 8];
    if (depth == CLAIM_DEPTH_MAX)
        return 0;
    snprintf(over, sizeof over, "%s.over", path);
    int won = claim_take_path(c, over, depth + 1, e);
    if (won != 1)
        return won;
    claim_state now = claim_judge(c, path); /* since the first look another worker may have been here and gone */
    if (now == CLAIM_STALE && rename(over, path) == 0)
        return 1;
    int why = errno;
    unlink(over);
    if (now == CLAIM_STALE)
        return error_set(e, ERROR_ENVIRONMENT, "cannot take over %s: %s", path, strerror(why));
    return now == CLAIM_LIVE ? 0 : 2;
}

static int claim_take_path(const claims *c, const char *path, int depth, error *e)
{
    for (int i = 0; i < CLAIM_TRIES; i++) {
        int made = claim_make(c, path, e);
        if (made != 0)
            return made;
        claim_state state = claim_judge(c, path);
        if (state == CLAIM_LIVE)
            return 0;
        int taken = state == CLAIM_STALE ? claim_take_over(c, path, depth, e) : 2;
        if (taken != 2)
            return taken;
    }
    return 0; /* it comes and goes: workers are busy with it */
}

/* ------------------------------------------------------------------------------------------------ by key */

static void claim_path(const claims *c, const char *key, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", c->folder, key) >= PATH_MAX)
        path[0] = '\0'; /* claims_open left room for keys: cannot happen, and opening "" fails */
}

int claim_take(const claims *c, const char *key, error *e)
{
    char path[PATH_MAX];
    claim_path(c, key, path);
    return claim_take_path(c, path, 0, e);
}

int claim_refresh(const claims *c, const char *key, error *e)
{
    char path[PATH_MAX];
    claim_path(c, key, path);
    int ours = claim_is_ours(c, path);
    if (ours < 0 && errno == ENOENT) /* somebody tidied up: whoever makes it first has it */
        return claim_make(c, path, e);
    if (ours < 0)
        return error_set(e, ERROR_ENVIRONMENT, "cannot read %s: %s", path, strerror(errno));
    if (ours && utimensat(AT_FDCWD, path, NULL, 0) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "cannot refresh %s: %s", path, strerror(errno));
    return ours;
}

void claim_release(const claims *c, const char *key)
{
    char path[PATH_MAX];
    claim_path(c, key, path);
    if (claim_is_ours(c, path) == 1)
        unlink(path);
}

int claim_exists(const claims *c, const char *key)
{
    char path[PATH_MAX];
    claim_path(c, key, path);
    return access(path, F_OK) == 0;
}

int claim_is_live(const claims *c, const char *key)
{
    char path[PATH_MAX];
    claim_path(c, key, path);
    return claim_judge(c, path) == CLAIM_LIVE;
}

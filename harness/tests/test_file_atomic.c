/* Files that are whole, old or new, whatever happens while they are written. */
#include <criterion/criterion.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "rng.h"
#include "scratch.h"

static void write_text(const char *path, const char *text)
{
    error e = ERROR_INIT;
    cr_assert(file_write_atomic(path, text, strlen(text), &e) == 0, "%s", e.message);
}

static void holds(const char *path, const char *expected)
{
    size_t size;
    char *text = scratch_read(path, &size);
    cr_assert_str_eq(text, expected);
    free(text);
}

/* Writing fails, with that reason after the path, and leaves no temporary file. */
static void write_fails(const scratch *s, const char *path, size_t size, const char *reason)
{
    error e = ERROR_INIT;
    char *data = calloc(1, size + 1);
    cr_assert(file_write_atomic(path, data, size, &e) < 0);
    cr_assert_eq(e.kind, ERROR_ENVIRONMENT);
    cr_assert(strncmp(e.message, path, strlen(path)) == 0 && strstr(e.message, reason), "%s", e.message);
    cr_assert_eq(scratch_count(s, ".tmp."), 0);
    free(data);
}

Test(file, written_and_replaced)
{
    scratch s;
    char path[PATH_MAX], link[PATH_MAX];
    struct stat found;
    scratch_open(&s);
    umask(027);
    scratch_path(&s, "a b'c\"d $(x) \xc3\xa9", path);
    write_text(path, "first, which is longer");
    write_text(path, "second");
    holds(path, "second");
    cr_assert(stat(path, &found) == 0);
    cr_assert_eq(found.st_mode & 0777, 0640);
    write_text(path, "");
    holds(path, "");
    cr_assert(symlink(path, scratch_path(&s, "link", link)) == 0);
    write_text(link, "through the link");
    holds(path, "through the link");
    cr_assert(lstat(link, &found) == 0 && S_ISLNK(found.st_mode), "the link is still one");
    cr_assert_eq(scratch_count(&s, ".tmp."), 0);
    scratch_close(&s);
}

/* Two machines that share a folder, and number their processes alike, do not write to one file. */
Test(file, temporary_names_are_of_one_writer)
{
    char first[PATH_MAX + FILE_TEMPORARY_ROOM], second[PATH_MAX + FILE_TEMPORARY_ROOM], host[65] = "", pid[32];
    file_temporary_name("runs/x.json", first, sizeof first);
    cr_assert_eq(strncmp(first, "runs/x.json.tmp.", 16), 0, "%s", first);
    snprintf(pid, sizeof pid, ".%ld", (long)getpid());
    cr_assert_str_eq(strrchr(first, '.'), pid, "%s does not end with its process", first);
    cr_assert(gethostname(host, sizeof host - 1) == 0 && strlen(host) > 0);
    host[strcspn(host, ".")] = '\0';
    cr_assert(strstr(first, host), "%s does not name the host, %s", first, host);
    for (int i = 0, same = 1; i < 1000 && same; i++) { /* hosts of one name: the clock tells them apart */
        file_temporary_name("runs/x.json", second, sizeof second);
        same = strcmp(first, second) == 0;
        cr_assert(i < 999 || !same, "always %s", first);
    }
}

Test(file, beside_the_program_without_a_folder_in_its_name)
{
    scratch s;
    scratch_open(&s);
    cr_assert(chdir(s.dir) == 0);
    write_text("plain", "text");
    holds("plain", "text");
    cr_assert(chdir("/") == 0);
    scratch_close(&s);
}

Test(file, places_that_cannot_be_written)
{
    scratch s;
    char path[PATH_MAX];
    scratch_open(&s);
    write_fails(&s, scratch_path(&s, "no/such/folder", path), 3, "No such file or directory");
    write_fails(&s, s.dir, 3, "Is a directory");
    scratch_write(&s, "file", "x", 1, path);
    write_fails(&s, scratch_path(&s, "file/below", path), 3, "Not a directory");
    char long_name[400];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    write_fails(&s, scratch_path(&s, long_name, path), 3, "File name too long");
    scratch_close(&s);
}

/* A device is written to, never replaced: renaming over /dev/full would take it away from everybody. */
Test(file, devices)
{
    scratch s;
    struct stat before, after;
    scratch_open(&s);
    cr_assert(stat("/dev/full", &before) == 0 && S_ISCHR(before.st_mode));
    write_fails(&s, "/dev/full", 100, "No space left on device");
    cr_assert(stat("/dev/full", &after) == 0 && S_ISCHR(after.st_mode) && after.st_ino == before.st_ino);
    write_text("/dev/null", "gone");
    cr_assert(stat("/dev/null", &after) == 0 && S_ISCHR(after.st_mode));
    scratch_close(&s);
}

/* Too large for the limit on file sizes: the old file stays as it is. */
Test(file, a_limit_is_hit)
{
    scratch s;
    char path[PATH_MAX];
    struct rlimit limit = {65536, 65536};
    scratch_open(&s);
    write_text(scratch_path(&s, "kept", path), "old");
    signal(SIGXFSZ, SIG_IGN);
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    write_fails(&s, path, 1000000, "File too large");
    holds(path, "old");
    scratch_close(&s);
}

/* A real full disk, where this process may mount one: in a mount namespace of its own, so that nothing is left behind.
 */
Test(file, the_disk_is_full)
{
    scratch s, disk;
    char path[PATH_MAX];
    scratch_open(&s);
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", s.dir, "tmpfs", 0, "size=1m") < 0) {
        scratch_close(&s);
        cr_skip_test("no small file system can be mounted here; a_limit_is_hit stands in for it");
    }
    disk = s;
    write_text(scratch_path(&disk, "kept", path), "old");
    write_fails(&disk, path, 4 << 20, "No space left on device");
    holds(path, "old");
    write_text(path, "and there is room again");
    cr_assert(umount(s.dir) == 0);
    scratch_close(&s);
}

/* ------------------------------------------------------------------------------------------------ killed (D07) */

enum { KILLS = 200, FILE_LINES = 2000 };

/* Complete: a first line with a number, that number on every other line, and as many lines as there should be. */
static int file_is_whole(const char *text)
{
    int first, lines = 0, length;
    if (sscanf(text, "%d\n%n", &first, &length) != 1)
        return 0;
    for (const char *p = text; *p; p += length, lines++) {
        int number;
        if (sscanf(p, "%d\n%n", &number, &length) != 1 || number != first)
            return 0;
    }
    return lines == FILE_LINES;
}

/* Tells the parent once the first file is written, so that every kill meets a child that is writing. */
static void rewrite_for_ever(const char *path, int number, int ready)
{
    static char text[FILE_LINES * 8];
    char line[16];
    error e = ERROR_INIT;
    for (int round = 0;; round++) {
        size_t size = 0, length = (size_t)snprintf(line, sizeof line, "%d\n", (number + round) % 100000);
        for (int i = 0; i < FILE_LINES; i++, size += length)
            memcpy(text + size, line, length);
        if (file_write_atomic(path, text, size, &e) < 0 || (round == 0 && write(ready, "", 1) != 1))
            _exit(1);
    }
}

/* Returns after a child has written the file some number of times and was killed while it went on. */
static void write_and_kill(const char *path, int number, rng *r)
{
    int ready[2], status;
    char byte;
    cr_assert(pipe(ready) == 0);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0)
        rewrite_for_ever(path, number, ready[1]);
    close(ready[1]);
    cr_assert(read(ready[0], &byte, 1) == 1, "the child could not write");
    close(ready[0]);
    struct timespec pause = {0, (long)rng_below(r, 3000000)};
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    cr_assert(waitpid(child, &status, 0) == child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child could not write");
}

Test(file, killed_at_random_moments, .timeout = 120)
{
    scratch s;
    char path[PATH_MAX];
    int in_the_middle = 0;
    scratch_open(&s);
    scratch_path(&s, "summary.csv", path);
    rng r = rng_stream((uint64_t)time(NULL), RNG_TEST, 0, 0);
    for (int i = 0; i < KILLS; i++) {
        size_t size;
        write_and_kill(path, 400 * i, &r);
        char *text = scratch_read(path, &size);
        cr_assert(file_is_whole(text), "after kill %d: %zu bytes", i, size);
        free(text);
        in_the_middle += scratch_count(&s, ".tmp.") > in_the_middle; /* each leaves its own */
    }
    cr_assert_gt(in_the_middle, 0, "no kill met a write");
    scratch_close(&s);
}

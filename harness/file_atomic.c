#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

static int file_error(error *e, const char *path, int reason)
{
    return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(reason));
}

/* 0, or -1 with errno set. */
static int file_write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Terminals, pipes and devices cannot be replaced by renaming, and must not be: /dev/full is also somebody else's file.
 */
static int file_write_device(const char *path, const void *data, size_t size, error *e)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return file_error(e, path, errno);
    int reason = file_write_all(fd, data, size) < 0 ? errno : 0;
    if (close(fd) < 0 && !reason)
        reason = errno;
    return reason ? file_error(e, path, reason) : 0;
}

/* Writes and syncs the temporary file. 0, or the errno. */
static int file_write_temporary(const char *temporary, const void *data, size_t size)
{
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    int reason = file_write_all(fd, data, size) < 0 || fsync(fd) < 0 ? errno : 0;
    if (close(fd) < 0 && !reason)
        reason = errno;
    return reason;
}

void file_temporary_name(const char *target, char *out, size_t size)
{
    char host[65] = "";
    struct timespec now;
    gethostname(host, sizeof host - 1);
    for (char *p = host; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '-')
            *p = '_'; /* only the pid stands behind a dot of ours */
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(out, size, "%s.tmp.%.32s.%09ld.%ld", target, host, now.tv_nsec, (long)getpid());
}

/* The rename itself is on disk only when the folder is. File systems that cannot sync folders say EINVAL. 0, or the
 * errno. */
static int file_sync_folder(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int reason = fsync(fd) < 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return reason;
}

int file_write_atomic(const char *path, const void *data, size_t size, error *e)
{
    char target[PATH_MAX], temporary[PATH_MAX + FILE_TEMPORARY_ROOM];
    struct stat found;
    int exists = stat(path, &found) == 0;
    if (!exists && errno != ENOENT)
        return file_error(e, path, errno);
    if (exists && S_ISDIR(found.st_mode))
        return file_error(e, path, EISDIR);
    if (exists && !S_ISREG(found.st_mode))
        return file_write_device(path, data, size, e);
    if (strlen(path) >= sizeof target)
        return file_error(e, path, ENAMETOOLONG);
    if (!exists || !realpath(path, target)) /* through symbolic links, so that they stay */
        strcpy(target, path);
    file_temporary_name(target, temporary, sizeof temporary);

    int reason = file_write_temporary(temporary, data, size);
    if (!reason && rename(temporary, target) < 0)
        reason = errno;
    if (reason) {
        unlink(temporary);
        return file_error(e, path, reason);
    }
    reason = file_sync_folder(target);
    return reason ? file_error(e, path, reason) : 0;
}

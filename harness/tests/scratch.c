#include "scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <ftw.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In memory where there is such a place: some tests rewrite and sync a file thousands of times. */
void scratch_open(scratch *s)
{
    const char *base = getenv("TMPDIR");
    if (!base || !*base)
        base = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(s->dir, sizeof s->dir, "%s/posbench-test-XXXXXX", base);
    cr_assert(mkdtemp(s->dir) != NULL, "%s", s->dir);
}

static int scratch_remove(const char *path, const struct stat *found, int kind, struct FTW *at)
{
    (void)found, (void)kind, (void)at;
    return remove(path);
}

void scratch_close(scratch *s)
{
    cr_assert(nftw(s->dir, scratch_remove, 16, FTW_DEPTH | FTW_PHYS) == 0, "%s", s->dir);
}

char *scratch_path(const scratch *s, const char *name, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s/%s", s->dir, name);
    cr_assert(n > 0 && n < PATH_MAX);
    return path;
}

char *scratch_write(const scratch *s, const char *name, const void *data, size_t size, char path[PATH_MAX])
{
    FILE *f = fopen(scratch_path(s, name, path), "w");
    cr_assert(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0, "%s", path);
    return path;
}

char *scratch_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "r");
    cr_assert(f != NULL, "%s", path);
    cr_assert(fseek(f, 0, SEEK_END) == 0);
    long length = ftell(f);
    char *text = malloc((size_t)length + 1);
    rewind(f);
    cr_assert(text != NULL && fread(text, 1, (size_t)length, f) == (size_t)length);
    fclose(f);
    text[length] = '\0';
    *size = (size_t)length;
    return text;
}

char *scratch_text(const scratch *s, const char *name)
{
    char path[PATH_MAX];
    size_t size;
    return scratch_read(scratch_path(s, name, path), &size);
}

int scratch_count(const scratch *s, const char *part)
{
    int count = 0;
    DIR *dir = opendir(s->dir);
    cr_assert(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strstr(entry->d_name, part) != NULL;
    closedir(dir);
    return count;
}

/* Only numbers matter, so a locale of numbers is compiled: a tenth of the time that a whole language takes. */
int scratch_comma_locale(const scratch *s)
{
    static const char source[] = "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    char path[PATH_MAX], command[4 * PATH_MAX];
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        scratch_write(s, "comma", source, sizeof source - 1, path);
        snprintf(command, sizeof command, "localedef -c -i '%s' -f UTF-8 '%s.UTF-8' >'%s.log' 2>&1", path, path, path);
        int status = system(command); /* 1 when it only warns; what counts is whether the locale is there */
        if (status < 0 || setenv("LOCPATH", s->dir, 1) != 0 || !setlocale(LC_NUMERIC, "comma.UTF-8"))
            return 0;
    }
    return strcmp(localeconv()->decimal_point, ",") == 0;
}

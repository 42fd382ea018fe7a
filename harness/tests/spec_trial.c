#include "spec_trial.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

void trial_open(spec_trial *t)
{
    *t = (spec_trial){.e = ERROR_INIT};
    scratch_open(&t->folder);
    t->registry = registry_new(&t->e);
    cr_assert(t->registry != NULL, "%s", t->e.message);
}

void trial_close(spec_trial *t)
{
    spec_free(&t->spec);
    registry_free(t->registry);
    scratch_close(&t->folder);
}

int trial_load(spec_trial *t, const char *text, const char *only)
{
    spec_free(&t->spec);
    error_clear(&t->e);
    scratch_write(&t->folder, "trial.yaml", text, strlen(text), t->path);
    return spec_load(t->path, t->registry, only, &t->spec, &t->e);
}

void trial_good(spec_trial *t, const char *text, int runs)
{
    cr_assert(trial_load(t, text, NULL) == 0, "%s\n%s", text, t->e.message);
    cr_assert_eq(t->spec.count, runs, "%d runs:\n%s", t->spec.count, text);
}

const char *trial_fault(spec_trial *t, const char *text)
{
    cr_assert(trial_load(t, text, NULL) < 0, "taken:\n%s", text);
    cr_assert_eq(t->spec.count, 0);
    cr_assert(t->spec.runs == NULL);
    size_t folder = strlen(t->folder.dir) + 1, length = 0;
    for (const char *p = t->e.message; *p;) {
        if (strncmp(p, t->folder.dir, folder - 1) == 0)
            p += folder;
        else
            t->shown[length++] = *p++;
    }
    t->shown[length] = '\0';
    return t->shown;
}

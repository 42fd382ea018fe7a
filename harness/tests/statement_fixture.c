#include "statement_fixture.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "record.h"
#include "settings.h"

void claim_open(claim_trial *t)
{
    *t = (claim_trial){.e = ERROR_INIT};
    scratch_open(&t->folder);
    t->registry = setting_registry();
    cr_assert_eq(works_load("/nowhere/sources.bib", t->registry, &t->works, &t->e), 0, "%s", t->e.message);
    scratch_path(&t->folder, "records", t->records);
    cr_assert_eq(mkdir(t->records, 0777), 0);
}

void claim_close(claim_trial *t)
{
    statement_verdict_free(&t->verdict);
    statement_group_free(&t->group);
    works_free(&t->works);
    registry_free(t->registry);
    scratch_close(&t->folder);
}

static int claim_read(claim_trial *t, const char *text)
{
    statement_group_free(&t->group);
    error_clear(&t->e);
    scratch_write(&t->folder, "trial.yaml", text, strlen(text), t->path);
    return statement_read(t->path, t->folder.dir, t->registry, &t->works, &t->group, &t->e);
}

void claim_good(claim_trial *t, const char *text)
{
    cr_assert_eq(claim_read(t, text), 0, "%s\n%s", text, t->e.message);
}

const char *claim_fault(claim_trial *t, const char *text)
{
    cr_assert_lt(claim_read(t, text), 0, "taken:\n%s", text);
    size_t folder = strlen(t->folder.dir), length = 0;
    for (const char *p = t->e.message; *p;) {
        if (strncmp(p, t->folder.dir, folder) == 0)
            p += folder + 1;
        else
            t->shown[length++] = *p++;
    }
    t->shown[length] = '\0';
    return t->shown;
}

void claim_records(claim_trial *t, const char *encoding, const double *score, int count)
{
    for (int i = 0; i < count; i++)
        made_write(t->records, &(made_run){.encoding = encoding, .seed = i + 1, .score = {1, score[i], 0.5}}, NULL);
}

void claim_remove(const char *path, const char *section)
{
    error e = ERROR_INIT;
    json_t *record = record_read(path, &e);
    cr_assert(record && json_object_del(record, section) == 0, "%s", e.message);
    cr_assert_eq(record_write(path, record, &e), 0, "%s", e.message);
    json_decref(record);
}

const statement_verdict *claim_judge(claim_trial *t, const char *records)
{
    statement_evidence v;
    cr_assert_eq(statement_evidence_load(&records, 1, &v, &t->e), 0, "%s", t->e.message);
    statement_verdict_free(&t->verdict);
    cr_assert_eq(statement_judge(&t->group, &t->group.statement[0], &v, t->registry, &t->verdict, &t->e), 0, "%s",
                 t->e.message);
    statement_evidence_free(&v);
    return &t->verdict;
}

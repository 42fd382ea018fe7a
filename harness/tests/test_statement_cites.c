/* The works that claims cite: keys in files, entries of sources.bib and of the program, what is written of them. */
#include <criterion/criterion.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"
#include "statement_fixture.h"

#define CITES_UNTESTED "title: A, statement: B, published: D, untestable: E"

static const char cites_own[] =
    "@misc{somebody2020paper, title = {A Paper}, author = {Some, Body}, year = {2020}}\n"
    "@misc{press2022train, title = {Ours}, author = {Some, Body}, year = {2021}}\n";

static int cites_load(claim_trial *t, const char *bib, const char *claims, statements *out)
{
    char path[PATH_MAX];
    error_clear(&t->e);
    scratch_write(&t->folder, "sources.bib", bib, strlen(bib), path);
    scratch_write(&t->folder, "a.yaml", claims, strlen(claims), path);
    return statements_load(t->folder.dir, t->folder.dir, t->registry, out, &t->e);
}

/* What each claim of a file with keys at its top cites. */
Test(statement_cites, of_a_file_and_of_a_claim)
{
    static const char text[] = "source: S\ncites: [press2022train, su2021roformer]\nclaims:\n"
                               "- {id: A, " CITES_UNTESTED "}\n"
                               "- {id: B, source: T, " CITES_UNTESTED "}\n"
                               "- {id: C, cites: chen2023extending, " CITES_UNTESTED "}\n"
                               "- {id: D, source: T, cites: [haviv2022nopos, press2022train], " CITES_UNTESTED "}\n";
    static const char *const expected[] = {"press2022train,su2021roformer", "", "chen2023extending",
                                           "haviv2022nopos,press2022train"};
    claim_trial t;
    claim_open(&t);
    claim_good(&t, text);
    for (int i = 0; i < 4; i++)
        cr_expect_str_eq(t.group.statement[i].cites, expected[i]);
    claim_close(&t);
}

Test(statement_cites, faults_at_their_place)
{
    static const char *const cases[][2] = {
        {"claims:\n- {id: A, source: S, cites: pres2022train, " CITES_UNTESTED "}\n",
         "trial.yaml:2:29: error: cites: unknown work 'pres2022train'; did you mean 'press2022train'?"},
        {"claims:\n- {id: A, source: S, cites: [press2022train, su2021reformer], " CITES_UNTESTED "}\n",
         "trial.yaml:2:46: error: cites: unknown work 'su2021reformer'; did you mean 'su2021roformer'?"},
        {"source: S\ncites: qqqqqqqqqqqqqqqqqqqqqqqqqqqq\nclaims:\n- {id: A, " CITES_UNTESTED "}\n",
         "trial.yaml:2:8: error: cites: unknown work 'qqqqqqqqqqqqqqqqqqqqqqqqqqqq': it stands neither in"},
        {"claims:\n- {id: A, source: S, cites: {a: b}, " CITES_UNTESTED "}\n",
         "cites takes the key of a work, or a list"},
        {"claims:\n- {id: A, source: S, cites: [~], " CITES_UNTESTED "}\n", "cites takes the key of a work, or a list"},
        {"claims:\n- {id: A, source: S, cite: press2022train, " CITES_UNTESTED "}\n",
         "unknown key 'cite' in a claim; did you mean 'cites'?"},
    };
    claim_trial t;
    claim_open(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = claim_fault(&t, cases[i][0]);
        cr_expect(strstr(message, cases[i][1]), "%s\nis not in\n%s", cases[i][1], message);
    }
    claim_close(&t);
}

/* The file's entries come before the program's; each is written once, in the order of the claims. */
Test(statement_cites, entries_are_written_once)
{
    static const char claims[] = "source: S\nclaims:\n"
                                 "- {id: A, cites: [somebody2020paper, press2022train], " CITES_UNTESTED "}\n"
                                 "- {id: B, " CITES_UNTESTED "}\n"
                                 "- {id: C, cites: [su2021roformer, somebody2020paper], " CITES_UNTESTED "}\n";
    static const char *const order[] = {"somebody2020paper", "press2022train", "su2021roformer"};
    claim_trial t;
    statements s;
    buffer bib = BUFFER_INIT, page = BUFFER_INIT;
    document d;
    bibtex_entry entry;
    int more, count = 0;
    claim_open(&t);
    cr_assert_eq(cites_load(&t, cites_own, claims, &s), 0, "%s", t.e.message);
    statement_told told[3] = {0};
    for (int i = 0; i < 3; i++)
        told[i] = (statement_told){&s.group[0], &s.group[0].statement[i], {.outcome = STATEMENT_NOT_TESTABLE}};
    statement_bibtex(told, 3, &s.works, &bib);
    for (const char *at = buffer_text(&bib); (more = bibtex_next(&at, &entry, &t.e)) > 0; count++) {
        cr_assert_lt(count, 3);
        cr_expect_str_eq(entry.key, order[count]);
    }
    cr_assert_eq(more, 0, "%s", t.e.message);
    cr_assert_eq(count, 3);
    cr_expect(strstr(buffer_text(&bib), "{Ours}"));

    statement_document(told, 3, &d);
    doc_md(&d, &page);
    cr_expect(strstr(buffer_text(&page), "Source: S \\[[somebody2020paper,press2022train](<sources.bib>)\\]"), "%s",
              buffer_text(&page));
    cr_expect(strstr(buffer_text(&page), "holds a BibTeX entry for each work"));
    doc_free(&d);
    buffer_free(&page);

    statement_document(&told[1], 1, &d); /* the one that cites nothing */
    doc_md(&d, &page);
    cr_expect_null(strstr(buffer_text(&page), "sources.bib"));
    doc_free(&d);
    buffer_free(&page);

    json_t *json = statement_json(told, 3);
    json_t *cites = json_object_get(json_array_get(json_object_get(json, "claims"), 2), "cites");
    cr_expect_eq(json_array_size(cites), 2);
    cr_expect_str_eq(json_string_value(json_array_get(cites, 1)), "somebody2020paper");
    json_decref(json);
    buffer_free(&bib);
    statements_free(&s);
    claim_close(&t);
}

Test(statement_cites, faults_of_the_bibliography)
{
    static const char claims[] = "source: S\nclaims:\n- {id: A, " CITES_UNTESTED "}\n";
    static const char good[] = "@misc{a, title = {T}, author = {A}, year = {1}}\n";
    static const char *const cases[][2] = {
        {"\n@misc{b, title = {T}}\n", "/sources.bib:3: BibTeX entry b lacks author"},
        {"x\n", "/sources.bib:2: BibTeX: an entry begins with @type{key, not with 'x"},
        {"\n\n@misc{a, note = {again}}\n", "/sources.bib:4: BibTeX entry a stands there twice"},
    };
    claim_trial t;
    statements s;
    claim_open(&t);
    cr_assert_eq(cites_load(&t, "", claims, &s), 0, "%s", t.e.message);
    statements_free(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", good, cases[i][0]);
        cr_assert_lt(cites_load(&t, text, claims, &s), 0, "%s", text);
        cr_expect(strstr(t.e.message, cases[i][1]), "%s\nis not in\n%s", cases[i][1], t.e.message);
        cr_expect_eq(t.e.kind, ERROR_USAGE);
        statements_free(&s);
    }
    claim_close(&t);
}

/* Whether the keys "a,b" hold one. */
static int cites_holds(const char *keys, const char *key)
{
    size_t length = strlen(key);
    for (const char *p = keys; (p = strstr(p, key)); p++)
        if ((p == keys || p[-1] == ',') && (p[length] == ',' || !p[length]))
            return 1;
    return 0;
}

/* The bundled claims: each entry of their own file is cited, and none is one that the program has. */
Test(statement_cites, the_bundled_works)
{
    registry *r = setting_registry();
    statements s;
    works known;
    error e = ERROR_INIT;
    cr_assert_eq(statements_load("bench/claims", "bench/specs", r, &s, &e), 0, "%s", e.message);
    cr_assert_eq(works_load("/nowhere/sources.bib", r, &known, &e), 0, "%s", e.message);
    int own = s.works.count - known.count;
    cr_assert_geq(own, 4);
    for (int w = 0; w < own; w++) {
        const char *key = s.works.entry[w].key;
        int cited = 0;
        for (int g = 0; g < s.count; g++)
            for (int i = 0; i < s.group[g].count; i++)
                cited |= cites_holds(s.group[g].statement[i].cites, key);
        cr_expect(cited, "nothing cites %s", key);
        cr_expect_null(works_find(&known, key), "%s", key);
    }
    works_free(&known);
    statements_free(&s);
    registry_free(r);
}

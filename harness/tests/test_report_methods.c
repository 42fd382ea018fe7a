/* What a report says of how its numbers came about: methods, tuning, sources, cost. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bibtex.h"
#include "buffer.h"
#include "report.h"
#include "report_fixture.h"
#include "scratch.h"
#include "task.h"

static scratch room;
static registry *known;

static void methods_open(void)
{
    error e = ERROR_INIT;
    scratch_open(&room);
    known = registry_new(&e);
    cr_assert(known, "%s", e.message);
}

static void methods_close(void)
{
    scratch_close(&room);
    registry_free(known);
}

TestSuite(methods, .init = methods_open, .fini = methods_close);
TestSuite(bibtex, .init = methods_open, .fini = methods_close);

/* The pages alone: gnuplot is not even looked for. */
static char *written(const char *file)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    cr_assert_eq(report_write(room.dir, known, "plots", REPORT_HTML | REPORT_MD | REPORT_TEX, PLOT_SVG, &e), -1);
    cr_assert(strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    return scratch_text(&room, file);
}

static void holds_text(const char *page, const char *text)
{
    cr_expect(strstr(page, text), "'%s' is not in:\n%s", text, page);
}

static void make_runs(made_run made, int seeds)
{
    for (made.seed = 1; made.seed <= seeds; made.seed++) {
        made.score[0] = 1;
        made.score[1] = 0.5 + 0.05 * made.seed;
        made.score[2] = 0.2;
        made_write(room.dir, &made, NULL);
    }
}

/* ------------------------------------------------------------------------------------------------ entries */

typedef struct entry_seen {
    char key[BIBTEX_WORD_MAX];
    char *text;
} entry_seen;

static entry_seen seen[256];
static int seen_count;

/* All entries of one descriptor: they parse, no key twice in it, and a key names one work wherever it stands. */
static int entries_are_good(const char *name, const char *bibtex)
{
    const char *at = bibtex;
    bibtex_entry entry;
    error e = ERROR_INIT;
    int more, count = 0, first = seen_count;
    while ((more = bibtex_next(&at, &entry, &e)) > 0) {
        buffer text = BUFFER_INIT;
        int known_before = 0;
        bibtex_print(&entry, &text);
        for (int i = 0; i < seen_count; i++)
            if (strcmp(seen[i].key, entry.key) == 0) {
                cr_expect_str_eq(seen[i].text, buffer_text(&text), "%s: %s is two works", name, entry.key);
                cr_expect(i < first, "%s: %s stands there twice", name, entry.key);
                known_before = 1;
            }
        if (!known_before) {
            strcpy(seen[seen_count].key, entry.key);
            seen[seen_count++].text = buffer_take(&text);
        }
        buffer_free(&text);
        count++;
    }
    cr_expect_eq(more, 0, "%s: %s", name, e.message);
    return count;
}

Test(bibtex, every_entry_parses_and_keys_are_unique)
{
    int encodings = 0, tasks = 0;
    for (int i = 0; i < registry_encoding_count(known); i++) {
        const pe_descriptor *d = registry_encoding(known, i);
        encodings += d->bibtex && entries_are_good(d->name, d->bibtex) > 0;
    }
    for (int i = 0; i < registry_map_count(known); i++)
        if (registry_map(known, i)->bibtex)
            cr_expect_gt(entries_are_good(registry_map(known, i)->name, registry_map(known, i)->bibtex), 0);
    for (int i = 0; i < task_count(); i++) { /* an entry for each work that the source names: works are parted by ; */
        int works = 1;
        for (const char *p = task_at(i)->source; *p; p++)
            works += *p == ';';
        cr_assert(task_at(i)->bibtex, "%s has no BibTeX", task_at(i)->name);
        cr_expect_eq(entries_are_good(task_at(i)->name, task_at(i)->bibtex), works, "%s", task_at(i)->name);
        tasks++;
    }
    cr_expect_geq(encodings, 20);
    cr_expect_geq(tasks, 30);
    cr_expect_geq(seen_count, 30);
    for (int i = 0; i < seen_count; i++)
        free(seen[i].text);
}

Test(bibtex, entries_are_written_a_field_a_line)
{
    const char *at = " @misc{a1, title = {The {B} of C}, author = {D, E and F, G}, year = {2020}} ";
    bibtex_entry entry;
    error e = ERROR_INIT;
    buffer text = BUFFER_INIT;
    cr_assert_eq(bibtex_next(&at, &entry, &e), 1, "%s", e.message);
    cr_assert_eq(entry.count, 3);
    bibtex_print(&entry, &text);
    cr_assert_str_eq(buffer_text(&text), "@misc{a1,\n  title = {The {B} of C},\n  author = {D, E and F, G},\n"
                                         "  year = {2020}\n}\n\n");
    buffer_free(&text);
    cr_assert_eq(bibtex_next(&at, &entry, &e), 0);
    bibtex_print_note("source-x", "100 % {sure} of a_b & c", &text);
    cr_assert_str_eq(buffer_text(&text), "@misc{source-x,\n  note = {100 \\%  sure  of a\\_b \\& c}\n}\n\n");
    at = buffer_text(&text);
    cr_assert_eq(bibtex_next(&at, &entry, &e), 1, "%s", e.message); /* what is written can be read */
    buffer_free(&text);
}

Test(bibtex, faults)
{
    static const char *const wrong[][2] = {
        {"misc{a, title = {b}}", "an entry begins with @type{key"},
        {"@misc{, title = {b}}", "an entry begins with @type{key"},
        {"@misc{a, title = {b}, author = {c}}", "a lacks year"},
        {"@misc{a, author = {b}, year = {c}}", "a lacks title"},
        {"@misc{a, title = {b}, year = {c}}", "a lacks author"},
        {"@book{a, note = {b}}", "a lacks title"},
        {"@misc{a, title = {b", "a field is not name = {value}"},
        {"@misc{a, title = {b {c}, year = {d}", "a field is not name = {value}"},
        {"@misc{a, title = \"b\"}", "a field is not name = {value}"},
        {"@misc{a, title = {}}", "a field is not name = {value}"},
        {"@misc{a, title = {b}, title = {c}}", "a has title twice"},
        {"@misc{a, title = {b}, author = {c}, year = {d}", "does not end with }"},
        {"@misc{a, title = {b}} c}", "a lacks author"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *at = wrong[i][0];
        bibtex_entry entry;
        error e = ERROR_INIT;
        cr_expect_eq(bibtex_next(&at, &entry, &e), -1, "%s", wrong[i][0]);
        cr_expect(strstr(e.message, wrong[i][1]), "%s: %s", wrong[i][0], e.message);
    }
}

/* ------------------------------------------------------------------------------------------------ sources */

/* Every key that the LaTeX report cites is in sources.bib, and every entry is cited. */
static void keys_match(const char *tex, const char *bib)
{
    bibtex_entry entry;
    error e = ERROR_INIT;
    int more, cited = 0;
    for (const char *p = tex; (p = strstr(p, "\\cite{")) != NULL;) {
        size_t length;
        for (p += 6; *p != '}'; p += length + (p[length] == ',')) {
            char head[BIBTEX_WORD_MAX + 8];
            length = strcspn(p, ",}");
            snprintf(head, sizeof head, "{%.*s,\n", (int)length, p);
            cr_expect(strstr(bib, head), "%s is cited and not in sources.bib", head);
            cited++;
        }
    }
    cr_expect_gt(cited, 0);
    for (const char *at = bib; (more = bibtex_next(&at, &entry, &e)) > 0;) {
        char one[BIBTEX_WORD_MAX + 8], first[BIBTEX_WORD_MAX + 8], later[BIBTEX_WORD_MAX + 8];
        snprintf(one, sizeof one, "cite{%s}", entry.key);
        snprintf(first, sizeof first, "cite{%s,", entry.key);
        snprintf(later, sizeof later, ",%s", entry.key);
        cr_expect(strstr(tex, one) || strstr(tex, first) || strstr(tex, later), "%s is not cited", entry.key);
    }
    cr_expect_eq(more, 0, "%s", e.message);
}

Test(methods, sources_of_what_was_run_are_listed_and_cited)
{
    make_runs((made_run){.encoding = "alibi"}, 2);
    make_runs((made_run){.encoding = "[rope+logn,learned]@clamp", .task = "sort"}, 2);
    char *tex = written("report.tex"), *bib = scratch_text(&room, "sources.bib"),
         *md = scratch_text(&room, "report.md");
    keys_match(tex, bib);
    holds_text(bib, "@inproceedings{press2022train,\n  title = {Train Short, Test Long");
    holds_text(bib, "@misc{su2021roformer,");
    holds_text(bib, "@inproceedings{huang2025formal,"); /* both tasks' */
    cr_expect(!strstr(strstr(bib, "{huang2025formal,") + 1, "{huang2025formal,"), "an entry stands there twice");
    holds_text(bib, "@misc{encoding-logn,\n  note = {Su 2021, kexue.fm/archives/8823"); /* no entry is known */
    holds_text(bib, "@misc{position-clamp,\n  note = {");
    cr_expect(!strstr(bib, "vaswani2017attention"), "positions as they are need no source");
    cr_expect(!strstr(bib, "shaw2018relative"), "what was not run is no source");
    holds_text(tex, "\\texttt{alibi}~\\cite{press2022train}");
    holds_text(tex, "\\bibliography{sources}");
    holds_text(md, "- encoding `alibi`: Press et al. 2022, Train Short, Test Long, section 3 "
                   "\\[[press2022train](<sources.bib>)\\]");
    free(tex), free(bib), free(md);
}

/* A plug-in that is not loaded brought it. */
Test(methods, what_is_not_known_is_told)
{
    make_runs((made_run){.encoding = "mine"}, 2);
    char *md = written("report.md");
    holds_text(md, "- encoding `mine`: not known to this program; load the plug-in that brought it");
    free(md);
}

/* ------------------------------------------------------------------------------------------------ methods */

Test(methods, the_section_names_all_that_a_paper_must)
{
    make_runs((made_run){.encoding = "alibi"}, 3);
    make_runs((made_run){.encoding = "rope"}, 3);
    char *md = written("report.md");
    static const char *const parts[] = {
        "## Methods\n",
        "2 configurations of position encoding are compared in the same network, made of `alibi`",
        "A decoder-only (causal) transformer, trained from scratch: 2 layers of width 64 with 4 attention heads, an "
        "MLP 4 "
        "times as wide with GELU (tanh), layer normalisation before",
        "The tasks are `repeat_copy`",
        "Training sequences are at most 16 long and at least 4; each draws its length uniformly.",
        "Tests are at 1, 2, 4 times the training length, with 256 sequences each in answer tasks",
        "AdamW with beta 0.9 and 0.98, epsilon 1e-08, decoupled weight decay 0.01 (matrices), 30 steps of 64 sequences",
        "The learning rate grows linearly over 3 steps to 0.001 and then follows a cosine schedule down to 0.1 of it; "
        "gradients longer than 1 are scaled to that length.",
        "The weights of the last step are tested. Validation is at training lengths only",
        "fitted when its exact match there reaches 0.99",
        "3 seeds were run.",
        "95 % intervals by the studentised bootstrap",
        "posbench 0.1.0",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        holds_text(md, parts[i]);
    cr_expect(!strstr(md, "was chosen for each"), "nothing was tuned");
    free(md);
}

Test(methods, other_settings_give_other_words)
{
    static const struct {
        const char *settings, *words;
    } cases[] = {
        {"train.lengths=fixed|train.min_len=16", "at most 16 long and all of that length."},
        {"train.lengths=geometric|train.length_ratio=0.8",
         "from a geometric distribution in which a length is 0.8 times as likely as the next shorter one"},
        {"train.lengths=weights|train.length_weights=4;2;1",
         "from equally wide bands with the weights 4, 2, 1, shortest first"},
        {"train.select=best", "The weights with the smallest validation loss are tested"},
        {"train.stop_at=0.95", "training stops once exact match in validation reaches 0.95"},
        {"train.clip=0", "gradients are not clipped"},
        {"train.schedule=constant", "to 0.001 and stays there"},
        {"model.causal=false", "A bidirectional transformer"},
        {"model.norm=rms", "RMS normalisation before"},
        {"model.share_layers=true", "All layers share one set of weights."},
        {"model.tied_head=true", "an output matrix that is the token table"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch_close(&room);
        scratch_open(&room);
        make_runs((made_run){.encoding = "alibi", .settings = cases[i].settings}, 2);
        char *md = written("report.md");
        holds_text(md, cases[i].words);
        free(md);
    }
}

Test(methods, one_seed_compares_nothing)
{
    make_runs((made_run){.encoding = "alibi"}, 1);
    char *md = written("report.md");
    holds_text(md, "One seed was run, so no spread is known and nothing is compared.");
    free(md);
}

/* ------------------------------------------------------------------------------------------------ tuning */

static const char tuned_spec[] =
    "{\"schema\": \"posbench-sweep/1\", \"name\": \"n\", \"tune\": {\"lr\": [0.001, 0.01], "
    "\"seeds\": [101, 102]}}";
static const char tuned_choice[] =
    "{\"schema\": \"posbench-tune/1\", \"lr\": [0.001, 0.01], \"seeds\": [101, 102], \"cells\": ["
    "{\"encoding\": \"alibi\", \"task\": \"repeat_copy\", \"cell\": \"format=1\\nencoding=alibi\\n\", \"lr\": 0.01, "
    "\"message\": null, \"trials\": ["
    "{\"lr\": 0.001, \"seed\": 101, \"status\": \"ok\", \"validation_loss\": 0.5},"
    "{\"lr\": 0.001, \"seed\": 102, \"status\": \"ok\", \"validation_loss\": 0.75},"
    "{\"lr\": 0.01, \"seed\": 101, \"status\": \"ok\", \"validation_loss\": 0.25},"
    "{\"lr\": 0.01, \"seed\": 102, \"status\": \"diverged\", \"validation_loss\": null}]},"
    "{\"encoding\": \"rope\", \"task\": \"repeat_copy\", \"cell\": \"format=1\\nencoding=rope\\n\", \"lr\": null, "
    "\"message\": \"all 4 trials diverged\", \"trials\": []}]}";

Test(methods, trials_and_choices_are_a_table)
{
    char path[PATH_MAX];
    make_runs((made_run){.encoding = "alibi", .lr = 0.01}, 2);
    scratch_write(&room, "spec.json", tuned_spec, sizeof tuned_spec - 1, path);
    mkdir(scratch_path(&room, "tune", path), 0777);
    scratch_write(&room, "tune/choice.json", tuned_choice, sizeof tuned_choice - 1, path);
    char *md = written("report.md"), *tex = scratch_text(&room, "report.tex"),
         *page = scratch_text(&room, "report.html");
    holds_text(md, "| encoding | task | 0.001 | 0.01 | chosen |");
    holds_text(md, "| `alibi` | `repeat_copy` | 0.6250 | **0.2500** (1 without) | 0.01 |");
    holds_text(md, "all 4 trials diverged |");
    holds_text(
        md,
        "was chosen for each encoding, task and setting by itself, among 0.001 and 0.01, each tried with the same 2 "
        "seeds, none of which is reported");
    holds_text(tex, "0.6250");
    holds_text(page, "Tuning: mean validation loss");
    free(md), free(tex), free(page);
}

Test(methods, without_trials_there_is_no_table)
{
    make_runs((made_run){.encoding = "alibi"}, 2);
    char *md = written("report.md");
    cr_expect(!strstr(md, "Tuning: "));
    free(md);
}

/* ------------------------------------------------------------------------------------------------ cost */

/* By hand: the made runs take 2 s of a processor and score 0.55 and 0.6 at twice the length. */
Test(methods, a_figure_sets_the_score_against_the_time)
{
    make_runs((made_run){.encoding = "alibi"}, 2);
    char *md = written("report.md"), *data = scratch_text(&room, "plots/cost.tsv");
    holds_text(md, "Score past the training length over the processor time of a run");
    char *row = strstr(data, "repeat_copy\talibi\t2\t");
    cr_assert(row, "%s", data);
    cr_expect(fabs(strtod(row + strlen("repeat_copy\talibi\t2\t"), NULL) - 0.575) < 1e-12, "%s", row);
    free(md), free(data);
}

/* Specs: every way in which a file can be wrong, and what is said about it. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rng.h"
#include "spec_trial.h"

/* ------------------------------------------------------------------------------------------------ faults */

Test(spec, all_faults_in_one_go)
{
    static const char text[] = "name: trial\n"
                               "encoding: [nope, ropee]\n"
                               "task: sort(symbols=12a8)\n"
                               "model: {widht: 32, lr: 3}\n"
                               "train:\n"
                               "  learing_rate: 3e-4\n"
                               "  steps: 12a8\n"
                               "  steps: 100\n"
                               "  lr: 1e-3x\n"
                               "  batch: 0\n"
                               "titel: x\n";
    static const char expected[] = "trial.yaml:2:18: error: unknown encoding 'ropee'; did you mean 'rope'?\n"
                                   "    2 | encoding: [nope, ropee]\n"
                                   "      |                  ^~~~~\n"
                                   "trial.yaml:3:7: error: sort: symbols=12a8: not a number (wanted: 1 to 32768)\n"
                                   "    3 | task: sort(symbols=12a8)\n"
                                   "      |       ^~~~~~~~~~~~~~~~~~\n"
                                   "trial.yaml:4:9: error: unknown key 'widht' in model; did you mean 'width'?\n"
                                   "    4 | model: {widht: 32, lr: 3}\n"
                                   "      |         ^~~~~\n"
                                   "trial.yaml:4:20: error: unknown key 'lr' in model; did you mean 'train.lr'?\n"
                                   "    4 | model: {widht: 32, lr: 3}\n"
                                   "      |                    ^~\n"
                                   "trial.yaml:6:3: error: unknown key 'learing_rate' in train; did you mean 'lr'?\n"
                                   "    6 |   learing_rate: 3e-4\n"
                                   "      |   ^~~~~~~~~~~~\n"
                                   "trial.yaml:7:10: error: train.steps=12a8: not a number (wanted: 1 to 1000000000)\n"
                                   "    7 |   steps: 12a8\n"
                                   "      |          ^~~~\n"
                                   "trial.yaml:8:3: error: 'steps' is given twice; it stands in line 7 already\n"
                                   "    8 |   steps: 100\n"
                                   "      |   ^~~~~\n"
                                   "trial.yaml:9:7: error: train.lr=1e-3x: not a number (wanted: 0 to 1000000000)\n"
                                   "    9 |   lr: 1e-3x\n"
                                   "      |       ^~~~~\n"
                                   "trial.yaml:10:10: error: train.batch=0: out of bounds (1 to 1048576)\n"
                                   "   10 |   batch: 0\n"
                                   "      |          ^\n"
                                   "trial.yaml:11:1: error: unknown key 'titel'; did you mean 'title'?\n"
                                   "   11 | titel: x\n"
                                   "      | ^~~~~";
    spec_trial t;
    trial_open(&t);
    cr_assert_str_eq(trial_fault(&t, text), expected);
    cr_assert_eq(t.e.kind, ERROR_USAGE);
    trial_close(&t);
}

Test(spec, each_fault_at_its_place)
{
    static const char *const cases[][2] = {
        {"encoding: rope\n", "trial.yaml:1:1: error: no 'task' is given"},
        {"task: sort\n", "trial.yaml:1:1: error: no 'encoding' is given"},
        {BASE "encoding: nope\n", "trial.yaml:3:1: error: 'encoding' is given twice; it stands in line 1 already"},
        {BASE "train: {len: 4}\ntrain.len: 8\n",
         "trial.yaml:4:1: error: train.len is given twice; it has a value in line 3"},
        {BASE "encodings: nope\n", "trial.yaml:3:1: error: unknown key 'encodings'; did you mean 'encoding'?"},
        {BASE "tasks: sort\n", "did you mean 'task'?"},
        {BASE "lr: 1\n", "trial.yaml:3:1: error: unknown key 'lr'; did you mean 'train.lr'?"},
        {BASE "trian: {lr: 1}\n", "did you mean 'train'?"},
        {BASE "seed: [1, 2, 1]\n", "trial.yaml:3:14: error: seed: '1' is in the list already, in line 3"},
        {BASE "train: {lr: [1e-3, 0.001]}\n", "trial.yaml:3:20: error: train.lr: '0.001' is in the list already"},
        {"encoding: [rope, rope(base=10000)]\ntask: sort\n",
         "trial.yaml:1:18: error: encoding: 'rope' is in the list already"},
        {BASE "seeds: 0\n", "seeds=0: out of bounds (1 to 1000)"},
        {BASE "seeds: [1, 2]\n", "seeds takes a number; 'seed' takes a list of them"},
        {BASE "seed: 1\nseeds: 2\n", "trial.yaml:4:1: error: seeds and seed are both given"},
        {BASE "train: 5\n", "trial.yaml:3:8: error: train takes keys of its own, as in train: {min_len: ...}"},
        {BASE "train:\n", "train takes keys of its own"},
        {BASE "train: {lr: {a: 1}}\n", "trial.yaml:3:13: error: train.lr takes a value, not a mapping"},
        {BASE "train: {lr: }\n", "train.lr has no value; leave the key out for its default"},
        {BASE "train: {lr: ~}\n", "train.lr has no value"},
        {BASE "train: {lr: []}\n", "train.lr: an empty list"},
        {BASE "train: {lr: [[1]]}\n",
         "train.lr: a list inside a list means something for encodings and for rows that are lists"},
        {"encoding: [[[rope]]]\ntask: sort\n", "encoding: a list inside these lists cannot stand here"},
        {"encoding: [nope, ]\ntask: sort\nseed: [1, , 2]\n", "trial.yaml:3:11: error:"},
        {"encoding: [rope(base=1e4,layout=half), nope]\ntask: sort\n",
         "trial.yaml:1:12: error: a '(' without its ')' in 'rope(base=1e4' (inside [ ] and { } an option list with "
         "commas "
         "needs quotes)"},
        {BASE "extend: {methods: [none, yran]}\n", "trial.yaml:3:19: error: unknown method 'yran'; did you mean 'yarn'?"},
        {"encoding: [learned, alibi]\ntask: repeat_copy\nextend: {methods: yarn}\n",
         "trial.yaml:3:19: error: extend.methods: no encoding here has the method 'yarn'"},
        {BASE "extend: {methd: yarn}\n", "did you mean 'methods'?"},
        {BASE "extend: {factors: [2, 4]}\n", "extend.factors: it belongs to extend.methods, which names none"},
        {BASE "extend: {methods: none, factors: [1, 2]}\n", "extend.factors: 1 times train.len"},
        {BASE "name: a/b\n", "trial.yaml:3:7: error: name: 'a/b' cannot name a results folder"},
        {BASE "name: ..\n", "cannot name a results folder"},
        {BASE "name: [a]\n", "name takes a text"},
        {BASE "title: \"a\\nb\"\n", "title: a line break or another control character"},
        {BASE "baseline: nope\n", "trial.yaml:3:11: error: baseline: 'nope' is not among the encodings of this spec"},
        {BASE "baseline: nopee\n", "did you mean 'nope'?"},
        {BASE "overrides: {}\n", "overrides takes a list of {when: {...}, set: {...}}"},
        {BASE "overrides: [5]\n", "an override is {when: {...}, set: {...}}"},
        {BASE "overrides: [{when: {task: repeat_copy}}]\n", "an override needs both 'when' and 'set'"},
        {BASE "overrides: [{when: {task: repeat_copy}, sets: {}}]\n",
         "unknown key 'sets' in overrides; did you mean 'set'?"},
        {BASE "overrides: [{when: {tsk: a}, set: {train: {lr: 1}}}]\n", "unknown key 'tsk'; did you mean 'task'?"},
        {BASE "overrides: [{when: {task: sort}, set: {train: {lr: 1}}}]\n", "this override matches no run of the grid"},
        {BASE "overrides: [{when: {task: repeat_copy}, set: {task: sort}}]\n", "an override cannot set task"},
        {BASE "overrides: [{when: {task: repeat_copy}, set: {train: {lr: [1, 2]}}}]\n",
         "train.lr: an override sets one value; an axis belongs to the top level"},
        {BASE "x-a: &a 1\nmodel: {<<: *a}\n", "'<<' merges mappings"},
        {"encoding: *enc\ntask: sort\n", "trial.yaml:1:11: error: no anchor '&enc' stands before this"},
        {"x-a: &first [rope]\nencoding: *frist\ntask: sort\n", "did you mean '*first'?"},
        {"x-a: &a [*a]\n" BASE, "no anchor '&a' stands before this"},
        {"encoding: !mine rope\ntask: sort\n", "a tag (!...) means nothing here"},
        {BASE "---\nencoding: rope\n", "trial.yaml:3:1: error: a second document; a spec is one"},
        {BASE "train: {lr: 1\nseed: 2\n", "error: "},
        {BASE "train:\n  lr: 1\n\tlen: 2\n", "trial.yaml:5:2: error: invalid tab used as indentation"},
        {"encoding: @rope\n", "trial.yaml:1:11: error: plain scalar cannot start with '@'"},
        {"encoding: \"rope\n", "double-quoted scalar without closing quote"},
        {"encoding: \"ro\\0pe\"\ntask: sort\n", "trial.yaml:1:11: error: a zero character in a text"},
        {"[a]: 1\n" BASE, "a key is one word"},
        {"just words\n", "a spec begins with keys"},
        {"- a\n- b\n", "trial.yaml:1:1: error: a spec begins with keys"},
        {"", "trial.yaml: the file is empty"},
        {"# nothing\n---\n", "a spec begins with keys"},
        /* what no single value is to blame for */
        {BASE "model: {width: 60, heads: 7}\n",
         "trial.yaml:3:27: error: model.heads: 7 heads do not divide model.width, 60"},
        {BASE "model: {width: 66}\n", "trial.yaml:3:16: error: model.heads: 4 heads do not divide model.width, 66"},
        {BASE "train: {min_len: 40}\n", "trial.yaml:3:18: error: train.min_len: 40 is longer than train.len, 32"},
        {"encoding: [nope, rope+rope]\ntask: sort\n", "trial.yaml:1:18: error: "},
        {"encoding: [nope, [rope, nope, nope]]\ntask: sort\n", "trial.yaml:1:18: error: encoding: "},
        {"encoding: nope\ntask: sort(symbols=20)\n", "trial.yaml:2:7: error: task: "},
        {BASE "eval: {bins: 1-5;5-9}\n", "trial.yaml:3:14: error: the ranges 1-5 and 5-9 overlap"},
        {BASE "eval: {bins: 1-5, ratios: [1, 9]}\n", "trial.yaml:3:27: error: eval.ratios: eval.bins are given too"},
        {BASE "eval: {map: clam}\n", "trial.yaml:3:13: error: unknown position map 'clam'; did you mean 'clamp'?"},
        {BASE "seeds: 1000\ntrain: {lr: [1, 2, 3, 4, 5, 6, 7, 8], batch: [1, 2, 3, 4, 5, 6, 7]}\n",
         "the grid has more than 50000 runs here"},
    };
    spec_trial t;
    trial_open(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *shown = trial_fault(&t, cases[i][0]);
        cr_assert_eq(t.e.kind, ERROR_USAGE, "%s", shown);
        cr_assert(strstr(shown, cases[i][1]) != NULL, "%s---\n%s\n--- wanted: %s", cases[i][0], shown, cases[i][1]);
    }
    trial_close(&t);
}

Test(spec, one_fault_is_told_once)
{
    spec_trial t;
    trial_open(&t);
    trial_fault(&t, BASE "seeds: 5\nmodel: {width: 66}\n");
    cr_assert(strstr(strstr(t.e.message, "do not divide") + 1, "do not divide") == NULL, "%s", t.e.message);
    trial_close(&t);
}

Test(spec, more_faults_than_a_message_holds_are_counted)
{
    spec_trial t;
    char text[32768] = BASE "train:\n";
    trial_open(&t);
    for (int i = 0; i < 500; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "  unheard_of_%d: 1\n", i);
    const char *shown = trial_fault(&t, text);
    int told = 0, left = 0;
    for (const char *p = shown; (p = strstr(p, ": error: ")); p++)
        told++;
    cr_assert(sscanf(strstr(shown, "\nand ") + 1, "and %d more", &left) == 1, "%s", shown);
    cr_assert_eq(told + left, 500);
    cr_assert_gt(told, 15);
    trial_close(&t);
}

/* The caret stands below its character: wide letters, tabs and lines that are cut notwithstanding. */
Test(spec, carets)
{
    spec_trial t;
    trial_open(&t);
    const char *shown = trial_fault(&t, "title: \"\xc3\xa4\xc3\xb6\xc3\xbc\"\nencoding: [nope,\t ropee]\ntask: sort\n");
    cr_assert_str_eq(shown, "trial.yaml:2:19: error: unknown encoding 'ropee'; did you mean 'rope'?\n"
                            "    2 | encoding: [nope,  ropee]\n"
                            "      |                   ^~~~~");
    char text[1024] = "task: sort\nencoding: [";
    for (int i = 0; i < 40; i++)
        strcat(text, "\xc3\xa4\xc3\xb6\xc3\xbc, ");
    strcat(text, "nope]\n");
    shown = trial_fault(&t, text);
    for (const char *line = shown; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        size_t width = 0;
        for (const char *p = line; *p && *p != '\n'; p++)
            width += ((unsigned char)*p & 0xc0) != 0x80;
        cr_assert(strncmp(line, "      |", 7) != 0 || width <= 8 + 97, "%s", shown);
    }
    trial_close(&t);
}

Test(spec, files_that_are_no_specs)
{
    spec_trial t;
    char path[PATH_MAX];
    trial_open(&t);
    static char large[(1 << 20) + 2];
    memset(large, '#', sizeof large - 1);
    const struct {
        const char *name, *message;
        const void *data;
        size_t size;
        error_kind kind;
    } cases[] = {
        {"missing.yaml", "missing.yaml: No such file or directory", NULL, 0, ERROR_ENVIRONMENT},
        {"zero.yaml", "zero.yaml: no text: it holds a zero byte at offset 5", "task:\0 sort", 11, ERROR_USAGE},
        {"latin.yaml", "latin.yaml: no text: it is not UTF-8 at offset 8", "title: \"\xe4\"\n", 11, ERROR_USAGE},
        {"large.yaml", "large.yaml: 1048577 bytes; a spec has at most 1048576", large, sizeof large - 1,
         ERROR_ENVIRONMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch_path(&t.folder, cases[i].name, path);
        if (cases[i].data)
            scratch_write(&t.folder, cases[i].name, cases[i].data, cases[i].size, path);
        error_clear(&t.e);
        cr_assert(spec_load(path, t.registry, NULL, &t.spec, &t.e) < 0);
        cr_assert_eq(t.e.kind, cases[i].kind);
        cr_assert(strstr(t.e.message, cases[i].message) != NULL, "%s", t.e.message);
    }
    error_clear(&t.e);
    cr_assert(spec_load(t.folder.dir, t.registry, NULL, &t.spec, &t.e) < 0);
    cr_assert(strstr(t.e.message, "a folder, not a spec") != NULL, "%s", t.e.message);
    error_clear(&t.e);
    cr_assert(spec_load("/dev/zero", t.registry, NULL, &t.spec, &t.e) < 0);
    cr_assert_str_eq(t.e.message, "/dev/zero: not a regular file");
    cr_assert(mkfifo(scratch_path(&t.folder, "fifo", path), 0600) == 0);
    error_clear(&t.e);
    cr_assert(spec_load(path, t.registry, NULL, &t.spec, &t.e) < 0, "and it must not wait for a writer");
    trial_close(&t);
}

Test(spec, a_bad_file_name_asks_for_a_name)
{
    spec_trial t;
    char path[PATH_MAX];
    trial_open(&t);
    scratch_write(&t.folder, "a b.yaml", BASE, strlen(BASE), path);
    cr_assert(spec_load(path, t.registry, NULL, &t.spec, &t.e) < 0);
    cr_assert(strstr(t.e.message, "give one with 'name:'") != NULL, "%s", t.e.message);
    trial_close(&t);
}

/* ------------------------------------------------------------------------------------------------ hostile input */

Test(spec, merges_of_merges_end)
{
    spec_trial t;
    char text[8192] = "x-0: &a0 {width: 16}\n";
    trial_open(&t);
    for (int i = 1; i < 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "x-%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i - 1,
                 i - 1);
    strcat(text, BASE "model: {<<: *a59}\n");
    cr_assert(strstr(trial_fault(&t, text), "too many keys come together here") != NULL, "%s", t.e.message);
    trial_close(&t);
}

Test(spec, deep_nesting_ends)
{
    spec_trial t;
    static char text[100000];
    trial_open(&t);
    strcpy(text, "encoding: ");
    memset(text + 10, '[', sizeof text - 11);
    cr_assert(strstr(trial_fault(&t, text), "nested more than 24 deep") != NULL, "%s", t.e.message);
    trial_close(&t);
}

/* One random slip, of the kinds that hands and broken disks make. */
static size_t mutate(rng *r, char *text, size_t size, size_t room)
{
    static const char alphabet[] = "[]{}:,-#&*!|>'\"%@` \n\t\\<<~xyz0.()=;\xc3\xff";
    size_t at = size ? rng_below(r, (uint32_t)size) : 0, length = 1 + rng_below(r, 12);
    char letter = alphabet[rng_below(r, sizeof alphabet - 1)];
    if (length > size - at)
        length = size - at;
    switch (rng_below(r, 5)) {
    case 0: /* replace */
        if (size)
            text[at] = letter;
        return size;
    case 1: /* delete */
        memmove(text + at, text + at + length, size - at - length);
        return size - length;
    case 2: /* insert */
        if (size + 1 > room)
            return size;
        memmove(text + at + 1, text + at, size - at);
        text[at] = letter;
        return size + 1;
    case 3: { /* repeat a stretch */
        if (size + length > room)
            return size;
        char piece[16];
        memcpy(piece, text + at, length);
        memmove(text + at + length, text + at, size - at);
        memcpy(text + at, piece, length);
        return size + length;
    }
    default: /* cut off */
        return rng_below(r, 20) ? size : at;
    }
}

/* Whatever the bytes: runs or a message, never a crash, a leak or a hang. Under ASan this is where the parser is
 * tested. */
Test(spec, mutated_specs, .timeout = 120)
{
    /* Files of few runs: what a large grid costs is the runs, not the text. */
    static const char *const seeds[] = {"bench/specs/quick.yaml", "bench/specs/huang.yaml", "bench/specs/early_token.yaml"};
    static const char own[] =
        "x-a: &a {width: 16, heads: 2}\nencoding: [nope, [rope, \"nope\"], 'rope(base=5)']\ntask: sort\n"
        "model: {<<: *a, layers: 2}\nseeds: 2\neval: {ratios: [[1, 2], [1, 3]]}\n"
        "overrides: [{when: {encoding: nope}, set: {train: {lr: 1e-4}}}]\n";
    spec_trial t;
    trial_open(&t);
    int good = 0, bad = 0;
    for (int round = 0; round < 300; round++) {
        rng r = rng_stream(11, RNG_TEST, (uint64_t)round, 0);
        char text[16384];
        size_t size = sizeof own - 1;
        int which = (int)rng_below(&r, 16);
        if (which < 3) {
            char *read = scratch_read(seeds[which], &size);
            memcpy(text, read, size);
            free(read);
        } else {
            memcpy(text, own, size);
        }
        for (int n = 1 + (int)rng_below(&r, 6); n > 0; n--)
            size = mutate(&r, text, size, sizeof text);
        scratch_write(&t.folder, "trial.yaml", text, size, t.path);
        error_clear(&t.e);
        if (spec_load(t.path, t.registry, NULL, &t.spec, &t.e) == 0) {
            cr_assert_gt(t.spec.count, 0);
            spec_free(&t.spec);
            good++;
        } else {
            cr_assert(t.e.kind == ERROR_USAGE && t.e.message[0], "round %d", round);
            bad++;
        }
    }
    cr_assert(good > 10 && bad > 100, "%d good, %d bad: the mutations are too weak or too strong", good, bad);
    trial_close(&t);
}

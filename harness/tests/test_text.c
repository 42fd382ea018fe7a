/* The task `text`: stretches, windows, and files that will not do. Each test makes its own file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "rng.h"
#include "task_room.h"

static char folder[64], path[96], text[160];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/posbench-text-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/corpus, (a).txt", folder);
    snprintf(text, sizeof text, "text(file=\"%s\")", path);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

TestSuite(text, .init = make_folder, .fini = remove_folder);

static void write_file(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, count, file), count);
    cr_assert_eq(fclose(file), 0);
}

/* A text in which every five bytes tell where they stand: three bytes count the triples in base 75, lowest digit first,
 * each with its own range of values, so that a reader finds the first of the three. */
enum { PLACE_BASE = 75 };

static void write_places(int count)
{
    unsigned char *bytes = malloc((size_t)count);
    for (int i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i % 3 * PLACE_BASE + (i % 3 == 0   ? i / 3 % PLACE_BASE
                                                         : i % 3 == 1 ? i / 3 / PLACE_BASE % PLACE_BASE
                                                                      : i / 3 / PLACE_BASE / PLACE_BASE));
    write_file(bytes, (size_t)count);
    free(bytes);
}

/* Where a window of at least five bytes begins, from its content. */
static int place_of(const int *input)
{
    int skip = (3 - input[0] / PLACE_BASE) % 3;
    const int *at = input + skip;
    return 3 * (at[0] % PLACE_BASE + PLACE_BASE * (at[1] % PLACE_BASE) +
                PLACE_BASE * PLACE_BASE * (at[2] % PLACE_BASE)) -
           skip;
}

Test(text, stretches_are_the_file)
{
    enum { COUNT = 1003 };
    write_places(COUNT);
    task_room r = room_open(text, 1, 8);
    long total = 0, count[3];
    const unsigned char *begin[3];
    for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++) {
        begin[stream] = task_text(r.task, (task_stream)stream, &count[stream]);
        total += count[stream];
    }
    cr_expect_eq(total, COUNT);
    cr_expect_eq(begin[TASK_VALIDATION], begin[TASK_TRAIN] + count[TASK_TRAIN], "no byte between, none twice");
    cr_expect_eq(begin[TASK_TEST], begin[TASK_VALIDATION] + count[TASK_VALIDATION]);
    cr_expect_eq(count[TASK_TRAIN], 902);
    cr_expect_eq(count[TASK_VALIDATION], 50);
    cr_expect_eq(count[TASK_TEST], 51);
    FILE *file = fopen(path, "rb");
    for (long i = 0; i < COUNT; i++)
        cr_assert_eq(begin[TASK_TRAIN][i], fgetc(file));
    fclose(file);
    room_close(&r);
}

/* Every window lies inside its stretch, predicts the next byte everywhere, and each possible start occurs. */
Test(text, windows_stay_inside)
{
    enum { COUNT = 4000, LEN = 17, DRAWS = 4000 };
    static const int border[] = {0, COUNT * 18 / 20, COUNT * 19 / 20, COUNT};
    write_places(COUNT);
    task_room r = room_open(text, 1, LEN);
    cr_expect_eq(task_vocab(r.task), 256);
    for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++) {
        static char met[COUNT];
        memset(met, 0, sizeof met);
        for (uint32_t item = 0; item < DRAWS; item++) {
            room_draw(&r, (task_stream)stream, 1, 2, item, LEN);
            cr_assert_eq(r.sample.count, LEN);
            cr_assert_eq(r.sample.answer_begin, -1);
            cr_assert_eq(r.shared, 0);
            int start = place_of(r.sample.input);
            cr_assert(start >= border[stream] && start + LEN < border[stream + 1], "start %d", start);
            met[start] = 1;
            for (int t = 0; t < LEN; t++) {
                cr_assert_eq(r.sample.position[t], t);
                if (t > 0)
                    cr_assert_eq(r.sample.input[t], r.sample.target[t - 1]);
            }
            cr_assert_eq(place_of(r.sample.target), start + 1);
            cr_assert_eq(r.sample.input[LEN], ROOM_POISON);
            cr_assert_eq(r.sample.target[LEN], ROOM_POISON);
        }
        int starts = 0;
        for (int i = 0; i < COUNT; i++)
            starts += met[i];
        int possible = border[stream + 1] - border[stream] - LEN;
        cr_expect(stream == TASK_TRAIN ? starts > possible / 2 : starts == possible, "%d of %d starts", starts,
                  possible);
    }
    room_close(&r);
}

/* n bytes have n-1 predictions: the longest window is one byte shorter than its stretch. */
Test(text, a_stretch_has_one_prediction_less_than_bytes)
{
    write_places(20 * 6);
    task_room r = room_open(text, 5, 5);
    long count;
    task_text(r.task, TASK_TEST, &count);
    cr_expect_eq(count, 6);
    for (uint32_t item = 0; item < 20; item++) {
        room_draw(&r, TASK_TEST, 1, 5, item, 5);
        cr_assert_eq(place_of(r.sample.input), 114);
        int scored = 0;
        for (int t = 0; t < r.sample.count; t++)
            scored += r.sample.target[t] != TASK_NOT_SCORED;
        cr_assert_eq(scored, 5);
    }
    room_close(&r);
}

Test(text, every_byte_value_passes)
{
    unsigned char bytes[256 * 40];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    write_file(bytes, sizeof bytes);
    task_room r = room_open(text, 1, 255);
    room_draw(&r, TASK_TEST, 1, 1, 1, 255);
    for (int t = 0; t < 255; t++)
        cr_assert_eq(r.sample.target[t], (r.sample.input[t] + 1) % 256);
    room_close(&r);
}

Test(text, equal_names_give_equal_windows)
{
    write_places(4000);
    task_room a = room_open(text, 1, 20), b = room_open(text, 1, 30);
    room_draw(&a, TASK_TRAIN, 1, 2, 3, 20);
    room_draw(&b, TASK_TRAIN, 1, 2, 3, 20);
    cr_expect_eq(place_of(a.sample.input), place_of(b.sample.input));
    room_draw(&b, TASK_TRAIN, 1, 2, 4, 20);
    cr_expect_neq(place_of(a.sample.input), place_of(b.sample.input));
    room_close(&a);
    room_close(&b);
}

/* Streams take different numbers: where a training window lies in its stretch says nothing about the test's. */
Test(text, streams_are_independent)
{
    enum { COUNT = 20000, LEN = 10, DRAWS = 2000, PARTS = 10 };
    write_places(COUNT);
    task_room r = room_open(text, 1, LEN);
    static const int begin[] = {0, COUNT * 18 / 20, COUNT * 19 / 20, COUNT};
    int equal[3] = {0};
    for (uint32_t item = 0; item < DRAWS; item++) {
        int part[3];
        for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++) {
            room_draw(&r, (task_stream)stream, 1, 2, item, LEN);
            int length = begin[stream + 1] - begin[stream];
            part[stream] = (place_of(r.sample.input) - begin[stream]) * PARTS / length;
        }
        for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
            equal[stream] += part[stream] == part[(stream + 1) % 3];
    }
    for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
        cr_expect(abs(equal[stream] - DRAWS / PARTS) < 90, "%d of %d in the same tenth", equal[stream], DRAWS);
    room_close(&r);
}

/* The digest as FIPS 180 gives it for a million times "a"; the commonest byte is the best fixed guess. */
Test(text, digest_and_chance)
{
    enum { COUNT = 1000000 };
    char *bytes = malloc(COUNT);
    memset(bytes, 'a', COUNT);
    write_file(bytes, COUNT);
    task_room r = room_open(text, 1, 8);
    cr_expect_str_eq(task_digest(r.task), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    cr_expect_eq(task_chance_token(r.task, 8), 1.0);
    cr_expect(task_chance_exact(r.task, 8) != task_chance_exact(r.task, 8), "no exact match: not a number");
    room_close(&r);
    for (int i = COUNT * 19 / 20; i < COUNT; i += 4) /* a quarter of the test stretch */
        bytes[i] = 'b';
    write_file(bytes, COUNT);
    r = room_open(text, 1, 8);
    cr_expect_eq(task_chance_token(r.task, 8), 0.75);
    room_close(&r);
    free(bytes);
}

static void check_no_file(const char *task_text_form, int max_len, const char *first, const char *second)
{
    error e = ERROR_INIT;
    cr_assert_null(task_open(task_text_form, TASK_DECODER, 1, max_len, &e));
    cr_expect_eq(e.kind, ERROR_ENVIRONMENT, "%s", e.message);
    cr_expect_not_null(strstr(e.message, first), "'%s' lacks '%s'", e.message, first);
    cr_expect_not_null(strstr(e.message, second), "'%s' lacks '%s'", e.message, second);
    error none = ERROR_INIT;
    cr_expect_eq(task_check(task_text_form, TASK_DECODER, 1, max_len, &none), 0, "the words are right: %s", none.message);
}

Test(text, missing_file)
{
    check_no_file(text, 64, path, "No such file or directory");
    check_no_file(text, 64, path, "bench/corpora");
}

Test(text, folder_instead_of_file)
{
    char form[160];
    snprintf(form, sizeof form, "text(file=%s)", folder);
    check_no_file(form, 64, folder, "Is a directory");
}

Test(text, short_file)
{
    write_places(20 * 65 - 1);
    check_no_file(text, 64, path, "1300");
    write_places(20 * 65);
    task_room r = room_open(text, 1, 64);
    for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
        room_draw(&r, (task_stream)stream, 1, 1, 1, 64);
    room_close(&r);
}

Test(text, empty_file)
{
    write_file("", 0);
    check_no_file(text, 1, path, "0 bytes");
}

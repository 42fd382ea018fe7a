/* Tensors in a file: what is written reads back, and whatever is wrong with a header is refused by name. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "safetensors.h"
#include "scratch.h"
#include "table.h"

static scratch tensor_room;

static void tensor_setup(void)
{
    scratch_open(&tensor_room);
}

static void tensor_teardown(void)
{
    scratch_close(&tensor_room);
}

TestSuite(safetensors, .init = tensor_setup, .fini = tensor_teardown);

static char *tensor_file_of(uint64_t length, const char *header, const void *data, size_t size, char path[PATH_MAX])
{
    char bytes[16384];
    size_t text = strlen(header);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(length >> 8 * i & 0xff);
    memcpy(bytes + 8, header, text);
    memcpy(bytes + 8 + text, data, size);
    return scratch_write(&tensor_room, "t.safetensors", bytes, 8 + text + size, path);
}

static char *tensor_file(const char *header, const void *data, size_t size, char path[PATH_MAX])
{
    return tensor_file_of(strlen(header), header, data, size, path);
}

static void tensor_refuse(const char *path, const char *words)
{
    error e = ERROR_INIT;
    safetensors s;
    cr_assert_lt(safetensors_open(&s, path, &e), 0, "taken: %s", words);
    cr_assert(strstr(e.message, path), "%s", e.message);
    cr_assert(strstr(e.message, words), "'%s' is not in: %s", words, e.message);
    cr_assert_eq(e.kind, ERROR_USAGE);
}

Test(safetensors, what_is_written_reads_back)
{
    static const real two[] = {1, -2, (real)0.5, 4, (real)5.25, -6}, one[] = {(real)0.1, 2};
    static const char *const metadata[][2] = {{"format", "pt"}, {"said", "\"quoted\"\n\303\244"}, {NULL, NULL}};
    const safetensors_tensor tensors[] = {{"layer0.w", 2, {2, 3}, two}, {"b", 1, {2, 0}, one}};
    char path[PATH_MAX];
    error e = ERROR_INIT;
    safetensors s;
    double value[6];
    scratch_path(&tensor_room, "w.safetensors", path);
    cr_assert_eq(safetensors_write(path, tensors, 2, metadata, &e), 0, "%s", e.message);
    cr_assert_eq(safetensors_open(&s, path, &e), 0, "%s", e.message);
    cr_assert_eq(s.count, 2);
    cr_assert_eq(s.data % 8, 0);
    cr_assert_str_eq(safetensors_metadata(&s, "said"), metadata[1][1]);
    cr_assert_null(safetensors_metadata(&s, "unsaid"));
    const safetensors_entry *t = safetensors_find(&s, "layer0.w", &e);
    cr_assert(t && t->dims == 2 && t->dim[0] == 2 && t->dim[1] == 3 && !strcmp(t->type, "F32"));
    cr_assert_eq(safetensors_read(&s, t, value, &e), 0, "%s", e.message);
    for (int i = 0; i < 6; i++)
        cr_assert_eq(value[i], (double)two[i]);
    t = safetensors_find(&s, "b", &e);
    cr_assert(t && t->dims == 1 && t->dim[0] == 2);
    cr_assert_eq(safetensors_read(&s, t, value, &e), 0);
    cr_assert_eq(value[0], (double)0.1f);
    cr_assert_null(safetensors_find(&s, "layer0.v", &e));
    cr_assert(strstr(e.message, "did you mean 'layer0.w'?"), "%s", e.message);
    safetensors_close(&s);
}

/* A disk that is full: the old file stays, the reason is told. */
Test(safetensors, writing_fails_whole)
{
    static const real one[] = {1};
    const safetensors_tensor tensor = {"b", 1, {1, 0}, one};
    error e = ERROR_INIT;
    cr_assert_lt(safetensors_write("/dev/full", &tensor, 1, NULL, &e), 0);
    cr_assert_eq(e.kind, ERROR_ENVIRONMENT);
    cr_assert(strstr(e.message, "/dev/full: No space left"), "%s", e.message);
}

/* All types that can be read, at offsets that are no multiples of their sizes; a tensor without numbers; a single
 * number. */
Test(safetensors, types_and_places)
{
    static const unsigned char data[] = {7,    0x00, 0x00, 0xc0, 0x3f, /* 7, F32 1.5 */
                                         0x00, 0xbc,                   /* F16 -1 */
                                         0x49, 0x40,                   /* BF16 3.140625 */
                                         0,    0,    0,    0,    0,    0, 0x04, 0xc0 /* F64 -2.5 */};
    char path[PATH_MAX];
    error e = ERROR_INIT;
    safetensors s;
    double value;
    tensor_file("{\"d\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[9,17]},"
                "\"u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                "\"none\":{\"dtype\":\"I64\",\"shape\":[3,0],\"data_offsets\":[5,5]},"
                "\"h\":{\"dtype\":\"F16\",\"shape\":[1,1],\"data_offsets\":[5,7]},"
                "\"b\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[7,9]},"
                "\"f\":{\"dtype\":\"F32\",\"shape\":[1,1,1],\"data_offsets\":[1,5]}}   ",
                data, sizeof data, path);
    cr_assert_eq(safetensors_open(&s, path, &e), 0, "%s", e.message);
    static const struct {
        const char *name;
        double value;
    } expected[] = {{"f", 1.5}, {"h", -1}, {"b", 3.140625}, {"d", -2.5}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const safetensors_entry *t = safetensors_find(&s, expected[i].name, &e);
        cr_assert_eq(t->count, 1);
        cr_assert_eq(safetensors_read(&s, t, &value, &e), 0, "%s", e.message);
        cr_assert_eq(value, expected[i].value, "%s: %g", expected[i].name, value);
    }
    cr_assert_eq(safetensors_find(&s, "none", &e)->count, 0);
    cr_assert_lt(safetensors_read(&s, safetensors_find(&s, "u", &e), &value, &e), 0);
    cr_assert(strstr(e.message, "tensor 'u' holds U8"), "%s", e.message);
    safetensors_close(&s);
}

/* Each differs in one thing from a file that is taken. */
Test(safetensors, broken_headers)
{
#define ENTRY(type, shape, offsets) "{\"dtype\":" type ",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define GOOD "\"a\":" ENTRY("\"F32\"", "[2]", "[0,8]")
    static const struct {
        const char *header, *words;
    } broken[] = {
        {"{" GOOD "," GOOD "}", "duplicate"},
        {"{" GOOD, "its header: "},
        {"{" GOOD "}}", "its header: "},
        {" {" GOOD "}", "does not begin with {"},
        {"[" GOOD "]", "does not begin with {"},
        {"{" GOOD ",\"__metadata__\":{\"format\":1}}", "its metadata are no texts"},
        {"{" GOOD ",\"__metadata__\":[]}", "its metadata are no texts"},
        {"{}", "8 bytes behind the last tensor"},
        {"{\"a\":[]}", "tensor 'a' is not described by"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", "tensor 'a' is not described by"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", "tensor 'a' is not described by"},
        {"{\"a\":" ENTRY("\"Q4\"", "[2]", "[0,8]") "}", "tensor 'a' has the unknown type 'Q4'"},
        {"{\"a\":" ENTRY("7", "[2]", "[0,8]") "}", "tensor 'a' is not described by"},
        {"{\"a\":" ENTRY("\"F32\"", "2", "[0,8]") "}", "tensor 'a' has no list as its shape"},
        {"{\"a\":" ENTRY("\"F32\"", "[-2]", "[0,8]") "}", "tensor 'a' has a shape that is not of whole numbers"},
        {"{\"a\":" ENTRY("\"F32\"", "[2.0]", "[0,8]") "}", "tensor 'a' has a shape that is not of whole numbers"},
        {"{\"a\":" ENTRY("\"F32\"", "[1,1,1,1,1,1,1,1,2]", "[0,8]") "}", "more dimensions than can be read"},
        {"{\"a\":" ENTRY("\"F32\"", "[4294967296,4294967296,1]", "[0,8]") "}", "product overflows"},
        {"{\"a\":" ENTRY("\"F32\"", "[576460752303423490]", "[0,8]") "}", "bytes overflow"},
        {"{\"a\":" ENTRY("\"F32\"", "[99999999999999999999999]", "[0,8]") "}", "its header: "},
        {"{\"a\":" ENTRY("\"F32\"", "[3]", "[0,8]") "}", "tensor 'a' has 8 bytes where its shape and type ask for 12"},
        {"{\"a\":" ENTRY("\"F64\"", "[2]", "[0,8]") "}", "tensor 'a' has 8 bytes where its shape and type ask for 16"},
        {"{\"a\":" ENTRY("\"F32\"", "[2]", "[8,0]") "}", "tensor 'a' ends before it begins"},
        {"{\"a\":" ENTRY("\"F32\"", "[2]", "[0]") "}", "tensor 'a' has data_offsets that are not two"},
        {"{\"a\":" ENTRY("\"F32\"", "[2]", "[-8,0]") "}", "tensor 'a' has data_offsets that are not two"},
        {"{\"a\":" ENTRY("\"F32\"", "[2]", "[8,16]") "}", "tensor 'a' ends behind the end of the file"},
        {"{\"a\":" ENTRY("\"F32\"", "[2]", "[9223372036854775800,9223372036854775808]") "}", "its header: "},
        {"{\"a\":" ENTRY("\"F32\"", "[1]", "[0,4]") "}", "4 bytes behind the last tensor"},
        {"{\"a\":" ENTRY("\"F32\"", "[1]", "[4,8]") "}", "tensor 'a' has a hole before it"},
        {"{" GOOD ",\"b\":" ENTRY("\"F32\"", "[1]", "[4,8]") "}", "tensor 'b' overlaps another one"},
        {"{" GOOD ",\"b\":" ENTRY("\"F32\"", "[2]", "[0,8]") "}", "overlaps another one"},
        {"{\"a\":" ENTRY("\"F16\"", "[1]", "[0,2]") ",\"b\":" ENTRY("\"F32\"", "[1]", "[4,8]") "}",
         "tensor 'b' has a hole before it"},
        {"{\"a\":" ENTRY("\"F32\"", "[2]", "[0,8]") "}\n\377", "its header: "},
    };
    char path[PATH_MAX], data[8] = {0};
    error e = ERROR_INIT;
    safetensors s;
    tensor_file("{" GOOD "}", data, sizeof data, path);
    cr_assert_eq(safetensors_open(&s, path, &e), 0, "%s", e.message);
    safetensors_close(&s);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        tensor_file(broken[i].header, data, sizeof data, path);
        tensor_refuse(path, broken[i].words);
    }
}

Test(safetensors, lengths_that_lie)
{
    static const uint64_t lengths[] = {0, 1, 60, 1000, 100000001, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63};
    char path[PATH_MAX], data[8] = {0};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        tensor_file_of(lengths[i], "{" GOOD "}", data, sizeof data, path);
        tensor_refuse(path, "not a safetensors file that can be read");
    }
}

Test(safetensors, cut_off_anywhere)
{
    char path[PATH_MAX], data[8] = {0};
    size_t size;
    tensor_file("{" GOOD "}", data, sizeof data, path);
    char *whole = scratch_read(path, &size);
    for (size_t length = 0; length < size; length++) {
        scratch_write(&tensor_room, "t.safetensors", whole, length, path);
        tensor_refuse(path, "t.safetensors");
    }
    free(whole);
}

/* Any byte of a whole file replaced by any other: refused, or read within its bounds. */
Test(safetensors, any_byte_may_be_wrong)
{
    char path[PATH_MAX], data[8] = {0};
    size_t size;
    long taken = 0;
    tensor_file("{" GOOD "}", data, sizeof data, path);
    char *whole = scratch_read(path, &size);
    for (size_t i = 0; i < size; i++)
        for (int byte = 0; byte < 256; byte += i < 8 ? 1 : 5) {
            char kept = whole[i];
            error e = ERROR_INIT;
            safetensors s;
            double value[64];
            whole[i] = (char)byte;
            scratch_write(&tensor_room, "t.safetensors", whole, size, path);
            whole[i] = kept;
            if (safetensors_open(&s, path, &e) < 0) {
                cr_assert(e.message[0]);
                continue;
            }
            cr_assert(s.count == 1 && s.entry[0].count <= 8);
            cr_assert_eq(safetensors_read(&s, &s.entry[0], value, &e) == 0, s.entry[0].type[0] == 'F');
            safetensors_close(&s);
            taken++;
        }
    cr_assert_gt(taken, 8 * 51); /* the data's own bytes at least */
    free(whole);
}

Test(safetensors, a_table_is_one_tensor)
{
    static const float data[] = {1, 2, 3, 4, 5, 6};
    char path[PATH_MAX], target[PATH_MAX + 16];
    error e = ERROR_INIT;
    table t;
    tensor_file("{\"wpe:0\":" ENTRY("\"F32\"", "[1,2,3]", "[0,24]") "}", data, sizeof data, path);
    snprintf(target, sizeof target, "%s:wpe:0", path);
    cr_assert_eq(table_read(target, &t, &e), 0, "%s", e.message);
    cr_assert(t.rows == 2 && t.cols == 3 && t.value[5] == 6);
    table_free(&t);
    snprintf(target, sizeof target, "%s:wte", path);
    cr_assert_lt(table_read(target, &t, &e), 0);
    cr_assert(strstr(e.message, "no tensor 'wte'"), "%s", e.message);
    error_clear(&e);
    tensor_file("{\"w\":" ENTRY("\"F32\"", "[2,1,3]", "[0,24]") "}", data, sizeof data, path);
    snprintf(target, sizeof target, "%s:w", path);
    cr_assert_lt(table_read(target, &t, &e), 0);
    cr_assert(strstr(e.message, "tensor 'w' has 3 dimensions"), "%s", e.message);
}

/* Tables from NumPy's files, whole ones and broken ones. Every file is put together here, byte by byte. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary.h"
#include "npy.h"
#include "scratch.h"
#include "table.h"

static scratch npy_room;

static void npy_setup(void)
{
    scratch_open(&npy_room);
}

static void npy_teardown(void)
{
    scratch_close(&npy_room);
}

TestSuite(npy, .init = npy_setup, .fini = npy_teardown);

/* Magic word, version, length, header with its newline, data. */
static char *npy_file(const char *name, int version, const char *header, const void *data, size_t size,
                      char path[PATH_MAX])
{
    unsigned char bytes[8192] = "\223NUMPY";
    size_t length = strlen(header), at = 8;
    bytes[6] = (unsigned char)version;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        bytes[at++] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + at, header, length);
    memcpy(bytes + at + length, data, size);
    return scratch_write(&npy_room, name, bytes, at + length + size, path);
}

static void npy_expect(const char *path, int rows, int cols, const double *value)
{
    error e = ERROR_INIT;
    table t;
    cr_assert_eq(table_read(path, &t, &e), 0, "%s", e.message);
    cr_assert_eq(t.rows, rows);
    cr_assert_eq(t.cols, cols);
    for (int i = 0; i < rows * cols; i++)
        cr_assert_eq(t.value[i], value[i], "%d: %g", i, t.value[i]);
    table_free(&t);
}

/* Refused as what the user gave, with the path and these words. */
static void npy_refuse(const char *path, const char *words)
{
    error e = ERROR_INIT;
    table t;
    cr_assert_lt(table_read(path, &t, &e), 0, "%s was taken", words);
    cr_assert(strstr(e.message, path), "%s", e.message);
    cr_assert(strstr(e.message, words), "'%s' is not in: %s", words, e.message);
    cr_assert_eq(e.kind, ERROR_USAGE);
    cr_assert_null(t.value);
}

static const double npy_six[] = {1, -2, 0.5, 4, 5.25, -6};

Test(npy, single_precision_of_all_versions)
{
    char path[PATH_MAX];
    float data[6];
    for (int i = 0; i < 6; i++)
        data[i] = (float)npy_six[i];
    for (int version = 1; version <= 3; version++) {
        npy_file("a.npy", version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n", data,
                 sizeof data, path);
        npy_expect(path, 2, 3, npy_six);
    }
    npy_file("a.npy", 1, "{\"shape\":(3,2),\"fortran_order\":False,\"descr\":\"<f4\"}\n", data, sizeof data, path);
    npy_expect(path, 3, 2, npy_six);
}

Test(npy, columns_behind_each_other)
{
    char path[PATH_MAX];
    static const double columns[] = {1, 4, -2, 5.25, 0.5, -6};
    npy_file("a.npy", 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", columns, sizeof columns, path);
    npy_expect(path, 2, 3, npy_six);
}

/* 1, -2, the largest, the smallest normal and subnormal half. */
Test(npy, half_precision)
{
    char path[PATH_MAX];
    static const unsigned char halves[] = {0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0x00, 0x04, 0x01, 0x00, 0x55, 0x35};
    static const double value[] = {1, -2, 65504, 0x1p-14, 0x1p-24, 0.333251953125};
    npy_file("a.npy", 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 6), }\n", halves, sizeof halves, path);
    npy_expect(path, 1, 6, value);
}

Test(npy, numbers_that_are_none)
{
    static const unsigned char special[] = {0x00, 0x7c, 0x00, 0xfc, 0x00, 0x7e, 0x80, 0x7f, 0x80, 0xff, 0xc0, 0x7f};
    cr_assert_eq(binary_number(special, BINARY_F16), (double)INFINITY);
    cr_assert_eq(binary_number(special + 2, BINARY_F16), (double)-INFINITY);
    cr_assert(isnan(binary_number(special + 4, BINARY_F16)));
    cr_assert_eq(binary_number(special + 6, BINARY_BF16), (double)INFINITY);
    cr_assert_eq(binary_number(special + 8, BINARY_BF16), (double)-INFINITY);
    cr_assert(isnan(binary_number(special + 10, BINARY_BF16)));
    char path[PATH_MAX];
    npy_file("a.npy", 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 3), }\n", special, 6, path);
    npy_refuse(path, "row 0, column 0 is no finite number");
}

Test(npy, broken_headers)
{
    static const struct {
        const char *header, *words;
    } broken[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", "big-endian"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n", "'<i4'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", "1 dimension;"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", "0 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }\n", "3 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }\n",
         "24 bytes of numbers where its shape asks for 32"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n",
         "24 bytes of numbers where its shape asks for 16"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }\n", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3.0), }\n", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6), }\n", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x\n", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)\n", "its header is not"},
        {"{'descr': '<f4', 'shape': (2, 3), }\n", "its header is not"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'extra': 1, }\n", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }\n", "its header is not"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2, 3), }\n", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999, 1), }\n", "its header is not"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2147483647, 2147483647), }\n", "asks for"},
        {"\n", "its header is not"},
        {"", "its header is not"},
    };
    char path[PATH_MAX], data[24] = {0};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        npy_file("a.npy", 1, broken[i].header, data, sizeof data, path);
        npy_refuse(path, broken[i].words);
    }
    npy_file("a.npy", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }\n", data, 0, path);
    npy_refuse(path, "is empty");
}

/* Whatever length a file is cut to, it is refused by name. */
Test(npy, cut_off_anywhere)
{
    char path[PATH_MAX], cut[PATH_MAX], data[24] = {0};
    size_t size;
    npy_file("whole.npy", 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", data, sizeof data,
             path);
    char *whole = scratch_read(path, &size);
    for (size_t length = 0; length < size; length++) {
        scratch_write(&npy_room, "cut.npy", whole, length, cut);
        npy_refuse(cut, "cut.npy: ");
    }
    free(whole);
}

Test(npy, not_of_numpy)
{
    char path[PATH_MAX];
    scratch_write(&npy_room, "a.npy", "PK\3\4 a zip, as .npz is one", 24, path);
    npy_refuse(path, "it does not begin with the word NUMPY");
    npy_file("a.npy", 4, "{}\n", "", 0, path);
    npy_refuse(path, "version 4.0");
    npy_file("a.npy", 2, "{}\n", "", 0, path);
    FILE *f = fopen(path, "r+b");
    fseek(f, 8, SEEK_SET);
    fwrite("\xff\xff\xff\xff", 1, 4, f);
    fclose(f);
    npy_refuse(path, "its header is longer than it can be");
}

Test(npy, files_that_are_not_there)
{
    error e = ERROR_INIT;
    table t;
    char path[PATH_MAX];
    scratch_path(&npy_room, "none.npy", path);
    cr_assert_lt(table_read(path, &t, &e), 0);
    cr_assert_eq(e.kind, ERROR_ENVIRONMENT);
    cr_assert(strstr(e.message, "none.npy: No such file"), "%s", e.message);
    error_clear(&e);
    cr_assert_lt(table_read("/dev/zero.npy", &t, &e), 0);
    error_clear(&e);
    cr_assert_lt(npy_read(npy_room.dir, &t, &e), 0);
    cr_assert_eq(e.kind, ERROR_ENVIRONMENT);
    error_clear(&e);
    cr_assert_lt(table_read("table.txt", &t, &e), 0);
    cr_assert(strstr(e.message, "FILE.npy or FILE.safetensors:NAME"), "%s", e.message);
}

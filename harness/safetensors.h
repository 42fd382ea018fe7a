/* safetensors.h - tensors in one file, as https://github.com/huggingface/safetensors defines it.
 *
 *   8 bytes: length N of the header, little-endian
 *   N bytes: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"key": "text"}}
 *   the data, without holes; offsets count from their begin
 */
#ifndef SAFETENSORS_H
#define SAFETENSORS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"
#include "pe.h"

enum { SAFETENSORS_DIMS_MAX = 8 };

typedef struct safetensors_entry {
    const char *name; /* belongs to the header */
    const char *type; /* "F32" */
    int dims;         /* 0: a single number */
    uint64_t dim[SAFETENSORS_DIMS_MAX];
    uint64_t count;      /* numbers: the product of dim */
    uint64_t begin, end; /* bytes of the data */
} safetensors_entry;

typedef struct safetensors {
    char *path;
    FILE *file;
    json_t *header;
    int count;
    safetensors_entry *entry; /* [count] in the order of their data */
    uint64_t data;            /* where in the file they begin */
} safetensors;

/* Opens a file and checks all of its header before anything is believed. Refused with the path, the tensor and what is
 * wrong (ERROR_USAGE): a length that the file does not have or above the format's 100 MB, text that is no JSON object
 * from its first byte, a key twice, an entry with other keys than the three, an unknown type, a shape or offsets that
 * are no whole numbers >= 0, a product that overflows, bytes that are not product(shape) numbers of the type, tensors
 * that overlap, leave a hole or do not end where the file ends, metadata that are no texts. A tensor may begin at any
 * byte: the format asks for no alignment. Memory and reading errors are ERROR_ENVIRONMENT. Nothing is left to close on
 * failure. */
int safetensors_open(safetensors *s, const char *path, error *e);
void safetensors_close(safetensors *s);

/* NULL with e set to the nearest name. */
const safetensors_entry *safetensors_find(const safetensors *s, const char *name, error *e);

/* NULL: the file has no such metadata. */
const char *safetensors_metadata(const safetensors *s, const char *key);

/* Reads out[t->count]: tensors of F64, F32, F16 and BF16; others are refused by name. */
int safetensors_read(const safetensors *s, const safetensors_entry *t, double *out, error *e);

/* ------------------------------------------------------------------------------------------------ writing */

typedef struct safetensors_tensor {
    const char *name;
    int dims;
    int dim[2];
    const real *value; /* written as F32 */
} safetensors_tensor;

/* Writes a file, whole or not at all, with the header padded so that the data begin at a multiple of 8 bytes. metadata:
 * pairs of key and text, ended by a NULL key. Names must differ. ERROR_ENVIRONMENT. */
int safetensors_write(const char *path, const safetensors_tensor *tensors, int count, const char *const (*metadata)[2],
                      error *e);

#endif

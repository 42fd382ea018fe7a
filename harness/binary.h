/* binary.h - numbers as files hold them: little-endian, of half to double precision. */
#ifndef BINARY_H
#define BINARY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

typedef enum binary_type { BINARY_F16, BINARY_BF16, BINARY_F32, BINARY_F64 } binary_type;

/* Bytes of one number. */
size_t binary_size(binary_type type);

/* An unsigned number of `size` bytes, 1 .. 8, lowest byte first. */
uint64_t binary_unsigned(const unsigned char *bytes, size_t size);

/* One number; every value of the narrower types is exact in a double. Infinities and NaN pass. */
double binary_number(const unsigned char *bytes, binary_type type);

/* The next `count` numbers of f. A file that ends before is ERROR_USAGE, one that cannot be read ERROR_ENVIRONMENT;
 * both name `path`. */
int binary_read(FILE *f, const char *path, binary_type type, double *out, size_t count, error *e);

/* Opens a regular file for reading and tells its size in bytes; NULL with ERROR_ENVIRONMENT. */
FILE *binary_open(const char *path, uint64_t *size, error *e);

#endif

#include "binary.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

size_t binary_size(binary_type type)
{
    static const size_t sizes[] = {[BINARY_F16] = 2, [BINARY_BF16] = 2, [BINARY_F32] = 4, [BINARY_F64] = 8};
    return sizes[type];
}

uint64_t binary_unsigned(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

static double binary_single(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits; exponent 0 is subnormal, 31 infinity or NaN. */
static double binary_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023, value;
    if (exponent == 31)
        value = fraction != 0 ? (double)NAN : (double)INFINITY;
    else
        value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

double binary_number(const unsigned char *bytes, binary_type type)
{
    uint64_t bits = binary_unsigned(bytes, binary_size(type));
    double value;
    switch (type) {
    case BINARY_F16:
        return binary_half((uint16_t)bits);
    case BINARY_BF16: /* the upper half of a float */
        return binary_single((uint32_t)bits << 16);
    case BINARY_F32:
        return binary_single((uint32_t)bits);
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

int binary_read(FILE *f, const char *path, binary_type type, double *out, size_t count, error *e)
{
    unsigned char piece[8192];
    size_t size = binary_size(type), most = sizeof piece / size;
    while (count > 0) {
        size_t wanted = count < most ? count : most;
        if (fread(piece, size, wanted, f) != wanted)
            return ferror(f) ? error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno))
                             : error_set(e, ERROR_USAGE, "%s: the file ends within its numbers", path);
        for (size_t i = 0; i < wanted; i++)
            *out++ = binary_number(piece + i * size, type);
        count -= wanted;
    }
    return 0;
}

FILE *binary_open(const char *path, uint64_t *size, error *e)
{
    struct stat found;
    FILE *f = fopen(path, "rb");
    int reason = !f || fstat(fileno(f), &found) < 0 ? errno : 0;
    if (!reason && !S_ISREG(found.st_mode)) /* of a pipe nobody can say how long it is */
        reason = S_ISDIR(found.st_mode) ? EISDIR : EINVAL;
    if (reason) {
        if (f)
            fclose(f);
        error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(reason));
        return NULL;
    }
    *size = (uint64_t)found.st_size;
    return f;
}

/* npy.h - reads two-dimensional arrays that NumPy saved (.npy, format versions 1, 2 and 3).
 *
 *   \x93NUMPY, major and minor version, length of the header (2 bytes in version 1, 4 after it), the header, the data
 *   header: {'descr': '<f4', 'fortran_order': False, 'shape': (512, 768), } spaces, newline
 *
 * Source: NumPy Enhancement Proposal 1 and the documentation of numpy.lib.format.
 */
#ifndef NPY_H
#define NPY_H

#include "table.h"

/* Half, single and double precision, little-endian; rows after each other (C order) or columns (Fortran order).
 * Refused with the path and what is wrong (ERROR_USAGE): another magic word or version, a header that is cut off,
 * longer than the file, or not exactly the three keys above; other types, big-endian numbers, another number of
 * dimensions, a shape whose bytes are not exactly the rest of the file. The caller frees out with table_free. */
int npy_read(const char *path, table *out, error *e);

#endif

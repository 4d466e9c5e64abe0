/* SPDX-License-Identifier: MIT */
/* A workbook's records (MS-XLS) as a text, which ClamAV's signatures for Excel 4 macros ask for. */
#ifndef UNPACK_BIFF_H
#define UNPACK_BIFF_H

#include "unpack/unpack.h"

/* The name and title of a record, for example "EOF : End of File". */
const char *biff_title(unsigned type);

/* Whether a workbook has a sheet of macros, or pictures: ClamAV lists the records of no other. */
bool biff_is_listed(const uint8_t *stream, size_t len);

/* Lists the records, a line each. Formulas are not taken apart. */
void biff_list(const uint8_t *stream, size_t len, struct unpack_buffer *buffer);

#endif

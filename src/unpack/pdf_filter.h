/* SPDX-License-Identifier: MIT */
/* The filters of PDF's streams (ISO 32000, 7.4). */
#ifndef UNPACK_PDF_FILTER_H
#define UNPACK_PDF_FILTER_H

#include "unpack/unpack_buffer.h"

enum pdf_filter {
    PDF_FLATE,
    PDF_LZW,
    PDF_HEX,
    PDF_85,
    PDF_RUNS,
    PDF_IMAGE, /* JPEG and others: the data is an image */
    PDF_OTHER
};

/* By name, without the slash. */
enum pdf_filter pdf_filter_of(const uint8_t *name, size_t len);

/* Appends what the filter makes of the bytes. False: they are damaged, or end early. */
bool pdf_filter_run(enum pdf_filter filter, const uint8_t *in, size_t len,
                    struct unpack_buffer *buffer);

#endif

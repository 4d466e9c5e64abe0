/* SPDX-License-Identifier: MIT */
/* Captures of HTTP that are made up: flows whose requests and heads are as browsers and servers
 * send them, with pages of words. */
#ifndef BENCH_HTTP_CAPTURE_H
#define BENCH_HTTP_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

enum { HTTP_PAGES = 64, HTTP_PAGE_MAX = 48 << 10 };

/* A page, as it is and as gzip. */
struct http_page {
    uint8_t plain[HTTP_PAGE_MAX], packed[HTTP_PAGE_MAX];
    uint32_t plain_len, packed_len;
};

/* Makes HTTP_PAGES pages, which the caller frees. NULL: an error was printed. */
struct http_page *http_pages_make(void);

/* Writes a capture in which at least `len` bytes of pages pass, into a temporary file, which the
 * caller removes. *passed: these bytes, before they were packed. False: an error was printed. */
bool http_capture_write(char path[64], const struct http_page *pages, bool packed, uint64_t len,
                        uint64_t *passed);

#endif

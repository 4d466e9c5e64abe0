/* SPDX-License-Identifier: MIT */
/* Content codings of HTTP: gzip, deflate and brotli, one behind another. A body in no such coding,
 * for all that its field says, passes as it is: damage before a byte came out. */
#ifndef APP_HTTP_CODING_H
#define APP_HTTP_CODING_H

#include "app_text.h"

enum {
    HTTP_CODINGS_MAX = 3,       /* of a body; behind them it stays coded */
    HTTP_CODING_HELD = 1024,    /* bytes that may come before one comes out */
    HTTP_CODING_FREE = 1 << 20, /* bytes that a body may unpack to, whatever it came from */
    HTTP_CODING_RATIO = 256,    /* and more, up to so many times what came */
    HTTP_BROTLI_WINDOW = 24     /* bits: brotli with larger windows is damage */
};

enum http_coding_end { HTTP_CODING_GOES_ON, HTTP_CODING_DAMAGED, HTTP_CODING_BOMB };

struct http_coding;

/* Reads the field Content-Encoding. NULL with *none: the body has no coding that is known. NULL
 * else: there is no memory. */
struct http_coding *http_coding_open(struct app_span field, bool *none);

typedef void http_coding_sink(void *to, const uint8_t *bytes, uint32_t len);

/* Decodes the next bytes. A body that is damaged, or a bomb, ends here: later bytes are passed
 * over, and the same end is returned. */
enum http_coding_end http_coding_give(struct http_coding *coding, const uint8_t *bytes,
                                      uint32_t len, http_coding_sink *sink, void *to);

/* The body is over: the bytes that waited for more come out. */
void http_coding_end(struct http_coding *coding, http_coding_sink *sink, void *to);

void http_coding_close(struct http_coding *coding); /* accepts NULL */

uint64_t http_coding_held(const struct http_coding *coding); /* accepts NULL */

#endif

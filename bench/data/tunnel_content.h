/* SPDX-License-Identifier: MIT */
/* What crosses a tunnel. */
#ifndef BENCH_TUNNEL_CONTENT_H
#define BENCH_TUNNEL_CONTENT_H

#include <stddef.h>
#include <stdint.h>

enum tunnel_content {
    TUNNEL_NEW,  /* random bytes */
    TUNNEL_TEXT, /* words */
    TUNNEL_AGAIN /* random bytes, the same ones for each seed */
};

void tunnel_content_fill(uint8_t *content, size_t len, enum tunnel_content kind, uint64_t seed);

#endif

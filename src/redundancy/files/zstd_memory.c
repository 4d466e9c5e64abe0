/* SPDX-License-Identifier: MIT */
/* For ZSTD_customMem. Each shared library of zstd exports its functions. */
#define ZSTD_STATIC_LINKING_ONLY
#include "zstd_memory.h"

#include <stdint.h>
#include <stdlib.h>

#include "redundancy/match/packet_log.h"

enum { HEAD_LEN = 64 /* bytes before a block, for its length: zstd frees by address alone */ };

static void *alloc_block(void *user, size_t len)
{
    const size_t whole = len + HEAD_LEN;
    uint8_t *const block = whole >= HUGE_PAGE_LEN ? memory_map(whole, "zstd", NULL) : malloc(whole);

    (void)user;
    if (block == NULL)
        return NULL;
    *(size_t *)block = whole;
    return block + HEAD_LEN;
}

static void free_block(void *user, void *address)
{
    (void)user;
    if (address == NULL)
        return;
    uint8_t *const block = (uint8_t *)address - HEAD_LEN;
    const size_t whole = *(size_t *)block;

    if (whole >= HUGE_PAGE_LEN)
        memory_unmap(block, whole);
    else
        free(block);
}

static const ZSTD_customMem memory = {alloc_block, free_block, NULL};

ZSTD_CCtx *zstd_open_compressor(void)
{
    return ZSTD_createCCtx_advanced(memory);
}

ZSTD_DCtx *zstd_open_decompressor(void)
{
    return ZSTD_createDCtx_advanced(memory);
}

/* SPDX-License-Identifier: MIT */
/* Contexts of zstd in huge pages. Each thread has one, of some MB or many, all of which is used:
 * the kernel makes huge pages much faster, and with small ones the search in them misses the TLB.
 */
#ifndef REDUNDANCY_ZSTD_MEMORY_H
#define REDUNDANCY_ZSTD_MEMORY_H

#include <zstd.h>

/* NULL: no memory. Freed by zstd's own functions. */
ZSTD_CCtx *zstd_open_compressor(void);
ZSTD_DCtx *zstd_open_decompressor(void);

#endif

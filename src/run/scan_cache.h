/* SPDX-License-Identifier: MIT */
/* The contents that a scan found clean, by their SHA-256. */
#ifndef RUN_SCAN_CACHE_H
#define RUN_SCAN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum { SCAN_DIGEST_LEN = 32 };

/* A table of digests in which newer ones displace older ones. Any thread. */
struct scan_cache;

/* NULL: no memory. */
struct scan_cache *scan_cache_create(void);
void scan_cache_free(struct scan_cache *cache);

bool scan_cache_has(struct scan_cache *cache, const uint8_t digest[SCAN_DIGEST_LEN]);
void scan_cache_add(struct scan_cache *cache, const uint8_t digest[SCAN_DIGEST_LEN]);

/* Reads a file. False: it cannot be read, or OpenSSL makes no digest. */
bool scan_digest_file(int fd, uint8_t digest[SCAN_DIGEST_LEN]);

#endif

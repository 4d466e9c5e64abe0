/* SPDX-License-Identifier: MIT */
/* Digests of short texts, such as fingerprints. */
#ifndef APP_DIGEST_H
#define APP_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

enum app_hash { APP_MD5, APP_SHA1, APP_SHA256, APP_N_HASHES };

enum { APP_MD5_LEN = 16, APP_SHA1_LEN = 20, APP_SHA256_LEN = 32 }; /* bytes of a digest */

/* False: libcrypto lacks or refuses the hash, or has no memory. Any thread. */
bool app_digest(uint8_t *digest, enum app_hash hash, const void *bytes, uint32_t len);

#endif

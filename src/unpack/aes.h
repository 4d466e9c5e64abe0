/* SPDX-License-Identifier: MIT */
/* AES of whole blocks, without padding. */
#ifndef UNPACK_AES_H
#define UNPACK_AES_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AES_BLOCK_LEN = 16 };

/* `iv` NULL: the mode has none. `out` may be `in`. False: libcrypto lacks the cipher, or memory. */
bool aes_run(const EVP_CIPHER *type, bool encrypts, const uint8_t *key, const uint8_t *iv,
             const uint8_t *in, size_t len, uint8_t *out);

#endif

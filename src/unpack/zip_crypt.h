/* SPDX-License-Identifier: MIT */
/* The traditional encryption of zip (PKWARE's APPNOTE.TXT, 6.1). */
#ifndef UNPACK_ZIP_CRYPT_H
#define UNPACK_ZIP_CRYPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZIP_SALT_LEN = 12 /* bytes before a member */ };

/* Decrypts `len` bytes behind the salt at `in`. False: the salt does not end in one of the marks,
 * so that the password is wrong. Of wrong ones some in a hundred are not told. */
bool zip_unlock(const uint8_t *password, size_t password_len, const uint8_t marks[2],
                const uint8_t *in, uint8_t *out, size_t len);

#endif

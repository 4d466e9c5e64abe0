/* SPDX-License-Identifier: MIT */
/* Office's encryption with AES (MS-OFFCRYPTO, 2.3.4), for documents with the password that Office
 * tries by itself: a document that is only protected from changes has it. */
#ifndef UNPACK_OFFICE_CRYPT_H
#define UNPACK_OFFICE_CRYPT_H

#include "unpack/ole2.h"

/* Appends the document that a stream EncryptedPackage holds. False: another password or another
 * form. */
bool office_decrypt(const struct ole2 *ole2, const uint8_t *in, size_t len,
                    struct unpack_buffer *buffer);

#endif

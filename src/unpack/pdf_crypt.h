/* SPDX-License-Identifier: MIT */
/* The standard security handler of PDF (ISO 32000-2, 7.6), for files that open without a password.
 */
#ifndef UNPACK_PDF_CRYPT_H
#define UNPACK_PDF_CRYPT_H

#include "unpack/pdf_name.h"
#include "unpack/unpack_buffer.h"

enum { PDF_KEY_MAX = 32 };

struct pdf_crypt {
    uint8_t key[PDF_KEY_MAX];
    size_t key_len;
    bool is_aes;
    bool is_whole_key;    /* one key for all objects */
    bool has_id;          /* of the file */
    bool clears_metadata; /* streams of metadata are not encrypted */
};

/* Reads what a file says about its encryption. False: a password is needed, or the handler is
 * another one. */
bool pdf_crypt_open(struct pdf_crypt *crypt, const uint8_t *bytes, const uint8_t *end);

/* Appends the bytes of a stream or a string of an object. */
void pdf_crypt_run(const struct pdf_crypt *crypt, uint32_t number, uint32_t generation,
                   const uint8_t *in, size_t len, struct unpack_buffer *buffer);

#endif

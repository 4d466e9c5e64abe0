/* SPDX-License-Identifier: MIT */
/* Digital signatures of ClamAV's containers: RSA numbers whose digits have six bits, the least one
 * first. */
#ifndef CLAMAV_SIGNATURE_H
#define CLAMAV_SIGNATURE_H

#include <openssl/evp.h>

#include "clamav/set.h"

/* A public key, in decimal. */
struct clam_key {
    const char *modulus, *exponent;
};

/* ClamAV's keys for the headers of containers, and for the lists of members in them. */
extern const struct clam_key clam_header_key, clam_list_key;

/* A public key of RSA. NULL: OpenSSL does not take it, or has no memory. */
EVP_PKEY *clam_rsa_key(const BIGNUM *modulus, const BIGNUM *exponent);

enum clam_signed {
    CLAM_SIGNED,
    CLAM_NOT_SIGNED,
    CLAM_SIGNED_UNKNOWN, /* OpenSSL cannot decide */
    CLAM_SIGNED_NO_MEMORY
};

/* Whether the signature is that of an MD5, as it is. */
enum clam_signed clam_signature_of_md5(const struct clam_key *key, struct clam_text signature,
                                       const uint8_t md5[16]);

/* Whether it is that of a SHA-256, by PSS (RFC 8017). */
enum clam_signed clam_signature_of_sha256(const struct clam_key *key, struct clam_text signature,
                                          const uint8_t sha256[32]);

#endif

/* SPDX-License-Identifier: MIT */
/* Signatures of programs for Windows (Authenticode), and the certificates in them. */
#ifndef CLAMAV_AUTHENTICODE_H
#define CLAMAV_AUTHENTICODE_H

#include "clamav/object.h"

struct clam_authenticode;

/* NULL: the program has no signature that can be read, or object->error is ENOMEM. */
struct clam_authenticode *clam_authenticode_read(struct clam_object *object);

/* Accepts NULL. */
void clam_authenticode_free(struct clam_authenticode *signature);

/* The next blocked certificate in the signature; *at begins as 0. The program need not be as it was
 * signed. NULL: there are no more. */
const struct clam_certificate *clam_authenticode_blocked(const struct clam_authenticode *signature,
                                                         const struct clam_block *block, int *at);

/* Whether the program is as it was signed, by a certificate that a trusted one leads to. */
bool clam_authenticode_trusted(const struct clam_authenticode *signature,
                               const struct clam_block *block, struct clam_object *object);

#endif

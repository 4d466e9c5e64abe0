/* SPDX-License-Identifier: MIT */
/* MD5 of lines and containers. */
#ifndef CLAMAV_MD5_H
#define CLAMAV_MD5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether OpenSSL refuses MD5, as its FIPS mode does. Otherwise clam_md5 fails for memory alone. */
bool clam_md5_is_refused(void);
bool clam_md5(const void *bytes, size_t len, uint8_t digest[16]);

#endif

/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648): the letters, and groups of four of them without padding or other bytes. What
 * padding and other bytes mean is for each decoder to say. */
#ifndef BASE_BASE64_GROUPS_H
#define BASE_BASE64_GROUPS_H

#include <stddef.h>
#include <stdint.h>

enum { BASE64_PAD = 64, BASE64_NONE = 65 };

/* The value of a letter, BASE64_PAD, or BASE64_NONE. */
extern const uint8_t base64_values[256];

/* Decodes groups of four letters up to another byte, to three bytes each, or only counts where
 * `out` is NULL. Returns how many. */
size_t base64_groups(const uint8_t *text, size_t len, uint8_t *out);

#endif

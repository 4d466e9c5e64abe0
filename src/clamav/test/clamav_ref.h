/* SPDX-License-Identifier: MIT */
/* The definition: signatures of ClamAV's documentation evaluated byte by byte, from their text. */
#ifndef CLAMAV_CLAMAV_REF_H
#define CLAMAV_CLAMAV_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bases of offsets. n_sections 0 and entry -1: the bytes are no executable. */
struct ref_layout {
    long entry;
    int n_sections;
    long section[8], section_len[8];
};

/* Whether the line of an .ndb or .ldb file matches; target types are ignored. */
bool ref_ndb(const char *line, const uint8_t *bytes, size_t len, const struct ref_layout *layout);
bool ref_ldb(const char *line, const uint8_t *bytes, size_t len, const struct ref_layout *layout);

#endif

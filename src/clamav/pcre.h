/* SPDX-License-Identifier: MIT */
/* PCREs of logical signatures, compiled where they are first needed. */
#ifndef CLAMAV_PCRE_H
#define CLAMAV_PCRE_H

#include "clamav/match.h"

/* How often a PCRE matches, up to max. */
uint32_t clam_pcre_count(struct clam_match *match, uint32_t number, uint32_t max);

/* Accepts NULL. `n` PCREs are in the database. */
void clam_pcres_free(struct clam_pcres *pcres, size_t n);

#endif

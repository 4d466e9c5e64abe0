/* SPDX-License-Identifier: MIT */
/* Names of top-level domains, as ClamAV knows them: those of 2010. */
#ifndef CLAMAV_TLD_H
#define CLAMAV_TLD_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it is one, in lower case. */
bool tld_is(const char *name, size_t len);

/* Whether it is that of a country. */
bool tld_is_country(const char *name, size_t len);

#endif

/* SPDX-License-Identifier: MIT */
/* Times in texts. */
#ifndef DETECT_RULE_TIME_H
#define DETECT_RULE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The seconds since 1970 of "2024-01-31T23:59:59", with 'T' or a blank. Behind the month parts may
 * be left out. Times before and behind 32 bits are the first and the last. False: it is none. */
bool rule_time_read(const char *text, size_t len, uint32_t *seconds);

#endif

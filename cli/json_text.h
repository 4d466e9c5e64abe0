/* SPDX-License-Identifier: MIT */
#ifndef CLI_JSON_TEXT_H
#define CLI_JSON_TEXT_H

#include <jansson.h>

/* Paths, names and values may be any bytes; JSON is UTF-8: each byte that is not becomes the four
 * characters \xNN, as in all sinks. NULL: no memory. */
json_t *cli_json_text(const char *text, size_t len);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CLI_JSON_TEXT_H
#define CLI_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* From here on cli_json_is_whole returns whether memory for JSON failed: jansson then leaves parts
 * out, or prints nothing. */
void cli_json_watch(void);
bool cli_json_is_whole(void);

/* Paths, names and values may be any bytes; JSON is UTF-8: each byte that is not becomes the four
 * characters \xNN, as in all sinks. NULL: no memory. */
json_t *cli_json_text(const char *text, size_t len);

/* A number of at most INT64_MAX, as every count is. */
json_t *cli_json_uint(uint64_t value);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CLI_JSON_TEXT_H
#define CLI_JSON_TEXT_H

#include <jansson.h>

/* Paths, names and values may be any bytes; JSON is UTF-8: in what is not, each byte beyond ASCII
 * becomes '?'. NULL: no memory. */
json_t *cli_json_text(const char *text, size_t len);

#endif

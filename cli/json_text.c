/* SPDX-License-Identifier: MIT */
#include "json_text.h"

#include <stdlib.h>

json_t *cli_json_text(const char *text, size_t len)
{
    json_t *value = json_stringn(text, len);
    char *safe = value == NULL ? malloc(len + 1) : NULL;

    for (size_t i = 0; safe != NULL && i < len; i++)
        safe[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    if (safe != NULL)
        value = json_stringn(safe, len);
    free(safe);
    return value;
}

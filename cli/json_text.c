/* SPDX-License-Identifier: MIT */
#include "json_text.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static atomic_bool no_memory;

static void *allocate(size_t len)
{
    void *const memory = malloc(len);

    if (memory == NULL)
        atomic_store(&no_memory, true);
    return memory;
}

void cli_json_watch(void)
{
    json_set_alloc_funcs(allocate, free);
}

bool cli_json_is_whole(void)
{
    return !atomic_load(&no_memory);
}

/* NULL: no memory. */
static json_t *escaped(const uint8_t *at, size_t len)
{
    const uint8_t *const end = at + len;
    char *text = allocate(UTF8_ESCAPE_LEN * len + 1), *to = text;
    json_t *value = NULL;

    while (text != NULL && at < end) {
        const size_t n = utf8_len(at, end);

        if (n == 0) {
            utf8_escape(to, *at++);
            to += UTF8_ESCAPE_LEN;
        } else {
            memcpy(to, at, n);
            at += n;
            to += n;
        }
    }
    if (text != NULL)
        value = json_stringn(text, (size_t)(to - text));
    free(text);
    return value;
}

json_t *cli_json_text(const char *text, size_t len)
{
    json_t *value = json_stringn(text, len);

    return value != NULL ? value : escaped((const uint8_t *)text, len);
}

json_t *cli_json_uint(uint64_t value)
{
    return json_integer((json_int_t)value);
}

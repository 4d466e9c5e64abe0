/* SPDX-License-Identifier: MIT */
/* Any bytes as a name in each syntax and as an NDN packet: a name that is read is written and read
 * back the same. */
#include <stdlib.h>
#include <string.h>

#include "sluice/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const struct sl_name *name)
{
    static char text[4 * SL_NAME_LEN_MAX + 64];
    static uint8_t bytes[SL_NAME_LEN_MAX];
    struct sl_name again;

    const size_t len = sl_name_write(name, text, sizeof text);
    if (len >= sizeof text || strlen(text) != len)
        abort();
    if (sl_name_read(&again, name->syntax, bytes, sizeof bytes, text, len) != NULL)
        abort();
    if (again.len != name->len || again.host_len != name->host_len ||
        memcmp(again.bytes, name->bytes, name->len) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[SL_NAME_LEN_MAX];
    struct sl_name name;

    if (sl_name_from_packet(&name, data, size) == NULL)
        round_trip(&name);
    for (int syntax = SL_NAME_AUTO; syntax <= SL_NAME_URL; syntax++) {
        if (sl_name_read(&name, (enum sl_name_syntax)syntax, bytes, sizeof bytes,
                         (const char *)data, size) != NULL)
            continue;
        if (name.host_len > name.len || sl_name_well_formed(name.bytes, name.len) != name.len)
            abort();
        round_trip(&name);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as a message of SIP: each value lies in it, behind the one before. */
#include <stdlib.h>
#include <string.h>

#include "app/sip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t len = size < 65536 ? (uint32_t)size : 65536;
    uint8_t *message = malloc(len + 1); /* its own, so that a byte behind it is found */

    if (message == NULL)
        abort();
    message = realloc(memcpy(message, data, len), len != 0 ? len : 1);
    (void)sip_probe(message, len);
    for (int field = 0; field < SIP_N_FIELDS; field++) {
        struct sip_walk walk = {0};
        struct sip_span value;
        uint32_t behind = 0;

        while (sip_next(&value, &walk, message, len, (enum sip_field)field)) {
            if (value.at < behind || value.at > len || value.len > len - value.at)
                abort();
            behind = value.at + (value.len != 0);
        }
    }
    free(message);
    return 0;
}

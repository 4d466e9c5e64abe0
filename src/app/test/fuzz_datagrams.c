/* SPDX-License-Identifier: MIT */
/* Any bytes as messages of SNMP and DHCP: the bytes read of them lie in them. */
#include <stdlib.h>
#include <string.h>

#include "app/dhcp.h"
#include "app/snmp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *bytes, uint32_t len, struct snmp_span span)
{
    if (span.at != NULL && (span.at < bytes || span.len > len - (size_t)(span.at - bytes)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t len = size < 65536 ? (uint32_t)size : 65536;
    uint8_t *bytes = malloc(len != 0 ? len : 1); /* its own, so that a byte behind it is found */
    struct snmp_message snmp;
    uint32_t number;

    if (bytes == NULL)
        abort();
    if (len != 0)
        memcpy(bytes, data, len);
    if (snmp_read(&snmp, bytes, len)) {
        check(bytes, len, snmp.community);
        check(bytes, len, snmp.user);
    }
    if (dhcp_probe(bytes, len))
        for (int option = 0; option < 256; option++)
            (void)dhcp_number(&number, bytes, len, (enum dhcp_option)option);
    free(bytes);
    return 0;
}

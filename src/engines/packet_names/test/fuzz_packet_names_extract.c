/* SPDX-License-Identifier: MIT */
/* Input: carrier (1 byte), port (1 byte, of those that matter), bytes that were sent beyond (1
 * byte), payload. The names found are the oracle's. */
#include <stdlib.h>
#include <string.h>

#include "engines/packet_names/packet_names_extract.h"
#include "packet_names_extract_ref.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct name_out *out, const struct ref_name *expected, uint32_t n)
{
    if (out->n != n || out->n > SL_PACKET_NAMES_MAX || out->len > SL_PACKET_NAMES_LEN)
        abort();
    for (uint32_t i = 0; i < n; i++) {
        const struct sl_packet_name *found = &out->found[i];

        if (found->protocol != expected[i].protocol || found->offset != expected[i].offset ||
            found->name.len != expected[i].len || found->name.host_len != expected[i].host_len ||
            memcmp(found->name.bytes, expected[i].bytes, found->name.len) != 0)
            abort();
        for (uint32_t k = 0; k < i; k++)
            if (out->found[k].offset == found->offset)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum name_carrier carriers[] = {NAME_CARRIER_UDP, NAME_CARRIER_TCP,
                                                 NAME_CARRIER_LINK};
    static const uint16_t ports[] = {53, 5353, 6363, 56363, 80, 443};
    static struct sl_packet_name found[SL_PACKET_NAMES_MAX];
    static uint8_t bytes[SL_PACKET_NAMES_LEN];
    struct name_out out = name_out_of(found, bytes);
    const struct ref_name *expected;

    if (size < 3 || size > 100000)
        return 0;
    const uint32_t len = (uint32_t)size - 3;
    uint8_t *alone = (uint8_t *)malloc(len);
    const struct name_packet packet = {.bytes = alone,
                                       .len = len,
                                       .sent_len = len + data[2],
                                       .carrier = carriers[data[0] % 3],
                                       .src_port = 40000,
                                       .dst_port = ports[data[1] % 6]};

    if (len != 0)
        memcpy(alone, data + 3, len);
    name_extract(&out, &packet, name_protocol(&packet));
    const uint32_t n = ref_names(&expected, (enum ref_carrier)(data[0] % 3), packet.src_port,
                                 packet.dst_port, alone, len, packet.sent_len);
    check(&out, expected, n);
    free(alone);
    return 0;
}

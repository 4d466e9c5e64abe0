/* SPDX-License-Identifier: MIT */
/* The names of messages as items of a batch. */
#include "dns_buffers.h"
#include "sluice/app.h"

_Static_assert(1 + DNS_NAME_TEXT_MAX <= SL_APP_MADE_LEN, "a name and its period fit");

enum { IP_UDP = 17 };

static void make_name(struct sl_batch *to, const uint8_t *message, struct dns_name name,
                      struct sl_made made)
{
    uint8_t *room = sl_batch_made_room(to);

    room[0] = '.';
    dns_name_text(message, name, (char *)room + 1);
    sl_batch_append_made(to, 1 + name.text_len, made);
}

uint32_t dns_make_names(struct sl_batch *to, uint32_t item, const uint8_t *message, uint32_t len,
                        uint32_t buffers, uint32_t skip)
{
    struct dns_reader reader;
    struct dns_record record;
    uint32_t n = 0;

    if (!dns_open(&reader, message, len))
        return UINT32_MAX;
    while (dns_next(&reader, &record)) {
        const struct sl_made made = {item, dns_buffers_of(&reader.header, record.section), 0};

        if ((made.buffers & buffers) == 0 || n++ < skip)
            continue;
        if (!sl_batch_made_fits(to, 1 + record.name.text_len))
            return n - 1;
        make_name(to, message, record.name, made);
    }
    return UINT32_MAX;
}

uint64_t sl_app_make(const struct sl_batch *batch, struct sl_batch *to, uint32_t buffers,
                     uint64_t from)
{
    uint32_t skip = (uint32_t)from;

    if (batch->origin == NULL || (buffers & ~(uint32_t)SL_BUFFER_PAYLOAD) == 0)
        return UINT64_MAX;
    for (uint32_t item = (uint32_t)(from >> 32); item < batch->n_items; item++, skip = 0) {
        const struct sl_span message = batch->payload[item];

        if (batch->origin[item].app != SL_APP_DNS || batch->packet[item].protocol != IP_UDP)
            continue;
        const uint32_t n =
            dns_make_names(to, item, batch->bytes + message.offset, message.len, buffers, skip);

        if (n != UINT32_MAX)
            return (uint64_t)item << 32 | n;
    }
    return UINT64_MAX;
}

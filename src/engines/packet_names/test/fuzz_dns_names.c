/* SPDX-License-Identifier: MIT */
/* Input: the bytes that were sent beyond those that are here (1 byte), then a DNS message. The
 * engine's reader, which is made for GPUs, and that of src/app find the same names of questions. */
#include <stdlib.h>

#include "app/dns.h"
#include "engines/packet_names/packet_names_dns_core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* The engine's name as text: its components from the last to the first. */
static uint32_t text_of(const struct sl_name *name, char text[DNS_NAME_TEXT_MAX])
{
    uint32_t begins[128], n = 0, len = 0;

    for (uint32_t at = 0; at < name->len; at += 2 + name->bytes[at + 1]) {
        require(n < 128);
        begins[n++] = at;
    }
    while (n-- > 0) {
        const uint8_t *component = name->bytes + begins[n];

        require(len + (len != 0) + component[1] <= DNS_NAME_TEXT_MAX);
        if (len != 0)
            text[len++] = '.';
        memcpy(text + len, component + 2, component[1]);
        len += component[1];
    }
    return len;
}

static void check_name(const struct sl_packet_name *found, const struct dns_reader *reader,
                       const struct dns_record *record)
{
    char theirs[DNS_NAME_TEXT_MAX], ours[DNS_NAME_TEXT_MAX];
    const uint32_t len = dns_name_text(reader->message.bytes, record->name, ours);

    for (uint32_t i = 0; i < len; i++)
        if (ours[i] >= 'A' && ours[i] <= 'Z')
            ours[i] = (char)(ours[i] + ('a' - 'A'));
    require(text_of(&found->name, theirs) == len && memcmp(theirs, ours, len) == 0);
    require(found->offset == record->name.at);
    require(found->dns.id == reader->header.id && found->dns.flags == reader->header.flags);
    require(found->dns.rrtype == record->type && found->dns.rrclass == record->rrclass);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The engine leaves out messages with more questions than fit, and names beyond its room. */
    const uint32_t left_out = 1u << SL_PACKET_NAMES_MISS_DNS_HEADER |
                              1u << SL_PACKET_NAMES_MISS_MORE | 1u << SL_PACKET_NAMES_MISS_LONG;
    static struct sl_packet_name found[SL_PACKET_NAMES_MAX];
    static uint8_t bytes[SL_PACKET_NAMES_LEN];
    struct name_out out = {
        .found = found, .max_names = SL_PACKET_NAMES_MAX, .bytes = bytes, .cap = sizeof bytes};
    struct dns_reader reader;
    struct dns_record record;
    uint32_t n = 0;

    if (size == 0 || size > 0x10000)
        return 0;
    const uint32_t len = (uint32_t)size - 1;
    name_extract_dns(&out, data + 1, len, len + data[0], 0);
    (void)dns_open(&reader, data + 1, len);
    while (n < out.n && dns_next(&reader, &record) && record.section == DNS_QUESTION)
        check_name(&found[n++], &reader, &record);
    require(n == out.n);
    if ((out.misses & left_out) != 0)
        return 0;
    const bool more = dns_next(&reader, &record) && record.section == DNS_QUESTION;
    require(!more);
    if (reader.damage != DNS_HEADER_CUT && reader.damage != DNS_NAME_POINTERS)
        require((out.misses != 0) ==
                (reader.damage != DNS_WHOLE && reader.section == DNS_QUESTION));
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* DNS over TCP: messages with their length before them (RFC 1035, 4.2.2). */
#include "app_stream.h"
#include "base/bytes.h"
#include "dns.h"
#include "whole_messages.h"

enum { LENGTH_LEN = 2 };

static enum app_likeness probe(struct whole_message *message, const uint8_t *bytes, uint32_t len)
{
    message->need = message->skip = LENGTH_LEN;
    if (len < LENGTH_LEN)
        return APP_TOO_SHORT;
    message->need += load_be16(bytes);
    if (message->need < LENGTH_LEN + DNS_HEADER_LEN)
        return APP_UNLIKE;
    return len < message->need ? APP_TOO_SHORT : APP_LIKE;
}

static void *open_flow(void)
{
    return whole_open(&dns_tcp_parser, probe, SL_DNS_MESSAGE);
}

const struct app_parser dns_tcp_parser = WHOLE_PARSER(SL_APP_DNS, open_flow);

/* Of a message that is longer than the kept bytes, the part that came has to be like one. */
enum app_likeness dns_tcp_probe(enum app_side side, const uint8_t *bytes, uint32_t len)
{
    const uint32_t sent_len = len >= LENGTH_LEN ? load_be16(bytes) : DNS_HEADER_LEN;
    const bool is_whole = len >= LENGTH_LEN + sent_len;

    (void)side;
    if (sent_len < DNS_HEADER_LEN)
        return APP_UNLIKE;
    if (len < LENGTH_LEN + DNS_HEADER_LEN || (!is_whole && len < APP_PROBE_MAX))
        return APP_TOO_SHORT;
    const enum dns_verdict verdict =
        dns_probe(bytes + LENGTH_LEN, is_whole ? sent_len : len - LENGTH_LEN, sent_len);

    return verdict == DNS_YES || (verdict == DNS_MAYBE && !is_whole) ? APP_LIKE : APP_UNLIKE;
}

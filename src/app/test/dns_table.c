/* SPDX-License-Identifier: MIT */
/* Prints what the parser makes of messages, one JSON object a line, for other programs to compare.
 *
 * usage: dns_table CAPTURE    the payload of each UDP datagram that is DNS, may be, or has its port
 *        dns_table -          messages from standard input, a line of hexadecimal digits each,
 *                             with the length that was sent behind a blank where it differs
 *
 * `verdict` is the probe's: no, maybe, yes. `damage` is what ended reading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/dns_eve.h"
#include "base/bytes.h"
#include "base/hex.h"
#include "capture/test/each_batch.h"
#include "sinks/eve_object.h"
#include "sinks/eve_text.h"
#include "sluice/dissect.h"

enum { MESSAGE_MAX = 1 << 17 };

static struct line_sink *out;

static void put_key_text(const char *key, const char *text)
{
    line_text(out, key);
    eve_put_string(out, text, strlen(text));
}

/* The members that all lines have, and the object. */
static void put_message(const uint8_t *bytes, uint32_t len, enum dns_verdict verdict)
{
    static const char *const verdicts[] = {"no", "maybe", "yes"};
    struct eve_object object;

    put_key_text("\"verdict\":", verdicts[verdict]);
    eve_object_begin(&object, out);
    put_key_text(",\"damage\":", dns_damage_name(dns_eve_visit(&object.visit, bytes, len, 0)));
}

static bool is_port(uint16_t port)
{
    return port == 53 || port == 5353 || port == 5355;
}

static void put_packet(const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *bytes = batch->bytes + batch->payload[item].offset;
    const uint32_t len = batch->payload[item].len;
    char address[SL_ADDR_TEXT_LEN];
    struct sl_tuple tuple;

    if (packet->transport == 0 || packet->protocol != SL_IP_UDP || len == 0 ||
        !sl_packet_tuple(batch, item, &tuple))
        return;
    const uint32_t udp_len = load_be16(batch->bytes + packet->offset + packet->transport + 4);
    const uint32_t sent_len = udp_len > 8 + len ? udp_len - 8 : len;
    const enum dns_verdict verdict = dns_probe(bytes, len, sent_len);

    if (verdict == DNS_NO && !is_port(tuple.src_port) && !is_port(tuple.dst_port))
        return;
    line_begin(out);
    line_text(out, "{\"pcap_cnt\":");
    line_uint(out, batch->origin[item].position);
    put_key_text(",\"event_type\":", "dns");
    put_key_text(",\"src_ip\":", sl_addr_format(&tuple.src, address));
    line_text(out, ",\"src_port\":");
    line_uint(out, tuple.src_port);
    put_key_text(",\"dest_ip\":", sl_addr_format(&tuple.dst, address));
    line_text(out, ",\"dest_port\":");
    line_uint(out, tuple.dst_port);
    line_text(out, ",\"proto\":\"UDP\",");
    put_message(bytes, len, verdict);
    line_text(out, "}\n");
}

static void put_batch(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};

    sl_dissect(batch, &stats);
    for (uint32_t item = 0; item < batch->n_items; item++)
        put_packet(batch, item);
}

/* Each message lies in memory of its own, so that reading a byte too many is seen. */
static void put_line(const char *line)
{
    size_t len = 0;

    while (hex_digit(line[2 * len]) >= 0 && hex_digit(line[2 * len + 1]) >= 0)
        len++;
    uint8_t *bytes = malloc(len + (len == 0));

    if (bytes == NULL)
        abort();
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(hex_digit(line[2 * i]) << 4 | hex_digit(line[2 * i + 1]));
    const unsigned long sent_len = strtoul(line + 2 * len, NULL, 10);

    line_begin(out);
    line_text(out, "{");
    put_message(bytes, (uint32_t)len,
                dns_probe(bytes, (uint32_t)len, (uint32_t)(sent_len > len ? sent_len : len)));
    line_text(out, "}\n");
    free(bytes);
}

static void put_lines(void)
{
    static char line[2 * MESSAGE_MAX + 16];

    while (fgets(line, sizeof line, stdin) != NULL)
        put_line(line);
}

int main(int argc, char **argv)
{
    struct sl_diag diag;
    int status = 0;

    out = calloc(1, sizeof *out);
    if (out == NULL || line_sink_open(out, "-", &diag) != SL_OK)
        return 2;
    if (argc == 2 && strcmp(argv[1], "-") == 0)
        put_lines();
    else
        status = visit_capture(argc, argv, put_batch);
    line_sink_drain(out);
    return out->error != 0 ? 2 : status;
}

/* SPDX-License-Identifier: MIT */
/* The application protocol of each packet. */
#include "base/bytes.h"
#include "dhcp.h"
#include "dns.h"
#include "known.h"
#include "ntp.h"
#include "sip.h"
#include "sluice/app.h"
#include "snmp.h"

enum {
    IP_UDP = 17,
    UDP_LEN = 8,
    PORT_DNS = 53,
    PORT_MDNS = 5353,
    PORT_LLMNR = 5355,
    LEAST_LEN = 11
};

struct message {
    const uint8_t *at;
    uint32_t len;
};

const char *sl_app_name(enum sl_app app)
{
    static const char *const names[SL_N_APPS] = {
        [SL_APP_DNS] = "dns",     [SL_APP_MDNS] = "mdns", [SL_APP_LLMNR] = "llmnr",
        [SL_APP_SIP] = "sip",     [SL_APP_NTP] = "ntp",   [SL_APP_SNMP] = "snmp",
        [SL_APP_DHCP] = "dhcp",   [SL_APP_HTTP] = "http", [SL_APP_TLS] = "tls",
        [SL_APP_QUIC] = "quic",   [SL_APP_SMTP] = "smtp", [SL_APP_FTP] = "ftp",
        [SL_APP_POP3] = "pop3",   [SL_APP_IMAP] = "imap", [SL_APP_HTTP2] = "http2",
        [SL_APP_SSH] = "ssh",     [SL_APP_SMB] = "smb",   [SL_APP_DCERPC] = "dcerpc",
        [SL_APP_RDP] = "rdp",     [SL_APP_RFB] = "rfb",   [SL_APP_MQTT] = "mqtt",
        [SL_APP_PGSQL] = "pgsql", [SL_APP_DNP3] = "dnp3", [SL_APP_ENIP] = "enip",
        [SL_APP_IKE] = "ike"};

    return app < SL_N_APPS ? names[app] : NULL;
}

/* The protocol that the ports of a message of this form name; SL_APP_UNKNOWN: none. */
static enum sl_app app_of_ports(uint16_t src, uint16_t dst)
{
    if (src == PORT_DNS || dst == PORT_DNS)
        return SL_APP_DNS;
    if (src == PORT_MDNS || dst == PORT_MDNS)
        return SL_APP_MDNS;
    return src == PORT_LLMNR || dst == PORT_LLMNR ? SL_APP_LLMNR : SL_APP_UNKNOWN;
}

/* The bytes of a datagram's payload that were sent, which are more where the packet was cut. */
static uint32_t sent_len_of(const uint8_t *udp, uint32_t len)
{
    const uint32_t udp_len = load_be16(udp + 4);

    return udp_len > UDP_LEN + len ? udp_len - UDP_LEN : len;
}

/* DNS and what has its form. */
static enum sl_app app_of_dns(struct message message, const uint8_t *udp)
{
    const enum dns_verdict verdict =
        dns_probe(message.at, message.len, sent_len_of(udp, message.len));

    if (verdict == DNS_NO)
        return SL_APP_UNKNOWN;
    const enum sl_app app = app_of_ports(load_be16(udp), load_be16(udp + 2));
    return app == SL_APP_UNKNOWN && verdict == DNS_YES ? SL_APP_DNS : app;
}

static enum sl_app app_of_others(struct message message, const uint8_t *udp)
{
    struct snmp_message snmp;

    if (sip_probe(message.at, message.len))
        return SL_APP_SIP;
    if (ntp_probe(message.at, message.len, load_be16(udp), load_be16(udp + 2)))
        return SL_APP_NTP;
    if (snmp_read(&snmp, message.at, message.len))
        return SL_APP_SNMP;
    if (dhcp_probe(message.at, message.len))
        return SL_APP_DHCP;
    return known_datagram(message.at, message.len);
}

static enum sl_app app_of(const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const struct sl_span payload = batch->payload[item];
    const uint8_t *udp = batch->bytes + packet->offset + packet->transport;

    if (packet->protocol != IP_UDP || packet->transport == 0 || payload.len < LEAST_LEN)
        return SL_APP_UNKNOWN;
    const struct message message = {batch->bytes + payload.offset, payload.len};
    const enum sl_app app =
        payload.len >= DNS_HEADER_LEN ? app_of_dns(message, udp) : SL_APP_UNKNOWN;

    return app != SL_APP_UNKNOWN ? app : app_of_others(message, udp);
}

void sl_app_find(struct sl_batch *batch)
{
    for (uint32_t item = 0; batch->origin != NULL && item < batch->n_items; item++)
        if (batch->origin[item].app == SL_APP_UNKNOWN)
            batch->origin[item].app = (uint8_t)app_of(batch, item);
}

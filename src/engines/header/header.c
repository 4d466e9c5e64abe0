/* SPDX-License-Identifier: MIT */
#include "sluice/header.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "header_backend.h"
#include "header_core.h"

static const struct {
    const char *name;
    const char *text;
} checks[SL_N_HEADER_CHECKS] = {
    [SL_HEADER_LINK_TRUNCATED] = {"link-truncated", "the packet ends inside its link headers"},
    [SL_HEADER_IP_VERSION] = {"ip-version", "IP version differs from what the link says"},
    [SL_HEADER_IP_HEADER_LEN] = {"ip-header-len", "IP header shorter or longer than can be"},
    [SL_HEADER_IP_TOTAL_LEN] = {"ip-total-len", "IP length differs from what the packet holds"},
    [SL_HEADER_IPV6_EXTENSION] = {"ipv6-extension", "IPv6 extension headers end behind the packet"},
    [SL_HEADER_TCP_HEADER_LEN] = {"tcp-header-len", "TCP header shorter or longer than can be"},
    [SL_HEADER_UDP_LEN] = {"udp-len", "UDP length shorter or longer than can be"},
    [SL_HEADER_SCTP_LEN] = {"sctp-len", "SCTP header shorter than can be"},
    [SL_HEADER_ICMP_LEN] = {"icmp-len", "ICMP header shorter than can be"},
    [SL_HEADER_TUNNEL] = {"tunnel", "tunnel without the IP header it announces"},
    [SL_HEADER_IPV4_CHECKSUM] = {"ipv4-checksum", "wrong IPv4 header checksum"},
    [SL_HEADER_TCP_CHECKSUM] = {"tcp-checksum", "wrong TCP checksum"},
    [SL_HEADER_UDP_CHECKSUM] = {"udp-checksum", "wrong UDP checksum, or none in IPv6"},
    [SL_HEADER_ICMP_CHECKSUM] = {"icmp-checksum", "wrong ICMP or ICMPv6 checksum"},
    [SL_HEADER_PRIVATE_SOURCE] = {"private-source", "private source, public destination"},
    [SL_HEADER_PRIVATE_DESTINATION] = {"private-destination", "public source, private destination"},
    [SL_HEADER_LAND] = {"land", "source and destination address are equal"},
    [SL_HEADER_BAD_SOURCE] = {"bad-source", "source is a multicast or broadcast address"},
    [SL_HEADER_TCP_BROADCAST] = {"tcp-broadcast", "TCP to a multicast or broadcast address"},
    [SL_HEADER_TTL_ZERO] = {"ttl-zero", "TTL or hop limit is 0"},
    [SL_HEADER_SOURCE_ROUTE] = {"source-route", "IPv4 source route, or IPv6 routing header type 0"},
    [SL_HEADER_IP_RESERVED_FLAG] = {"ip-reserved-flag", "reserved flag of IPv4 is set"},
    [SL_HEADER_FRAGMENT_OVERSIZE] = {"fragment-oversize", "fragment ends behind byte 65,535"},
    [SL_HEADER_FRAGMENT_TINY] = {"fragment-tiny", "fragment boundary inside the TCP header"},
    [SL_HEADER_PORT_ZERO] = {"port-zero", "TCP port 0, or UDP destination port 0"},
    [SL_HEADER_TCP_SYN_FIN] = {"tcp-syn-fin", "TCP flags SYN and FIN"},
    [SL_HEADER_TCP_SYN_RST] = {"tcp-syn-rst", "TCP flags SYN and RST"},
    [SL_HEADER_TCP_FIN_RST] = {"tcp-fin-rst", "TCP flags FIN and RST"},
    [SL_HEADER_TCP_NULL] = {"tcp-null", "no TCP flag"},
    [SL_HEADER_TCP_FIN_ONLY] = {"tcp-fin-only", "TCP flag FIN alone"},
    [SL_HEADER_TCP_XMAS] = {"tcp-xmas", "TCP flags FIN, PSH and URG alone"},
    [SL_HEADER_TCP_RESERVED] = {"tcp-reserved", "reserved bits of TCP are set"},
    [SL_HEADER_TCP_ACK_ZERO] = {"tcp-ack-zero", "TCP flag ACK with number 0"},
};

/* Every check below SL_HEADER_IPV4_CHECKSUM stands for these defects. */
static const uint8_t defect_checks[SL_N_DEFECTS] = {
    [SL_DEFECT_NONE] = HEADER_NO_CHECK,
    [SL_DEFECT_SNAPPED] = HEADER_NO_CHECK,
    [SL_DEFECT_LINK_TYPE] = HEADER_NO_CHECK,
    [SL_DEFECT_LINK_SHORT] = SL_HEADER_LINK_TRUNCATED,
    [SL_DEFECT_VLAN_SHORT] = SL_HEADER_LINK_TRUNCATED,
    [SL_DEFECT_VLAN_DEEP] = SL_HEADER_LINK_TRUNCATED,
    [SL_DEFECT_MPLS_SHORT] = SL_HEADER_LINK_TRUNCATED,
    [SL_DEFECT_PPPOE_SHORT] = SL_HEADER_LINK_TRUNCATED,
    [SL_DEFECT_PPP_SHORT] = SL_HEADER_LINK_TRUNCATED,
    [SL_DEFECT_IPV4_VERSION] = SL_HEADER_IP_VERSION,
    [SL_DEFECT_IPV4_SHORT] = SL_HEADER_IP_HEADER_LEN,
    [SL_DEFECT_IPV4_HEADER_LEN] = SL_HEADER_IP_HEADER_LEN,
    [SL_DEFECT_IPV4_TOTAL_LEN] = SL_HEADER_IP_TOTAL_LEN,
    [SL_DEFECT_IPV6_VERSION] = SL_HEADER_IP_VERSION,
    [SL_DEFECT_IPV6_SHORT] = SL_HEADER_IP_HEADER_LEN,
    [SL_DEFECT_IPV6_PAYLOAD_LEN] = SL_HEADER_IP_TOTAL_LEN,
    [SL_DEFECT_IPV6_EXT_SHORT] = SL_HEADER_IPV6_EXTENSION,
    [SL_DEFECT_IPV6_EXT_DEEP] = SL_HEADER_IPV6_EXTENSION,
    [SL_DEFECT_TCP_SHORT] = SL_HEADER_TCP_HEADER_LEN,
    [SL_DEFECT_TCP_HEADER_LEN] = SL_HEADER_TCP_HEADER_LEN,
    [SL_DEFECT_UDP_SHORT] = SL_HEADER_UDP_LEN,
    [SL_DEFECT_UDP_LEN] = SL_HEADER_UDP_LEN,
    [SL_DEFECT_SCTP_SHORT] = SL_HEADER_SCTP_LEN,
    [SL_DEFECT_ICMP_SHORT] = SL_HEADER_ICMP_LEN,
    [SL_DEFECT_GRE_SHORT] = SL_HEADER_TUNNEL,
    [SL_DEFECT_TUNNEL_SHORT] = SL_HEADER_TUNNEL,
    [SL_DEFECT_OFFSET] = HEADER_NO_CHECK,
};

const char *sl_header_check_name(enum sl_header_check check)
{
    return checks[check].name;
}

const char *sl_header_check_text(enum sl_header_check check)
{
    return checks[check].text;
}

static bool find_set(uint64_t *set, const char *name, size_t name_len)
{
    static const struct {
        const char *name;
        uint64_t set;
    } sets[] = {{"all", SL_HEADER_ALL}, {"none", 0}, {"checksums", SL_HEADER_CHECKSUMS}};

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strlen(sets[i].name) == name_len && memcmp(sets[i].name, name, name_len) == 0) {
            *set = sets[i].set;
            return true;
        }
    for (unsigned c = 0; c < SL_N_HEADER_CHECKS; c++)
        if (strlen(checks[c].name) == name_len && memcmp(checks[c].name, name, name_len) == 0) {
            *set = UINT64_C(1) << c;
            return true;
        }
    return false;
}

static enum sl_status unknown_name(struct sl_diag *diag, const char *name, size_t name_len)
{
    enum { QUOTED_MAX = 32 }; /* leaves room for all known names in a diagnostic */
    char known[512];
    size_t used = 0;

    for (unsigned c = 0; c < SL_N_HEADER_CHECKS; c++) {
        const size_t len = strlen(checks[c].name);

        known[used++] = ' ';
        memcpy(known + used, checks[c].name, len);
        used += len;
    }
    known[used] = '\0';
    return diag_set(diag, SL_EINVAL, NULL, 0, "no check \"%.*s\": all none checksums%s",
                    name_len < QUOTED_MAX ? (int)name_len : QUOTED_MAX, name, known);
}

enum sl_status sl_header_parse_checks(uint64_t *set, const char *list, struct sl_diag *diag)
{
    uint64_t made = list[0] == '-' ? SL_HEADER_ALL : 0;

    for (bool last = false; !last;) {
        const bool removes = list[0] == '-';
        const char *name = list + removes;
        const size_t name_len = strcspn(name, ",");
        uint64_t named;

        if (!find_set(&named, name, name_len))
            return unknown_name(diag, name, name_len);
        made = removes ? made & ~named : made | named;
        last = name[name_len] == '\0';
        list = name + name_len + 1;
    }
    *set = made;
    return SL_OK;
}

void sl_header_config_init(struct sl_header_config *config)
{
    memset(config, 0, sizeof *config);
    config->checks = SL_HEADER_ALL;
}

static uint64_t prefix_mask(uint32_t prefix_len)
{
    return prefix_len == 0 ? 0 : prefix_len >= 64 ? UINT64_MAX : UINT64_MAX << (64 - prefix_len);
}

static void add_home(struct sl_header_table *table, const struct sl_net *net)
{
    struct header_net *home = &table->home[table->n_home++];

    home->mask.hi = prefix_mask(net->prefix_len);
    home->mask.lo = net->prefix_len > 64 ? prefix_mask(net->prefix_len - 64) : 0;
    home->addr.hi = load_be64(net->addr.byte) & home->mask.hi;
    home->addr.lo = load_be64(net->addr.byte + 8) & home->mask.lo;
    if (header_is_ipv4(&home->addr) && net->prefix_len >= 96 && net->prefix_len <= 96 + 30)
        table->broadcast[table->n_broadcast++] = (uint32_t)(home->addr.lo | ~home->mask.lo);
}

enum sl_status sl_header_build(struct sl_header_table **table,
                               const struct sl_header_config *config, struct sl_diag *diag)
{
    const enum sl_status status = reserved_check(config->reserved, diag);

    if (status != SL_OK)
        return status;
    if ((config->checks & ~SL_HEADER_ALL) != 0)
        return diag_set(diag, SL_EINVAL, NULL, 0, "header check %d is unknown",
                        63 - __builtin_clzll(config->checks));
    if (config->n_home > HEADER_MAX_HOME)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%u home networks, at most %d are possible",
                        config->n_home, HEADER_MAX_HOME);
    for (uint32_t i = 0; i < config->n_home; i++)
        if (config->home[i].prefix_len > 128)
            return diag_set(diag, SL_EINVAL, NULL, 0, "home network %u has a prefix of %u bits", i,
                            config->home[i].prefix_len);

    struct sl_header_table *made = calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the header checks' table");
    made->magic = HEADER_MAGIC;
    made->version = HEADER_VERSION;
    made->table_len = sizeof *made;
    made->checks = config->checks;
    for (uint32_t i = 0; i < config->n_home; i++)
        add_home(made, &config->home[i]);
    memset(made->defect_check, HEADER_NO_CHECK, sizeof made->defect_check);
    memcpy(made->defect_check, defect_checks, sizeof defect_checks);
    *table = made;
    return SL_OK;
}

void sl_header_free(struct sl_header_table *table)
{
    free(table);
}

static bool takes(const struct sl_engine *engine, const void *table)
{
    const struct sl_header_table *header = table;

    (void)engine;
    return header->magic == HEADER_MAGIC && header->version == HEADER_VERSION;
}

static const struct sl_backend *const backends[] = {&header_cuda, &header_avx2, &header_scalar,
                                                    NULL};

const struct sl_engine *sl_header_engine(void)
{
    static const struct sl_engine engine = {.name = "header", .backends = backends, .takes = takes};

    return &engine;
}

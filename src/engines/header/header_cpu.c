/* SPDX-License-Identifier: MIT */
#include "header_cpu.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "base/reserved.h"

struct header_cpu {
    struct cpu_context cpu;
    header_run *run;
};

enum sl_status header_cpu_open(void **context, const void *table, const struct sl_limits *limits,
                               header_run *run, struct sl_diag *diag)
{
    struct header_cpu *header;
    const enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    header = calloc(1, sizeof *header);
    if (header == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of the header checks");
    header->cpu.table = table;
    header->cpu.limits = *limits;
    header->run = run;
    *context = header;
    return SL_OK;
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    ((const struct header_cpu *)cpu)->run(cpu->table, batch, hits);
    return SL_OK;
}

enum sl_status header_cpu_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    if (batch->packet == NULL)
        return SL_EINVAL;
    return cpu_backend_submit(context, batch, hits, scan);
}

uint64_t header_sum_scalar(const uint8_t *bytes, uint32_t begin, uint32_t end)
{
    uint64_t even = 0;
    uint64_t odd = 0;
    uint64_t word[2];
    uint32_t i = begin;

    if ((i & 1) != 0 && i < end)
        odd = (uint64_t)bytes[i++] << 8;
    for (; i + sizeof word <= end; i += sizeof word) {
        __builtin_prefetch(bytes + i + HEADER_SUM_AHEAD);
        memcpy(word, bytes + i, sizeof word);
        even += header_halves(word[0]);
        odd += header_halves(word[1]);
    }
    if (i < end) {
        memcpy(word, bytes + i, sizeof word);
        even += header_halves(header_keep(word[0], i, i, end));
        odd += header_halves(header_keep(word[1], i + 8, i, end));
    }
    return even + odd;
}

static void scalar_run(const struct sl_header_table *table, const struct sl_batch *batch,
                       struct sl_hits *hits)
{
    header_loop(table, batch, hits, header_sum_scalar);
}

/* ---- one packet ------------------------------------------------------------------------------ */

static header_sum *best_sum(void)
{
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2)
        return header_sum_avx2;
#endif
    return header_sum_scalar;
}

uint64_t sl_header_tripped(const struct sl_header_table *table, const struct sl_batch *batch,
                           uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];

    return header_packet(table, packet, batch->bytes + packet->offset, best_sum());
}

/* Whether the packet is TCP in IPv4 without options and tunnels. */
static bool is_plain_tcp(const struct sl_packet *packet)
{
    enum { OTHERS = SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6 | SL_PACKET_IPV6, IPV4_LEN = 20 };

    return (packet->flags & (OTHERS | SL_PACKET_IPV4)) == SL_PACKET_IPV4 &&
           packet->protocol == SL_IP_TCP && packet->transport == packet->network + IPV4_LEN;
}

/* The same two checks as header_packet has for such a packet. */
static bool plain_tcp_is_wrong(const struct sl_header_table *table, const struct sl_packet *packet,
                               const uint8_t *bytes)
{
    const uint8_t *const header = bytes + packet->network;
    struct header_ip ip = {.end = 0};
    struct header_view view = {.checksum = 0};

    if ((table->checks >> SL_HEADER_IPV4_CHECKSUM & 1) != 0 &&
        header_ipv4_sum_is_wrong(header, packet->transport - packet->network))
        return true;
    header_ipv4_cover(&ip, header, packet->network);
    header_cover(&view, table, packet, &ip,
                 ip.end > packet->transport ? ip.end - packet->transport : 0,
                 SL_HEADER_TCP_CHECKSUM);
    return view.checksum != 0 && header_finish(&view, best_sum()(bytes, view.begin, view.end)) != 0;
}

bool sl_header_tcp_is_damaged(const struct sl_header_table *table, const struct sl_batch *batch,
                              uint32_t item)
{
    const uint64_t sums = UINT64_C(1) << SL_HEADER_IPV4_CHECKSUM | UINT64_C(1)
                                                                       << SL_HEADER_TCP_CHECKSUM;
    const struct sl_packet *packet = &batch->packet[item];

    return is_plain_tcp(packet) ? plain_tcp_is_wrong(table, packet, batch->bytes + packet->offset)
                                : (sl_header_tripped(table, batch, item) & sums) != 0;
}

HEADER_CPU_BACKEND(header_scalar, "scalar", cpu_backend_usable, scalar_run);

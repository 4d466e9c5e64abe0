/* SPDX-License-Identifier: MIT */
/* Input: the timeouts and the size of a table (3 bytes), then operations of 8 bytes: a packet, its
 * time, and whether a batch ends behind it. The oracle judges each step. */
#include "flow_comparison.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPERATION_LEN = 8, MAX_OPERATIONS = 2000 };

static struct comparison comparison;

static int64_t step_of(uint8_t byte)
{
    static const int64_t unit[] = {1, 1000000, SECOND, -SECOND};

    return (byte & 63) * unit[byte >> 6];
}

static struct flow_event event_of(const uint8_t *op, int64_t *time)
{
    static const uint8_t protocols[] = {SL_IP_TCP,  SL_IP_TCP,  SL_IP_TCP,    SL_IP_UDP,
                                        SL_IP_ICMP, SL_IP_SCTP, SL_IP_ICMPV6, 89};
    static const uint16_t ports[] = {80, 1023, 1024, 40000};
    static const uint8_t types[] = {8, 0, 128, 129, 3, 8, 0, 3};
    struct flow_event event = {.protocol = protocols[op[0] & 7], .tcp_flags = op[1]};

    event.ipv6 = op[0] >> 3 & 1;
    event.vlan = op[0] >> 4 & 1 ? 7 : 0;
    event.no_ip = op[0] >> 5 == 7;
    event.later_fragment = op[0] >> 5 == 6;
    event.short_transport = op[0] >> 5 == 5 && !event.ipv6 && event.protocol != 89;
    for (uint32_t i = 0; i < 2; i++) {
        event.addr[i] = (uint8_t)(1 + (op[2] >> 4 * i & 3));
        event.port[i] = ports[op[2] >> (4 * i + 2) & 3];
    }
    event.seq = 0xFFFFFFFC + (op[3] & 7);
    event.ack = 0xFFFFFFFC + (op[3] >> 3 & 7);
    event.payload_len = op[3] >> 6;
    event.icmp_type = types[op[4] & 7];
    event.icmp_id = op[4] >> 3 & 1;
    event.alerted = op[4] >> 4 & 1;
    event.app = op[7] >> 6;
    event.wire_len = op[5] * 0x01010101u;
    *time += step_of(op[6]);
    event.time = op[4] >> 5 == 7 ? 0 : *time;
    return event;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct flow_event events[COMPARISON_BATCH];
    int64_t time = 1700000000 * SECOND;
    uint32_t n = 0;

    if (size < 3 || size > 3 + OPERATION_LEN * MAX_OPERATIONS)
        return 0;
    const struct sl_flow_config config = {.max_flows = 1 + (data[0] & 15),
                                          .tcp_handshake_seconds = data[0] >> 4,
                                          .tcp_established_seconds = data[1] & 15,
                                          .tcp_closed_seconds = data[1] >> 4,
                                          .new_seconds = data[2] & 15,
                                          .established_seconds = data[2] >> 4};

    comparison_start(&comparison, &config);
    for (size_t at = 3; size - at >= OPERATION_LEN; at += OPERATION_LEN) {
        events[n++] = event_of(data + at, &time);
        if (n == COMPARISON_BATCH || data[at + 7] % 4 == 0) {
            comparison_track(&comparison, events, n);
            n = 0;
        }
    }
    if (n != 0)
        comparison_track(&comparison, events, n);
    (void)comparison_end(&comparison);
    return 0;
}

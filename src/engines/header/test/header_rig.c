/* SPDX-License-Identifier: MIT */
#include "header_rig.h"

#include "test.h"

#include "base/bytes.h"
#include "device/test/engine_fixture.h"
#include "sluice/dissect.h"

enum { ARENA = 4 << 20, ITEMS = 1 << 14, HITS = 1 << 18 };

const struct sl_backend *header_backend;
const struct sl_limits rig_limits = {.max_items = ITEMS, .max_bytes = ARENA, .max_hits = HITS};

void rig_open(struct rig *rig, const struct sl_header_config *config)
{
    struct sl_diag diag;

    memset(rig, 0, sizeof *rig);
    rig->config = *config;
    assert_int_equal(sl_header_build(&rig->table, config, &diag), SL_OK);
    assert_int_equal(header_backend->open(&rig->context, rig->table, &rig_limits, &diag), SL_OK);
    if (header_backend->device == SL_DEVICE_CUDA)
        assert_int_equal(sl_stage_open(&rig->stage, &rig_limits, &diag), SL_OK);
}

void rig_open_all(struct rig *rig)
{
    struct sl_header_config config;

    sl_header_config_init(&config);
    rig_open(rig, &config);
}

void rig_close(struct rig *rig)
{
    header_backend->close(rig->context);
    sl_stage_close(rig->stage);
    sl_header_free(rig->table);
}

enum sl_status rig_run(struct rig *rig, const struct sl_batch *batch, struct sl_hits *hits)
{
    return engine_scan(header_backend, rig->context, rig->stage, batch, hits);
}

struct sl_hits rig_hits(struct rig *rig, const struct sl_batch *batch)
{
    static struct sl_hit memory[HITS];
    struct sl_hits hits = {.hit = memory, .cap = HITS};

    assert_int_equal(rig_run(rig, batch, &hits), SL_OK);
    sl_hits_sort(&hits);
    return hits;
}

struct sl_batch *rig_new_batch(void)
{
    struct sl_batch *batch = NULL;
    struct sl_diag diag;

    assert_int_equal(sl_batch_create(&batch, ARENA, ITEMS, &diag), SL_OK);
    return batch;
}

void rig_add_packet(struct sl_batch *batch, const uint8_t *bytes, uint32_t len, uint32_t wire_len,
                    uint16_t link_type)
{
    const uint32_t item = sl_batch_add(batch, bytes, len, 0);

    batch->origin[item].wire_len = wire_len;
    batch->origin[item].link_type = link_type;
}

void rig_dissect(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};

    sl_dissect(batch, &stats);
}

void rig_add_udp(struct sl_batch *batch, uint32_t begin, uint32_t payload_len, bool wrong,
                 uint64_t *seed)
{
    static uint8_t bytes[4096];
    const uint32_t udp = begin + 20;
    const uint32_t end = udp + 8 + payload_len;

    for (uint32_t i = 0; i < end + 32; i++)
        bytes[i] = (uint8_t)test_random(seed);
    memset(bytes + begin, 0, 20);
    bytes[begin] = 0x45;
    bytes[begin + 8] = 64;
    bytes[begin + 9] = SL_IP_UDP;
    store_be16(bytes + begin + 2, 28 + payload_len);
    store_be32(bytes + begin + 12, 0x01020304);
    store_be32(bytes + begin + 16, 0x05060708);
    store_be16(bytes + begin + 10, header_checksum(bytes + begin, 20, 0));
    store_be16(bytes + udp + 2, 9);
    store_be16(bytes + udp + 4, 8 + payload_len);
    store_be16(bytes + udp + 6, 0);

    const uint16_t sum = header_checksum(bytes + udp, 8 + payload_len,
                                         0x0102 + 0x0304 + 0x0506 + 0x0708 + 17 + 8 + payload_len);
    store_be16(bytes + udp + 6, sum != 0 ? sum : 0xFFFF);
    if (wrong)
        bytes[payload_len != 0 ? end - 1 - test_below(seed, payload_len) : udp] ^= 0x10;

    const uint32_t item = sl_batch_add(batch, bytes, end + test_below(seed, 32), 0);
    batch->packet[item].network = (uint16_t)begin;
    batch->packet[item].transport = (uint16_t)udp;
    batch->packet[item].protocol = SL_IP_UDP;
    batch->packet[item].flags = SL_PACKET_IPV4;
}

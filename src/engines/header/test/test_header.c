/* SPDX-License-Identifier: MIT */
/* One backend, named on the command line, against what the checks mean and against the oracle. */
#include "test.h"

#include <dirent.h>
#include <sys/mman.h>

#include "dissect/test/frame_samples.h"
#include "engines/header/header_backend.h"
#include "header_ref.h"
#include "header_tiles.h"
#include "header_trials.h"
#include "sluice/capture.h"
#include "sluice/device.h"

enum { ARENA = 4 << 20, ITEMS = 1 << 14, HITS = 1 << 18, ETHERNET = 1 };

static const struct sl_backend *backend;

/* ---- Running the backend ---- */

struct rig {
    struct sl_header_config config;
    struct sl_header_table *table;
    void *context;
    struct sl_stage *stage; /* CUDA only */
};

static void rig_open(struct rig *rig, const struct sl_header_config *config)
{
    const struct sl_limits limits = {.max_items = ITEMS, .max_bytes = ARENA, .max_hits = HITS};
    struct sl_diag diag;

    memset(rig, 0, sizeof *rig);
    rig->config = *config;
    assert_int_equal(sl_header_build(&rig->table, config, &diag), SL_OK);
    assert_int_equal(backend->open(&rig->context, rig->table, &limits, &diag), SL_OK);
    if (backend->device == SL_DEVICE_CUDA)
        assert_int_equal(sl_stage_open(&rig->stage, &limits, &diag), SL_OK);
}

static void rig_open_all(struct rig *rig)
{
    struct sl_header_config config;

    sl_header_config_init(&config);
    rig_open(rig, &config);
}

static void rig_close(struct rig *rig)
{
    backend->close(rig->context);
    sl_stage_close(rig->stage);
    sl_header_free(rig->table);
}

static enum sl_status rig_run(struct rig *rig, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct sl_batch view;

    if (backend->device == SL_DEVICE_CUDA) {
        assert_int_equal(sl_stage_upload(rig->stage, batch, &view), SL_OK);
        batch = &view;
    }

    const enum sl_status status = backend->submit(rig->context, batch, hits);
    return status == SL_OK ? backend->wait(rig->context) : status;
}

/* The hits of a batch, sorted; the array is overwritten by the next call. */
static struct sl_hits rig_hits(struct rig *rig, const struct sl_batch *batch)
{
    static struct sl_hit memory[HITS];
    struct sl_hits hits = {.hit = memory, .cap = HITS};

    assert_int_equal(rig_run(rig, batch, &hits), SL_OK);
    sl_hits_sort(&hits);
    return hits;
}

static struct sl_batch *new_batch(void)
{
    struct sl_batch *batch = NULL;
    struct sl_diag diag;

    assert_int_equal(sl_batch_create(&batch, ARENA, ITEMS, &diag), SL_OK);
    return batch;
}

static void add_packet(struct sl_batch *batch, const uint8_t *bytes, uint32_t len,
                       uint32_t wire_len, uint16_t link_type)
{
    const uint32_t item = sl_batch_add(batch, bytes, len, 0);

    batch->origin[item].wire_len = wire_len;
    batch->origin[item].link_type = link_type;
}

static void dissect(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};

    sl_dissect(batch, &stats);
}

/* ---- Each check: what trips it and what just does not ---- */

static void add_trials(struct sl_batch *batch)
{
    static struct frame frame;

    for (uint32_t i = 0; i < n_header_trials; i++) {
        trial_build(&header_trials[i], &frame);
        add_packet(batch, frame.byte, frame.len, frame.len + header_trials[i].unseen, ETHERNET);
    }
    dissect(batch);
}

static void check_trials(uint64_t checks)
{
    struct sl_header_config config = {.checks = checks};
    struct sl_batch *batch = new_batch();
    struct rig rig;
    size_t h = 0;

    add_trials(batch);
    rig_open(&rig, &config);

    const struct sl_hits hits = rig_hits(&rig, batch);
    for (uint32_t i = 0; i < n_header_trials; i++) {
        uint64_t tripped = 0;

        for (; h < hits.n && hits.hit[h].item == i; h++) {
            tripped |= UINT64_C(1) << hits.hit[h].id;
            if (hits.hit[h].offset != header_trials[i].offset)
                fail_msg("%s: offset %u, not %u", header_trials[i].name, hits.hit[h].offset,
                         header_trials[i].offset);
        }
        if (tripped != (header_trials[i].tripped & checks))
            fail_msg("%s: tripped %#llx, not %#llx", header_trials[i].name,
                     (unsigned long long)tripped,
                     (unsigned long long)(header_trials[i].tripped & checks));
    }
    assert_int_equal(h, hits.n);
    rig_close(&rig);
    sl_batch_free(batch);
}

static void test_trials(void **state)
{
    (void)state;
    check_trials(SL_HEADER_ALL);
    check_trials(0);
}

static void test_each_check_alone_and_off(void **state)
{
    (void)state;
    for (unsigned c = 0; c < SL_N_HEADER_CHECKS; c++) {
        check_trials(UINT64_C(1) << c);
        check_trials(SL_HEADER_ALL & ~(UINT64_C(1) << c));
    }
}

/* A check without a trial would be a check without a test. */
static void test_trials_are_complete(void **state)
{
    uint64_t tripped = 0;

    (void)state;
    for (uint32_t i = 0; i < n_header_trials; i++)
        tripped |= header_trials[i].tripped;
    assert_int_equal(tripped, SL_HEADER_ALL);
}

/* ---- Home networks ---- */

struct journey {
    const char *src, *dst;
    uint64_t tripped; /* with the home networks below */
};

static void put_addresses(struct frame *f, const struct journey *journey)
{
    struct sl_net src, dst;

    assert_int_equal(sl_net_parse(&src, journey->src, strlen(journey->src)), SL_OK);
    assert_int_equal(sl_net_parse(&dst, journey->dst, strlen(journey->dst)), SL_OK);
    f->len = 0;

    const bool is_ipv4 = sl_addr_is_ipv4(&src.addr);
    frame_ethernet(f, is_ipv4 ? 0x0800 : 0x86DD);
    const uint32_t ip = is_ipv4 ? frame_ipv4(f, SL_IP_TCP, 0) : frame_ipv6(f, SL_IP_TCP);
    frame_tcp(f, 1, 2, 2, 0);
    if (is_ipv4) {
        frame_end_ipv4(f, ip);
        memcpy(f->byte + ip + 12, src.addr.byte + 12, 4);
        memcpy(f->byte + ip + 16, dst.addr.byte + 12, 4);
    } else {
        frame_end_ipv6(f, ip);
        memcpy(f->byte + ip + 8, src.addr.byte, 16);
        memcpy(f->byte + ip + 24, dst.addr.byte, 16);
    }
    header_seal(f->byte, f->len, f->len, ETHERNET);
}

static void test_home_networks(void **state)
{
    static const char *const home_text[] = {"192.0.2.64/26",    "198.51.100.0/31", "203.0.113.4/30",
                                            "2001:db8:1::/48",  "9.9.9.9/32",      "10.1.0.0/16",
                                            "2001:db8:2::5/128"};
    enum { N_HOME = sizeof home_text / sizeof *home_text };
    static const uint64_t to_private = UINT64_C(1) << SL_HEADER_PRIVATE_DESTINATION;
    static const uint64_t from_private = UINT64_C(1) << SL_HEADER_PRIVATE_SOURCE;
    static const uint64_t broadcast = UINT64_C(1) << SL_HEADER_TCP_BROADCAST;
    static const struct journey journeys[] = {
        {"10.0.0.1", "192.0.2.63", from_private},
        {"10.0.0.1", "192.0.2.64", 0},
        {"10.0.0.1", "192.0.2.126", 0},
        {"10.0.0.1", "192.0.2.128", from_private},
        {"10.0.0.1", "9.9.9.9", 0},
        {"10.0.0.1", "9.9.9.8", from_private},
        {"192.0.2.64", "172.16.0.1", 0},
        {"192.0.2.63", "172.16.0.1", to_private},
        {"fd00::1", "2001:db8:1:ffff::1", 0},
        {"fd00::1", "2001:db8:2::1", from_private},
        {"fd00::1", "2001:db8:2::5", 0},
        {"2001:db8:1::", "fd00::1", 0},
        {"2001:db8:0:ffff::", "fd00::1", to_private},
        {"8.8.8.8", "192.0.2.127", broadcast}, /* the last of a /26 */
        {"8.8.8.8", "192.0.2.63", 0},
        {"8.8.8.8", "198.51.100.1", 0},        /* a /31 has no broadcast address (RFC 3021) */
        {"8.8.8.8", "203.0.113.7", broadcast}, /* of a /30 */
        {"8.8.8.8", "203.0.113.6", 0},
        {"8.8.8.8", "9.9.9.9", 0},
        {"10.1.2.3", "10.1.255.255", broadcast},
        {"10.1.2.3", "8.8.8.8", 0}, /* the user's own private network */
        {"10.2.2.3", "8.8.8.8", from_private},
        {"8.8.8.8", "10.1.2.3", 0},
        {"8.8.8.8", "10.2.2.3", to_private},
        {"2001:db8::1", "2001:db8:1:ffff:ffff:ffff:ffff:ffff", 0}, /* no broadcast in IPv6 */
    };
    static struct frame frame;
    struct sl_net home[N_HOME];
    struct sl_header_config config = {.checks = SL_HEADER_ALL, .home = home, .n_home = N_HOME};
    struct sl_batch *batch = new_batch();
    struct rig rig;
    size_t h = 0;

    (void)state;
    for (int i = 0; i < N_HOME; i++)
        assert_int_equal(sl_net_parse(&home[i], home_text[i], strlen(home_text[i])), SL_OK);
    for (size_t i = 0; i < sizeof journeys / sizeof *journeys; i++) {
        put_addresses(&frame, &journeys[i]);
        add_packet(batch, frame.byte, frame.len, frame.len, ETHERNET);
    }
    dissect(batch);
    rig_open(&rig, &config);

    const struct sl_hits hits = rig_hits(&rig, batch);
    for (size_t i = 0; i < sizeof journeys / sizeof *journeys; i++) {
        uint64_t tripped = 0;

        for (; h < hits.n && hits.hit[h].item == i; h++)
            tripped |= UINT64_C(1) << hits.hit[h].id;
        if (tripped != journeys[i].tripped)
            fail_msg("%s to %s: %#llx", journeys[i].src, journeys[i].dst,
                     (unsigned long long)tripped);
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

/* Each of the 64 home networks counts. */
static void test_many_home_networks(void **state)
{
    enum { N_HOME = 64 };
    static struct frame frame;
    struct sl_net home[N_HOME];
    struct sl_header_config config = {.checks = UINT64_C(1) << SL_HEADER_PRIVATE_SOURCE |
                                                UINT64_C(1) << SL_HEADER_TCP_BROADCAST,
                                      .home = home,
                                      .n_home = N_HOME};
    struct sl_batch *batch = new_batch();
    struct rig rig;
    char text[64];

    (void)state;
    for (unsigned i = 0; i < 2 * N_HOME; i++) {
        struct journey journey = {.src = "10.0.0.1", .dst = text};

        snprintf(text, sizeof text, "1.2.%u.255", i);
        put_addresses(&frame, &journey);
        add_packet(batch, frame.byte, frame.len, frame.len, ETHERNET);
        snprintf(text, sizeof text, "1.2.%u.0/24", i);
        if (i < N_HOME)
            assert_int_equal(sl_net_parse(&home[i], text, strlen(text)), SL_OK);
    }
    dissect(batch);
    rig_open(&rig, &config);

    const struct sl_hits hits = rig_hits(&rig, batch);
    assert_int_equal(hits.n, 2 * N_HOME);
    for (unsigned i = 0; i < 2 * N_HOME; i++) {
        assert_int_equal(hits.hit[i].item, i);
        assert_int_equal(hits.hit[i].id,
                         i < N_HOME ? SL_HEADER_TCP_BROADCAST : SL_HEADER_PRIVATE_SOURCE);
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

/* ---- The contract of an engine ---- */

/* A packet of n_hits hits: TTL 0, and if two, a reserved flag. */
static void add_bad_packet(struct sl_batch *batch, unsigned n_hits)
{
    static struct frame frame;

    frame.len = 0;
    frame_ethernet(&frame, 0x0800);
    const uint32_t ip = frame_ipv4(&frame, SL_IP_UDP, 0);
    frame_udp(&frame, 1, 2, 0);
    frame_end_ipv4(&frame, ip);
    frame.byte[ip + 8] = n_hits >= 1 ? 0 : 64;
    frame.byte[ip + 6] = n_hits >= 2 ? 0x80 : 0;
    header_seal(frame.byte, frame.len, frame.len, ETHERNET);
    add_packet(batch, frame.byte, frame.len, frame.len, ETHERNET);
}

static void test_batches_of_all_sizes(void **state)
{
    struct sl_batch *batch = new_batch();
    struct rig rig;

    (void)state;
    rig_open_all(&rig);
    for (uint32_t n = 0; n <= 100; n++) {
        sl_batch_reset(batch);
        for (uint32_t i = 0; i < n; i++)
            add_bad_packet(batch, 1);
        dissect(batch);

        const struct sl_hits hits = rig_hits(&rig, batch);
        assert_int_equal(hits.n, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(hits.hit[i].item, i);
            assert_int_equal(hits.hit[i].id, SL_HEADER_TTL_ZERO);
        }
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

static void check_overflow(struct rig *rig, const struct sl_batch *batch, size_t cap, size_t n)
{
    struct sl_hit memory[16];
    struct sl_hits hits = {.hit = memory, .cap = cap, .n = 12345};

    assert_true(cap < 16);
    memset(memory, 0xAA, sizeof memory);
    assert_int_equal(rig_run(rig, batch, &hits), n > cap ? SL_EOVERFLOW : SL_OK);
    assert_int_equal(hits.n, n);
    for (size_t i = 0; i < 16; i++) /* what is there are hits of the batch, and nothing more */
        if (i < (n < cap ? n : cap))
            assert_true(
                memory[i].item < batch->n_items &&
                (memory[i].id == SL_HEADER_TTL_ZERO || memory[i].id == SL_HEADER_IP_RESERVED_FLAG));
        else
            assert_int_equal(memory[i].item, 0xAAAAAAAA);
}

static void test_overflow(void **state)
{
    struct sl_batch *batch = new_batch();
    struct rig rig;
    size_t n = 0;

    (void)state;
    rig_open_all(&rig);
    check_overflow(&rig, batch, 0, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        add_bad_packet(batch, i % 3);
        n += i % 3;
        dissect(batch);
        if (n < 20 || i % 97 == 0)
            for (size_t cap = 0; cap < 16; cap++)
                check_overflow(&rig, batch, cap, n);
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

static void test_wrong_calls(void **state)
{
    const struct sl_limits limits = {.max_items = 2, .max_bytes = 128, .max_hits = 8};
    struct sl_batch *batch = new_batch();
    struct sl_hit hit[8];
    struct sl_hits hits = {.hit = hit, .cap = 8};
    struct sl_diag diag = {.text = ""};
    void *context = NULL;
    struct rig rig;

    (void)state;
    rig_open_all(&rig);
    add_bad_packet(batch, 1);
    batch->memory = backend->device == SL_DEVICE_CPU ? SL_MEMORY_DEVICE : SL_MEMORY_HOST;
    assert_int_equal(backend->submit(rig.context, batch, &hits), SL_EINVAL);
    batch->memory = backend->device == SL_DEVICE_CPU ? SL_MEMORY_HOST : SL_MEMORY_DEVICE;
    assert_int_equal(backend->open(&context, rig.table, &limits, &diag), SL_OK);
    batch->n_items = 3;
    assert_int_equal(backend->submit(context, batch, &hits), SL_EINVAL);
    batch->n_items = 1;
    batch->bytes_len = 144;
    assert_int_equal(backend->submit(context, batch, &hits), SL_EINVAL);
    batch->bytes_len = 128;
    struct sl_packet *const packet = batch->packet;
    batch->packet = NULL;
    assert_int_equal(backend->submit(context, batch, &hits), SL_EINVAL);
    batch->packet = packet;
    backend->close(context);
    backend->close(NULL);

    const uint64_t foreign[512] = {1};
    assert_int_equal(backend->open(&context, foreign, &limits, &diag), SL_EINVAL);
    assert_string_not_equal(diag.text, "");
    batch->memory = SL_MEMORY_HOST;
    rig_close(&rig);
    sl_batch_free(batch);
}

/* ---- Checksums of every length and alignment ---- */

/* An IPv4 packet at byte `begin`, with UDP and payload_len bytes; what lies around it is noise. */
static void add_udp(struct sl_batch *batch, uint32_t begin, uint32_t payload_len, bool wrong,
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

static void test_checksum_lengths_and_alignments(void **state)
{
    struct sl_batch *batch = new_batch();
    uint64_t seed = 1;
    struct rig rig;

    (void)state;
    rig_open_all(&rig);
    for (uint32_t begin = 0; begin < 34; begin++) {
        sl_batch_reset(batch);
        for (uint32_t len = 0; len <= 2000; len += begin < 2 || len < 260 ? 1 : 17) {
            if (!sl_batch_fits(batch, 2 * 2200))
                break;
            add_udp(batch, begin, len, false, &seed);
            add_udp(batch, begin, len, true, &seed);
        }
        assert_true(batch->n_items > 700);

        const struct sl_hits hits = rig_hits(&rig, batch);
        assert_int_equal(hits.n, batch->n_items / 2);
        for (uint32_t i = 0; i < hits.n; i++) {
            assert_int_equal(hits.hit[i].item, 2 * i + 1);
            assert_int_equal(hits.hit[i].id, SL_HEADER_UDP_CHECKSUM);
            assert_int_equal(hits.hit[i].offset, begin + 26);
        }
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

/* All bytes 0xFF is the largest sum of the longest datagram: nothing overflows. */
static void test_largest_sum(void **state)
{
    static uint8_t bytes[65535];
    struct sl_batch *batch = new_batch();
    struct rig rig;

    (void)state;
    memset(bytes, 0xFF, sizeof bytes);
    memset(bytes, 0, 20);
    bytes[0] = 0x45;
    bytes[8] = 1;
    bytes[9] = SL_IP_UDP;
    store_be16(bytes + 2, 65535);
    store_be32(bytes + 12, 0x01020304);
    store_be32(bytes + 16, 0x05060708);
    store_be16(bytes + 24, 65515);
    header_seal(bytes, sizeof bytes, sizeof bytes, 101);
    add_packet(batch, bytes, sizeof bytes, sizeof bytes, 101);
    bytes[65534] = 0xFE;
    add_packet(batch, bytes, sizeof bytes, sizeof bytes, 101);
    dissect(batch);
    rig_open_all(&rig);

    const struct sl_hits hits = rig_hits(&rig, batch);
    assert_int_equal(hits.n, 1);
    assert_int_equal(hits.hit[0].item, 1);
    assert_int_equal(hits.hit[0].id, SL_HEADER_UDP_CHECKSUM);
    rig_close(&rig);
    sl_batch_free(batch);
}

/* ---- Against the oracle ---- */

static void compare_packet(const struct sl_batch *batch, uint32_t item, const struct sl_hits *hits,
                           size_t *h, const struct sl_header_config *config)
{
    const struct sl_packet *packet = &batch->packet[item];
    uint32_t offsets[SL_N_HEADER_CHECKS];
    const uint64_t expected =
        header_ref_checks(config, packet, batch->bytes + packet->offset, offsets);
    uint64_t tripped = 0;

    for (; *h < hits->n && hits->hit[*h].item == item; ++*h) {
        const struct sl_hit *hit = &hits->hit[*h];

        tripped |= UINT64_C(1) << hit->id;
        if ((expected >> hit->id & 1) != 0 && offsets[hit->id] != hit->offset)
            fail_msg("packet %u: %s at %u, the oracle says %u", item,
                     sl_header_check_name((enum sl_header_check)hit->id), hit->offset,
                     offsets[hit->id]);
    }
    if (tripped == expected)
        return;
    for (uint32_t i = 0; i < packet->len && i < 160; i++)
        print_error("%02x%s", batch->bytes[packet->offset + i], i % 16 == 15 ? "\n" : " ");
    fail_msg("packet %u (network %u, transport %u, protocol %u, flags %#x, defect %s): "
             "tripped %#llx, the oracle says %#llx",
             item, packet->network, packet->transport, packet->protocol, packet->flags,
             sl_defect_name((enum sl_defect)packet->defect), (unsigned long long)tripped,
             (unsigned long long)expected);
}

static size_t compare_batch(struct rig *rig, const struct sl_batch *batch)
{
    const struct sl_hits hits = rig_hits(rig, batch);
    size_t h = 0;

    for (uint32_t i = 0; i < batch->n_items; i++)
        compare_packet(batch, i, &hits, &h, &rig->config);
    assert_int_equal(h, hits.n);
    return hits.n;
}

/* Values that checks and lengths turn on. */
static uint8_t telling_byte(uint64_t *seed)
{
    static const uint8_t telling[] = {0,    1,    2,    4,    6,    8,    0x11, 0x20, 0x29, 0x2B,
                                      0x2C, 0x3A, 0x40, 0x45, 0x46, 0x60, 0x80, 0x83, 0x89, 10,
                                      0xFD, 0xFF, 172,  192,  168,  224,  50,   51,   60};

    return test_below(seed, 2) ? telling[test_below(seed, sizeof telling)]
                               : (uint8_t)test_random(seed);
}

static void mutate(struct frame *f, uint64_t *seed)
{
    const uint32_t reach = f->len < 120 ? f->len : 120;

    for (uint32_t n = test_below(seed, 5); n > 0; n--)
        f->byte[test_below(seed, reach)] = telling_byte(seed);
    if (test_below(seed, 16) == 0 && reach > 32) /* equal addresses, and IPv4-mapped ones */
        memcpy(f->byte + test_below(seed, reach - 16), f->byte + test_below(seed, reach - 16), 16);
    if (test_below(seed, 16) == 0 && reach > 60)
        memcpy(f->byte + 14 + test_below(seed, 2) * 16 + 8, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF\x0A", 13);
}

static void add_mutant(struct sl_batch *batch, uint64_t *seed)
{
    static struct frame f;
    const uint32_t pick = test_below(seed, n_samples + n_header_trials);
    uint16_t link_type = ETHERNET;

    f.len = 0;
    if (pick < n_samples) {
        samples[pick].build(&f);
        link_type = samples[pick].link_type;
    } else {
        trial_build(&header_trials[pick - n_samples], &f);
    }
    if (f.len > 2000)
        f.len = 2000;
    mutate(&f, seed);
    if (test_below(seed, 8) == 0)
        f.len = test_below(seed, f.len + 1);

    const uint32_t wire_len = f.len + (test_below(seed, 8) == 0 ? test_below(seed, 64) : 0);
    if (test_below(seed, 2))
        header_seal(f.byte, f.len, wire_len, link_type);
    add_packet(batch, f.byte, f.len, wire_len, link_type);
}

static void test_mutants(void **state)
{
    struct sl_net home[3];
    struct sl_header_config config = {.checks = SL_HEADER_ALL, .home = home, .n_home = 3};
    struct sl_batch *batch = new_batch();
    uint64_t seed = 20170401;
    uint64_t n_packets = 0;
    uint64_t n_hits = 0;
    struct rig rig;

    (void)state;
    assert_int_equal(sl_net_parse(&home[0], "203.0.113.0/29", 14), SL_OK);
    assert_int_equal(sl_net_parse(&home[1], "2001:db8::/64", 13), SL_OK);
    assert_int_equal(sl_net_parse(&home[2], "10.0.0.0/30", 11), SL_OK);
    rig_open(&rig, &config);
    for (int round = 0; round < 60; round++) {
        sl_batch_reset(batch);
        for (int i = 0; i < 10000 && sl_batch_fits(batch, 2000); i++)
            add_mutant(batch, &seed);
        dissect(batch);
        n_packets += batch->n_items;
        n_hits += compare_batch(&rig, batch);
    }
    assert_true(n_packets > 300000);
    assert_true(n_hits > n_packets / 4);
    rig_close(&rig);
    sl_batch_free(batch);
}

static void test_uniform_bytes(void **state)
{
    static const uint16_t links[] = {0, 1, 9, 101, 113, 276};
    struct sl_batch *batch = new_batch();
    static uint8_t bytes[300];
    struct rig rig;

    (void)state;
    rig_open_all(&rig);
    for (int value = 0; value <= 255;
         value += value == 0 || value == 0x60 || value == 0x45 ? 1 : 3) {
        sl_batch_reset(batch);
        memset(bytes, value, sizeof bytes);
        for (uint32_t len = 0; len < sizeof bytes; len++)
            for (size_t i = 0; i < sizeof links / sizeof *links; i++)
                add_packet(batch, bytes, len, len, links[i]);
        dissect(batch);
        compare_batch(&rig, batch);
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

enum { PAGE = 4096, GUARDED = 4 * PAGE };

/* Pages to read and write, one before and one behind them that cannot be touched. */
static uint8_t *guarded_pages(void)
{
    uint8_t *pages = mmap(NULL, GUARDED + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, GUARDED, PROT_READ | PROT_WRITE), 0);
    return pages + PAGE;
}

/* The arena begins at the guarded pages' first byte, or its slack ends at their last. */
static void compare_guarded(struct rig *rig, const struct sl_batch *batch, uint8_t *pages)
{
    struct sl_batch view = *batch;

    view.bytes = pages;
    memcpy(view.bytes, batch->bytes, batch->bytes_len);
    compare_batch(rig, &view);
    view.bytes = pages + GUARDED - SL_BATCH_SLACK - batch->bytes_len;
    memcpy(view.bytes, batch->bytes, batch->bytes_len);
    compare_batch(rig, &view);
}

static void test_guard_pages(void **state)
{
    struct sl_batch *batch = new_batch();
    uint64_t seed = 7;
    struct rig rig;

    (void)state;
    if (backend->device == SL_DEVICE_CUDA) { /* device memory has no guard pages */
        sl_batch_free(batch);
        skip();
    }
    uint8_t *pages = guarded_pages();
    rig_open_all(&rig);
    for (uint32_t len = 0; len <= 400; len++) {
        sl_batch_reset(batch);
        add_udp(batch, len % 34, len, len % 2 != 0, &seed);
        compare_guarded(&rig, batch, pages);
        batch->packet[0].len = len % 34 + 28 + len; /* nothing behind the datagram */
        compare_guarded(&rig, batch, pages);
    }
    for (uint32_t i = 0; i < 4000; i++) {
        sl_batch_reset(batch);
        add_mutant(batch, &seed);
        dissect(batch);
        compare_guarded(&rig, batch, pages);
    }
    munmap(pages - PAGE, GUARDED + 2 * PAGE);
    rig_close(&rig);
    sl_batch_free(batch);
}

static void compare_capture(struct rig *rig, struct sl_batch *batch, const char *path,
                            uint64_t *n_packets)
{
    struct sl_capture *capture = NULL;
    enum sl_status status = SL_OK;
    struct sl_diag diag;

    if (sl_capture_open_file(&capture, path, 0, &diag) != SL_OK)
        return; /* the folder holds broken captures too */
    while (status == SL_OK) {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, &diag);
        dissect(batch);
        *n_packets += batch->n_items;
        compare_batch(rig, batch);
    }
    sl_capture_close(capture);
}

static void test_captures(void **state)
{
    const char *data = getenv("SLUICE_TEST_DATA");
    struct sl_batch *batch;
    uint64_t n_packets = 0;
    struct rig rig;
    char path[1024];

    (void)state;
    if (data == NULL) {
        print_message("SLUICE_TEST_DATA is not set: no captures to compare on\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/pcap", data);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    batch = new_batch();
    rig_open_all(&rig);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/pcap/%s", data, entry->d_name);
        if (entry->d_name[0] != '.')
            compare_capture(&rig, batch, path, &n_packets);
    }
    assert_true(n_packets > 0);
    closedir(folder);
    rig_close(&rig);
    sl_batch_free(batch);
}

static const struct sl_backend *find_backend(const char *name)
{
    const struct sl_backend *const *list = sl_header_engine()->backends;

    if (strcmp(name, header_tiles.name) == 0)
        return &header_tiles;
    while (*list != NULL && strcmp((*list)->name, name) != 0)
        list++;
    return *list;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_trials_are_complete),
        cmocka_unit_test(test_each_check_alone_and_off),
        cmocka_unit_test(test_home_networks),
        cmocka_unit_test(test_many_home_networks),
        cmocka_unit_test(test_batches_of_all_sizes),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_checksum_lengths_and_alignments),
        cmocka_unit_test(test_largest_sum),
        cmocka_unit_test(test_uniform_bytes),
        cmocka_unit_test(test_guard_pages),
        cmocka_unit_test(test_mutants),
        cmocka_unit_test(test_captures),
    };
    char why[SL_WHY_LEN] = "";

    backend = argc == 2 ? find_backend(argv[1]) : NULL;
    if (backend == NULL) {
        fprintf(stderr, "usage: %s scalar|avx2|cuda|tiles\n", argv[0]);
        return 2;
    }
    if (!backend->usable(why)) {
        printf("%s is not usable: %s\n", backend->name, why);
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Names in packets: the search alone, and with look-ups, by each backend. The packets are those of
 * captures, or of each protocol with names of the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/data/name_traces.h"
#include "bench/data/random.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "sluice/dissect.h"
#include "sluice/packet_names.h"
#include "work.h"

enum {
    SEED = 11,
    BATCH_LEN = 4 << 20, /* bytes, as a run's */
    BATCH_ITEMS = 8192,
    CUDA_BATCHES = 4, /* of those in one of a GPU's */
    N_BATCHES = 16,
    PACKET_MAX = 2048,
    HELLO_LEN = 512, /* bytes of a ClientHello's record, as browsers pad it */
    TEXT_MAX = 4 * SL_NAME_LEN_MAX + 64
};

/* ---- packets --------------------------------------------------------------------------------- */

struct packet {
    uint8_t byte[PACKET_MAX];
    uint32_t len;
};

static void put(struct packet *packet, const void *bytes, size_t len)
{
    if (len > PACKET_MAX - packet->len)
        len = PACKET_MAX - packet->len;
    memcpy(packet->byte + packet->len, bytes, len);
    packet->len += (uint32_t)len;
}

static void put_number(struct packet *packet, uint32_t value, int n)
{
    while (n-- > 0) {
        const uint8_t byte = (uint8_t)(value >> 8 * n);

        put(packet, &byte, 1);
    }
}

static void set_number(struct packet *packet, uint32_t at, uint32_t value)
{
    packet->byte[at] = (uint8_t)(value >> 8);
    packet->byte[at + 1] = (uint8_t)value;
}

/* Headers of a packet to a port; lengths follow. */
static uint32_t begin(struct packet *packet, uint8_t protocol, uint16_t port)
{
    static const uint8_t ethernet[14] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};

    packet->len = 0;
    put(packet, ethernet, sizeof ethernet);
    put_number(packet, 0x45000000, 4);
    put_number(packet, 0, 4);
    put_number(packet, 0x40000000 | (uint32_t)protocol << 16, 4);
    put_number(packet, 0x0A000001, 4);
    put_number(packet, 0x0A000002, 4);
    put_number(packet, 40000, 2);
    put_number(packet, port, 2);
    if (protocol == SL_IP_UDP) {
        put_number(packet, 0, 4);
    } else {
        put_number(packet, 1, 4);
        put_number(packet, 1, 4);
        put_number(packet, 0x50180000, 4);
        put_number(packet, 0, 4);
    }
    return packet->len;
}

static void end(struct packet *packet, uint32_t payload)
{
    set_number(packet, 16, packet->len - 14);
    if (packet->byte[23] == SL_IP_UDP)
        set_number(packet, payload - 4, packet->len - payload + 8);
}

static void make_dns(struct packet *packet, const struct sl_fib_entry *entry, const char *domain)
{
    const uint32_t payload = begin(packet, SL_IP_UDP, 53);

    (void)entry;
    put_number(packet, 0x12340100, 4);
    put_number(packet, 0x00010000, 4);
    put_number(packet, 0, 4);
    while (*domain != '\0') {
        const size_t len = strcspn(domain, ".");

        put_number(packet, (uint32_t)len, 1);
        put(packet, domain, len);
        domain += len + (domain[len] == '.');
    }
    put_number(packet, 0, 1);
    put_number(packet, 0x00010001, 4);
    end(packet, payload);
}

static void make_http(struct packet *packet, const struct sl_fib_entry *entry, const char *domain)
{
    static const char fields[] =
        "\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
        "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
        "Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate\r\n"
        "Connection: keep-alive\r\n\r\n";
    static const char line[] = "GET /images/2026/11/photo-1024.jpg?size=large HTTP/1.1\r\nHost: ";
    const uint32_t payload = begin(packet, SL_IP_TCP, 80);

    (void)entry;
    put(packet, line, sizeof line - 1);
    put(packet, domain, strlen(domain));
    put(packet, fields, sizeof fields - 1);
    end(packet, payload);
}

/* The extensions of a browser in its order, server_name first of those that matter, and padding. */
static void make_tls(struct packet *packet, const struct sl_fib_entry *entry, const char *domain)
{
    static const uint8_t before[] = {0x0A, 0x0A, 0, 0, 0, 23, 0, 0, 0xFF, 1, 0, 1, 0};
    static const uint8_t behind[] = {0,  10,   0,    8, 0, 6, 0,  29, 0,  23, 0,  24, 0,
                                     11, 0,    2,    1, 0, 0, 35, 0,  0,  0,  43, 0,  7,
                                     6,  0x1A, 0x1A, 3, 4, 3, 3,  0,  45, 0,  2,  1,  1};
    const uint32_t payload = begin(packet, SL_IP_TCP, 443), len = (uint32_t)strlen(domain);

    (void)entry;
    put_number(packet, 0x160301, 3);
    put_number(packet, HELLO_LEN, 2);
    put_number(packet, 0x01000000 | (HELLO_LEN - 4), 4);
    put_number(packet, 0x0303, 2);
    for (int i = 0; i < 8; i++)
        put_number(packet, 0x5A5A5A5A, 4);
    put_number(packet, 32, 1);
    for (int i = 0; i < 8; i++)
        put_number(packet, 0xA5A5A5A5, 4);
    put_number(packet, 32, 2);
    for (int i = 0; i < 16; i++)
        put_number(packet, 0x1301, 2);
    put_number(packet, 0x0100, 2);
    put_number(packet, payload + 5 + HELLO_LEN - packet->len - 2, 2);
    put(packet, before, sizeof before);
    put_number(packet, 0, 2);
    put_number(packet, len + 5, 2);
    put_number(packet, len + 3, 2);
    put_number(packet, 0, 1);
    put_number(packet, len, 2);
    put(packet, domain, len);
    put(packet, behind, sizeof behind);
    put_number(packet, 21, 2);
    put_number(packet, payload + 5 + HELLO_LEN - packet->len - 2, 2);
    while (packet->len < payload + 5 + HELLO_LEN)
        put_number(packet, 0, 1);
    end(packet, payload);
}

static void make_ndn(struct packet *packet, const struct sl_fib_entry *entry, const char *domain)
{
    static const uint8_t segment[] = {8, 5, 'v', 'i', 'd', 'e', 'o', 50, 1, 7};
    static const uint8_t nonce[] = {10, 4, 1, 2, 3, 4};
    const uint32_t payload = begin(packet, SL_IP_UDP, 6363);
    const uint32_t name_len = entry->name_len + (uint32_t)sizeof segment;

    (void)domain;
    put_number(packet, 0x05FD, 2);
    put_number(packet, name_len + 4 + (uint32_t)sizeof nonce, 2);
    put_number(packet, 0x07FD, 2);
    put_number(packet, name_len, 2);
    put(packet, entry->name, entry->name_len);
    put(packet, segment, sizeof segment);
    put(packet, nonce, sizeof nonce);
    /* Lengths in their shortest form. */
    if (name_len < 240) {
        uint8_t *at = packet->byte + payload;

        at[1] = (uint8_t)(name_len + 2 + sizeof nonce);
        at[2] = 7;
        at[3] = (uint8_t)name_len;
        memmove(at + 4, at + 8, packet->len - payload - 8);
        packet->len -= 4;
    }
    end(packet, payload);
}

static const struct {
    enum sl_packet_names_protocol protocol;
    void (*make)(struct packet *packet, const struct sl_fib_entry *entry, const char *domain);
} kinds[] = {{SL_PACKET_NAMES_DNS, make_dns},
             {SL_PACKET_NAMES_HTTP, make_http},
             {SL_PACKET_NAMES_TLS, make_tls},
             {SL_PACKET_NAMES_NDN, make_ndn}};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Batches of packets of a kind that ask for random names, for a GPU pinned and larger. False: an
 * error was printed.
 */
static bool make_packets(struct bench_data *data, const struct bench_names *names, int kind,
                         bool cuda)
{
    const uint32_t larger = cuda ? CUDA_BATCHES : 1;
    struct sl_dissect_stats stats = {.packets = {0}};
    char *domain = malloc(TEXT_MAX);
    struct sl_diag diag = {0};
    struct packet packet;
    uint64_t seed = SEED;
    bool good = domain != NULL;

    data->owned = calloc(N_BATCHES, sizeof *data->owned);
    data->batches = calloc(N_BATCHES, sizeof *data->batches);
    good = good && data->owned != NULL && data->batches != NULL;
    for (int b = 0; b < N_BATCHES && good; b++) {
        good = sl_device_batch_create(&data->owned[b], cuda ? SL_DEVICE_CUDA : SL_DEVICE_CPU,
                                      larger * (BATCH_LEN + (2 << 20)), larger * BATCH_ITEMS,
                                      &diag) == SL_OK;
        if (!good)
            break;
        data->n_batches++;
        struct sl_batch *batch = data->owned[b];
        for (uint32_t i = 0; i < larger * BATCH_ITEMS && sl_batch_fits(batch, PACKET_MAX); i++) {
            const struct sl_fib_entry *entry = &names->entries[bench_random(&seed) % names->n];
            const struct sl_name name = {entry->name, entry->name_len, entry->name_len,
                                         SL_NAME_DOMAIN};

            (void)sl_name_write(&name, domain, TEXT_MAX);
            kinds[kind].make(&packet, entry, domain);
            const uint32_t item = sl_batch_add(batch, packet.byte, packet.len, 0);
            batch->origin[item].link_type = 1;
            batch->origin[item].wire_len = packet.len;
            data->bytes += packet.len;
        }
        sl_dissect(batch, &stats);
        data->batches[b] = *batch;
        data->items += batch->n_items;
    }
    free(domain);
    if (!good)
        cli_error("bench: no memory for packets%s%s", diag.text[0] != '\0' ? ": " : "", diag.text);
    else
        snprintf(data->text, sizeof data->text, "%s, %.0f B a packet",
                 sl_packet_names_protocol_name(kinds[kind].protocol),
                 (double)data->bytes / (double)data->items);
    return good;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct finding {
    const struct bench_data *data;
    struct sl_packet_name names[SL_PACKET_NAMES_MAX];
    uint8_t *bytes;
    uint64_t n; /* of the last run */
};

static double find_all(void *user)
{
    struct finding *finding = user;
    uint32_t misses;

    finding->n = 0;
    for (size_t b = 0; b < finding->data->n_batches; b++)
        for (uint32_t i = 0; i < finding->data->batches[b].n_items; i++)
            finding->n += sl_packet_names_find(&finding->data->batches[b], i, finding->names,
                                               finding->bytes, &misses);
    return (double)finding->data->items;
}

static bool print_finding(const struct bench *bench, const struct bench_data *data)
{
    struct finding *finding = calloc(1, sizeof *finding);
    uint8_t *bytes = malloc(SL_PACKET_NAMES_LEN);

    if (finding == NULL || bytes == NULL) {
        cli_error("bench: no memory for names");
    } else {
        finding->data = data;
        finding->bytes = bytes;
        const struct bench_rate rate = bench_measure(bench->frame.runs, find_all, finding);
        const struct bench_row row = {.what = "names",
                                      .variant = "found alone",
                                      .data = data->text,
                                      .rate = rate,
                                      .unit = 1e6,
                                      .unit_name = "M packets/s",
                                      .hits = &finding->n};

        bench_print(&bench->frame, &row);
    }
    const bool good = finding != NULL && bytes != NULL;
    free(finding);
    free(bytes);
    return good;
}

static bool print_looking_up(const struct bench *bench, const struct bench_data *data,
                             const struct sl_packet_names_watch *watch,
                             const struct sl_backend *backend, const char *from, bool stays)
{
    const struct bench_work work = {.backend = backend,
                                    .table = watch,
                                    .data = data,
                                    .device = bench->device.index,
                                    .units = (double)data->items,
                                    .stays = stays};
    struct bench_result result;
    char variant[64];

    snprintf(variant, sizeof variant, "and looked up, %s%s", backend->name, from);
    const struct bench_row row = {
        .what = "names", .variant = variant, .unit = 1e6, .unit_name = "M packets/s"};
    return bench_run_row(&bench->frame, &work, &row, &result);
}

static bool bench_data_of(const struct bench *bench, const struct bench_data *data,
                          const struct bench_data *there, const struct sl_packet_names_watch *watch)
{
    bool good = print_finding(bench, data);

    for (size_t i = 0; good && sl_packet_names_engine()->backends[i] != NULL; i++) {
        const struct sl_backend *backend = sl_packet_names_engine()->backends[i];
        char why[SL_WHY_LEN];

        if (!bench_usable(bench, backend, why)) {
            if (why[0] != '\0')
                bench_print_why(&bench->frame, "names", backend->name, why);
        } else if (backend->device == SL_DEVICE_CPU) {
            good = print_looking_up(bench, data, watch, backend, "", false);
        } else {
            good =
                print_looking_up(bench, data, watch, backend, ", pinned", false) &&
                print_looking_up(bench, there, watch, backend, ", on the device, kernel", true) &&
                print_looking_up(bench, there, watch, backend, ", on the device, hits back", false);
        }
    }
    return good;
}

static bool bench_table(const struct bench *bench, const struct bench_names *from)
{
    struct sl_names *names = bench_names_table(from);
    struct sl_packet_names_watch *watch = NULL;
    const bool captures = bench->input.n_paths != 0 && bench->input.generated[0] == '\0';
    const bool cuda = bench->device.kind == SL_DEVICE_CUDA;
    const uint32_t batch_len = cuda ? CUDA_BATCHES * BATCH_LEN : BATCH_LEN;
    struct sl_diag diag = {0};
    bool good = names != NULL;

    if (good && sl_packet_names_watch_create(&watch, names, &diag) != SL_OK) {
        cli_diag(&diag);
        good = false;
    }
    if (good && !bench->frame.json) {
        bench_print_head(&bench->frame);
        printf("names: a table of %s\n", from->text);
    }
    for (int kind = 0; kind < (captures ? 1 : N_KINDS) && good; kind++) {
        struct bench_data data = {0}, there = {0};

        good = (captures ? bench_load(&data, &bench->input, batch_len, cuda, 1u << 30)
                         : make_packets(&data, from, kind, cuda)) &&
               (!cuda || bench_to_device(&there, &data, 0, bench->device.index)) &&
               bench_data_of(bench, &data, &there, watch);
        bench_unload(&there);
        bench_unload(&data);
    }
    sl_packet_names_watch_free(watch);
    sl_names_free(names);
    return good;
}

bool bench_packet_names(const struct bench *bench)
{
    bool good = true;

    for (size_t i = 0; i < bench->n_entries && good; i++) {
        struct bench_names names = {0};

        good = bench_names_load(&names, &bench->input, bench->entries[i]) &&
               bench_table(bench, &names);
        bench_names_free(&names);
    }
    return good;
}

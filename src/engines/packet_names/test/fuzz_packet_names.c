/* SPDX-License-Identifier: MIT */
/* Input: as fuzz_name_extract's, a packet. A GPU's thread finds the same as the CPU. */
#include <stdlib.h>
#include <string.h>

#include "sluice/dissect.h"
#include "sluice/packet_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LEN = 1 << 17, HEADERS_LEN = 64, N_BACKENDS = 2, MAX_HITS = 64 };

static struct sl_batch *batch;
static struct sl_packet_names_watch *watches[N_BACKENDS];
static const struct sl_backend *backends[N_BACKENDS];
static void *contexts[N_BACKENDS];

static void must(bool good)
{
    if (!good)
        abort();
}

static void prepare(void)
{
    static const char lists[] = "||com^\n@@||b.com^\n||www^$important\n||0^\n";
    static const char routes[] = "/\t1\n/com\t2\n/v=0\t3,4\n";
    static const char *const names_of[N_BACKENDS] = {"batched", "tiled"};
    const struct sl_limits limits = {.max_items = 1, .max_bytes = LEN, .max_hits = MAX_HITS};
    struct sl_names *names;

    must(sl_batch_create(&batch, LEN, 1, NULL) == SL_OK);
    must(sl_names_create(&names, NULL) == SL_OK);
    must(sl_names_load_text(names, "l", "adblock", lists, sizeof lists - 1, NULL) == SL_OK);
    must(sl_names_load_text(names, "r", "prefix", routes, sizeof routes - 1, NULL) == SL_OK);
    must(sl_names_build(names, NULL, NULL) == SL_OK);
    for (int b = 0; b < N_BACKENDS; b++) {
        for (size_t i = 0; sl_packet_names_engine()->backends[i] != NULL; i++)
            if (strcmp(sl_packet_names_engine()->backends[i]->name, names_of[b]) == 0)
                backends[b] = sl_packet_names_engine()->backends[i];
        must(sl_packet_names_watch_create(&watches[b], names, NULL) == SL_OK);
        must(backends[b]->open(&contexts[b], watches[b], &limits, NULL) == SL_OK);
    }
}

/* The payload behind a header of its carrier, or for Ethernet's NDN behind Ethernet's. */
static void put_packet(const uint8_t *data, uint32_t len)
{
    static const uint16_t ports[] = {53, 5353, 6363, 56363, 80, 443};
    const uint16_t port = ports[data[1] % 6];
    const uint8_t sent = data[2];
    uint8_t *packet = batch->bytes;

    sl_batch_reset(batch);
    memset(packet, 0, HEADERS_LEN);
    memcpy(packet + HEADERS_LEN, data + 3, len);
    sl_batch_append(batch, HEADERS_LEN + len, 0);
    if (data[0] % 3 == 2) {
        memcpy(packet + HEADERS_LEN - 2, "\x86\x24", 2);
        batch->packet->offset = HEADERS_LEN - 14;
        batch->packet->len = 14 + len;
        batch->payload->len = 0;
        batch->origin->link_type = 1;
        return;
    }
    packet[HEADERS_LEN - 20 + 2] = (uint8_t)(port >> 8);
    packet[HEADERS_LEN - 20 + 3] = (uint8_t)port;
    packet[HEADERS_LEN - 20 + 4] = (uint8_t)((8 + len + sent) >> 8);
    packet[HEADERS_LEN - 20 + 5] = (uint8_t)(8 + len + sent);
    batch->packet->transport = HEADERS_LEN - 20;
    batch->packet->protocol = data[0] % 3 == 0 ? SL_IP_UDP : SL_IP_TCP;
    batch->packet->flags = SL_PACKET_IPV4;
    batch->payload->offset = HEADERS_LEN;
    batch->payload->len = len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sl_hit hit[N_BACKENDS][MAX_HITS];
    struct sl_packet_names_watch_count count[N_BACKENDS];
    struct sl_hits hits[N_BACKENDS];

    if (size < 3 || size > LEN - 4096)
        return 0;
    if (batch == NULL)
        prepare();
    put_packet(data, (uint32_t)size - 3);
    for (int b = 0; b < N_BACKENDS; b++) {
        hits[b] = (struct sl_hits){hit[b], MAX_HITS, 0, false};
        must(backends[b]->submit(contexts[b], batch, &hits[b]) == SL_OK);
        must(backends[b]->wait(contexts[b]) == SL_OK);
        sl_hits_sort(&hits[b]);
        sl_packet_names_watch_count(watches[b], &count[b]);
        count[b].left = 0;
    }
    must(hits[0].n == hits[1].n);
    must(memcmp(hit[0], hit[1], hits[0].n * sizeof *hit[0]) == 0);
    must(memcmp(&count[0], &count[1], sizeof count[0]) == 0);
    return 0;
}

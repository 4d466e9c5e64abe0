/* SPDX-License-Identifier: MIT */
/* Captures that are made up: 10,000 TCP flows, packets of 800 bytes mean or of the lengths that
 * real captures have; and one flow alone. */
#include <stdio.h>
#include <string.h>

#include "bench_input.h"
#include "capture_file.h"
#include "cli/console.h"
#include "random.h"
#include "tcp_packet.h"
#include "temporary.h"

#define BEGIN_US (UINT64_C(1700000000) * 1000000)

enum {
    INTERVAL_US = 10, /* between packets */
    GENERATED_LEN = 200000000,
    GENERATED_FLOWS = 10000,
    FLOW_LEN = 2000000000, /* many cores start for as long as a tenth of it takes */
    HEADERS = TCP_PACKET_HEADERS,
    FULL = 1454,   /* bytes of a long packet */
    LONGEST = 1514 /* of a real one */
};

struct generating {
    enum bench_traffic traffic;
    uint64_t random;
    uint32_t next[GENERATED_FLOWS]; /* sequence number */
};

/* Half the payloads are words as in web pages, half bytes as in compressed data. */
static void fill_payload(uint8_t *payload, uint32_t len, uint64_t *state)
{
    static const char *const words[] = {
        "GET ",  "/index",     ".html ",       "HTTP/1.1\r\n", "Host: ", "www.",   "example",
        ".org",  "\r\n",       "the ",         "<div ",        "class=", "value ", "content-type",
        "text/", "javascript", "Mozilla/5.0 ", "0123456789",   "\t",     "</p>"};
    const bool text = bench_random(state) % 2 == 0;
    uint32_t at = 0;

    while (at < len && text) {
        const char *word = words[bench_random(state) % (sizeof words / sizeof *words)];
        uint32_t word_len = (uint32_t)strlen(word);

        word_len = word_len < len - at ? word_len : len - at;
        memcpy(payload + at, word, word_len);
        at += word_len;
    }
    for (; at < len; at++)
        payload[at] = (uint8_t)bench_random(state);
}

static uint32_t draw_len(enum bench_traffic traffic, uint32_t number, uint64_t *state)
{
    /* Of the sixteenths of 224,966 packets of test suites, shortest first. */
    static const uint16_t mixed[16] = {HEADERS, 54,  54,  56,  60,  66,  73,   78,
                                       94,      116, 140, 166, 214, 425, 1410, LONGEST};

    switch (traffic) {
    case BENCH_MIXED:
        return mixed[bench_random(state) % 16];
    case BENCH_EVEN:
        return number % 2 == 0 ? FULL : 146; /* 800 bytes mean */
    case BENCH_ALONE_FLOW:
        break;
    }
    return FULL;
}

static uint32_t make_packet(struct generating *generating, uint8_t *packet, uint32_t number)
{
    uint64_t *state = &generating->random;
    const bool alone = generating->traffic == BENCH_ALONE_FLOW;
    const uint32_t flow = alone ? 0 : bench_random(state) % GENERATED_FLOWS;
    const uint32_t len = draw_len(generating->traffic, number, state);
    const struct tcp_packet tcp = {.from = {192, 0, 2, 1},
                                   .to = {198, 51, 100, (uint8_t)(1 + flow % 250)},
                                   .id = (uint16_t)number,
                                   .from_port = (uint16_t)(1024 + flow),
                                   .to_port = 80,
                                   .seq = generating->next[flow],
                                   .ack = 1 << 16,
                                   .flags = 0x18};

    fill_payload(packet + HEADERS, len - HEADERS, state);
    tcp_packet_write(packet, &tcp, len - HEADERS);
    generating->next[flow] += len - HEADERS;
    return len;
}

static bool write_capture(FILE *file, enum bench_traffic traffic, uint64_t bytes_len)
{
    struct generating generating = {.traffic = traffic, .random = 1};
    uint8_t packet[LONGEST];
    uint64_t written = 0;

    if (!capture_file_begin(file))
        return false;
    for (uint32_t i = 0; written < bytes_len; i++) {
        const uint32_t len = make_packet(&generating, packet, i);

        if (!capture_file_put(file, BEGIN_US + (uint64_t)i * INTERVAL_US, packet, len, len))
            return false;
        written += len;
    }
    return true;
}

bool bench_generate_traffic(char path[64], enum bench_traffic traffic, uint64_t bytes_len)
{
    FILE *file = bench_temporary(path);

    if (file == NULL)
        return false;
    const bool written = write_capture(file, traffic, bytes_len);
    if (fclose(file) != 0 || !written) {
        cli_error("%s: cannot be written", path);
        return false;
    }
    return true;
}

bool bench_generate(struct bench_input *input)
{
    if (!bench_generate_traffic(input->generated, BENCH_EVEN, GENERATED_LEN))
        return false;
    input->paths[input->n_paths++] = input->generated;
    return true;
}

bool bench_generate_flow(char path[64])
{
    return bench_generate_traffic(path, BENCH_ALONE_FLOW, FLOW_LEN);
}

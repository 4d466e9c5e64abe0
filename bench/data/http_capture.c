/* SPDX-License-Identifier: MIT */
#include "http_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "capture_file.h"
#include "cli/console.h"
#include "random.h"
#include "tcp_packet.h"
#include "temporary.h"

enum {
    WORDS = 4096,
    WORD_MAX = 12,
    PAGE_MIN = 2048,
    HEADERS = TCP_PACKET_HEADERS,
    SEGMENT = 1460,
    REQUESTS = 8, /* of a flow */
    TCP_FIN = 0x01,
    TCP_SYN = 0x02,
    TCP_ACK = 0x10
};

/* ---- pages ----------------------------------------------------------------------------------- */

/* Letters of frequent ones more often, as in text. */
static void make_word(char word[WORD_MAX + 1], uint64_t *state)
{
    static const char letters[] = "eeeettaaooiinnsshhrrddlucmfwygpbvk";
    const uint32_t len = 2 + bench_random(state) % (WORD_MAX - 1);

    for (uint32_t i = 0; i < len; i++)
        word[i] = letters[bench_random(state) % (sizeof letters - 1)];
    word[len] = '\0';
}

/* Words, the first of them most often, with a tag here and there. */
static uint32_t write_page(uint8_t *page, uint32_t len, char (*words)[WORD_MAX + 1],
                           uint64_t *state)
{
    uint32_t at = 0;

    while (at + 2 * WORD_MAX + 32 < len) {
        const uint32_t draw = bench_random(state) % WORDS;
        const char *word = words[(uint64_t)draw * (bench_random(state) % WORDS) / WORDS];
        const char *form = bench_random(state) % 16 == 0 ? "<p class=\"%s\">\r\n" : "%s ";

        at += (uint32_t)snprintf((char *)page + at, len - at, form, word);
    }
    return at;
}

static bool pack(struct http_page *page)
{
    z_stream stream = {.next_in = page->plain,
                       .avail_in = page->plain_len,
                       .next_out = page->packed,
                       .avail_out = HTTP_PAGE_MAX};

    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    page->packed_len = (uint32_t)stream.total_out;
    return deflateEnd(&stream) == Z_OK && done;
}

struct http_page *http_pages_make(void)
{
    struct http_page *pages = malloc(HTTP_PAGES * sizeof *pages);
    char(*words)[WORD_MAX + 1] = malloc(WORDS * sizeof *words);
    uint64_t state = 1;
    bool good = pages != NULL && words != NULL;

    for (uint32_t i = 0; good && i < WORDS; i++)
        make_word(words[i], &state);
    for (uint32_t i = 0; good && i < HTTP_PAGES; i++) {
        const uint32_t len = PAGE_MIN + bench_random(&state) % (HTTP_PAGE_MAX - PAGE_MIN);

        pages[i].plain_len = write_page(pages[i].plain, len, words, &state);
        good = pack(&pages[i]);
    }
    free(words);
    if (good)
        return pages;
    cli_error("pages cannot be made");
    free(pages);
    return NULL;
}

#define BEGIN_US (UINT64_C(1700000000) * 1000000)

/* ---- packets --------------------------------------------------------------------------------- */

struct writing {
    FILE *file;
    uint64_t n; /* packets */
    uint32_t flow;
    uint32_t seq[2]; /* of the client and the server */
    bool failed;
};

static void write_headers(uint8_t *packet, const struct writing *writing, int side, uint8_t flags,
                          uint32_t len)
{
    const uint32_t number = writing->flow >> 14;
    const uint8_t address[2][4] = {{10, (uint8_t)(number >> 8), (uint8_t)number, 2},
                                   {198, 51, 100, 1}};
    const uint16_t port[2] = {(uint16_t)(1024 + writing->flow % 16384), 80};
    struct tcp_packet tcp = {.from_port = port[side],
                             .to_port = port[!side],
                             .seq = writing->seq[side],
                             .ack = writing->seq[!side],
                             .flags = flags};

    memcpy(tcp.from, address[side], 4);
    memcpy(tcp.to, address[!side], 4);
    tcp_packet_write(packet, &tcp, len);
}

static void write_packet(struct writing *writing, int side, uint8_t flags, const void *bytes,
                         uint32_t len)
{
    uint8_t packet[HEADERS + SEGMENT];

    if (len != 0)
        memcpy(packet + HEADERS, bytes, len);
    write_headers(packet, writing, side, flags, len);
    if (!capture_file_put(writing->file, BEGIN_US + 10 * writing->n, packet, HEADERS + len,
                          HEADERS + len))
        writing->failed = true;
    writing->seq[side] += len + ((flags & (TCP_SYN | TCP_FIN)) != 0);
    writing->n++;
}

/* Each second segment is acknowledged. */
static void write_bytes(struct writing *writing, int side, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t at = 0, n = 1; at < len; at += SEGMENT, n++) {
        const uint32_t part = len - at < SEGMENT ? len - at : SEGMENT;

        write_packet(writing, side, TCP_ACK, bytes + at, part);
        if (n % 2 == 0 || at + part == len)
            write_packet(writing, !side, TCP_ACK, NULL, 0);
    }
}

static void write_request(struct writing *writing, uint32_t number)
{
    char text[512];
    const int len = snprintf(
        text, sizeof text,
        "GET /pages/%u/index.html?from=%u HTTP/1.1\r\nHost: www.site%u.example\r\n"
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0\r\n"
        "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n"
        "Accept-Language: en-GB,en;q=0.5\r\nAccept-Encoding: gzip, deflate\r\n"
        "Connection: keep-alive\r\nCookie: session=%08x%08x\r\n\r\n",
        number, writing->flow, number % 50, writing->flow * 2654435761u, number);

    write_bytes(writing, 0, (const uint8_t *)text, (uint32_t)len);
}

static void write_response(struct writing *writing, const struct http_page *page, bool packed)
{
    uint8_t text[512 + HTTP_PAGE_MAX];
    const uint32_t len = packed ? page->packed_len : page->plain_len;
    const int head = snprintf((char *)text, 512,
                              "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n"
                              "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
                              "Content-Type: text/html; charset=utf-8\r\n"
                              "%sContent-Length: %u\r\nConnection: keep-alive\r\n\r\n",
                              packed ? "Content-Encoding: gzip\r\n" : "", len);

    memcpy(text + head, packed ? page->packed : page->plain, len);
    write_bytes(writing, 1, text, (uint32_t)head + len);
}

static uint64_t write_flow(struct writing *writing, const struct http_page *pages, bool packed,
                           uint64_t *state)
{
    uint64_t passed = 0;

    writing->seq[0] = bench_random(state);
    writing->seq[1] = bench_random(state);
    write_packet(writing, 0, TCP_SYN, NULL, 0);
    write_packet(writing, 1, TCP_SYN | TCP_ACK, NULL, 0);
    write_packet(writing, 0, TCP_ACK, NULL, 0);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const uint32_t number = bench_random(state) % HTTP_PAGES;

        write_request(writing, number);
        write_response(writing, &pages[number], packed);
        passed += pages[number].plain_len;
    }
    write_packet(writing, 0, TCP_FIN | TCP_ACK, NULL, 0);
    write_packet(writing, 1, TCP_FIN | TCP_ACK, NULL, 0);
    write_packet(writing, 0, TCP_ACK, NULL, 0);
    writing->flow++;
    return passed;
}

bool http_capture_write(char path[64], const struct http_page *pages, bool packed, uint64_t len,
                        uint64_t *passed)
{
    struct writing writing = {.file = bench_temporary(path)};
    uint64_t state = 1;

    *passed = 0;
    if (writing.file == NULL)
        return false;
    writing.failed = !capture_file_begin(writing.file);
    while (*passed < len && !writing.failed)
        *passed += write_flow(&writing, pages, packed, &state);
    if (fclose(writing.file) != 0 || writing.failed) {
        cli_error("%s: cannot be written", path);
        return false;
    }
    return true;
}

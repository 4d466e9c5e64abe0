/* SPDX-License-Identifier: MIT */
/* Messages with names, made at random: sound, and damaged. For tests and fuzzers. */
#ifndef NAMES_NAME_FIXTURE_H
#define NAMES_NAME_FIXTURE_H

#include "packet_names_extract_ref.h"
#include "test.h"

enum { MADE_LEN = 70000 };

struct made_message {
    uint8_t byte[MADE_LEN];
    uint32_t len;
    enum ref_carrier carrier;
    uint16_t src_port, dst_port;
};

static inline void made_put(struct made_message *made, const void *bytes, uint32_t len)
{
    if (len > MADE_LEN - made->len)
        len = MADE_LEN - made->len;
    if (len != 0)
        memcpy(made->byte + made->len, bytes, len);
    made->len += len;
}

static inline void made_text(struct made_message *made, const char *text)
{
    made_put(made, text, (uint32_t)strlen(text));
}

static inline void made_number(struct made_message *made, uint64_t value, int n)
{
    while (n-- > 0) {
        const uint8_t byte = (uint8_t)(value >> 8 * n);

        made_put(made, &byte, 1);
    }
}

/* Writes how many bytes there are behind `at` + n into the n bytes at `at`. */
static inline void made_length(struct made_message *made, uint32_t at, int n)
{
    const uint32_t len = made->len - at - (uint32_t)n;

    for (int i = 0; i < n; i++)
        made->byte[at + (uint32_t)i] = (uint8_t)(len >> 8 * (n - 1 - i));
}

/* "www.parc.com", addresses, odd ones. */
static inline void made_host(char *text, uint64_t *random)
{
    static const char *const whole[] = {"192.0.2.1", "1.2.3.256",     "localhost",
                                        "a..b",      "[2001:db8::1]", "xn--mnchen-3ya.de",
                                        ".",         "WWW.Parc.com.", "a_b.c-d.e"};
    static const char *const label[] = {"www", "parc", "com", "a", "B", "ads", "x1", "0"};
    const uint32_t n = 1 + test_below(random, 6);

    if (test_below(random, 6) == 0) {
        strcpy(text, whole[test_below(random, 9)]);
        return;
    }
    *text = '\0';
    for (uint32_t i = 0; i < n; i++) {
        strcat(text, i > 0 ? "." : "");
        strcat(text, label[test_below(random, 8)]);
    }
}

static inline void make_dns_message(struct made_message *made, uint64_t *random)
{
    const uint32_t n = test_below(random, 8) == 0 ? test_below(random, 80) : test_below(random, 4);
    const uint32_t base = made->len;
    uint32_t known = 12; /* where a name begins */
    char host[256];

    made_number(made, test_below(random, 65536), 2);
    made_number(made, test_below(random, 2) == 0 ? 0x0100 : 0x8180, 2);
    made_number(made, n, 2);
    made_number(made, 0, 6);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t begin = made->len - base;
        char *label = host, *rest;

        made_host(host, random);
        for (; label != NULL && *label != '\0'; label = rest) {
            rest = strchr(label, '.');
            if (rest != NULL)
                *rest++ = '\0';
            if (*label == '\0')
                continue;
            if (i > 0 && test_below(random, 4) == 0)
                break;
            made_number(made, (uint32_t)strlen(label), 1);
            made_text(made, label);
        }
        if (label != NULL && *label != '\0') {
            made_number(made, 0xC000 | (test_below(random, 64) == 0 ? made->len - base : known), 2);
        } else {
            made_number(made, 0, 1);
        }
        if (begin < 0x3FFF)
            known = begin;
        made_number(made, test_below(random, 260), 2);
        made_number(made, 1, 2);
    }
}

static inline void make_dns(struct made_message *made, uint64_t *random)
{
    made->dst_port = test_below(random, 4) == 0 ? 5353 : 53;
    made->carrier = REF_UDP;
    if (test_below(random, 3) != 0) {
        make_dns_message(made, random);
        return;
    }
    made->carrier = REF_TCP;
    made->dst_port = 53;
    for (uint32_t n = 1 + test_below(random, 3); n > 0; n--) {
        const uint32_t at = made->len;

        made_number(made, 0, 2);
        make_dns_message(made, random);
        made_length(made, at, 2);
    }
}

static inline void make_http(struct made_message *made, uint64_t *random)
{
    static const char *const methods[] = {
        "GET",     "POST",     "HEAD", "OPTIONS",
        "CONNECT", "M-SEARCH", "get",  "VERYLONGMETHODNAMESARENONE"};
    static const char *const paths[] = {"/",           "/a/b?c=d",   "/%41/../x y", "*",
                                        "/a//b/./c#f", "x",          "/%zz/%2f",    "?q",
                                        "/..",         "/\xC3\xA4?", "//a"};
    static const char *const ends[] = {"\r\n", "\r\n", "\r\n", "\n"};
    static const char *const fields[] = {
        "Accept: */*", "hOST:\t b.c ", "Content-Length: 0",          "Content-Length: 7",
        "Host : x.y",  "X-Host: z",    "Transfer-Encoding: chunked", "Host:",
        ": "};
    char host[256];

    made->carrier = REF_TCP;
    made->dst_port = 80;
    for (uint32_t n = 1 + test_below(random, 3); n > 0; n--) {
        const char *end = ends[test_below(random, 4)];

        made_host(host, random);
        made_text(made, methods[test_below(random, 4) == 0 ? test_below(random, 8) : 0]);
        made_text(made, " ");
        if (test_below(random, 6) == 0)
            made_text(made, "http://u:p@proxied.test:80");
        made_text(made, paths[test_below(random, 3) == 0 ? test_below(random, 11) : 1]);
        made_text(made, test_below(random, 20) == 0 ? " HTTP/2.0" : " HTTP/1.1");
        made_text(made, end);
        while (test_below(random, 3) == 0) {
            made_text(made, fields[test_below(random, 9)]);
            made_text(made, end);
        }
        if (test_below(random, 8) != 0) {
            made_text(made, "Host: ");
            made_text(made, test_below(random, 16) == 0 ? "user@" : "");
            made_text(made, host);
            made_text(made, test_below(random, 4) == 0 ? ":8080" : "");
            made_text(made, end);
        }
        while (test_below(random, 3) == 0) {
            made_text(made, fields[test_below(random, 9)]);
            made_text(made, end);
        }
        made_text(made, end);
        made_text(made, test_below(random, 6) == 0 ? "\r\n" : "");
        made_text(made, test_below(random, 4) == 0 ? "1234567" : "");
    }
}

static inline void made_extension(struct made_message *made, uint64_t *random)
{
    const uint32_t type = test_below(random, 3) == 0 ? 43 : test_below(random, 60) + 1;
    const uint32_t at = made->len + 2;

    made_number(made, type, 2);
    made_number(made, 0, 2);
    if (type == 43) {
        made_number(made, 4, 1);
        made_number(made, 0x0A0A, 2);
        made_number(made, 0x0304, 2);
    } else {
        for (uint32_t n = test_below(random, 40); n > 0; n--)
            made_number(made, test_below(random, 256), 1);
    }
    made_length(made, at, 2);
}

static inline void made_server_name(struct made_message *made, uint64_t *random)
{
    const uint32_t at = made->len + 2;
    char host[256];

    made_number(made, 0, 2);
    made_number(made, 0, 4); /* the extension's length, the list's */
    for (uint32_t n = 1 + (test_below(random, 6) == 0); n > 0; n--) {
        made_host(host, random);
        made_number(made, test_below(random, 6) == 0, 1);
        made_number(made, (uint32_t)strlen(host), 2);
        made_text(made, host);
    }
    made_length(made, at, 2);
    made_length(made, at + 2, 2);
}

/* Cut into records at random. */
static inline void made_records(struct made_message *made, const uint8_t *message, uint32_t len,
                                uint64_t *random)
{
    const bool fine = test_below(random, 4) == 0;

    for (uint32_t at = 0; at < len;) {
        uint32_t n = fine ? 1 + test_below(random, 60) : len;

        n = n < len - at ? n : len - at;
        made_number(made, 22, 1);
        made_number(made, 0x0301, 2);
        made_number(made, n, 2);
        made_put(made, message + at, n);
        at += n;
    }
}

static inline void make_tls(struct made_message *made, uint64_t *random)
{
    static struct made_message scratch;
    struct made_message *hello = &scratch;
    const uint32_t server = test_below(random, 6);

    made->carrier = REF_TCP;
    made->dst_port = 443;
    hello->len = 0;
    made_number(hello, 1, 1);
    made_number(hello, 0, 3);
    made_number(hello, 0x0303, 2);
    for (int i = 0; i < 32; i++)
        made_number(hello, test_below(random, 256), 1);
    for (int n = 1; n <= 2; n++) { /* session, cipher suites */
        const uint32_t len = test_below(random, 33);

        made_number(hello, len, n);
        for (uint32_t i = 0; i < len; i++)
            made_number(hello, 0x13, 1);
    }
    made_number(hello, 0x0100, 2);
    if (test_below(random, 12) != 0) {
        const uint32_t at = hello->len;

        made_number(hello, 0, 2);
        for (uint32_t i = 0; i < 8; i++) {
            if (i == server)
                made_server_name(hello, random);
            else if (test_below(random, 2) == 0)
                made_extension(hello, random);
        }
        made_length(hello, at, 2);
    }
    made_length(hello, 1, 3);
    if (test_below(random, 6) == 0)
        made_put(made, "\x14\x03\x03\x00\x01\x01", 6);
    made_records(made, hello->byte, hello->len, random);
}

/* Type and value, the length in its shortest form, but for some. */
static inline void made_tlv(struct made_message *made, uint32_t type, const uint8_t *value,
                            uint32_t len, uint64_t *random)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t number = i == 0 ? type : len;

        if (number < 253 && test_below(random, 200) != 0) {
            made_number(made, number, 1);
        } else if (number < 65536 && test_below(random, 200) != 0) {
            made_number(made, 253, 1);
            made_number(made, number, 2);
        } else {
            const bool eight = test_below(random, 2) == 0;

            made_number(made, eight ? 255 : 254, 1);
            made_number(made, 0, eight ? 4 : 0);
            made_number(made, number, 4);
        }
    }
    made_put(made, value, len);
}

static inline void make_ndn_packet(struct made_message *made, uint64_t *random)
{
    static const uint32_t types[] = {8, 8, 8, 8, 50, 54, 65535, 1, 0, 65536};
    static struct made_message scratch[3];
    struct made_message *name = scratch, *packet = name + 1, *link = name + 2;

    name->len = packet->len = link->len = 0;
    for (uint32_t n = test_below(random, 8); n > 0; n--) {
        const uint32_t type = types[test_below(random, 8) == 0 ? test_below(random, 10) : 0];
        const bool large = test_below(random, 40) == 0;
        const uint32_t len = type == 1 ? 32
                             : large   ? 9000 - test_below(random, 1000)
                                       : test_below(random, 12);
        uint8_t value[9000];

        for (uint32_t i = 0; i < len; i++)
            value[i] = (uint8_t)test_random(random);
        made_tlv(name, type, value, len, random);
    }
    made_tlv(packet, test_below(random, 30) == 0 ? 8 : 7, name->byte, name->len, random);
    made_tlv(packet, 10, (const uint8_t *)"abcd", 4, random);
    if (test_below(random, 2) == 0) {
        made_tlv(made, test_below(random, 30) == 0 ? 9 : 5 + test_below(random, 2), packet->byte,
                 packet->len, random);
    } else {
        struct made_message *whole = name;

        whole->len = 0;
        made_tlv(whole, 5 + test_below(random, 2), packet->byte, packet->len, random);
        if (test_below(random, 2) == 0)
            made_tlv(link, 81, (const uint8_t *)"\0\1", 2, random);
        if (test_below(random, 4) == 0)
            made_tlv(link, 83, (const uint8_t *)(test_below(random, 2) == 0 ? "\1" : "\2"), 1,
                     random);
        if (test_below(random, 8) != 0)
            made_tlv(link, 80, whole->byte, whole->len, random);
        made_tlv(made, 100, link->byte, link->len, random);
    }
}

static inline void make_ndn(struct made_message *made, uint64_t *random)
{
    static const enum ref_carrier carriers[] = {REF_UDP, REF_TCP, REF_FRAME};
    uint32_t n = 1;

    made->carrier = carriers[test_below(random, 3)];
    made->dst_port = made->carrier == REF_UDP && test_below(random, 4) == 0 ? 56363 : 6363;
    if (made->carrier == REF_TCP)
        n += test_below(random, 70) == 0 ? 70 : test_below(random, 3);
    while (n-- > 0)
        make_ndn_packet(made, random);
}

static inline void make_message(struct made_message *made, uint64_t *random)
{
    static void (*const makers[])(struct made_message *, uint64_t *) = {make_dns, make_http,
                                                                        make_tls, make_ndn};

    made->len = 0;
    made->src_port = (uint16_t)(20000 + test_below(random, 1000));
    makers[test_below(random, 4)](made, random);
    if (test_below(random, 4) == 0) {
        const uint16_t port = made->src_port;

        made->src_port = made->dst_port;
        made->dst_port = port;
    }
}

/* Some bytes changed, some taken away. */
static inline void damage_message(struct made_message *made, uint64_t *random)
{
    static const uint8_t odd[] = {0,  1,  2,   5,   8,   22,  32,  47, 58,
                                  63, 64, 127, 128, 192, 253, 254, 255};

    for (uint32_t n = test_below(random, 4); n > 0 && made->len > 0; n--) {
        const uint32_t at = test_below(random, made->len);

        made->byte[at] = test_below(random, 2) == 0 ? odd[test_below(random, sizeof odd)]
                                                    : (uint8_t)test_random(random);
    }
    if (test_below(random, 3) == 0)
        made->len = test_below(random, made->len + 1);
}

#endif

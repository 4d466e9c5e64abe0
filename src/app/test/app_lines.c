/* SPDX-License-Identifier: MIT */
/* Reads what stream_lines prints of a capture, and prints a line for each fact that an application
 * protocol has: its name and its value, with a tab between them. Bytes but printable ASCII are '.'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_stream.h"
#include "app/http.h"
#include "app/tls.h"
#include "base/hex.h"

enum { GAPS_MAX = 64 };

/* The half that one end sent. */
struct half {
    char ends[256]; /* of the line: sender and receiver */
    struct app_text bytes;
    uint64_t gap_at[GAPS_MAX], gap_len[GAPS_MAX];
    uint32_t n_gaps;
};

static void print(const char *name, struct app_span value)
{
    printf("%s\t", name);
    for (uint32_t i = 0; i < value.len; i++)
        putchar(value.bytes[i] >= ' ' && value.bytes[i] < 0x7F ? value.bytes[i] : '.');
    putchar('\n');
}

static void print_http(const struct app_news *news)
{
    static const struct {
        enum sl_app_value_id id;
        const char *name;
    } parts[] = {{SL_HTTP_METHOD, "http.request.method"}, {SL_HTTP_URI_RAW, "http.request.uri"},
                 {SL_HTTP_HOST_RAW, "http.host"},         {SL_HTTP_USER_AGENT, "http.user_agent"},
                 {SL_HTTP_REFERER, "http.referer"},       {SL_HTTP_STAT_CODE, "http.response.code"},
                 {SL_HTTP_SERVER, "http.server"},         {SL_HTTP_LOCATION, "http.location"}};
    struct app_text text = {0};
    struct app_span value;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        text.len = 0;
        if (http_value_get(&value, news->transaction, (enum app_side)news->side, parts[i].id,
                           &text))
            print(parts[i].name, value);
    }
    app_text_free(&text);
}

static void print_tls(const struct tls_session *session, bool is_client)
{
    struct app_span value;

    if (is_client && tls_value_get(&value, session, SL_TLS_SNI))
        print("tls.handshake.extensions_server_name", value);
    if (is_client && tls_value_get(&value, session, SL_TLS_JA3))
        print("tls.handshake.ja3_full", value);
    if (is_client && tls_value_get(&value, session, SL_TLS_JA3_HASH))
        print("tls.handshake.ja3", value);
    if (is_client && tls_value_get(&value, session, SL_TLS_JA4))
        print("ja4", value);
    if (!is_client && session->chain.len == 0 && tls_value_get(&value, session, SL_TLS_JA3S_HASH))
        print("tls.handshake.ja3s", value);
    if (session->chain.len != 0 && tls_value_get(&value, session, SL_TLS_CERT_FINGERPRINT))
        print("fingerprint", value);
    if (session->chain.len != 0 && tls_value_get(&value, session, SL_TLS_CERT_SUBJECT))
        print("subject", value);
}

static void hear(void *to, const struct app_news *news)
{
    (void)to;
    if (news->kind == APP_HEAD && news->parser->app == SL_APP_HTTP)
        print_http(news);
    else if (news->kind == APP_HEAD)
        print_tls(news->transaction, news->side == APP_CLIENT);
}

static void give_half(struct app_stream *stream, enum app_side side, const struct half *half)
{
    const struct app_listener listener = {hear, NULL};
    uint64_t at = 0;
    bool done = true;

    for (uint32_t i = 0; i <= half->n_gaps && done; i++) {
        const uint64_t end = i < half->n_gaps ? half->gap_at[i] : half->bytes.len;

        done =
            app_stream_give(stream, side, half->bytes.bytes + at, (uint32_t)(end - at), &listener);
        if (done && i < half->n_gaps)
            done = app_stream_gap(stream, side, half->gap_len[i], &listener);
        at = end;
    }
    app_stream_end(stream, side, &listener);
}

/* The halves of a flow; the second may have no bytes. A half alone may be either side's. */
static void read_flow(const struct half *half)
{
    const struct app_listener listener = {hear, NULL};

    for (int server = 0; server < 2; server++) {
        struct app_stream *stream = app_stream_open();
        bool found;

        if (stream == NULL)
            exit(1);
        give_half(stream, server ? APP_SERVER : APP_CLIENT, &half[0]);
        if (half[1].bytes.len != 0)
            give_half(stream, server ? APP_CLIENT : APP_SERVER, &half[1]);
        found = app_stream_parser(stream) != NULL;
        app_stream_close(stream, &listener);
        if (found)
            break;
    }
}

/* Bytes in digits, with gaps in brackets. */
static void read_digits(struct half *half, const char *digits)
{
    static const char missing[] = " bytes missing in capture file]";

    half->bytes.len = half->n_gaps = 0;
    while (digits[0] != '\0' && digits[0] != '\n' && digits[1] != '\0') {
        app_text_add_byte(&half->bytes,
                          (uint8_t)(hex_digit(digits[0]) * 16 + hex_digit(digits[1])));
        digits += 2;
    }
    app_text_add_byte(&half->bytes, '\0'); /* ends what is read as text */
    half->bytes.len--;
    for (uint32_t at = 0; at < half->bytes.len && half->n_gaps < GAPS_MAX; at++) {
        const char *text = (char *)half->bytes.bytes + at;
        char *end;

        if (text[0] != '[')
            continue;
        const unsigned long len = strtoul(text + 1, &end, 10);
        if (strncmp(end, missing, sizeof missing - 1) != 0)
            continue;
        const uint32_t n = (uint32_t)(end - text) + (uint32_t)sizeof missing - 1;
        half->gap_at[half->n_gaps] = at;
        half->gap_len[half->n_gaps++] = len;
        memmove(half->bytes.bytes + at, text + n, half->bytes.len - at - n + 1);
        half->bytes.len -= n;
    }
}

/* Whether the second line is of the flow of the first, the other way. */
static bool are_pair(const struct half *a, const struct half *b)
{
    char turned[256], from[96], from_port[16], to[96], to_port[16];

    if (sscanf(a->ends, "%95s %15s %95s %15s", from, from_port, to, to_port) != 4)
        return false;
    (void)snprintf(turned, sizeof turned, "%s\t%s\t%s\t%s", to, to_port, from, from_port);
    return strcmp(turned, b->ends) == 0;
}

int main(void)
{
    static struct half half[2];
    char *line = NULL;
    size_t max = 0;
    int n = 0;

    while (getline(&line, &max, stdin) > 0) {
        char *digits = strrchr(line, '\t');

        if (digits == NULL)
            return 1;
        *digits = '\0';
        (void)snprintf(half[n].ends, sizeof half[n].ends, "%s", line);
        read_digits(&half[n], digits + 1);
        if (n == 1 && !are_pair(&half[0], &half[1])) {
            const struct half second = half[1];

            half[1] = (struct half){.n_gaps = 0};
            read_flow(half);
            app_text_free(&half[0].bytes);
            half[0] = second;
        } else if (n++ == 1) {
            read_flow(half);
            half[1].bytes.len = 0;
            n = 0;
        }
        n = n == 0 ? 0 : 1;
    }
    half[1].bytes.len = half[1].n_gaps = 0;
    if (n == 1)
        read_flow(half);
    app_text_free(&half[0].bytes);
    app_text_free(&half[1].bytes);
    free(line);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "app_trial.h"

#include <stdarg.h>
#include <stdio.h>

#include "app/app_event.h"
#include "app/http.h"
#include "app/tls.h"

static void say(struct app_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct app_text *text, const char *format, ...)
{
    char line[256];
    va_list list;

    va_start(list, format);
    const int len = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    app_text_add(text, line, (uint32_t)(len < (int)sizeof line ? len : (int)sizeof line - 1));
}

static void say_bytes(struct app_text *text, struct app_span span)
{
    for (uint32_t i = 0; i < span.len; i++) {
        const uint8_t byte = span.bytes[i];

        if (byte >= ' ' && byte < 0x7F && byte != '\\')
            app_text_add_byte(text, byte);
        else
            say(text, byte == '\r' ? "\\r" : byte == '\n' ? "\\n" : "\\x%02x", byte);
    }
}

static void say_http_head(struct app_text *told, const struct app_news *news)
{
    static const char *const names[] = {
        "method", "uri",        "uri_raw", "host",        "host_raw", "protocol",
        "line",   "start",      "header",  "header_raw",  "names",    "cookie",
        "code",   "msg",        "agent",   "referer",     "accept",   "lang",
        "enc",    "connection", "type",    "content_len", "server",   "location"};
    struct app_text text = {0};
    struct app_span value;

    for (int id = 0; id <= SL_HTTP_LOCATION; id++) {
        text.len = 0;
        if (!http_value_get(&value, news->transaction, (enum app_side)news->side,
                            (enum sl_app_value_id)id, &text))
            continue;
        say(told, " %s=[", names[id]);
        say_bytes(told, value);
        say(told, "]");
    }
    app_text_free(&text);
}

static void say_texts(struct app_text *told, const char *name, const struct app_text *texts)
{
    struct app_span value;
    uint32_t at = 0;

    while (app_texts_next(&value, texts, &at)) {
        say(told, " %s=[", name);
        say_bytes(told, value);
        say(told, "]");
    }
}

static void say_tls(struct app_text *told, const struct tls_session *session)
{
    static const char *const names[] = {
        "sni",       "version", "subject",    "issuer", "serial",      "fingerprint", "not_before",
        "not_after", "ja3",     "ja3_string", "ja3s",   "ja3s_string", "ja4"};
    struct app_span value;

    for (int id = SL_TLS_SNI; id <= SL_TLS_JA4; id++) {
        if (!tls_value_get(&value, session, (enum sl_app_value_id)id))
            continue;
        say(told, " %s=[", names[id - SL_TLS_SNI]);
        say_bytes(told, value);
        say(told, "]");
    }
    say_texts(told, "client_alpn", &session->client_alpns);
    say_texts(told, "server_alpn", &session->server_alpns);
    say_texts(told, "name", &session->names);
    say(told, " certificates=%u seen=%u", session->n_certificates, session->seen);
}

/* The values that a parser shows. */
static void say_shown(struct app_text *told, const struct app_news *news)
{
    struct app_arena arena = {0};
    struct app_show show = {.arena = &arena, .wanted = UINT64_MAX};
    uint32_t n;

    news->parser->show(&show, news->transaction, (enum app_side)news->side);
    const struct sl_app_value *value = app_show_end(&show, &n);
    for (uint32_t i = 0; value != NULL && i < n; i++) {
        say(told, " [");
        say_bytes(told, (struct app_span){value[i].bytes, value[i].len});
        say(told, "]");
    }
    app_show_free(&show);
    app_arena_free(&arena);
}

static void say_end(struct app_trial *trial, const struct app_news *news)
{
    struct app_text *const body = &trial->body[news->side][news->number % TRIAL_BODIES];

    say(&trial->told, "%s body %u=[", news->cut ? " cut" : "", body->len);
    say_bytes(&trial->told, app_text_span(body));
    say(&trial->told, "]");
    body->len = 0;
}

static void say_name(struct app_trial *trial, const struct app_news *news)
{
    say(&trial->told, " [");
    say_bytes(&trial->told, (struct app_span){news->bytes, news->len});
    say(&trial->told, "]");
}

static void hear(void *to, const struct app_news *news)
{
    static const char *const kinds[] = {"head", "file", "body", "end", "event", "done"};
    struct app_trial *const trial = to;
    const uint64_t held = app_stream_held(trial->stream);

    trial->held_max = held > trial->held_max ? held : trial->held_max;
    trial->n_told++;
    trial->body_len += news->len;
    if (trial->quiet)
        return;
    if (news->kind == APP_FILE)
        trial->body_len -= news->len;
    if (news->kind == APP_BODY) {
        app_text_add(&trial->body[news->side][news->number % TRIAL_BODIES], news->bytes, news->len);
        return;
    }
    say(&trial->told, "%s %u %c %s", sl_app_name(news->parser->app), (unsigned)news->number,
        "cs"[news->side], kinds[news->kind]);
    if (news->kind == APP_EVENT && app_event_of(news->parser->app, news->event) == 0)
        abort(); /* rules cannot name it */
    if (news->kind == APP_EVENT)
        say(&trial->told, " %s", news->event);
    else if (news->kind == APP_END)
        say_end(trial, news);
    else if (news->parser->app == SL_APP_TLS)
        say_tls(&trial->told, news->transaction);
    else if (news->kind == APP_HEAD && news->parser->app == SL_APP_HTTP)
        say_http_head(&trial->told, news);
    else if (news->kind == APP_FILE)
        say_name(trial, news);
    else if (news->parser->app != SL_APP_HTTP)
        say_shown(&trial->told, news);
    say(&trial->told, "\n");
}

void trial_begin(struct app_trial *trial)
{
    *trial = (struct app_trial){.stream = app_stream_open()};
    trial->failed = trial->stream == NULL;
}

/* Each piece is memory of its own, so that a byte beyond it is found. */
static void give_piece(struct app_trial *trial, enum app_side side, const uint8_t *bytes,
                       uint32_t len)
{
    const struct app_listener listener = {hear, trial};
    uint8_t *piece = malloc(len);

    if (piece == NULL || trial->failed) {
        trial->failed = true;
        free(piece);
        return;
    }
    trial->failed =
        !app_stream_give(trial->stream, side, memcpy(piece, bytes, len), len, &listener);
    free(piece);
    const uint64_t held = app_stream_held(trial->stream);
    trial->held_max = held > trial->held_max ? held : trial->held_max;
}

static uint64_t random_of(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (*seed * UINT64_C(0x2545F4914F6CDD1D)) >> 32;
}

void trial_give(struct app_trial *trial, enum app_side side, const void *bytes, uint32_t len,
                uint32_t mean, uint64_t *seed)
{
    for (uint32_t at = 0; at < len;) {
        const uint32_t left = len - at;
        uint32_t n = mean != 0 ? 1 + (uint32_t)(random_of(seed) % (2 * mean - 1)) : left;

        n = n < left ? n : left;
        give_piece(trial, side, (const uint8_t *)bytes + at, n);
        at += n;
    }
}

void trial_gap(struct app_trial *trial, enum app_side side, uint64_t len)
{
    const struct app_listener listener = {hear, trial};

    if (!trial->failed)
        trial->failed = !app_stream_gap(trial->stream, side, len, &listener);
}

void trial_end_side(struct app_trial *trial, enum app_side side)
{
    const struct app_listener listener = {hear, trial};

    if (!trial->failed)
        app_stream_end(trial->stream, side, &listener);
}

void trial_end(struct app_trial *trial)
{
    const struct app_listener listener = {hear, trial};

    app_stream_close(trial->stream, &listener);
    trial->stream = NULL;
    app_text_add_byte(&trial->told, '\0');
}

void trial_free(struct app_trial *trial)
{
    app_stream_close(trial->stream, NULL);
    app_text_free(&trial->told);
    for (int i = 0; i < TRIAL_BODIES; i++) {
        app_text_free(&trial->body[0][i]);
        app_text_free(&trial->body[1][i]);
    }
}

static void play(struct app_trial *trial, struct app_span begin, struct app_span acts,
                 uint32_t mean)
{
    uint64_t seed = acts.len + 1;

    trial_begin(trial);
    trial_give(trial, APP_CLIENT, begin.bytes, begin.len, mean, &seed);
    for (uint32_t at = 0; at + 2 <= acts.len;) {
        const uint8_t *const act = acts.bytes + at;
        const enum app_side side = (act[0] & 1) != 0 ? APP_SERVER : APP_CLIENT;
        const bool is_gap = (act[0] & 0xF0) == 0xF0;
        const uint32_t left = acts.len - at - 2, want = (act[0] & 0x0E) * 64U + act[1];
        const uint32_t n = want < left ? want : left;

        at += 2;
        if (is_gap) {
            trial_gap(trial, side, want);
            continue;
        }
        trial_give(trial, side, acts.bytes + at, n, mean, &seed);
        at += n;
    }
    trial_end(trial);
}

void trial_fuzz(const char *begin, uint32_t begin_len, const uint8_t *data, size_t size)
{
    const struct app_span first = {(const uint8_t *)begin, begin_len};
    const struct app_span acts = {data, size < 65536 ? (uint32_t)size : 65536};
    struct app_trial whole, cut;

    play(&whole, first, acts, 0);
    play(&cut, first, acts, 3);
    if (whole.failed || cut.failed || whole.told.len != cut.told.len ||
        memcmp(whole.told.bytes, cut.told.bytes, whole.told.len) != 0)
        abort();
    trial_free(&whole);
    trial_free(&cut);
}

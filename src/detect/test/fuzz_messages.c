/* SPDX-License-Identifier: MIT */
/* Any values of messages, on rules with each kind of buffer. */
#include <stdlib.h>
#include <string.h>

#include "dissect/test/frame_fixture.h"
#include "sluice/app.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGES_MAX = 4, VALUES_MAX = 12 };

#define RULE(protocol, options, sid) \
    "alert " protocol " any any -> any any (" options " sid:" #sid ";)\n"

static const char text[] = /* clang-format off */
    RULE("http", "http.uri; content:\"a\"; content:\"b\"; distance:1; within:4; "
                 "http.method; bsize:>2;", 1)
    RULE("http", "http.uri; dotprefix; content:\".a\"; endswith; "
                 "http.host; to_lowercase; content:\"b\";", 2)
    RULE("http", "http.request_header; content:\"a\"; startswith; http.header; content:!\"b\";", 3)
    RULE("http", "http.response_header; content:\"a\"; bsize:<9; isdataat:!2,relative;", 4)
    RULE("http", "http.request_body; content:\"a\"; content:!\"b\"; "
                 "http.uri; pcre:\"/^.?a+$/\";", 5)
    RULE("http", "file.data; content:\"ab\"; endswith; byte_test:0,>,9,0,string,dec;", 6)
    RULE("http", "http.response_body; bsize:<6; http.stat_code; content:\"2\";", 7)
    RULE("http", "http.cookie; absent:or_else; content:\"a\";", 8)
    RULE("http", "content:\"a\"; http.user_agent; content:\"b\"; to_md5; content:\"|00|\";", 9)
    RULE("http", "file.name; content:\"a\"; fileext:b; filesize:<9; filemagic:a;", 10)
    RULE("tls", "tls.sni; content:\"a\"; tls.cert_subject; content:\"b\";", 11)
    RULE("tls", "tls.certs; content:\"a\"; content:\"b\"; distance:0; "
                "tls.subjectaltname; content:\"a\";", 12)
    RULE("tcp", "ssl_state:server_hello; tls.version:1.2; content:\"a\";", 13)
    RULE("ip", "ja3.hash; content:\"a\"; ja4.hash; absent;", 14)
    RULE("quic", "quic.version; content:\"a\"; tls.alpn; content:\"b\";", 15)
    RULE("http", "http.uri; content:\"a\"; http.request_body; content:\"b\"; "
                 "base64_decode:relative; base64_data; content:\"c\";", 16);
/* clang-format on */

/* The rules, with each literal claimed to be in each buffer. */
static void open_rules(struct sl_evaluator **evaluator, struct sl_hits *hits)
{
    const struct sl_literal *literals;
    struct sl_rules *rules;
    struct sl_rules_count count;
    size_t n_literals;

    if (sl_rules_create(&rules, NULL) != SL_OK ||
        sl_rules_load_text(rules, "fuzz", text, sizeof text - 1, NULL) != SL_OK ||
        sl_rules_compile(rules, &literals, &n_literals, NULL) != SL_OK ||
        sl_evaluator_create(evaluator, rules, NULL) != SL_OK)
        abort();
    sl_rules_count(rules, &count);
    if (count.loaded != count.lines)
        abort();
    hits->n = hits->cap = n_literals;
    hits->hit = calloc(n_literals + 1, sizeof *hits->hit);
    for (size_t i = 0; i < n_literals; i++)
        hits->hit[i] = (struct sl_hit){0, 1, ((UINT64_C(1) << 30) - 1) << 32 | i};
}

/* The input that is left. */
struct input {
    const uint8_t *at;
    size_t len;
};

static uint8_t take(struct input *input)
{
    if (input->len == 0)
        return 0;
    input->len--;
    return *input->at++;
}

/* A copy of its own, so that a read behind it is seen. */
static struct sl_app_value take_value(struct input *input, uint32_t id)
{
    const uint32_t wanted = take(input), len = wanted < input->len ? wanted : (uint32_t)input->len;
    uint8_t *bytes = malloc(len + (len == 0));

    if (bytes == NULL)
        abort();
    memcpy(bytes, input->at, len);
    input->at += len;
    input->len -= len;
    return (struct sl_app_value){bytes, len, id};
}

static void take_half(struct input *input, struct sl_app_half *half, struct sl_app_value *value)
{
    const uint8_t flags = take(input);
    uint32_t id = 0;

    *half = (struct sl_app_half){
        .value = value, .has_head = (flags & 1) != 0, .has_ended = (flags & 2) != 0};
    while (half->n_values < VALUES_MAX && (id += take(input) % 8) < SL_N_APP_VALUES &&
           input->len != 0)
        value[half->n_values++] = take_value(input, id);
}

static void take_message(struct input *input, struct sl_app_message *message,
                         struct sl_app_value (*values)[VALUES_MAX], struct sl_app_file *file)
{
    *message = (struct sl_app_message){.app = (uint8_t)(SL_APP_HTTP + take(input) % 3),
                                       .side = take(input) % 2,
                                       .step = take(input) % 5,
                                       .seen = take(input),
                                       .n_certificates = take(input) % 3,
                                       .quic_version = take(input),
                                       .version = {0x0300 + take(input) % 5, 0x0303}};
    take_half(input, &message->half[0], values[0]);
    take_half(input, &message->half[1], values[1]);
    for (uint32_t i = 0; i < message->half[message->side].n_values; i++)
        if (values[message->side][i].id == SL_APP_BODY)
            message->body_len = values[message->side][i].len;
    if (message->body_len != 0)
        message->body_shown = take(input) % message->body_len;
    if (message->step != SL_APP_FILE)
        return;
    file->name = take_value(input, SL_FILE_NAME);
    file->magic = take_value(input, SL_FILE_MAGIC);
    file->size = take(input);
    message->file = file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sl_evaluator *evaluator;
    static struct sl_hits hits;
    static struct frame f;
    struct sl_app_value values[MESSAGES_MAX][2][VALUES_MAX];
    struct sl_app_file files[MESSAGES_MAX] = {{.size = 0}};
    struct sl_app_message messages[MESSAGES_MAX];
    struct input input = {data, size};
    struct sl_dissect_stats stats = {0};
    const struct sl_alert *alerts;
    struct sl_batch *batch;
    size_t n, n_messages = 0;

    if (evaluator == NULL)
        open_rules(&evaluator, &hits);
    while (n_messages < MESSAGES_MAX && input.len != 0) {
        take_message(&input, &messages[n_messages], values[n_messages], &files[n_messages]);
        n_messages++;
    }
    f.len = 0;
    frame_ethernet(&f, 0x0800);
    const uint32_t begin = frame_ipv4(&f, 6, 0);
    frame_tcp(&f, 1024, 80, 0x18, 0);
    frame_bytes(&f, "aabb", 4);
    frame_end_ipv4(&f, begin);
    if (sl_batch_create(&batch, f.len, 1, NULL) != SL_OK)
        abort();
    const uint32_t item = sl_batch_add(batch, f.byte, f.len, 0);
    batch->origin[item].link_type = 1;
    batch->origin[item].wire_len = f.len;
    sl_dissect(batch, &stats);
    sl_evaluator_set_messages(evaluator, messages, n_messages);
    if (sl_evaluator_run(evaluator, batch, &hits, &alerts, &n) != SL_OK)
        abort();
    for (size_t i = 0; i < n; i++)
        if (alerts[i].message >= n_messages)
            abort(); /* each rule is about messages */
    sl_batch_free(batch);
    for (size_t m = 0; m < n_messages; m++) {
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < messages[m].half[side].n_values; i++)
                free((void *)(uintptr_t)values[m][side][i].bytes);
        free((void *)(uintptr_t)files[m].name.bytes);
        free((void *)(uintptr_t)files[m].magic.bytes);
    }
    return 0;
}

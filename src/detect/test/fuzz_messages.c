/* SPDX-License-Identifier: MIT */
/* Any values of messages, on rules with each kind of buffer. */
#include "fuzz_fixture.h"
#include "sluice/app.h"

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
                 "base64_decode:relative; base64_data; content:\"c\";", 16)
    RULE("http", "app-layer-event:http.request_field_too_long;", 17)
    RULE("http", "app-layer-event:http.compression_bomb; http.uri; content:\"a\";", 18)
    RULE("dns", "dns.query; content:\"a\"; dns.rrtype:1;", 19)
    RULE("tcp", "dns.answers.rrname; to_lowercase; content:\"a\"; dns.rcode:0;", 20)
    RULE("tls", "tls_cert_notafter:>2024-01; tls.cert_chain_len:2; content:\"a\";", 21)
    RULE("sip", "sip.to; content:\"a\"; sip.uri; content:\"b\";", 22)
    RULE("tls", "tls_cert_expired;", 23)
    RULE("dcerpc", "dce_opnum:1; dce_stub_data; content:\"a\";", 24);
/* clang-format on */

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
    if ((flags & 4) != 0)
        value[half->n_values++] = take_value(input, SL_DNS_MESSAGE + flags / 8 % 2);
    while ((flags & 4) == 0 && half->n_values < VALUES_MAX &&
           (id += take(input) % 8) < SL_N_APP_VALUES && input->len != 0)
        value[half->n_values++] = take_value(input, id);
}

static void take_message(struct input *input, struct sl_app_message *message,
                         struct sl_app_value (*values)[VALUES_MAX], struct sl_app_file *file)
{
    static const uint8_t apps[] = {SL_APP_HTTP, SL_APP_TLS,  SL_APP_QUIC, SL_APP_DNS,
                                   SL_APP_SIP,  SL_APP_SMTP, SL_APP_FTP,  SL_APP_SSH};

    *message = (struct sl_app_message){.app = apps[take(input) % 8],
                                       .side = take(input) % 2,
                                       .step = take(input) % 6,
                                       .event = take(input) % 64,
                                       .events = take(input) * UINT64_C(0x0101010101010101),
                                       .seen = take(input),
                                       .n_certificates = take(input) % 3,
                                       .later = take(input) % 2 != 0,
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
    static struct fuzz_rules rules;
    struct sl_app_value values[MESSAGES_MAX][2][VALUES_MAX];
    struct sl_app_file files[MESSAGES_MAX] = {{.size = 0}};
    struct sl_app_message messages[MESSAGES_MAX];
    struct input input = {data, size};
    const struct sl_alert *alerts;
    size_t n_messages = 0;

    if (rules.evaluator == NULL)
        fuzz_open(&rules, text, (UINT32_C(1) << 30) - 1); /* literals are in each buffer */
    while (n_messages < MESSAGES_MAX && input.len != 0) {
        take_message(&input, &messages[n_messages], values[n_messages], &files[n_messages]);
        n_messages++;
    }
    sl_evaluator_set_messages(rules.evaluator, messages, n_messages);
    const size_t n = fuzz_evaluate(&rules, "aabb", 4, &alerts);
    for (size_t i = 0; i < n; i++)
        if (alerts[i].message >= n_messages)
            abort(); /* each rule is about messages */
    for (size_t m = 0; m < n_messages; m++) {
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < messages[m].half[side].n_values; i++)
                free((void *)(uintptr_t)values[m][side][i].bytes);
        free((void *)(uintptr_t)files[m].name.bytes);
        free((void *)(uintptr_t)files[m].magic.bytes);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Input: the bytes that were sent beyond those that are here (1 byte), then a message. */
#include <stdlib.h>

#include "app/dns_eve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The brackets that a visit opened, and the values that it was given. */
struct visited {
    char brackets[8];
    uint32_t depth;
    uint64_t sum;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void take_key(struct visited *visited, const char *key)
{
    const bool in_list = visited->depth != 0 && visited->brackets[visited->depth - 1] == '[';

    require((key == NULL) == in_list);
}

static void take_open(void *to, const char *key, char bracket)
{
    struct visited *visited = to;

    take_key(visited, key);
    require(visited->depth < sizeof visited->brackets);
    require(bracket == '{' || bracket == '[');
    visited->brackets[visited->depth++] = bracket;
}

static void take_close(void *to, char bracket)
{
    struct visited *visited = to;

    require(visited->depth != 0);
    require(visited->brackets[--visited->depth] == (bracket == '}' ? '{' : '['));
}

static void take_number(void *to, const char *key, uint64_t number)
{
    struct visited *visited = to;

    take_key(visited, key);
    visited->sum += number;
}

static void take_truth(void *to, const char *key)
{
    take_key(to, key);
}

static void take_bytes(struct visited *visited, const char *key, const uint8_t *bytes, size_t len)
{
    take_key(visited, key);
    for (size_t i = 0; i < len; i++)
        visited->sum += bytes[i];
}

static void take_text(void *to, const char *key, const void *text, size_t len)
{
    take_bytes(to, key, text, len);
}

static void take_hex(void *to, const char *key, const uint8_t *bytes, size_t len, char separator)
{
    require(separator == 0 || separator == ':');
    take_bytes(to, key, bytes, len);
}

static void check_name(const struct dns_reader *reader, struct dns_name name)
{
    char text[DNS_NAME_TEXT_MAX];

    require(name.text_len <= DNS_NAME_TEXT_MAX && name.at < reader->message.len);
    require(dns_name_text(reader->message.bytes, name, text) == name.text_len);
}

static void check_record(const struct dns_reader *reader, const struct dns_record *record)
{
    const uint8_t *end = reader->message.bytes + reader->message.len;

    check_name(reader, record->name);
    require(record->data.bytes >= reader->message.bytes && record->data.bytes <= end);
    require(record->data.len <= (size_t)(end - record->data.bytes));
    require((record->form == DNS_FORM_NONE) == (record->data.len == 0));
    if (record->form == DNS_FORM_NAME)
        check_name(reader, record->target);
}

/* Returns the number of questions and records. */
static uint32_t check_reader(struct dns_reader *reader, const uint8_t *bytes, uint32_t len)
{
    struct dns_record record;
    uint32_t n = 0, before = DNS_HEADER_LEN;
    enum dns_section section = DNS_QUESTION;

    require(dns_open(reader, bytes, len) == (len >= DNS_HEADER_LEN));
    for (; dns_next(reader, &record); n++) {
        require(reader->at > before && reader->at <= len && record.section >= section);
        before = reader->at;
        section = record.section;
        check_record(reader, &record);
    }
    require(!dns_next(reader, &record));
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct visited visited = {.depth = 0};
    const struct app_visit visit = {take_open, take_close, take_number, take_truth,
                                    take_text, take_hex,   &visited};
    struct dns_reader reader;

    if (size == 0 || size > 0x10000)
        return 0;
    const uint32_t len = (uint32_t)size - 1, sent_len = len + data[0];
    const uint32_t n = check_reader(&reader, data + 1, len);
    const enum dns_verdict verdict = dns_probe(data + 1, len, sent_len);

    require(dns_eve_visit(&visit, data + 1, len, 7) == reader.damage);
    require(visited.depth == 0);
    if (verdict == DNS_YES)
        require(reader.damage == DNS_WHOLE && reader.at == sent_len && n != 0);
    if (verdict == DNS_MAYBE)
        require(n != 0 || sent_len == DNS_HEADER_LEN);
    return 0;
}

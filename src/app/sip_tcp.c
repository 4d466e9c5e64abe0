/* SPDX-License-Identifier: MIT */
/* SIP over TCP: a head that ends in an empty line, and a body of Content-Length bytes (RFC 3261,
 * 18.3). Without the field there is no body. Empty lines keep a connection alive between messages
 * (RFC 5626). */
#include "app_stream.h"
#include "sip.h"
#include "whole_messages.h"

enum { MESSAGE_MAX = 65535 };

/* The length of the head with its empty line. 0: not all of it is there. */
static uint32_t head_len(const uint8_t *bytes, uint32_t len, uint32_t from)
{
    const uint8_t *at = bytes + from;

    while ((at = memchr(at, '\n', (size_t)(bytes + len - at))) != NULL) {
        const uint8_t *behind = ++at;

        if (behind < bytes + len && *behind == '\r')
            behind++;
        if (behind < bytes + len && *behind == '\n')
            return (uint32_t)(behind + 1 - bytes);
    }
    return 0;
}

/* MESSAGE_MAX: more bytes than a message has. */
static uint32_t body_len(const uint8_t *head, uint32_t len)
{
    struct sip_walk walk = {0};
    struct sip_span value;
    uint32_t n = 0;

    if (!sip_next(&value, &walk, head, len, SIP_CONTENT_LENGTH))
        return 0;
    for (uint32_t i = 0; i < value.len; i++) {
        const uint32_t digit = (uint32_t)head[value.at + i] - '0';

        if (digit > 9)
            break;
        n = 10 * n + digit;
        if (n >= MESSAGE_MAX)
            return MESSAGE_MAX;
    }
    return n;
}

static enum app_likeness probe(struct whole_message *message, const uint8_t *bytes, uint32_t len)
{
    enum { END_LEN = 3 }; /* what of an empty line may have been seen: "\n\r" */
    uint32_t blank = 0;

    if (message->need != 0) /* the probe before has found the head */
        return APP_LIKE;
    while (blank < len && (bytes[blank] == '\r' || bytes[blank] == '\n'))
        blank++;
    if (blank != 0) {
        message->need = message->skip = blank;
        return APP_LIKE;
    }
    const uint32_t head =
        head_len(bytes, len, message->seen > END_LEN ? message->seen - END_LEN : 0);

    message->seen = len;
    if (head == 0)
        return len < MESSAGE_MAX ? APP_TOO_SHORT : APP_UNLIKE;
    if (head > MESSAGE_MAX || !sip_probe(bytes, head))
        return APP_UNLIKE;
    message->need = head + body_len(bytes, head);
    if (message->need > MESSAGE_MAX)
        return APP_UNLIKE;
    return len < message->need ? APP_TOO_SHORT : APP_LIKE;
}

static void *open_flow(void)
{
    return whole_open(&sip_tcp_parser, probe, SL_SIP_MESSAGE);
}

const struct app_parser sip_tcp_parser = WHOLE_PARSER(SL_APP_SIP, open_flow);

/* The URI of a request identifies it, as its line may be long. */
static enum app_likeness like_uri(const uint8_t *bytes, uint32_t len)
{
    static const char *const schemes[] = {"sip:", "sips:", "tel:"};
    enum app_likeness likeness = APP_UNLIKE;

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const uint32_t n = (uint32_t)strlen(schemes[i]);

        if (memcmp(bytes, schemes[i], len < n ? len : n) != 0)
            continue;
        if (len >= n)
            return APP_LIKE;
        likeness = APP_TOO_SHORT;
    }
    return likeness;
}

enum app_likeness sip_tcp_probe(enum app_side side, const uint8_t *bytes, uint32_t len)
{
    static const char version[] = "SIP/2.0 ";
    const uint32_t n = sizeof version - 1;
    uint32_t word = 0;

    (void)side;
    if (memcmp(bytes, version, len < n ? len : n) == 0)
        return len < n ? APP_TOO_SHORT : APP_LIKE;
    while (word < len && bytes[word] >= 'A' && bytes[word] <= 'Z')
        word++;
    if (word == len)
        return APP_TOO_SHORT;
    return word != 0 && bytes[word] == ' ' ? like_uri(bytes + word + 1, len - word - 1)
                                           : APP_UNLIKE;
}

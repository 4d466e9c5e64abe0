/* SPDX-License-Identifier: MIT */
#include "starttls.h"

#include "app_stream.h"
#include "ftp.h"
#include "smtp.h"
#include "tls.h"

struct starttls_flow {
    uint32_t n_bytes[2]; /* of lines */
    bool in_line[2];
};

static void *open_flow(void)
{
    return calloc(1, sizeof(struct starttls_flow));
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct starttls_flow *const flow = of;

    (void)listener;
    for (*taken = 0; *taken < len && flow->n_bytes[side] < STARTTLS_MAX; ++*taken) {
        if (!flow->in_line[side] && bytes[*taken] == TLS_HANDSHAKE)
            return APP_TUNNEL;
        flow->in_line[side] = bytes[*taken] != '\n';
        flow->n_bytes[side]++;
    }
    return *taken == len ? APP_GOES_ON : APP_GIVEN_UP;
}

static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    struct starttls_flow *const flow = of;

    (void)len;
    (void)listener;
    flow->in_line[side] = true;
    return APP_GOES_ON;
}

static void close_flow(void *of, const struct app_listener *listener)
{
    (void)listener;
    free(of);
}

static uint64_t held_by(const void *of)
{
    (void)of;
    return sizeof(struct starttls_flow);
}

/* They report nothing, so that nothing is shown. */
#define LINES(of)                                                                                \
    {                                                                                            \
        .app = (of), .open = open_flow, .give = give_flow, .gap = gap_flow, .close = close_flow, \
        .held = held_by                                                                          \
    }

static const struct app_parser pop3 = LINES(SL_APP_POP3), imap = LINES(SL_APP_IMAP);

/* ---- first lines ----------------------------------------------------------------------------- */

static bool is_letter(uint8_t byte, char letter)
{
    return (byte | 0x20) == (letter | 0x20);
}

/* Letters of either case. */
static enum app_likeness like(const char *word, const uint8_t *bytes, uint32_t len)
{
    uint32_t i = 0;

    while (word[i] != 0 && i < len)
        if (!is_letter(bytes[i], word[i]))
            return APP_UNLIKE;
        else
            i++;
    return word[i] != 0 ? APP_TOO_SHORT : APP_LIKE;
}

static bool has_word(const char *word, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        if (like(word, bytes + i, len - i) == APP_LIKE)
            return true;
    return false;
}

/* SMTP and FTP greet with the same number, and most servers with the protocol's name. Of the others
 * the client says it. */
static const struct app_parser *greeted_by(const uint8_t *bytes, uint32_t len, bool *too_short)
{
    if (has_word("SMTP", bytes, len))
        return &smtp_parser;
    if (has_word("FTP", bytes, len))
        return &ftp_parser;
    *too_short |= memchr(bytes, '\n', len) == NULL && len < APP_PROBE_MAX;
    return NULL;
}

const struct app_parser *starttls_find(enum app_side side, const uint8_t *bytes, uint32_t len,
                                       bool *too_short)
{
    static const struct {
        const char *word;
        uint8_t side;
        const struct app_parser *parser; /* NULL: the rest of the line says */
    } words[] = {{"220 ", APP_SERVER, NULL},
                 {"220-", APP_SERVER, NULL},
                 {"* OK ", APP_SERVER, &imap},
                 {"+OK ", APP_SERVER, &pop3},
                 {"EHLO ", APP_CLIENT, &smtp_parser},
                 {"HELO ", APP_CLIENT, &smtp_parser},
                 {"QUIT\r\n", APP_CLIENT, &smtp_parser}, /* as Suricata has it */
                 {"MAIL FROM:", APP_CLIENT, &smtp_parser},
                 {"FEAT\r\n", APP_CLIENT, &ftp_parser},
                 {"AUTH TLS\r\n", APP_CLIENT, &ftp_parser},
                 {"USER ", APP_CLIENT, &ftp_parser}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const enum app_likeness likeness =
            words[i].side == side ? like(words[i].word, bytes, len) : APP_UNLIKE;

        *too_short |= likeness == APP_TOO_SHORT;
        if (likeness == APP_LIKE)
            return words[i].parser != NULL ? words[i].parser : greeted_by(bytes, len, too_short);
    }
    return NULL;
}

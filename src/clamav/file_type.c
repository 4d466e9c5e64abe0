/* SPDX-License-Identifier: MIT */
/* Target types by content: the magic numbers of ClamAV's documentation (FileTypes), and rules for
 * texts and HTML. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "clamav/object.h"

struct magic {
    const char *bytes;
    uint8_t at, len;
    uint8_t target;
};

#define MAGIC(at, text, target)            \
    {                                      \
        text, at, sizeof(text) - 1, target \
    }

static const struct magic magics[] = {
    MAGIC(0, "MZ", CLAM_PE),
    MAGIC(0, "\177ELF", CLAM_ELF),
    MAGIC(0, "\xCE\xFA\xED\xFE", CLAM_MACHO),
    MAGIC(0, "\xCF\xFA\xED\xFE", CLAM_MACHO),
    MAGIC(0, "\xFE\xED\xFA\xCE", CLAM_MACHO),
    MAGIC(0, "\xFE\xED\xFA\xCF", CLAM_MACHO),
    MAGIC(0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", CLAM_OLE2),
    MAGIC(0, "%PDF-", CLAM_PDF),
    MAGIC(0, "FWS", CLAM_FLASH),
    MAGIC(0, "CWS", CLAM_FLASH),
    MAGIC(0, "ZWS", CLAM_FLASH),
    MAGIC(0, "\x89PNG", CLAM_GRAPHICS),
    MAGIC(0, "GIF", CLAM_GRAPHICS),
    MAGIC(0, "\xFF\xD8\xFF", CLAM_GRAPHICS),
    MAGIC(0, "II*\0", CLAM_GRAPHICS),
    MAGIC(0, "MM", CLAM_GRAPHICS),
    MAGIC(0, "BM", CLAM_GRAPHICS),
    MAGIC(0, "\0\0\0\014jP  \r\n\207\n", CLAM_GRAPHICS),
    MAGIC(0, ">From ", CLAM_MAIL),
    MAGIC(0, "Date: ", CLAM_MAIL),
    MAGIC(0, "Delivered-To: ", CLAM_MAIL),
    MAGIC(0, "Delivery-date: ", CLAM_MAIL),
    MAGIC(0, "Envelope-to: ", CLAM_MAIL),
    MAGIC(0, "For: ", CLAM_MAIL),
    MAGIC(0, "From ", CLAM_MAIL),
    MAGIC(0, "From: ", CLAM_MAIL),
    MAGIC(0, "Hi. This is the qmail-send", CLAM_MAIL),
    MAGIC(0, "Message-ID: ", CLAM_MAIL),
    MAGIC(0, "Message-Id: ", CLAM_MAIL),
    MAGIC(0, "Received: ", CLAM_MAIL),
    MAGIC(0, "Received-SPF: ", CLAM_MAIL),
    MAGIC(0, "Return-Path: ", CLAM_MAIL),
    MAGIC(0, "Return-path: ", CLAM_MAIL),
    MAGIC(0, "Subject: ", CLAM_MAIL),
    MAGIC(0, "To: ", CLAM_MAIL),
    MAGIC(0, "X-Apparently-To: ", CLAM_MAIL),
    MAGIC(0, "X-Envelope-From: ", CLAM_MAIL),
    MAGIC(0, "X-Original-To: ", CLAM_MAIL),
    MAGIC(0, "X-Real-To: ", CLAM_MAIL),
    MAGIC(0, "X-Sieve: ", CLAM_MAIL),
    MAGIC(0, "X-Symantec-", CLAM_MAIL),
    MAGIC(0, "X-UIDL: ", CLAM_MAIL),
    /* Known, and no target: they are no text. */
    MAGIC(0, "PK\3\4", CLAM_OTHER),
    MAGIC(0, "Rar!", CLAM_OTHER),
    MAGIC(0, "\x1F\x8B", CLAM_OTHER),
    MAGIC(0, "BZh", CLAM_OTHER),
    MAGIC(0, "{\\rt", CLAM_OTHER),
};

/* Control characters that texts hold: BEL, BS, HT, LF, FF, CR, ESC. */
static bool is_text(const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((head[i] < 0x20 && strchr("\a\b\t\n\f\r\033", head[i]) == NULL) || head[i] == 0 ||
            head[i] == 0x7F)
            return false;
    return true;
}

/* The tags by which ClamAV takes a text, or an unknown type, for HTML. */
static bool has_tag(const uint8_t *head, size_t len)
{
    static const char *const tags[] = {"head>",  "html>",  "iframe", "img",
                                       "object", "script", "table",  "a "};

    for (size_t i = 0; i + 1 < len; i++) {
        if (head[i] != '<')
            continue;
        for (size_t t = 0; t < sizeof tags / sizeof *tags; t++) {
            const size_t n = strlen(tags[t]);
            size_t k = 0;

            while (k < n && i + 1 + k < len && tolower(head[i + 1 + k]) == tags[t][k])
                k++;
            if (k < n)
                continue;
            if (tags[t][n - 1] == '>')
                return true;
            if (t == 7) { /* <a ... href */
                for (k = i; k + 4 <= len; k++)
                    if (strncasecmp((const char *)head + k, "href", 4) == 0)
                        return true;
            } else if (i + 1 + n < len && strchr("> \t\n\v\f\r/", head[i + 1 + n]) != NULL &&
                       head[i + 1 + n] != 0) {
                return true;
            }
        }
    }
    return false;
}

uint8_t clam_target_of(const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (len >= (size_t)magics[i].at + magics[i].len &&
            memcmp(head + magics[i].at, magics[i].bytes, magics[i].len) == 0)
            return magics[i].target == CLAM_OTHER ? CLAM_GENERIC : magics[i].target;
    if (len >= 8 && memcmp(head, "\xCA\xFE\xBA\xBE", 4) == 0 && memcmp(head + 4, "\0\0\0", 3) == 0)
        return head[7] < 0x20 ? CLAM_MACHO : head[7] < 0x40 ? CLAM_JAVA : CLAM_GENERIC;
    if (has_tag(head, len))
        return CLAM_HTML;
    return len > 0 && is_text(head, len) ? CLAM_ASCII : CLAM_GENERIC;
}

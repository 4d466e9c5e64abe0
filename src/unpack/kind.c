/* SPDX-License-Identifier: MIT */
/* Kinds by magic numbers, which are those of ClamAV's documentation (FileTypes), and by rules for
 * formats without one. */
#include "unpack/kind.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct magic {
    const char *bytes;
    uint16_t at, len;
    enum kind kind;
};

#define MAGIC(at, text, kind)                   \
    {                                           \
        text, at, sizeof(text) - 1, KIND_##kind \
    }

static const struct magic magics[] = {
    MAGIC(0, "MZ", MSEXE),
    MAGIC(0, "\177ELF", ELF),
    MAGIC(0, "\xCE\xFA\xED\xFE", MACHO),
    MAGIC(0, "\xCF\xFA\xED\xFE", MACHO),
    MAGIC(0, "\xFE\xED\xFA\xCE", MACHO),
    MAGIC(0, "\xFE\xED\xFA\xCF", MACHO),
    MAGIC(0, "%PDF-", PDF),
    MAGIC(0, "FWS", SWF_PLAIN),
    MAGIC(0, "CWS", SWF),
    MAGIC(0, "ZWS", SWF),
    MAGIC(0, "\x89PNG", PNG),
    MAGIC(0, "GIF", GIF),
    MAGIC(0, "\xFF\xD8\xFF", JPEG),
    MAGIC(0, "II*\0", TIFF),
    MAGIC(0, "MM", GRAPHICS),
    MAGIC(0, "BM", GRAPHICS),
    MAGIC(0, "\0\0\0\014jP  \r\n\207\n", GRAPHICS),
    MAGIC(0, ">From ", MAIL),
    MAGIC(0, "Date: ", MAIL),
    MAGIC(0, "Delivered-To: ", MAIL),
    MAGIC(0, "Delivery-date: ", MAIL),
    MAGIC(0, "Envelope-to: ", MAIL),
    MAGIC(0, "For: ", MAIL),
    MAGIC(0, "From ", MAIL),
    MAGIC(0, "From: ", MAIL),
    MAGIC(0, "Hi. This is the qmail-send", MAIL),
    MAGIC(0, "Message-ID: ", MAIL),
    MAGIC(0, "Message-Id: ", MAIL),
    MAGIC(0, "Received: ", MAIL),
    MAGIC(0, "Received-SPF: ", MAIL),
    MAGIC(0, "Return-Path: ", MAIL),
    MAGIC(0, "Return-path: ", MAIL),
    MAGIC(0, "Subject: ", MAIL),
    MAGIC(0, "To: ", MAIL),
    MAGIC(0, "X-Apparently-To: ", MAIL),
    MAGIC(0, "X-Envelope-From: ", MAIL),
    MAGIC(0, "X-Original-To: ", MAIL),
    MAGIC(0, "X-Real-To: ", MAIL),
    MAGIC(0, "X-Sieve: ", MAIL),
    MAGIC(0, "X-Symantec-", MAIL),
    MAGIC(0, "X-UIDL: ", MAIL),
    MAGIC(0, "PK\3\4", ZIP),
    MAGIC(0, "PK\5\6", ZIP),
    MAGIC(0, "PK\7\10", ZIP),
    MAGIC(0, "PK00PK\3\4", ZIP),
    MAGIC(0, "Cr24", ZIP),
    MAGIC(0, "Rar!\x1A\7", RAR),
    MAGIC(0, "7z\xBC\xAF\x27\x1C", SEVENZIP),
    MAGIC(0, "\x1F\x8B", GZIP),
    MAGIC(0, "\x1F\x9D", COMPRESS),
    MAGIC(0, "\x1F\xA0", COMPRESS),
    MAGIC(0, "BZh", BZIP2),
    MAGIC(0, "\xFD\x37zXZ\0", XZ),
    MAGIC(0, "LZIP\1", LZIP),
    MAGIC(0, "\x28\xB5\x2F\xFD", ZSTD),
    MAGIC(0, "\4\x22\x4D\x18", LZ4),
    MAGIC(0, "\2\x21\x4C\x18", LZ4),
    MAGIC(0, "\x89LZO\0\r\n\x1A\n", LZOP),
    MAGIC(0, "LRZI", LRZIP),
    MAGIC(257, "ustar", POSIX_TAR),
    MAGIC(0, "070701", CPIO_NEWC),
    MAGIC(0, "070702", CPIO_CRC),
    MAGIC(0, "070707", CPIO_ODC),
    MAGIC(0, "\xC7\x71", CPIO_OLD),
    MAGIC(0, "\x71\xC7", CPIO_OLD),
    MAGIC(0, "!<arch>\n", AR),
    MAGIC(0, "\xED\xAB\xEE\xDB", RPM),
    MAGIC(0, "MSCF", CAB),
    MAGIC(0, "ISc(", ISHIELD_CAB),
    MAGIC(0, "MSWIM\0\0\0", WIM),
    MAGIC(0, "**ACE**", ACE),
    MAGIC(7, "**ACE**", ACE),
    MAGIC(0, "ALZ\1", ALZ),
    MAGIC(0, "EGGA", EGG),
    MAGIC(20, "\xDC\xA7\xC4\xFD", ZOO),
    MAGIC(0, "xar!", XAR),
    MAGIC(0, "ITSF", CHM),
    MAGIC(0, "SZDD\x88\xF0\x27\x33", SZDD),
    MAGIC(0, "KWAJ\x88\xF0\x27\xD1", KWAJ),
    MAGIC(0, "hsqs", SQUASHFS),
    MAGIC(0, "WARC/", WARC),
    MAGIC(0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", OLE2),
    MAGIC(0, "{\\rt", RTF),
    MAGIC(0, "HWP Document File V", HWP3),
    MAGIC(0, "\xE4\x52\x5C\x7B\x8C\xD8\xA7\x4D\xAE\xB1\x53\x78\xD0\x29\x96\xD3", ONENOTE),
    MAGIC(0, "\x78\x9F\x3E\x22", TNEF),
    MAGIC(0, "begin 6", UUENCODE),
    MAGIC(0, "begin-base64 ", UUENCODE),
    MAGIC(0, "(This file must be converted with BinHex", BINHEX),
    MAGIC(0, "=ybegin ", YENC),
};

/* ---- formats without a magic number ---------------------------------------------------------- */

/* "-lh5-", "-lzs-", "-pm2-". */
static bool is_lha(const uint8_t *head, size_t len)
{
    return len > 21 && head[2] == '-' && head[6] == '-' &&
           ((head[3] == 'l' && (head[4] == 'h' || head[4] == 'z')) ||
            (head[3] == 'p' && head[4] == 'm'));
}

/* Two bytes, a length of at most 2600, and in it the length of the first header. */
static bool is_arj(const uint8_t *head, size_t len)
{
    if (len < 12 || head[0] != 0x60 || head[1] != 0xEA)
        return false;
    const unsigned header_len = head[2] | (unsigned)head[3] << 8;
    return header_len >= 30 && header_len <= 2600 && head[4] >= 30 && head[4] <= header_len;
}

/* A tar without a magic number has the sum of its header. */
static bool is_old_tar(const uint8_t *head, size_t len)
{
    enum { HEADER_LEN = 512, SUM_AT = 148, SUM_LEN = 8 };
    unsigned sum = 0, stated = 0;
    size_t i = SUM_AT;

    if (len < HEADER_LEN || head[0] == '\0')
        return false;
    while (i < SUM_AT + SUM_LEN && head[i] == ' ')
        i++;
    if (i == SUM_AT + SUM_LEN || head[i] < '0' || head[i] > '7')
        return false;
    for (; i < SUM_AT + SUM_LEN && head[i] >= '0' && head[i] <= '7'; i++)
        stated = stated << 3 | (unsigned)(head[i] - '0');
    for (i = 0; i < HEADER_LEN; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_LEN ? ' ' : head[i];
    return sum == stated;
}

/* Properties of at most 224, a dictionary of 2^n, 2^n + 2^(n - 1) or 2^32 - 1 bytes, a length of at
 * most 2^40 bytes, or none, and a zero. */
static bool is_lzma(const uint8_t *head, size_t len)
{
    uint64_t full_len = 0;
    uint32_t dictionary = 0;

    if (len < 14 || head[0] > 224 || head[13] != 0)
        return false;
    for (int i = 0; i < 4; i++)
        dictionary |= (uint32_t)head[1 + i] << 8 * i;
    for (int i = 0; i < 8; i++)
        full_len |= (uint64_t)head[5 + i] << 8 * i;
    const int bits = __builtin_popcount(dictionary);
    return dictionary >= 1 << 12 &&
           (bits == 1 || bits == 32 || (bits == 2 && (dictionary & dictionary << 1) != 0)) &&
           (full_len == UINT64_MAX || (head[0] == 0x5D && full_len >> 40 == 0));
}

static bool holds(const uint8_t *head, size_t len, const char *text)
{
    return memmem(head, len, text, strlen(text)) != NULL;
}

/* Office's documents of one XML file have parts in base64. Those of many files are a zip's. */
static bool is_office_xml(const uint8_t *head, size_t len)
{
    return len > 5 && memcmp(head, "<?xml", 5) == 0 &&
           (holds(head, len, "mso-application") || holds(head, len, ":wordDocument") ||
            holds(head, len, ":Workbook") || holds(head, len, "office/2006/xmlPackage"));
}

/* A sequence in DER whose first element is an identifier of PKCS #7: S/MIME. */
static bool is_pkcs7(const uint8_t *head, size_t len)
{
    static const char id[] = "\6\x9\x2A\x86\x48\x86\xF7\x0D\1\7";

    return len > 32 && head[0] == 0x30 && holds(head, 32, id);
}

static enum kind kind_of_form(const uint8_t *head, size_t len)
{
    if (is_lha(head, len))
        return KIND_LHA;
    if (is_arj(head, len))
        return KIND_ARJ;
    if (is_old_tar(head, len))
        return KIND_OLD_TAR;
    if (is_lzma(head, len))
        return KIND_LZMA;
    if (is_pkcs7(head, len))
        return KIND_PKCS7;
    return is_office_xml(head, len) ? KIND_OFFICE_XML : KIND_BINARY;
}

/* ---- mail ------------------------------------------------------------------------------------ */

/* Fields that hardly any text but a mail has. Names end in a colon. */
static bool is_mail_field(const uint8_t *line, size_t len)
{
    static const char *const names[] = {
        "MIME-Version:",        "Content-Type:", "Content-Transfer-Encoding:",
        "Content-Disposition:", "Received:",     "Return-Path:",
        "Message-ID:",          "Delivered-To:", "DKIM-Signature:"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);

        if (len >= n && strncasecmp((const char *)line, names[i], n) == 0)
            return true;
    }
    return false;
}

/* The bytes of a field's name; 0: the line is no field. */
static size_t field_name_len(const uint8_t *line, size_t len)
{
    size_t n = 0;

    while (n < len && line[n] > ' ' && line[n] < 0x7F && line[n] != ':')
        n++;
    return n < len && line[n] == ':' ? n : 0;
}

/* A text of fields, up to an empty line or the head's end, one of which is a mail's. */
static bool is_mail(const uint8_t *head, size_t len)
{
    bool any = false;

    for (size_t at = 0; at < len;) {
        const uint8_t *line = head + at, *end = memchr(line, '\n', len - at);
        const size_t n = end != NULL ? (size_t)(end - line) : len - at;

        if (n == 0 || line[0] == '\r')
            break;
        if (!(at > 0 && isblank(line[0])) && end != NULL && field_name_len(line, n) == 0)
            return false;
        any |= is_mail_field(line, n);
        at += n + 1;
    }
    return any;
}

/* Finds a field at the begin of a line, in upper or lower case in some letters. Returns the place
 * behind it, or NULL. `at_begin`: the text's first line counts. */
static const uint8_t *find_field(const uint8_t *from, const uint8_t *end, const char *name,
                                 bool at_begin)
{
    const size_t n = strlen(name);

    for (const uint8_t *at = from; at != NULL && (size_t)(end - at) > n;) {
        const bool is_line = at_begin || *at == '\n';
        const uint8_t *field = at_begin ? at : at + 1;

        if (is_line && (size_t)(end - field) >= n && strncasecmp((const char *)field, name, n) == 0)
            return field + n;
        at_begin = false;
        at = *at == '\n' && field != at ? memchr(at + 1, '\n', (size_t)(end - at - 1))
                                        : memchr(at, '\n', (size_t)(end - at));
    }
    return NULL;
}

/* ClamAV's rules for mail that begins with another field: two fields one behind the other. */
static bool is_clam_mail(const uint8_t *head, size_t len)
{
    static const struct {
        const char *first, *second;
        unsigned gap;
    } rules[] = {{"From: ", "MIME-Version: ", 1024},
                 {"From: ", "Content-Type: ", 2048},
                 {"MIME-Version: ", "Content-Type: ", 2048},
                 {"Message-ID: ", "Content-Type: ", 1024},
                 {"Received: ", "Content-Type: ", 2048}};
    const uint8_t *end = head + len;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const uint8_t *first = find_field(head, end, rules[i].first, false);

        if (first != NULL && find_field(first, end, rules[i].second, false) != NULL)
            return true;
    }
    return false;
}

static bool is_mhtml(const uint8_t *head, size_t len)
{
    const uint8_t *first = find_field(head, head + len, "MIME-Version: ", true);

    return first != NULL && find_field(first, head + len, "Content-Type: ", false) != NULL;
}

/* ---- text and HTML -------------------------------------------------------------------------- */

/* Whether ClamAV takes a byte below 0x80 for one of a text: BEL, BS, HT, LF, FF, CR and ESC are. */
static bool is_of_text(uint8_t byte)
{
    return (byte >= 0x20 && byte != 0x7F) || (byte >= 7 && byte <= 13 && byte != 11) || byte == 27;
}

static bool is_text(const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_of_text(head[i]))
            return false;
    return true;
}

/* ClamAV's rule, by which much that is no text is UTF-16, too: no character below U+0080 is one
 * that a text has not, unless a mark of the byte order excuses it. */
static enum kind kind_of_utf16(const uint8_t *head, size_t len)
{
    const bool little = len >= 2 && head[0] == 0xFF && head[1] == 0xFE;
    const bool big = len >= 2 && head[0] == 0xFE && head[1] == 0xFF;
    size_t bad = 0;

    for (size_t i = 2; i + 1 < len; i += 2) {
        const unsigned high = head[little ? i + 1 : i], low = head[little ? i : i + 1];

        if (high == 0xFF && low == 0xFE)
            return KIND_BINARY;
        if (high == 0 && low < 0x80 && !is_of_text((uint8_t)low))
            bad++;
    }
    if (len < 2 || (bad > 0 && !little && !big) || ((little || big) && bad >= len / 2))
        return KIND_BINARY;
    return little ? KIND_TEXT_UTF16LE : KIND_TEXT_UTF16BE;
}

/* The tags by which ClamAV takes a text, or an unknown type, for HTML. */
bool kind_has_tag(const uint8_t *head, size_t len)
{
    static const char *const tags[] = {"<head>",  "<html>",  "<iframe", "<img",
                                       "<object", "<script", "<table"};
    const uint8_t *const end = head + len;
    bool links = true;

    for (const uint8_t *at = head; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        const size_t left = (size_t)(end - at);

        for (size_t t = 0; t < sizeof tags / sizeof *tags; t++)
            if (left >= strlen(tags[t]) &&
                strncasecmp((const char *)at, tags[t], strlen(tags[t])) == 0)
                return true;
        if (links && left > 3 && tolower(at[1]) == 'a' && at[2] == ' ') {
            for (const uint8_t *link = at; end - link >= 4; link++)
                if (strncasecmp((const char *)link, "href", 4) == 0)
                    return true;
            links = false; /* what is not behind this one is behind none */
        }
    }
    return false;
}

static enum kind kind_of_text(const uint8_t *head, size_t len)
{
    if (kind_has_tag(head, len))
        return KIND_HTML;
    return len > 0 && is_text(head, len) ? KIND_TEXT_ASCII : kind_of_utf16(head, len);
}

/* ---- the kind -------------------------------------------------------------------------------- */

enum kind kind_of_head(const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (len >= (size_t)magics[i].at + magics[i].len &&
            memcmp(head + magics[i].at, magics[i].bytes, magics[i].len) == 0)
            return magics[i].kind;
    if (len >= 8 && memcmp(head, "\xCA\xFE\xBA\xBE\0\0\0", 7) == 0 && head[7] < 0x40)
        return head[7] < 0x20 ? KIND_MACHO : KIND_JAVA;
    if (is_mhtml(head, len))
        return KIND_MHTML;
    if (is_clam_mail(head, len))
        return KIND_MAIL;
    if (is_mail(head, len))
        return KIND_MAIL_LIKE;
    const enum kind form = kind_of_form(head, len);
    if (form != KIND_BINARY)
        return form;
    const enum kind text = kind_of_text(head, len);
    /* Readers accept bytes before, but a text that mentions the mark is none. */
    return (text == KIND_BINARY || text == KIND_TEXT_UTF16BE) && holds(head, len, "%PDF-")
               ? KIND_PDF
               : text;
}

enum kind kind_of_marks(const uint8_t *mark, size_t mark_len, const uint8_t *tail, size_t tail_len)
{
    enum { ZIP_END_LEN = 22 };

    if (mark_len >= KIND_MARK_LEN && memcmp(mark, "CD001", KIND_MARK_LEN) == 0)
        return KIND_ISO;
    if (mark_len >= KIND_MARK_LEN && memcmp(mark, "BEA01", KIND_MARK_LEN) == 0)
        return KIND_UDF;
    if (tail_len >= KIND_TAIL_LEN && memcmp(tail + tail_len - KIND_TAIL_LEN, "koly", 4) == 0)
        return KIND_DMG;
    if (tail_len >= ZIP_END_LEN && memcmp(tail + tail_len - ZIP_END_LEN, "PK\5\6", 4) == 0)
        return KIND_ZIP;
    return KIND_BINARY;
}

/* The mark's third byte is rarer in texts than its first. */
const uint8_t *kind_next_local(const uint8_t *at, const uint8_t *end)
{
    enum { RARE_AT = 2, MARK_LEN = 4 };

    while (end - at >= MARK_LEN) {
        const uint8_t *rare = memchr(at + RARE_AT, 3, (size_t)(end - at) - RARE_AT);

        if (rare == NULL || end - rare < MARK_LEN - RARE_AT)
            break;
        if (memcmp(rare - RARE_AT, "PK\3\4", MARK_LEN) == 0)
            return rare - RARE_AT;
        at = rare - RARE_AT + 1;
    }
    return NULL;
}

/* Office's documents, by the names of the first members. */
static enum kind kind_of_zip(const uint8_t *bytes, size_t len)
{
    enum { MEMBERS = 16, NAME_AT = 30 };
    static const struct {
        const char *begin;
        enum kind kind;
    } names[] = {{"xl/", KIND_OOXML_XL},
                 {"ppt/", KIND_OOXML_PPT},
                 {"word/", KIND_OOXML_WORD},
                 {"Contents/content.hpf", KIND_OOXML_HWP}};
    const uint8_t *at = bytes, *end = bytes + len;

    for (int i = 0; i < MEMBERS; i++) {
        at = kind_next_local(at, end);
        if (at == NULL || end - at < NAME_AT)
            break;
        const size_t n = at[26] | (size_t)at[27] << 8;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (n >= strlen(names[k].begin) && (size_t)(end - at) >= NAME_AT + n &&
                memcmp(at + NAME_AT, names[k].begin, strlen(names[k].begin)) == 0)
                return names[k].kind;
        at += 4;
    }
    return KIND_ZIP;
}

enum kind kind_of(const uint8_t *bytes, size_t len)
{
    const enum kind kind = kind_of_head(bytes, len < KIND_HEAD_LEN ? len : KIND_HEAD_LEN);
    const size_t tail_len = len < KIND_TAIL_LEN ? len : KIND_TAIL_LEN;
    const bool marked = len >= KIND_MARK_AT + KIND_MARK_LEN;

    if (kind != KIND_BINARY && kind != KIND_TEXT_UTF16BE)
        return kind == KIND_ZIP ? kind_of_zip(bytes, len) : kind;
    const enum kind other =
        kind_of_marks(marked ? bytes + KIND_MARK_AT : bytes, marked ? KIND_MARK_LEN : 0,
                      bytes + len - tail_len, tail_len);
    return other != KIND_BINARY ? other : kind;
}

enum kind kind_of_raw_text(const uint8_t *bytes, size_t len)
{
    return kind_of_text(bytes, len < KIND_HEAD_LEN ? len : KIND_HEAD_LEN);
}

bool kind_is_text(enum kind kind)
{
    return kind >= KIND_TEXT_ASCII && kind <= KIND_TEXT_UTF16BE;
}

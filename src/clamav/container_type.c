/* SPDX-License-Identifier: MIT */
/* Archives, mail and documents by content: the types that clamscan opens, and more. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "clamav/object.h"

struct magic {
    const char *bytes;
    uint16_t at, len;
    const char *type;
};

#define MAGIC(at, text, type)            \
    {                                    \
        text, at, sizeof(text) - 1, type \
    }

static const struct magic magics[] = {
    MAGIC(0, "PK\3\4", "zip"), /* also jar, apk, docx, odt, ... */
    MAGIC(0, "PK\5\6", "zip"),
    MAGIC(0, "PK\7\10", "zip"),
    MAGIC(0, "PK00PK\3\4", "zip"),
    MAGIC(0, "Cr24", "zip"),
    MAGIC(0, "Rar!\x1A\7", "rar"),
    MAGIC(0, "7z\xBC\xAF\x27\x1C", "7z"),
    MAGIC(0, "\x1F\x8B", "gz"),
    MAGIC(0, "\x1F\x9D", "compress"),
    MAGIC(0, "\x1F\xA0", "compress"),
    MAGIC(0, "BZh", "bz2"),
    MAGIC(0, "\xFD\x37zXZ\0", "xz"),
    MAGIC(0, "LZIP\1", "lzip"),
    MAGIC(0, "\x28\xB5\x2F\xFD", "zst"),
    MAGIC(0, "\4\x22\x4D\x18", "lz4"),
    MAGIC(0, "\2\x21\x4C\x18", "lz4"),
    MAGIC(0, "\x89LZO\0\r\n\x1A\n", "lzop"),
    MAGIC(0, "LRZI", "lrzip"),
    MAGIC(257, "ustar", "tar"),
    MAGIC(0, "070701", "cpio"),
    MAGIC(0, "070702", "cpio"),
    MAGIC(0, "070707", "cpio"),
    MAGIC(0, "\xC7\x71", "cpio"),
    MAGIC(0, "\x71\xC7", "cpio"),
    MAGIC(0, "!<arch>\n", "ar"), /* also deb */
    MAGIC(0, "\xED\xAB\xEE\xDB", "rpm"),
    MAGIC(0, "MSCF", "cab"),
    MAGIC(0, "ISc(", "cab"),
    MAGIC(0, "MSWIM\0\0\0", "wim"),
    MAGIC(0, "**ACE**", "ace"),
    MAGIC(7, "**ACE**", "ace"),
    MAGIC(0, "ALZ\1", "alz"),
    MAGIC(0, "EGGA", "egg"),
    MAGIC(20, "\xDC\xA7\xC4\xFD", "zoo"),
    MAGIC(0, "xar!", "xar"),
    MAGIC(0, "ITSF", "chm"),
    MAGIC(0, "SZDD\x88\xF0\x27\x33", "szdd"),
    MAGIC(0, "KWAJ\x88\xF0\x27\xD1", "kwaj"),
    MAGIC(0, "hsqs", "squashfs"),
    MAGIC(0, "WARC/", "warc"),
    MAGIC(0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "ole2"), /* doc, xls, ppt, msg, msi, ... */
    MAGIC(0, "{\\rt", "rtf"),
    MAGIC(0, "HWP Document File", "hwp"),
    MAGIC(0, "\xE4\x52\x5C\x7B\x8C\xD8\xA7\x4D\xAE\xB1\x53\x78\xD0\x29\x96\xD3", "onenote"),
    MAGIC(0, "CWS", "swf"),
    MAGIC(0, "ZWS", "swf"),
    MAGIC(0, "\x78\x9F\x3E\x22", "tnef"),
    MAGIC(0, "begin 6", "uuencode"),
    MAGIC(0, "begin-base64 ", "uuencode"),
    MAGIC(0, "(This file must be converted with BinHex", "binhex"),
    MAGIC(0, "=ybegin ", "yenc"),
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

/* Properties of at most 224, a dictionary of 2^n or 2^n + 2^(n - 1) bytes, a length of at most 2^40
 * bytes, or none, and a zero. */
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
           (bits == 1 || (bits == 2 && (dictionary & dictionary << 1) != 0)) &&
           (full_len == UINT64_MAX || (head[0] == 0x5D && full_len >> 40 == 0));
}

static bool holds(const uint8_t *head, size_t len, const char *text)
{
    return memmem(head, len, text, strlen(text)) != NULL;
}

/* Office's documents of one XML file have parts in base64. */
static bool is_office_xml(const uint8_t *head, size_t len)
{
    return len > 5 && memcmp(head, "<?xml", 5) == 0 &&
           (holds(head, len, "mso-application") ||
            holds(head, len, "schemas.microsoft.com/office"));
}

/* A sequence in DER whose first element is an identifier of PKCS #7: S/MIME. */
static bool is_pkcs7(const uint8_t *head, size_t len)
{
    static const char id[] = "\6\x9\x2A\x86\x48\x86\xF7\x0D\1\7";

    return len > 32 && head[0] == 0x30 && holds(head, 32, id);
}

static const char *type_by_form(const uint8_t *head, size_t len)
{
    if (is_lha(head, len))
        return "lha";
    if (is_arj(head, len))
        return "arj";
    if (is_old_tar(head, len))
        return "tar";
    if (is_lzma(head, len))
        return "lzma";
    if (is_pkcs7(head, len))
        return "pkcs7";
    return is_office_xml(head, len) ? "office xml" : NULL;
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

/* ---- marks elsewhere ------------------------------------------------------------------------- */

static bool lies_at_end(struct clam_object *object, uint64_t back, const char *mark, size_t len)
{
    const uint8_t *at =
        object->len >= back ? clam_object_at(object, object->len - back, len) : NULL;

    return at != NULL && memcmp(at, mark, len) == 0;
}

/* Marks of images lie behind 32 KiB, or in the last 512 bytes; that of a zip behind anything. */
static const char *type_by_marks(struct clam_object *object)
{
    enum { MARK_AT = 0x8001, DMG_LEN = 512, ZIP_END_LEN = 22 };
    const uint8_t *mark = clam_object_at(object, MARK_AT, 5);

    if (mark != NULL && memcmp(mark, "CD001", 5) == 0)
        return "iso";
    if (mark != NULL && memcmp(mark, "BEA01", 5) == 0)
        return "udf";
    if (lies_at_end(object, DMG_LEN, "koly", 4))
        return "dmg";
    return lies_at_end(object, ZIP_END_LEN, "PK\5\6", 4) ? "zip" : NULL;
}

/* ---- the type -------------------------------------------------------------------------------- */

const char *clam_container_type(struct clam_object *object, const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (len >= (size_t)magics[i].at + magics[i].len &&
            memcmp(head + magics[i].at, magics[i].bytes, magics[i].len) == 0)
            return magics[i].type;
    if (object->target == CLAM_MAIL || is_mail(head, len))
        return "mail";
    /* Readers accept bytes before, but a text that mentions the mark is none. */
    if (object->target == CLAM_PDF || (object->target == CLAM_GENERIC && holds(head, len, "%PDF-")))
        return "pdf";
    const char *type = type_by_form(head, len);
    return type != NULL ? type : type_by_marks(object);
}

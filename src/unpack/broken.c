/* SPDX-License-Identifier: MIT */
/* Programs and images whose structure is broken, which options make a finding. The rules for
 * programs are ClamAV's, and so are the names for JPEG. */
#include <stdio.h>
#include <string.h>

#include "unpack/little.h"
#include "unpack/unpack.h"

/* ---- programs -------------------------------------------------------------------------------- */

enum {
    PE_HEAD = 24, /* the mark and the header of the file */
    PE_OPTIONAL = 224,
    PE_OPTIONAL_PLUS = 240,
    PE_SECTION = 40,
    PE_SECTIONS_MAX = 96
};

static uint64_t round_up(uint64_t len, uint32_t to)
{
    return to > 0 ? (len + to - 1) / to * to : len;
}

/* Sections begin at multiples, lie in the file, and behind one another in memory. */
static bool are_sections_broken(const uint8_t *at, unsigned n, uint32_t alignment, size_t file_len)
{
    uint64_t next = 0;

    for (unsigned i = 0; i < n; i++, at += PE_SECTION) {
        const uint32_t len = little32(at + 8), address = little32(at + 12);
        const uint32_t raw_len = little32(at + 16), raw_at = little32(at + 20);

        if ((alignment > 0 && address % alignment != 0) || (i > 0 && address != next) ||
            (raw_len > 0 && raw_at >= file_len))
            return true;
        next = address + round_up(len > 0 ? len : raw_len, alignment);
    }
    return false;
}

static bool is_pe_broken(const uint8_t *bytes, size_t len)
{
    enum { AT_AT = 60, NATIVE = 1, PLUS = 0x20B, PAGE = 0x1000, SECTOR = 0x200 };
    const uint64_t head_at = len >= AT_AT + 4 ? little32(bytes + AT_AT) : 0;

    if (len < AT_AT + 4)
        return true;
    if (head_at == 0 || head_at > len || len - head_at < PE_HEAD ||
        memcmp(bytes + head_at, "PE\0\0", 4) != 0)
        return false; /* a program for DOS */
    const uint8_t *head = bytes + head_at, *optional = head + PE_HEAD;
    const unsigned n = little16(head + 6), optional_len = little16(head + 20);
    const size_t left = len - (size_t)head_at - PE_HEAD;

    if (n == 0 || n > PE_SECTIONS_MAX || optional_len < PE_OPTIONAL ||
        left < optional_len + (size_t)n * PE_SECTION ||
        (little16(optional) == PLUS && optional_len < PE_OPTIONAL_PLUS))
        return true;
    const uint32_t in_memory = little32(optional + 32), in_file = little32(optional + 36);
    if (little16(optional + 68) != NATIVE &&
        (in_memory == 0 || in_memory % PAGE != 0 || in_file == 0 || in_file % SECTOR != 0))
        return true;
    return are_sections_broken(optional + optional_len, n, in_memory, len);
}

/* Whether a table lies in the file, with entries of the length that they must have. */
static bool is_table_broken(uint64_t at, unsigned n, unsigned entry, unsigned must, size_t len)
{
    return n > 0 && (entry != must || at > len || len - at < (uint64_t)n * entry);
}

static bool is_elf_broken(const uint8_t *bytes, size_t len)
{
    enum { CLASS = 4, ORDER = 5, HEAD = 52, HEAD_64 = 64, SEGMENTS_MAX = 128, SECTIONS_MAX = 2048 };
    const bool wide = len > CLASS && bytes[CLASS] == 2;

    if (len < (wide ? HEAD_64 : HEAD) || bytes[CLASS] < 1 || bytes[CLASS] > 2 || bytes[ORDER] < 1 ||
        bytes[ORDER] > 2)
        return true;
    if (bytes[ORDER] == 2)
        return false; /* numbers whose first byte is the greatest: not judged */
    const uint8_t *counts = bytes + (wide ? HEAD_64 : HEAD) - 10;
    const unsigned n_segments = little16(counts + 2), n_sections = little16(counts + 6);

    return n_segments > SEGMENTS_MAX || n_sections > SECTIONS_MAX ||
           is_table_broken(wide ? little64(bytes + 32) : little32(bytes + 28), n_segments,
                           little16(counts), wide ? 56 : 32, len) ||
           is_table_broken(wide ? little64(bytes + 40) : little32(bytes + 32), n_sections,
                           little16(counts + 4), wide ? 64 : 40, len);
}

/* ---- images: each returns what is wrong, or NULL --------------------------------------------- */

static const char *jpeg_fault(const uint8_t *bytes, size_t len)
{
    enum { PATIENCE = 16, SCAN = 0xDA, END = 0xD9 };
    size_t at = 2;

    for (;;) {
        unsigned skipped = 0;

        while (at < len && bytes[at] != 0xFF && skipped < PATIENCE) {
            at++;
            skipped++;
        }
        if (skipped == PATIENCE)
            return "SpuriousBytesBeforeSegment";
        while (at < len && bytes[at] == 0xFF)
            at++;
        const unsigned marker = at < len ? bytes[at++] : 0;
        if (marker == SCAN || marker == END)
            return NULL;
        if (marker == 1 || (marker >= 0xD0 && marker < END))
            continue; /* a marker alone */
        if (at > len || len - at < 2)
            return "CantReadSegmentSize";
        const unsigned segment = (unsigned)bytes[at] << 8 | bytes[at + 1];
        if (segment < 2)
            return "InvalidSegmentSize";
        at += segment;
    }
}

static const char *png_fault(const uint8_t *bytes, size_t len)
{
    enum { MARK = 8, CHUNK = 12 };
    size_t at = MARK;

    while (at < len && len - at >= CHUNK) {
        const uint64_t chunk = (uint64_t)bytes[at] << 24 | (uint64_t)bytes[at + 1] << 16 |
                               (uint64_t)bytes[at + 2] << 8 | bytes[at + 3];

        if (at == MARK && memcmp(bytes + at + 4, "IHDR", 4) != 0)
            return "NoHeader";
        if (chunk > len - at - CHUNK)
            return "ChunkBeyondEnd";
        if (memcmp(bytes + at + 4, "IEND", 4) == 0)
            return NULL;
        at += CHUNK + (size_t)chunk;
    }
    return "NoEnd";
}

/* Blocks of at most 255 bytes, up to an empty one. Returns the place behind it, or above `len`. */
static size_t skip_blocks(const uint8_t *bytes, size_t len, size_t at)
{
    while (at < len && bytes[at] != 0)
        at += 1u + bytes[at];
    return at + 1;
}

static size_t colours(uint8_t flags)
{
    return (flags & 0x80) != 0 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

static const char *gif_fault(const uint8_t *bytes, size_t len)
{
    enum { SCREEN = 13, SCREEN_FLAGS = 10, IMAGE = 10, IMAGE_FLAGS = 9 };

    if (len < SCREEN)
        return "TruncatedScreenDescriptor";
    size_t at = SCREEN + colours(bytes[SCREEN_FLAGS]);
    while (at < len && (bytes[at] == ',' || bytes[at] == '!')) {
        if (bytes[at] == '!')
            at = skip_blocks(bytes, len, at + 2);
        else if (len - at < IMAGE)
            return "TruncatedImageDescriptor";
        else
            at = skip_blocks(bytes, len, at + IMAGE + colours(bytes[at + IMAGE_FLAGS]) + 1);
    }
    return at > len ? "TruncatedBlock" : NULL;
}

/* ---- an object ------------------------------------------------------------------------------- */

static void report_media(struct unpack *unpack, const char *format, const char *fault)
{
    char name[64];

    if (fault == NULL)
        return;
    snprintf(name, sizeof name, "Heuristics.Broken.Media.%s.%s", format, fault);
    unpack_alert(unpack, UNPACK_BROKEN_MEDIA, name);
}

void unpack_report_broken(struct unpack *unpack, const struct unpack_object *object)
{
    const uint8_t *bytes = object->bytes;
    const size_t len = object->len;

    switch (object->kind) {
    case KIND_MSEXE:
    case KIND_ELF:
        if (object->kind == KIND_ELF ? is_elf_broken(bytes, len) : is_pe_broken(bytes, len))
            unpack_alert(unpack, UNPACK_BROKEN_EXE, "Heuristics.Broken.Executable");
        break;
    case KIND_JPEG:
        report_media(unpack, "JPEG", jpeg_fault(bytes, len));
        break;
    case KIND_PNG:
        report_media(unpack, "PNG", png_fault(bytes, len));
        break;
    case KIND_GIF:
        report_media(unpack, "GIF", gif_fault(bytes, len));
        break;
    default:
        break;
    }
}

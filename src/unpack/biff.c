/* SPDX-License-Identifier: MIT */
#include "unpack/biff.h"

#include <stdio.h>
#include <string.h>

#include "unpack/little.h"

enum {
    LABEL = 0x18,
    BOUNDSHEET = 0x85,
    MSODRAWINGGROUP = 0xEB,
    HEAD = 4,
    LINE_MAX = 512, /* bytes, of which a name has at most half */
    NAME_MAX_LEN = LINE_MAX / 2,
    MACROS = 1 /* a type of sheets */
};

struct record {
    unsigned type;
    const uint8_t *bytes;
    size_t len;
};

/* The record at *at, which moves behind it; false: there is none. */
static bool next_record(const uint8_t *stream, size_t len, size_t *at, struct record *record)
{
    if (len - *at < HEAD)
        return false;
    *record =
        (struct record){little16(stream + *at), stream + *at + HEAD, little16(stream + *at + 2)};
    if (record->len > len - *at - HEAD)
        return false;
    *at += HEAD + record->len;
    return true;
}

bool biff_is_listed(const uint8_t *stream, size_t len)
{
    struct record record;

    for (size_t at = 0; next_record(stream, len, &at, &record);)
        if (record.type == MSODRAWINGGROUP ||
            (record.type == BOUNDSHEET && record.len > 5 && record.bytes[5] == MACROS))
            return true;
    return false;
}

/* The type of a sheet, and whether it is shown. */
static int add_sheet(const struct record *record, char *to, size_t room)
{
    static const char *const types[] = {[0] = "worksheet or dialog sheet",
                                        [MACROS] = "Excel 4.0 macro sheet",
                                        [2] = "chart",
                                        [6] = "Visual Basic module"};
    static const char *const shown[] = {"visible", "hidden", "very hidden"};
    const unsigned state = record->bytes[4], type = record->bytes[5];
    const char *const name = type < sizeof types / sizeof *types ? types[type] : NULL;

    return snprintf(to, room, " - %s, %s", name != NULL ? name : "unknown type",
                    state < sizeof shown / sizeof *shown ? shown[state] : "unknown visibility");
}

/* A name, or the number of one that Excel has itself: two of them run macros. */
static int add_name(const struct record *record, char *to, size_t room)
{
    enum { NAME_AT = 15, BUILT_IN = 0x20 };
    const char *name = (const char *)record->bytes + NAME_AT;
    const size_t len = record->len - NAME_AT;

    if ((record->bytes[0] & BUILT_IN) != 0)
        return snprintf(to, room, " - built-in-name %u %s", (unsigned)record->bytes[NAME_AT],
                        *name == 1   ? "auto_open"
                        : *name == 2 ? "auto_close"
                                     : "?");
    return snprintf(to, room, " - %.*s", (int)(len < NAME_MAX_LEN ? len : NAME_MAX_LEN), name);
}

void biff_list(const uint8_t *stream, size_t len, struct unpack_buffer *buffer)
{
    static const char begin[] = "-- BIFF content extracted and disassembled from CL_TYPE_MSXL .xls "
                                "file because a XLM macro was found in the document\n";
    struct record record;
    char line[LINE_MAX];
    bool fits = unpack_buffer_add(buffer, begin, strlen(begin));

    for (size_t at = 0; fits && next_record(stream, len, &at, &record);) {
        int n = snprintf(line, sizeof line, "%04x %6zu   %s", record.type, record.len,
                         biff_title(record.type));

        if (record.type == BOUNDSHEET && record.len > 5)
            n += add_sheet(&record, line + n, sizeof line - (size_t)n);
        else if (record.type == LABEL && record.len > 15)
            n += add_name(&record, line + n, sizeof line - (size_t)n);
        line[n] = '\n';
        fits = unpack_buffer_add(buffer, line, (size_t)n + 1);
    }
}

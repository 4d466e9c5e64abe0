/* SPDX-License-Identifier: MIT */
/* Images of discs (ECMA-119). libarchive opens them, with the names of Rock Ridge. ClamAV has the
 * plain ones, which are reported here. */
#include <string.h>

#include "unpack/little.h"
#include "unpack/unpack.h"

enum {
    SECTOR = 2048,
    VOLUME_AT = 16 * SECTOR,
    RECORD_LEN = 33, /* without the name */
    NAME_LEN_AT = 32,
    DIRECTORY = 2, /* a flag */
    DIRECTORIES_MAX = 1024
};

/* Directories that are to be read; one at a place is listed once. */
struct directories {
    uint32_t at[DIRECTORIES_MAX], len[DIRECTORIES_MAX];
    size_t n;
};

/* Adds the directory of a record. False: there is no room. */
static bool add_directory(struct directories *list, const uint8_t *record)
{
    const uint32_t at = little32(record + 2);

    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == at)
            return true;
    if (list->n == DIRECTORIES_MAX)
        return false;
    list->at[list->n] = at;
    list->len[list->n++] = little32(record + 10);
    return true;
}

/* Names end in ";" and a version. */
static bool report_member(struct unpack *unpack, const struct unpack_object *object,
                          const uint8_t *record)
{
    const char *name = (const char *)record + RECORD_LEN;
    const uint32_t len = little32(record + 10);
    char text[256] = "";

    memcpy(text, name, record[NAME_LEN_AT]);
    text[strcspn(text, ";")] = '\0';
    return unpack_report_member(unpack, object, &(struct unpack_member){text, len, len, 0, false});
}

/* A record does not cross the end of its sector: the rest of it is zeros. */
static bool read_directory(struct unpack *unpack, const struct unpack_object *object, uint64_t at,
                           uint64_t len, struct directories *list)
{
    const uint64_t end = at + len < object->len ? at + len : object->len;

    while (at < end) {
        const uint8_t *record = object->bytes + at;

        if (record[0] == 0) {
            at = (at / SECTOR + 1) * SECTOR;
            continue;
        }
        if (record[0] <= RECORD_LEN || record[0] > end - at ||
            record[NAME_LEN_AT] > record[0] - RECORD_LEN)
            return true; /* libarchive says that it is damaged */
        const bool is_dot = record[NAME_LEN_AT] == 1 && record[RECORD_LEN] <= 1;
        if (!is_dot && !report_member(unpack, object, record))
            return false;
        if ((record[25] & DIRECTORY) != 0 && !add_directory(list, record))
            return false;
        at += record[0];
    }
    return true;
}

void unpack_iso(struct unpack *unpack, const struct unpack_object *object)
{
    enum { ROOT_AT = 156 };
    struct directories list = {.n = 0};
    bool more = object->len >= VOLUME_AT + SECTOR &&
                add_directory(&list, object->bytes + VOLUME_AT + ROOT_AT);

    for (size_t i = 0; more && i < list.n; i++)
        more = read_directory(unpack, object, (uint64_t)list.at[i] * SECTOR, list.len[i], &list);
    unpack_archive(unpack, object);
}

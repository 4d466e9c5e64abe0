/* SPDX-License-Identifier: MIT */
#include "unpack/ole2.h"

#include <string.h>

#include "unpack/little.h"

enum {
    HEAD = 512,
    DIFAT_AT = 76,
    DIFAT_IN_HEAD = 109,
    ENTRY = 128,
    SECTOR_MAX = 0xFFFFFFFA /* numbers above are marks */
};

/* The bytes of a sector; less at the end of the file. NULL: it lies behind it. */
static const uint8_t *sector_at(const struct ole2 *ole2, uint32_t number, size_t *len)
{
    const uint64_t at = ((uint64_t)number + 1) << ole2->shift;

    *len = (size_t)1 << ole2->shift;
    if (at >= ole2->len)
        return NULL;
    if (ole2->len - at < *len)
        *len = ole2->len - (size_t)at;
    return ole2->bytes + at;
}

static bool add_sector(const struct ole2 *ole2, uint32_t number, struct unpack_buffer *buffer)
{
    size_t len;
    const uint8_t *bytes = sector_at(ole2, number, &len);

    return bytes != NULL && unpack_buffer_add(buffer, bytes, len);
}

/* The allocation table's sectors are listed in the head, and in sectors behind one another. */
static bool read_fat(struct ole2 *ole2)
{
    const uint32_t in_sector = (1u << ole2->shift) / 4 - 1;
    uint32_t next = ole2->difat_begin, left = ole2->fat_sectors;
    size_t len;

    for (uint32_t i = 0; i < DIFAT_IN_HEAD && left > 0; i++, left--)
        if (!add_sector(ole2, little32(ole2->bytes + DIFAT_AT + 4 * (size_t)i), &ole2->fat))
            return ole2->fat.len > 0;
    while (left > 0 && next <= SECTOR_MAX) {
        const uint8_t *list = sector_at(ole2, next, &len);

        if (list == NULL || len >> ole2->shift == 0)
            return true;
        for (uint32_t i = 0; i < in_sector && left > 0; i++, left--)
            if (!add_sector(ole2, little32(list + 4 * (size_t)i), &ole2->fat))
                return true;
        next = little32(list + 4 * (size_t)in_sector);
    }
    return true;
}

static uint32_t next_of(const struct unpack_buffer *table, uint32_t number)
{
    return number < table->len / 4 ? little32(table->bytes + 4 * (size_t)number) : UINT32_MAX;
}

/* Appends a chain of sectors, up to `len` bytes. Chains that run in a circle end with the table's
 * length. */
static bool read_chain(const struct ole2 *ole2, uint32_t number, uint64_t len,
                       struct unpack_buffer *buffer)
{
    size_t steps = ole2->fat.len / 4, have;

    while (len > 0 && number <= SECTOR_MAX && steps-- > 0) {
        const uint8_t *bytes = sector_at(ole2, number, &have);

        if (bytes == NULL)
            return false;
        if (have > len)
            have = (size_t)len;
        if (!unpack_buffer_add(buffer, bytes, have))
            return false;
        len -= have;
        number = next_of(&ole2->fat, number);
    }
    return len == 0;
}

/* The small sectors that are there keep their places behind those that were cut off. */
static void read_ministream(struct ole2 *ole2)
{
    static const uint8_t zeros[64];
    const size_t sector = (size_t)1 << ole2->shift;
    size_t steps = ole2->fat.len / 4, have;

    for (uint32_t number = ole2->root.begin;
         ole2->ministream.len < ole2->root.len && number <= SECTOR_MAX && steps-- > 0;
         number = next_of(&ole2->fat, number)) {
        const uint64_t wanted = ole2->root.len - ole2->ministream.len;
        const uint8_t *bytes = sector_at(ole2, number, &have);

        if (bytes == NULL)
            have = 0;
        ole2->is_cut |= have < sector && have < wanted;
        if (have > 0 && !unpack_buffer_add(&ole2->ministream, bytes, have))
            return;
        for (size_t n; have < sector; have += n) {
            n = sector - have < sizeof zeros ? sector - have : sizeof zeros;
            if (!unpack_buffer_add(&ole2->ministream, zeros, n))
                return;
        }
    }
}

static bool read_mini(const struct ole2 *ole2, uint32_t number, uint64_t len,
                      struct unpack_buffer *buffer)
{
    const size_t sector = (size_t)1 << ole2->mini_shift;
    size_t steps = ole2->minifat.len / 4;

    while (len > 0 && number <= SECTOR_MAX && steps-- > 0) {
        const uint64_t at = (uint64_t)number << ole2->mini_shift;
        const size_t n = len < sector ? (size_t)len : sector;

        if (at > ole2->ministream.len || ole2->ministream.len - at < n ||
            !unpack_buffer_add(buffer, ole2->ministream.bytes + at, n))
            return false;
        len -= n;
        number = next_of(&ole2->minifat, number);
    }
    return len == 0;
}

bool ole2_read(const struct ole2 *ole2, const struct ole2_entry *entry,
               struct unpack_buffer *buffer)
{
    return entry->len < ole2->mini_below ? read_mini(ole2, entry->begin, entry->len, buffer)
                                         : read_chain(ole2, entry->begin, entry->len, buffer);
}

bool ole2_entry(const struct ole2 *ole2, size_t i, struct ole2_entry *entry)
{
    if (i >= ole2->directory.len / ENTRY)
        return false;
    const uint8_t *at = ole2->directory.bytes + i * ENTRY;
    size_t n = little16(at + 64) / 2;

    n = n > 0 && n <= OLE2_NAME_MAX ? n - 1 : 0;
    for (size_t k = 0; k < n; k++)
        entry->name[k] =
            (char)(at[2 * k + 1] != 0 || at[2 * k] >= 0x7F || at[2 * k] == 0 ? '?' : at[2 * k]);
    entry->name[n] = '\0';
    entry->type = at[66];
    entry->begin = little32(at + 116);
    entry->len = ole2->shift > 9 ? little64(at + 120) : little32(at + 120);
    return true;
}

bool ole2_open(struct ole2 *ole2, struct unpack *unpack, const struct unpack_object *object)
{
    const uint8_t *head = object->bytes;
    struct unpack_buffer *const buffers[] = {&ole2->fat, &ole2->minifat, &ole2->directory,
                                             &ole2->ministream};

    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        unpack_buffer_init(unpack, buffers[i]);
    if (object->len < HEAD)
        return false;
    ole2->bytes = head;
    ole2->len = object->len;
    ole2->shift = little16(head + 30);
    ole2->mini_shift = little16(head + 32);
    ole2->fat_sectors = little32(head + 44);
    ole2->dir_begin = little32(head + 48);
    ole2->mini_below = little32(head + 56);
    ole2->minifat_begin = little32(head + 60);
    ole2->difat_begin = little32(head + 68);
    if (ole2->shift < 7 || ole2->shift > 20 || ole2->mini_shift > 12 || !read_fat(ole2))
        return false;
    (void)read_chain(ole2, ole2->dir_begin, UINT64_MAX, &ole2->directory);
    (void)read_chain(ole2, ole2->minifat_begin, UINT64_MAX, &ole2->minifat);
    if (!ole2_entry(ole2, 0, &ole2->root))
        return false;
    read_ministream(ole2);
    return true;
}

void ole2_close(struct ole2 *ole2)
{
    unpack_buffer_free(&ole2->fat);
    unpack_buffer_free(&ole2->minifat);
    unpack_buffer_free(&ole2->directory);
    unpack_buffer_free(&ole2->ministream);
}

/* SPDX-License-Identifier: MIT */
/* Headers of 7z archives: properties, each with its identifier. */
#include <stdlib.h>
#include <string.h>

#include "unpack/little.h"
#include "unpack/sevenz.h"

enum property {
    END,
    HEADER,
    ARCHIVE_PROPERTIES,
    ADDITIONAL_STREAMS,
    MAIN_STREAMS,
    FILES,
    PACK_INFO,
    UNPACK_INFO,
    SUBSTREAMS,
    SIZES,
    CRCS,
    FOLDERS,
    UNPACK_SIZES,
    COUNTS,
    EMPTY_STREAMS,
    NAMES = 0x11,
    PACKED_HEADER = 0x17
};

struct reader {
    const uint8_t *at, *end;
    bool bad;
    bool counted, listed; /* streams of folders, members: each has one section */
    struct sevenz *archive;
    uint64_t *packed_lens; /* of streams as they are packed, one a folder */
    uint64_t packed_at, n_packed;
};

/* ---- values: 0 from the place on where something is bad -------------------------------------- */

static const uint8_t *take(struct reader *reader, uint64_t len)
{
    const uint8_t *at = reader->at;

    if (reader->bad || len > (uint64_t)(reader->end - at)) {
        reader->bad = true;
        return NULL;
    }
    reader->at += len;
    return at;
}

static unsigned take_byte(struct reader *reader)
{
    const uint8_t *at = take(reader, 1);

    return at != NULL ? *at : 0;
}

/* The ones that lead the first byte count the bytes behind it, which are less than its rest. */
static uint64_t take_number(struct reader *reader)
{
    const unsigned first = take_byte(reader);
    uint64_t value = 0;
    unsigned n = 0;

    for (; n < 8 && (first & 0x80u >> n) != 0; n++)
        value |= (uint64_t)take_byte(reader) << 8 * n;
    return n < 8 ? value | (uint64_t)(first & (0x7Fu >> n)) << 8 * n : value;
}

/* A number of things that have a byte each in the header, at least. */
static uint64_t take_count(struct reader *reader)
{
    const uint64_t n = take_number(reader);

    if (n > (uint64_t)(reader->end - reader->at))
        reader->bad = true;
    return reader->bad ? 0 : n;
}

static void *make(struct reader *reader, uint64_t n, size_t len)
{
    void *made = reader->bad ? NULL : calloc(n > 0 ? (size_t)n : 1, len);

    reader->bad = reader->bad || made == NULL;
    return made;
}

static bool bit_of(const uint8_t *bits, uint64_t i)
{
    return bits == NULL || sevenz_bit(bits, i);
}

/* Bits of things; NULL: all are set. */
static const uint8_t *take_bits(struct reader *reader, uint64_t n)
{
    return take_byte(reader) != 0 ? NULL : take(reader, (n + 7) / 8);
}

/* ---- folders --------------------------------------------------------------------------------- */

static void take_coder(struct reader *reader, struct sevenz_coder *coder)
{
    const unsigned flags = take_byte(reader);
    const uint8_t *id = take(reader, flags & 0xF);

    for (unsigned i = 0; id != NULL && i < (flags & 0xF); i++)
        coder->id = coder->id << 8 | id[i];
    if ((flags & 0x10) != 0) {
        const uint64_t n_in = take_number(reader), n_out = take_number(reader);

        reader->bad = reader->bad || n_in != 1 || n_out != 1;
    }
    if ((flags & 0x20) != 0) {
        coder->properties_len = (size_t)take_count(reader);
        coder->properties = take(reader, coder->properties_len);
    }
    reader->bad = reader->bad || (flags & 0xC0) != 0;
}

/* Puts coders, each of which reads what another makes, into the order of unpacking. */
static void order_coders(struct reader *reader, struct sevenz_folder *folder,
                         const unsigned made_by[SEVENZ_CODERS_MAX],
                         unsigned order[SEVENZ_CODERS_MAX])
{
    const unsigned n = folder->n_coders;
    struct sevenz_coder coders[SEVENZ_CODERS_MAX];
    unsigned before = SEVENZ_CODERS_MAX; /* the first one reads the archive */

    memcpy(coders, folder->coders, sizeof coders);
    for (unsigned k = 0; k < n; k++) {
        unsigned i = 0;

        while (i < n && made_by[i] != before)
            i++;
        if (i == n) {
            reader->bad = true;
            return;
        }
        folder->coders[k] = coders[i];
        order[k] = before = i;
    }
}

static void take_folder(struct reader *reader, struct sevenz_folder *folder,
                        unsigned order[SEVENZ_CODERS_MAX])
{
    const uint64_t n = take_number(reader);
    unsigned made_by[SEVENZ_CODERS_MAX];

    for (unsigned i = 0; i < SEVENZ_CODERS_MAX; i++)
        made_by[i] = SEVENZ_CODERS_MAX;
    if (n == 0 || n > SEVENZ_CODERS_MAX)
        reader->bad = true;
    for (folder->n_coders = 0; !reader->bad && folder->n_coders < n; folder->n_coders++)
        take_coder(reader, &folder->coders[folder->n_coders]);
    for (unsigned i = 1; !reader->bad && i < n; i++) {
        const uint64_t in = take_number(reader), out = take_number(reader);

        if (in >= n || out >= n)
            reader->bad = true;
        else
            made_by[in] = (unsigned)out;
    }
    if (!reader->bad)
        order_coders(reader, folder, made_by, order);
}

static void take_crcs(struct reader *reader)
{
    const struct sevenz *archive = reader->archive;
    const uint8_t *bits = take_bits(reader, archive->n_folders);

    for (uint64_t i = 0; !reader->bad && i < archive->n_folders; i++) {
        struct sevenz_folder *folder = &archive->folders[i];
        const uint8_t *crc = bit_of(bits, i) ? take(reader, 4) : NULL;

        folder->has_crc = crc != NULL;
        folder->crc = crc != NULL ? little32(crc) : 0;
    }
}

static void take_unpack_info(struct reader *reader)
{
    struct sevenz *archive = reader->archive;
    unsigned(*orders)[SEVENZ_CODERS_MAX];

    if (archive->folders != NULL || take_number(reader) != FOLDERS) {
        reader->bad = true;
        return;
    }
    archive->n_folders = take_count(reader);
    reader->bad = take_byte(reader) != 0 || reader->bad; /* they are elsewhere */
    archive->folders = make(reader, archive->n_folders, sizeof *archive->folders);
    orders = make(reader, archive->n_folders, sizeof *orders);
    for (uint64_t i = 0; !reader->bad && i < archive->n_folders; i++)
        take_folder(reader, &archive->folders[i], orders[i]);
    reader->bad = take_number(reader) != UNPACK_SIZES || reader->bad;
    for (uint64_t i = 0; !reader->bad && i < archive->n_folders; i++)
        for (unsigned k = 0; k < archive->folders[i].n_coders; k++) {
            const uint64_t len = take_number(reader);

            for (unsigned place = 0; place < archive->folders[i].n_coders; place++)
                if (orders[i][place] == k)
                    archive->folders[i].coders[place].len = len;
        }
    free(orders);
    uint64_t id = take_number(reader);
    if (id == CRCS) {
        take_crcs(reader);
        id = take_number(reader);
    }
    reader->bad = reader->bad || id != END;
}

static void take_pack_info(struct reader *reader)
{
    reader->packed_at = take_number(reader);
    reader->n_packed = take_count(reader);
    if (reader->packed_lens != NULL)
        reader->bad = true;
    else
        reader->packed_lens = make(reader, reader->n_packed, sizeof *reader->packed_lens);
    for (uint64_t id; !reader->bad && (id = take_number(reader)) != END;) {
        if (id == SIZES) {
            for (uint64_t i = 0; i < reader->n_packed; i++)
                reader->packed_lens[i] = take_number(reader);
        } else if (id == CRCS) {
            const uint8_t *bits = take_bits(reader, reader->n_packed);

            for (uint64_t i = 0; !reader->bad && i < reader->n_packed; i++)
                (void)take(reader, bit_of(bits, i) ? 4 : 0);
        } else {
            reader->bad = true;
        }
    }
}

/* ---- streams in folders ---------------------------------------------------------------------- */

static uint64_t folder_len(const struct sevenz_folder *folder)
{
    return folder->coders[folder->n_coders - 1].len;
}

/* The last stream of a folder is what the others leave. */
static void take_lens(struct reader *reader, bool stated)
{
    const struct sevenz *archive = reader->archive;
    struct sevenz_stream *stream = archive->streams;

    for (uint64_t i = 0; !reader->bad && i < archive->n_folders; i++) {
        const struct sevenz_folder *folder = &archive->folders[i];
        uint64_t left = folder_len(folder);

        for (uint64_t k = 1; k < folder->n_streams && !reader->bad; k++, stream++) {
            stream->len = stated ? take_number(reader) : left + 1;
            reader->bad = reader->bad || stream->len > left;
            left -= reader->bad ? 0 : stream->len;
        }
        if (folder->n_streams > 0 && !reader->bad)
            *stream++ = (struct sevenz_stream){left, folder->n_streams == 1 && folder->has_crc,
                                               folder->crc};
    }
}

/* The digests of streams that no folder has. */
static void take_stream_crcs(struct reader *reader)
{
    const struct sevenz *archive = reader->archive;
    uint64_t n = 0, at = 0;

    for (uint64_t i = 0; i < archive->n_streams; i++)
        n += !archive->streams[i].has_crc;
    const uint8_t *bits = take_bits(reader, n);
    for (uint64_t i = 0; !reader->bad && i < archive->n_streams; i++) {
        struct sevenz_stream *stream = &archive->streams[i];

        if (stream->has_crc || !bit_of(bits, at++))
            continue;
        const uint8_t *crc = take(reader, 4);
        stream->has_crc = crc != NULL;
        stream->crc = crc != NULL ? little32(crc) : 0;
    }
}

static void count_streams(struct reader *reader, bool stated)
{
    struct sevenz *archive = reader->archive;
    const uint64_t most = (uint64_t)(reader->end - reader->at) + archive->n_folders;

    reader->bad = reader->bad || reader->counted;
    reader->counted = true;
    for (uint64_t i = 0; !reader->bad && i < archive->n_folders; i++) {
        archive->folders[i].n_streams = stated ? take_number(reader) : 1;
        if (archive->folders[i].n_streams > most - archive->n_streams)
            reader->bad = true;
        else
            archive->n_streams += archive->folders[i].n_streams;
    }
    if (!reader->bad)
        archive->streams = make(reader, archive->n_streams, sizeof *archive->streams);
}

static void take_substreams(struct reader *reader)
{
    uint64_t id = take_number(reader);

    count_streams(reader, id == COUNTS);
    if (id == COUNTS)
        id = take_number(reader);
    take_lens(reader, id == SIZES);
    if (id == SIZES)
        id = take_number(reader);
    if (!reader->bad && id == CRCS) {
        take_stream_crcs(reader);
        id = take_number(reader);
    }
    reader->bad = reader->bad || id != END;
}

/* Each folder is one packed stream, behind the one before. */
static void place_folders(struct reader *reader)
{
    const struct sevenz *archive = reader->archive;
    uint64_t at = SEVENZ_HEADER_LEN + reader->packed_at;

    if (archive->n_folders > reader->n_packed || reader->packed_at > UINT64_MAX / 4)
        reader->bad = true;
    for (uint64_t i = 0; !reader->bad && i < archive->n_folders; i++) {
        archive->folders[i].packed_at = at;
        archive->folders[i].packed_len = reader->packed_lens[i];
        reader->bad = reader->packed_lens[i] > UINT64_MAX / 4 - at;
        at += reader->packed_lens[i];
    }
}

static void take_streams(struct reader *reader)
{
    reader->bad = reader->counted; /* it is a second section */
    for (uint64_t id; !reader->bad && (id = take_number(reader)) != END;) {
        if (id == PACK_INFO)
            take_pack_info(reader);
        else if (id == UNPACK_INFO)
            take_unpack_info(reader);
        else if (id == SUBSTREAMS && reader->archive->folders != NULL)
            take_substreams(reader);
        else
            reader->bad = true;
    }
    if (!reader->counted) {
        count_streams(reader, false);
        take_lens(reader, false);
    }
    place_folders(reader);
}

/* ---- members --------------------------------------------------------------------------------- */

static void take_files(struct reader *reader)
{
    struct sevenz *archive = reader->archive;

    reader->bad = reader->listed;
    reader->listed = true;
    archive->n_members = take_count(reader);
    for (uint64_t id; !reader->bad && (id = take_number(reader)) != END;) {
        const uint64_t len = take_count(reader);
        const uint8_t *at = take(reader, len);

        if (id == NAMES && len > 0 && at != NULL) {
            reader->bad = *at != 0; /* they are elsewhere */
            archive->names = at + 1;
            archive->names_end = at + len;
        } else if (id == EMPTY_STREAMS) {
            reader->bad = reader->bad || len < (archive->n_members + 7) / 8;
            archive->empty = at;
        }
    }
}

static void skip_properties(struct reader *reader)
{
    while (!reader->bad && take_number(reader) != END)
        (void)take(reader, take_number(reader));
}

bool sevenz_header_read(struct sevenz *archive, const uint8_t *header, size_t len)
{
    struct reader reader = {.at = header, .end = header + len, .archive = archive};
    const uint64_t first = take_number(&reader);

    archive->is_packed = first == PACKED_HEADER;
    if (archive->is_packed)
        take_streams(&reader);
    else if (first != HEADER)
        reader.bad = true;
    for (uint64_t id; !archive->is_packed && !reader.bad && (id = take_number(&reader)) != END;) {
        if (id == ARCHIVE_PROPERTIES)
            skip_properties(&reader);
        else if (id == MAIN_STREAMS)
            take_streams(&reader);
        else if (id == FILES)
            take_files(&reader);
        else
            reader.bad = true;
    }
    free(reader.packed_lens);
    return !reader.bad;
}

void sevenz_header_free(struct sevenz *archive)
{
    free(archive->folders);
    free(archive->streams);
    memset(archive, 0, sizeof *archive);
}

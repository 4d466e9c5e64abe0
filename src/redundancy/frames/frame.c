/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include <xxhash.h>

#include "base/cpu.h"
#include "redundancy/match/packet_log.h"

uint64_t frame_check_scalar(const uint8_t *header, const uint8_t *packet, uint32_t len)
{
    return XXH3_64bits_withSeed(header, FRAME_CHECKED_LEN, XXH3_64bits(packet, len));
}

uint64_t frame_check(const uint8_t *header, const uint8_t *packet, uint32_t len)
{
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2)
        return frame_check_avx2(header, packet, len);
#endif
    return frame_check_scalar(header, packet, len);
}

/* ---- numbers of variable length -------------------------------------------------------------- */

/* Seven bits a byte, the lowest first; all but the last have the top bit set. */
enum { VARINT_MAX = 7 }; /* bytes: 49 bits */

/* NULL: it does not end before `end`, or is too long. */
static const uint8_t *get_varint(uint64_t *value, const uint8_t *at, const uint8_t *end)
{
    uint64_t sum = 0;

    for (int i = 0; i < VARINT_MAX && at < end; i++) {
        const uint8_t byte = *at++;

        sum |= (uint64_t)(byte & 0x7F) << 7 * i;
        if (byte < 0x80) {
            *value = sum;
            return at;
        }
    }
    return NULL;
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* ---- writing --------------------------------------------------------------------------------- */

uint8_t *frame_write_references(uint8_t *to, uint64_t position, const struct sl_match *matches,
                                size_t n_matches)
{
    struct frame_progress progress = frame_begin(position);

    for (size_t i = 0; i < n_matches; i++) {
        to = frame_write_reference(to, &progress, &matches[i]);
        progress = frame_behind(&matches[i]);
    }
    return to;
}

/* Writes the references, then the bytes between them. A reference never makes a frame longer: it
 * takes at most FRAME_REFERENCE_MAX bytes and stands for SL_REFERENCE_MIN or more. */
static uint8_t *write_body(uint8_t *to, uint64_t position, const uint8_t *packet, uint32_t len,
                           const struct sl_match *matches, size_t n_matches)
{
    uint32_t done = 0;

    to = frame_write_references(to, position, matches, n_matches);
    for (size_t i = 0; i < n_matches; i++) {
        memcpy(to, packet + done, matches[i].offset - done);
        to += matches[i].offset - done;
        done = matches[i].offset + matches[i].len;
    }
    memcpy(to, packet + done, len - done);
    return to + (len - done);
}

void frame_write_header(uint8_t *frame, uint32_t epoch, uint64_t position, const uint8_t *packet,
                        uint32_t len, size_t n_references)
{
    /* Whole words: the check reads them right away. */
    uint64_t words[SL_FRAME_HEADER_LEN / 8] = {FRAME_KIND | (uint64_t)len << 8 |
                                                   (uint64_t)epoch << 32,
                                               position | (uint64_t)n_references << 48};

    words[2] = frame_check((const uint8_t *)words, packet, len);
    memcpy(frame, words, sizeof words);
}

uint32_t frame_write(uint8_t *frame, uint32_t epoch, uint64_t position, const uint8_t *packet,
                     uint32_t len, const struct sl_match *matches, size_t n_matches)
{
    const size_t n = n_matches < SL_REFERENCES_MAX ? n_matches : SL_REFERENCES_MAX;

    frame_write_header(frame, epoch, position, packet, len, n);
    return (uint32_t)(write_body(frame + SL_FRAME_HEADER_LEN, position, packet, len, matches, n) -
                      frame);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool frame_read_header(struct frame_header *header, const uint8_t *frame, size_t len,
                       uint32_t frame_max)
{
    uint64_t words[SL_FRAME_HEADER_LEN / 8];

    if (len < SL_FRAME_HEADER_LEN || frame[0] != FRAME_KIND)
        return false;
    memcpy(words, frame, sizeof words);
    header->len = (uint32_t)words[0] >> 8;
    header->epoch = (uint32_t)(words[0] >> 32);
    header->position = words[1] & LOG_OFFSET_MAX;
    header->n_references = (uint32_t)(words[1] >> 48);
    header->check = words[2];
    return header->len <= frame_max && header->n_references <= header->len / SL_REFERENCE_MIN &&
           header->position % LOG_GRANULE == 0 && header->position <= LOG_OFFSET_MAX - SL_FRAME_MAX;
}

bool frame_read_references(struct reference *references, const uint8_t **literals,
                           const struct frame_header *header, const uint8_t *frame, size_t len)
{
    const uint8_t *const end = frame + len;
    const uint8_t *at = frame + SL_FRAME_HEADER_LEN;
    uint64_t expected = header->position;
    uint64_t n_literals = 0;
    uint32_t done = 0; /* of the packet */

    for (uint32_t i = 0; i < header->n_references; i++) {
        uint64_t gap, longer, source;

        if ((at = get_varint(&gap, at, end)) == NULL ||
            (at = get_varint(&longer, at, end)) == NULL ||
            (at = get_varint(&source, at, end)) == NULL)
            return false;
        if (gap > header->len - done || longer > SL_FRAME_MAX ||
            longer + SL_REFERENCE_MIN > header->len - done - gap)
            return false;
        references[i].gap = (uint32_t)gap;
        references[i].len = (uint32_t)longer + SL_REFERENCE_MIN;
        references[i].source = expected + gap + (uint64_t)unzigzag(source);
        expected = references[i].source + references[i].len;
        done += references[i].gap + references[i].len;
        n_literals += gap;
    }
    n_literals += header->len - done;
    *literals = at;
    return n_literals == (uint64_t)(end - at);
}

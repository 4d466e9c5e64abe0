/* SPDX-License-Identifier: MIT */
/* The scanner: objects are laid into batches, whole or in pieces, and end in the order in which
 * they began. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "clamav/scanner_internal.h"

enum { OVERLAP = 256 /* bytes that pieces share; anchors are shorter */ };

/* Where an object comes from: memory, or a descriptor. */
struct scanner_source {
    const uint8_t *bytes;
    int fd;
    struct clam_queued queued;
};

/* ---- batches --------------------------------------------------------------------------------- */

static void begin_large(struct sl_clamav_scanner *scanner, const struct scanner_source *source)
{
    scanner->object.bytes = source->bytes;
    scanner->object.fd = source->fd;
    scanner_begin_object(scanner, &source->queued);
}

/* Its hits belong to the large object, which begins with its first piece. */
static void end_piece(struct sl_clamav_scanner *scanner, const struct clam_flight *flight)
{
    struct clam_object *object = &scanner->object;
    size_t next = 0;

    object->piece = flight->batch->bytes;
    object->piece_at = flight->base;
    object->piece_len = flight->batch->payload[0].len;
    if (flight->base == 0) /* its head is read from the piece */
        begin_large(scanner, scanner->large);
    scanner_take_hits(scanner, &flight->hits, 0, flight->base, &next);
    object->piece_len = 0;
    scanner->large_is_late = clam_match_check_time(&scanner->match);
}

static enum sl_status end_objects(struct sl_clamav_scanner *scanner,
                                  const struct clam_flight *flight)
{
    const struct sl_batch *batch = flight->batch;
    enum sl_status status = SL_OK;
    size_t next = 0;

    for (uint32_t item = 0; item < batch->n_items && status == SL_OK; item++) {
        const struct clam_queued *queued = &flight->queue[item];

        scanner->object.bytes =
            queued->bytes != NULL ? queued->bytes : batch->bytes + batch->payload[item].offset;
        scanner_begin_object(scanner, queued);
        scanner_take_hits(scanner, &flight->hits, item, 0, &next);
        status = scanner_end_object(scanner, queued);
    }
    return status;
}

/* Ends the oldest batch. An error discards the batches in flight: none of their objects ends. */
static enum sl_status end_oldest(struct sl_clamav_scanner *scanner)
{
    struct clam_flight *flight;
    enum sl_status status = clam_filter_wait(&scanner->filter, &flight);

    if (status == SL_OK && flight->is_piece)
        end_piece(scanner, flight);
    else if (status == SL_OK)
        status = end_objects(scanner, flight);
    if (status == SL_OK)
        clam_filter_give_back(&scanner->filter);
    else
        clam_filter_drop(&scanner->filter);
    return status;
}

/* Starts the batch that has been filled; then there is one to be filled again. */
static enum sl_status send_batch(struct sl_clamav_scanner *scanner)
{
    const enum sl_status status = clam_filter_start(&scanner->filter);

    if (status != SL_OK) {
        clam_filter_drop(&scanner->filter);
        return status;
    }
    return clam_filter_is_full(&scanner->filter) ? end_oldest(scanner) : SL_OK;
}

enum sl_status sl_clamav_flush(struct sl_clamav_scanner *scanner)
{
    struct clam_filter *filter = &scanner->filter;
    enum sl_status status = SL_OK;

    if (clam_filter_filling(filter)->batch->n_items > 0)
        status = send_batch(scanner);
    while (filter->n_started > 0 && status == SL_OK)
        status = end_oldest(scanner);
    return status;
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Reads up to len bytes, and notes a failure. Returns the bytes read. */
static size_t read_source(struct scanner_source *source, uint64_t at, uint8_t *to, size_t len)
{
    if (source->bytes != NULL) {
        memcpy(to, source->bytes + at, len);
        return len;
    }

    const int64_t n = fd_read_at(source->fd, to, len, at);

    if (n < 0)
        source->queued.error = errno;
    if (n != (int64_t)len)
        source->queued.changed = true;
    return n < 0 ? 0 : (size_t)n;
}

static enum sl_status add_small(struct sl_clamav_scanner *scanner, struct scanner_source *source)
{
    struct clam_flight *flight = clam_filter_filling(&scanner->filter);
    enum sl_status status = SL_OK;

    if (!sl_batch_fits(flight->batch, (uint32_t)source->queued.len)) {
        status = send_batch(scanner);
        flight = clam_filter_filling(&scanner->filter);
    }
    if (status != SL_OK)
        return status;
    const size_t n = read_source(source, 0, flight->batch->bytes + flight->batch->bytes_len,
                                 (size_t)source->queued.len);
    if (n < source->queued.len) /* it shrank: its present bytes are scanned */
        source->queued.len = source->queued.full_len = n;
    flight->queue[sl_batch_append(flight->batch, (uint32_t)n, 0)] = source->queued;
    return SL_OK;
}

/* Fills an empty batch with the piece from *at on. */
static void fill_piece(struct clam_flight *flight, struct scanner_source *source, uint64_t *at)
{
    const uint64_t end = source->queued.len;
    const uint16_t overlap = *at > 0 ? OVERLAP : 0;
    const uint64_t begin = *at - overlap;
    uint64_t len = end - begin;

    if (len > flight->batch->bytes_cap)
        len = flight->batch->bytes_cap;
    const size_t n = read_source(source, begin, flight->batch->bytes, (size_t)len);
    if (source->bytes == NULL) /* the next piece, while this one is scanned */
        (void)posix_fadvise(source->fd, (off_t)(begin + len), (off_t)len, POSIX_FADV_WILLNEED);
    (void)sl_batch_append(flight->batch, (uint32_t)n, n >= overlap ? overlap : (uint16_t)n);
    flight->is_piece = true;
    flight->base = begin;
    *at = n < len ? end : begin + len; /* a file that shrank ends here */
}

static enum sl_status scan_large(struct sl_clamav_scanner *scanner, struct scanner_source *source)
{
    struct clam_filter *filter = &scanner->filter;
    enum sl_status status = SL_OK;
    uint64_t at = 0;

    if (clam_filter_filling(filter)->batch->n_items > 0)
        status = send_batch(scanner);
    scanner->large = source;
    scanner->large_is_late = false;
    while (at < source->queued.len && status == SL_OK && !scanner->large_is_late) {
        fill_piece(clam_filter_filling(filter), source, &at);
        status = send_batch(scanner);
    }
    source->queued.len = at;
    if (status == SL_OK)
        status = sl_clamav_flush(scanner);
    if (status == SL_OK)
        status = scanner_end_object(scanner, &source->queued);
    scanner->large = NULL;
    free(scanner->object.memory);
    scanner->object.memory = NULL;
    scanner->object.memory_cap = 0;
    return status;
}

static enum sl_status scan_source(struct sl_clamav_scanner *scanner, struct scanner_source *source)
{
    const uint64_t max = scanner->config.max_scan_len;

    if (max > 0 && source->queued.len > max)
        source->queued.len = max;
    return source->queued.len <= clam_filter_filling(&scanner->filter)->batch->bytes_cap
               ? add_small(scanner, source)
               : scan_large(scanner, source);
}

enum sl_status sl_clamav_scan_buffer(struct sl_clamav_scanner *scanner, const void *bytes,
                                     uint64_t len, void *token)
{
    static const uint8_t nothing[1];
    struct scanner_source source = {.bytes = bytes != NULL ? (const uint8_t *)bytes : nothing,
                                    .queued = {.token = token, .len = len, .full_len = len}};

    source.queued.bytes = source.bytes;
    return scan_source(scanner, &source);
}

static void find_len(struct scanner_source *source)
{
    struct stat file;

    if (fstat(source->fd, &file) != 0)
        source->queued.error = errno;
    else if (!S_ISREG(file.st_mode))
        source->queued.error = S_ISDIR(file.st_mode) ? EISDIR : EINVAL;
    else
        source->queued.len = source->queued.full_len = (uint64_t)file.st_size;
}

enum sl_status sl_clamav_scan_fd(struct sl_clamav_scanner *scanner, int fd, void *token)
{
    const struct clam_given given = {.fd = fd, .token = token};

    return clam_scan_given(scanner, &given);
}

enum sl_status clam_scan_given(struct sl_clamav_scanner *scanner, const struct clam_given *given)
{
    struct scanner_source source = {.bytes = given->bytes, .fd = given->fd};

    source.queued.token = given->token;
    source.queued.place = given->place;
    if (given->bytes != NULL)
        source.queued.len = source.queued.full_len = given->len;
    else
        find_len(&source);
    return scan_source(scanner, &source);
}

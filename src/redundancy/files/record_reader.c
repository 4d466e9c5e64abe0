/* SPDX-License-Identifier: MIT */
#include "record_reader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/least.h"
#include "redundancy/match/packet_log.h"

enum {
    THREADS_MAX = 6,   /* what the decoder in order keeps up with */
    MORE_UNITS = 2,    /* queued, or in the decoder's hands */
    UNIT_RECORDS = 32, /* at most */
    UNIT_STORED = 4 << 20,
    UNIT_FRAMES = 8 << 20 /* bytes of frames, at most */
};

_Static_assert(UNIT_STORED >= RECORD_HEADER_LEN + RECORD_BODY_MAX, "a record has room");
_Static_assert(UNIT_FRAMES >= SL_FRAME_HEADER_LEN + SL_FRAME_MAX, "a frame has room");

struct unit {
    uint64_t begin; /* in the file */
    size_t len;
    uint32_t n;
    struct unit_record {
        size_t at, stored; /* in the unit, and bytes of the body */
        size_t frame_at, frame_len;
    } records[UNIT_RECORDS];
    bool begins_stream; /* of zstd; others go on where the unit before ended */
    bool open;          /* and so must the next */
    uint8_t *stored, *frames;
    ZSTD_DCtx *zstd;

    /* Of the first record that failed, or of what is behind the last. */
    uint32_t n_good;
    bool has_header; /* its check has passed */
    enum sl_status status;
    const char *reason;
    struct sl_diag diag;
    bool done;
};

/* Number i of the units is units[i % n_units]. */
struct record_reader {
    int in;
    uint32_t packet_max;
    bool has_zstd;
    uint64_t at;    /* of the first record that is in no unit */
    bool found_all; /* no more records, or none that can be told */
    bool is_first;  /* the next unit is the file's first */
    bool was_open;  /* as the unit before the current one ended */
    uint32_t next;  /* record of the current unit */
    uint8_t *room;
    size_t room_len;
    uint32_t n_units, n_threads, n_threads_max;
    struct unit units[THREADS_MAX + MORE_UNITS];
    pthread_t threads[THREADS_MAX];

    pthread_mutex_t lock; /* of all below, and of `done` */
    pthread_cond_t changed;
    uint64_t n_found, n_taken, n_used;
    bool stops;
};

static struct unit *unit_of(struct record_reader *r, uint64_t number)
{
    return &r->units[number % r->n_units];
}

/* ---- one record ------------------------------------------------------------------------------ */

enum { MAGIC_LEN = 4 };

/* Whether a frame of zstd begins here. No block of one does so: its length would be too large. */
static bool begins_stream(const uint8_t *body, size_t len)
{
    return len >= MAGIC_LEN && get_le(body, MAGIC_LEN) == ZSTD_MAGICNUMBER;
}

const char *record_unpack(ZSTD_DCtx *zstd, const uint8_t *record, size_t stored,
                          uint32_t packet_max, uint8_t *frame, size_t *frame_len, bool *open)
{
    const uint8_t *const body = record + RECORD_HEADER_LEN;
    ZSTD_inBuffer in = {body, stored, 0};
    ZSTD_outBuffer out = {frame + SL_FRAME_HEADER_LEN, packet_max, 0};

    memcpy(frame, record + RECORD_FRAME, SL_FRAME_HEADER_LEN);
    if (zstd == NULL || stored == 0) {
        if (stored > packet_max)
            return "it is longer than this file's frames";
        memcpy(out.dst, body, stored);
        *frame_len = SL_FRAME_HEADER_LEN + stored;
        return NULL;
    }
    if (*open && begins_stream(body, stored))
        return "zstd expects more of the frame before";
    while (in.pos < in.size) {
        const size_t before = in.pos + out.pos;
        const size_t left = ZSTD_decompressStream(zstd, &out, &in);

        if (ZSTD_isError(left))
            return ZSTD_getErrorName(left);
        if (in.pos + out.pos == before)
            return "it is longer than this file's frames";
        *open = left != 0;
    }
    *frame_len = SL_FRAME_HEADER_LEN + out.pos;
    return NULL;
}

/* ---- one unit -------------------------------------------------------------------------------- */

static void fail(struct unit *unit, uint32_t record, enum sl_status status, const char *reason)
{
    unit->n_good = record;
    unit->has_header = false;
    unit->status = status;
    unit->reason = reason;
}

static void fail_to_read(struct unit *unit, uint32_t record)
{
    fail(unit, record, fd_failed("cannot read", &unit->diag), unit->diag.text);
}

/* A stream of zstd begins. */
static bool begin_stream(struct unit *unit)
{
    if (unit->zstd == NULL)
        unit->zstd = zstd_open_decompressor();
    if (unit->zstd != NULL && !ZSTD_isError(ZSTD_DCtx_reset(unit->zstd, ZSTD_reset_session_only)) &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(unit->zstd, ZSTD_d_windowLogMax, FILE_WINDOW_LOG)))
        return true;
    fail(unit, 0, SL_ENOMEM, "no memory for zstd");
    return false;
}

/* The stream goes on where the unit before ended. It has been taken, so that it ends. */
static bool take_stream(struct record_reader *r, struct unit *unit, uint64_t number)
{
    struct unit *const before = unit_of(r, number - 1);
    ZSTD_DCtx *const own = unit->zstd;

    pthread_mutex_lock(&r->lock);
    while (!before->done)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
    unit->open = before->open;
    unit->zstd = before->zstd;
    before->zstd = own;
    return before->status == SL_OK;
}

static void check_records(const struct record_reader *r, struct unit *unit, size_t len)
{
    ZSTD_DCtx *const zstd = r->has_zstd ? unit->zstd : NULL;
    size_t frame_at = 0;

    for (uint32_t i = 0; i < unit->n_good; i++) {
        struct unit_record *const record = &unit->records[i];
        const uint8_t *const bytes = unit->stored + record->at;

        if (len - least(len, record->at) < RECORD_HEADER_LEN + record->stored) {
            fail(unit, i, SL_ETRUNCATED, "the file ends here or inside it");
            return;
        }
        if (get_le(bytes + RECORD_CHECK, 8) !=
            record_check(bytes, bytes + RECORD_HEADER_LEN, record->stored)) {
            fail(unit, i, SL_EFORMAT, "it is damaged: its check does not match");
            return;
        }
        record->frame_at = frame_at;
        const char *const reason =
            record_unpack(zstd, bytes, record->stored, r->packet_max, unit->frames + frame_at,
                          &record->frame_len, &unit->open);
        if (reason != NULL) {
            fail(unit, i, SL_EFORMAT, reason);
            unit->has_header = true;
            return;
        }
        frame_at += record->frame_len;
    }
}

static void do_unit(struct record_reader *r, uint64_t number)
{
    struct unit *const unit = unit_of(r, number);
    const int64_t len = fd_read_at(r->in, unit->stored, unit->len, unit->begin);

    if (len < 0)
        fail_to_read(unit, 0);
    else if (!r->has_zstd ||
             (unit->begins_stream ? begin_stream(unit) : take_stream(r, unit, number)))
        check_records(r, unit, (size_t)len);
    pthread_mutex_lock(&r->lock);
    unit->done = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* ---- finding units --------------------------------------------------------------------------- */

/* Reads the header of the record at r->at, and the bytes behind it. False: nothing follows the
 * unit's records, for the reason that it has. */
static bool find_record(struct record_reader *r, struct unit *unit, size_t *stored, bool *begins,
                        bool *is_last)
{
    uint8_t bytes[RECORD_HEADER_LEN + MAGIC_LEN];
    const int64_t len = fd_read_at(r->in, bytes, sizeof bytes, r->at);

    if (len < 0) {
        fail_to_read(unit, unit->n);
        return false;
    }
    if (len < RECORD_HEADER_LEN) {
        fail(unit, unit->n, SL_ETRUNCATED, "the file ends here or inside it");
        return false;
    }
    *stored = get_le(bytes, 4);
    if (*stored > RECORD_BODY_MAX) {
        fail(unit, unit->n, SL_EFORMAT, "it is damaged: its length is above all limits");
        return false;
    }
    *begins =
        begins_stream(bytes + RECORD_HEADER_LEN, least(*stored, (uint64_t)len - RECORD_HEADER_LEN));
    *is_last = get_le(bytes + RECORD_FRAME + 1, 3) == 0;
    return true;
}

static bool has_room(const struct record_reader *r, const struct unit *unit, size_t stored)
{
    return unit->n == 0 ||
           (unit->n < UNIT_RECORDS && unit->len + RECORD_HEADER_LEN + stored <= UNIT_STORED &&
            (unit->n + 1) * (size_t)(SL_FRAME_HEADER_LEN + r->packet_max) <= UNIT_FRAMES);
}

static void find_unit(struct record_reader *r, struct unit *unit)
{
    bool begins = false, is_last = false;
    size_t stored = 0;

    unit->begin = r->at;
    unit->len = 0;
    unit->n = 0;
    unit->status = SL_OK;
    unit->open = unit->has_header = unit->done = false;
    while (!r->found_all) {
        if (!find_record(r, unit, &stored, &begins, &is_last)) {
            r->found_all = true;
            break;
        }
        if (!has_room(r, unit, stored) || (begins && unit->n > 0))
            break;
        if (unit->n == 0)
            unit->begins_stream = begins || r->is_first;
        unit->records[unit->n++] = (struct unit_record){.at = unit->len, .stored = stored};
        unit->len += RECORD_HEADER_LEN + stored;
        r->at += RECORD_HEADER_LEN + stored;
        r->found_all = is_last;
    }
    unit->n_good = unit->n;
    if (unit->n == 0) /* it has no stream, and the one before must not be taken */
        unit->begins_stream = true;
    r->is_first = false;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *work(void *user)
{
    struct record_reader *const r = user;

    for (;;) {
        pthread_mutex_lock(&r->lock);
        while (r->n_taken == r->n_found && !r->stops)
            pthread_cond_wait(&r->changed, &r->lock);
        const bool stops = r->stops;
        const uint64_t number = stops ? 0 : r->n_taken++;
        pthread_mutex_unlock(&r->lock);
        if (stops)
            return NULL;
        do_unit(r, number);
    }
}

/* Offers as many units as there is room for. A thread is started where units wait; where it cannot
 * be, the others do them. */
static void find_units(struct record_reader *r)
{
    while (!r->found_all && r->n_found - r->n_used < r->n_units) {
        find_unit(r, unit_of(r, r->n_found));
        pthread_mutex_lock(&r->lock);
        r->n_found++;
        const bool waits = r->n_found - r->n_taken > 1;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
        if (waits && r->n_threads < r->n_threads_max &&
            pthread_create(&r->threads[r->n_threads], NULL, work, r) == 0)
            r->n_threads++;
    }
}

/* The caller does a unit that no thread has taken. */
static struct unit *wait_for(struct record_reader *r, uint64_t number)
{
    struct unit *const unit = unit_of(r, number);

    pthread_mutex_lock(&r->lock);
    const bool takes = r->n_taken == number;
    r->n_taken += takes;
    pthread_mutex_unlock(&r->lock);
    if (takes)
        do_unit(r, number);
    pthread_mutex_lock(&r->lock);
    while (!unit->done)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
    return unit;
}

/* ---- the reader ------------------------------------------------------------------------------ */

enum sl_status record_reader_create(struct record_reader **reader, int in, unsigned n_threads,
                                    struct sl_diag *diag)
{
    struct record_reader *const r = calloc(1, sizeof *r);

    if (r == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for frames");
    r->in = in;
    r->n_threads_max = n_threads < THREADS_MAX ? n_threads : THREADS_MAX;
    r->n_units = r->n_threads_max + MORE_UNITS;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    *reader = r;
    return SL_OK;
}

static enum sl_status open_units(struct record_reader *r, struct sl_diag *diag)
{
    const size_t each = UNIT_STORED + UNIT_FRAMES;

    if (r->room != NULL)
        return SL_OK;
    r->room_len = r->n_units * each;
    r->room = memory_map(r->room_len, "frames", diag);
    if (r->room == NULL)
        return SL_ENOMEM;
    for (uint32_t i = 0; i < r->n_units; i++) {
        r->units[i].stored = r->room + i * each;
        r->units[i].frames = r->units[i].stored + UNIT_STORED;
    }
    return SL_OK;
}

enum sl_status record_reader_begin(struct record_reader *r, uint64_t at,
                                   const struct file_header *header, struct sl_diag *diag)
{
    r->at = at;
    r->packet_max = header->packet_max;
    r->has_zstd = (header->flags & FILE_ZSTD) != 0;
    r->is_first = true;
    r->was_open = r->found_all = false;
    r->n_used = r->n_found; /* and all were taken */
    r->next = 0;
    return open_units(r, diag);
}

/* The unit of the next record. NULL: there is none, as the last one's header said at first. */
static struct unit *next_unit(struct record_reader *r)
{
    find_units(r);
    struct unit *const unit = wait_for(r, r->n_used);

    if (r->next < unit->n_good || unit->status != SL_OK)
        return unit;
    if (r->n_used + 1 == r->n_found)
        return NULL;
    /* The next unit may take this one's stream, so this one is in use until then. */
    (void)wait_for(r, r->n_used + 1);
    r->was_open = unit->open;
    r->n_used++;
    r->next = 0;
    find_units(r);
    return unit_of(r, r->n_used);
}

void record_reader_next(struct record_reader *r, struct read_record *record)
{
    const struct unit *const unit = next_unit(r);

    *record = (struct read_record){.status = SL_EFORMAT, .reason = "it changed meanwhile"};
    if (unit == NULL)
        return;
    const uint32_t i = r->next++;
    const struct unit_record *const at = &unit->records[i];
    const bool is_good = i < unit->n_good;

    if (is_good || unit->has_header) {
        record->header = unit->stored + at->at;
        record->stored = at->stored;
    }
    if (is_good && i == 0 && r->was_open && unit->begins_stream) {
        record->reason = "zstd expects more of the frame before";
        return;
    }
    record->status = is_good ? SL_OK : unit->status;
    record->reason = unit->reason;
    if (is_good) {
        record->frame = unit->frames + at->frame_at;
        record->frame_len = at->frame_len;
    }
}

void record_reader_free(struct record_reader *r)
{
    if (r == NULL)
        return;
    pthread_mutex_lock(&r->lock);
    r->stops = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    while (r->n_threads > 0)
        pthread_join(r->threads[--r->n_threads], NULL);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    for (uint32_t i = 0; i < r->n_units; i++)
        ZSTD_freeDCtx(r->units[i].zstd);
    memory_unmap(r->room, r->room_len);
    free(r);
}

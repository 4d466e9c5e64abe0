/* SPDX-License-Identifier: MIT */
#include "packet_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/diag.h"

enum { APPEND_AHEAD = 1536, LINE = 64 /* bytes */ };

void *memory_map(uint64_t len, const char *what, struct sl_diag *diag)
{
    const uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t machine_len = (uint64_t)sysconf(_SC_PHYS_PAGES) * page_len;

    if (len > machine_len) {
        diag_set(diag, SL_ENOMEM, NULL, 0,
                 "%s of %" PRIu64 " bytes: this machine has %" PRIu64 " bytes of memory", what, len,
                 machine_len);
        return NULL;
    }

    void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        diag_set(diag, SL_ENOMEM, NULL, 0, "%s of %" PRIu64 " bytes: %s", what, len,
                 strerror(errno));
        return NULL;
    }
    /* Probes and references are random: with pages of 4 KiB each would miss the TLB as well. */
    if (len >= HUGE_PAGE_LEN)
        (void)madvise(memory, len, MADV_HUGEPAGE);
    return memory;
}

void memory_unmap(void *memory, uint64_t len)
{
    if (memory != NULL)
        munmap(memory, len);
}

/* Bytes of the bitmap. */
static uint64_t known_len(const struct packet_log *log)
{
    return (log->len / LOG_GRANULE + 63) / 64 * sizeof(uint64_t);
}

enum sl_status log_create(struct packet_log *log, uint64_t len, bool with_holes,
                          struct sl_diag *diag)
{
    *log = (struct packet_log){.len = log_round(len)};
    log->bytes = memory_map(log->len, "a packet cache", diag);
    if (log->bytes == NULL)
        return SL_ENOMEM;
    if (with_holes) {
        log->known = memory_map(known_len(log), "a map of a packet cache", diag);
        if (log->known == NULL) {
            log_free(log);
            return SL_ENOMEM;
        }
    }
    return SL_OK;
}

void log_free(struct packet_log *log)
{
    memory_unmap(log->bytes, log->len);
    memory_unmap(log->known, known_len(log));
    log->bytes = NULL;
    log->known = NULL;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

void log_put(const struct packet_log *log, uint64_t at, const uint8_t *bytes, uint32_t len)
{
    const uint64_t first = len < log->len - at ? len : log->len - at;
    const uint64_t pad = log_round(len) - len;

    memcpy(log->bytes + at, bytes, first);
    memcpy(log->bytes, bytes + first, len - first);
    /* Ring and granules are aligned alike: the padding of a granule never wraps. */
    memset(log->bytes + (at + len < log->len ? at + len : at + len - log->len), 0, pad);
}

void log_copy(const struct packet_log *log, uint64_t offset, uint8_t *out, uint32_t len)
{
    const uint64_t at = log_at(log, offset);
    const uint64_t first = len < log->len - at ? len : log->len - at;

    memcpy(out, log->bytes + at, first);
    memcpy(out + first, log->bytes, len - first);
}

bool log_equals(const struct packet_log *log, uint64_t offset, const uint8_t *bytes, uint32_t len)
{
    const uint64_t at = log_at(log, offset);
    const uint64_t first = len < log->len - at ? len : log->len - at;

    return memcmp(bytes, log->bytes + at, first) == 0 &&
           memcmp(bytes + first, log->bytes, len - first) == 0;
}

/* ---- what is known --------------------------------------------------------------------------- */

static void mark_range(uint64_t *bits, uint64_t first, uint64_t n, bool known)
{
    while (n > 0) {
        const unsigned shift = first % 64;
        const uint64_t here = n < 64 - shift ? n : 64 - shift;
        const uint64_t mask = (here == 64 ? ~UINT64_C(0) : (UINT64_C(1) << here) - 1) << shift;

        if (known)
            bits[first / 64] |= mask;
        else
            bits[first / 64] &= ~mask;
        first += here;
        n -= here;
    }
}

/* len is a whole number of granules, at most the ring's. */
static void mark(struct packet_log *log, uint64_t at, uint64_t len, bool known)
{
    const uint64_t first = len < log->len - at ? len : log->len - at;

    mark_range(log->known, at / LOG_GRANULE, first / LOG_GRANULE, known);
    mark_range(log->known, 0, (len - first) / LOG_GRANULE, known);
}

/* Bits from `first` that equal `known`, at most n. */
static uint64_t run_of(const uint64_t *bits, uint64_t first, uint64_t n, bool known)
{
    uint64_t done = 0;

    while (done < n) {
        const unsigned shift = (first + done) % 64;
        const uint64_t word = bits[(first + done) / 64];
        const uint64_t other = (known ? ~word : word) >> shift;

        if (other != 0) {
            done += (unsigned)__builtin_ctzll(other);
            break;
        }
        done += 64 - shift;
    }
    return done < n ? done : n;
}

uint64_t log_run(const struct packet_log *log, uint64_t offset, uint64_t max, bool known)
{
    const uint64_t inside = offset % LOG_GRANULE;
    const uint64_t limit = max < log->end - offset ? max : log->end - offset;
    const uint64_t at = log_at(log, offset) / LOG_GRANULE;
    const uint64_t n_ring = log->len / LOG_GRANULE;
    const uint64_t n = (inside + limit + LOG_GRANULE - 1) / LOG_GRANULE;
    const uint64_t first = n < n_ring - at ? n : n_ring - at;

    uint64_t run = run_of(log->known, at, first, known);
    if (run == first)
        run += run_of(log->known, 0, n - first, known);

    const uint64_t len = run * LOG_GRANULE;
    if (len <= inside)
        return 0;
    return len - inside < limit ? len - inside : limit;
}

uint64_t log_known_before(const struct packet_log *log, uint64_t offset, uint64_t max)
{
    const uint64_t start = log_start(log);
    const uint64_t limit = max < offset - start ? max : offset - start;
    uint64_t done = 0;

    /* A word of the bitmap at a time, from the granule of the last byte down. */
    while (done < limit) {
        const uint64_t last = offset - done - 1;
        const uint64_t granule = log_at(log, last) / LOG_GRANULE;
        const unsigned n_word = granule % 64 + 1;
        const uint64_t missing = ~log->known[granule / 64] << (64 - n_word);
        const unsigned n = missing != 0 ? (unsigned)__builtin_clzll(missing) : n_word;

        if (n > 0)
            done += (n - 1) * LOG_GRANULE + last % LOG_GRANULE + 1;
        if (n < n_word)
            break;
    }
    return done < limit ? done : limit;
}

void log_set_known(struct packet_log *log, uint64_t offset, uint32_t len)
{
    mark(log, log_at(log, offset), log_round(len), true);
}

void log_mark(struct packet_log *log, uint64_t offset, uint64_t len, bool known)
{
    mark(log, log_at(log, offset), len, known);
}

/* ---- growing --------------------------------------------------------------------------------- */

static void advance(struct packet_log *log, uint64_t len)
{
    if (log->known != NULL)
        mark(log, log->end_at, len < log->len ? len : log->len, false);
    log->end += len;
    log->end_at = (log->end_at + len) % log->len;
}

/* The next write goes to lines that were written a whole ring ago and are in no cache. They are
 * fetched while the next packet is made. */
static void prefetch_end(const struct packet_log *log)
{
    const uint64_t left = log->len - log->end_at;
    const uint64_t n = left < APPEND_AHEAD ? left : APPEND_AHEAD;

    for (uint64_t i = 0; i < n; i += LINE)
        __builtin_prefetch(log->bytes + log->end_at + i, 1);
}

void log_append(struct packet_log *log, const uint8_t *bytes, uint32_t len)
{
    if (len == 0)
        return;
    log_put(log, log->end_at, bytes, len);
    advance(log, log_round(len));
    prefetch_end(log);
}

void log_skip(struct packet_log *log, uint64_t offset)
{
    advance(log, offset - log->end);
}

/* Whole pages alone: the others have bytes that are kept. */
static void give_back(const struct packet_log *log, uint64_t at, uint64_t len)
{
    const uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t begin = (at + page_len - 1) / page_len * page_len;
    const uint64_t end = (at + len) / page_len * page_len;

    if (begin < end)
        (void)madvise(log->bytes + begin, end - begin, MADV_DONTNEED);
}

void log_drop(struct packet_log *log, uint64_t offset)
{
    const uint64_t start = log_start(log);

    if (offset <= start)
        return;
    const uint64_t at = log_at(log, start), len = offset - start;
    const uint64_t first = len < log->len - at ? len : log->len - at;
    give_back(log, at, first);
    give_back(log, 0, len - first);
    log->floor = offset;
}

void log_restart(struct packet_log *log, uint64_t offset)
{
    if (log->gives_back)
        give_back(log, 0, log->len);
    /* The end moves to the ring's index. Bytes below the floor are never read, and advance marks
     * later ones. */
    log->end = log->floor = offset;
}

void log_fill(struct packet_log *log, uint64_t offset, const uint8_t *bytes, uint32_t len)
{
    if (len == 0)
        return;
    log_put(log, log_at(log, offset), bytes, len);
    log_set_known(log, offset, len);
}

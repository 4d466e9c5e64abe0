/* SPDX-License-Identifier: MIT */
/* The scanner: objects are laid into batches, whole or in pieces; the filter finds anchors; what
 * they belong to is verified on the object, and at its end expressions and hashes are evaluated. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "clamav/db.h"
#include "clamav/filter.h"
#include "clamav/match.h"

enum {
    BATCH_LEN = 4 << 20,
    BATCH_LEN_MIN = 1 << 16,
    FEED_IN_MEMORY = 16 << 20, /* bytes; above, a temporary file */
    OVERLAP = 256              /* bytes that pieces share; anchors are shorter */
};

/* Where an object comes from: memory, or a descriptor. */
struct source {
    const uint8_t *bytes;
    int fd;
    struct clam_queued queued;
};

struct sl_clamav_scanner {
    const struct sl_clamav_db *db;
    struct sl_clamav_scan_config config;
    struct clam_filter filter;
    struct source *large; /* whose pieces are on their way */
    struct clam_match match;
    struct clam_object object;
    struct clam_exe exe;
    uint8_t window[CLAM_WINDOW_LEN];

    /* Of the object that is evaluated. */
    uint32_t *seen; /* by signature: the epoch in which it became a candidate */
    uint32_t *candidates;
    size_t n_candidates;
    uint32_t object_hits;
    struct sl_clamav_result result;
    void *token;
    bool over; /* no more matches are wanted */

    uint8_t *fed; /* sl_clamav_feed's bytes */
    size_t fed_len, fed_cap;
    FILE *fed_file;
    uint64_t fed_total;
};

void sl_clamav_scan_config_init(struct sl_clamav_scan_config *config)
{
    memset(config, 0, sizeof *config);
    config->device.kind = SL_DEVICE_CPU;
}

/* ---- open and close -------------------------------------------------------------------------- */

enum sl_status sl_clamav_open(struct sl_clamav_scanner **scanner, const struct sl_clamav_db *db,
                              const struct sl_clamav_scan_config *config, struct sl_diag *diag)
{
    struct sl_clamav_scanner *made = calloc(1, sizeof *made);
    const uint64_t n_sigs = db->block->n[CLAM_A_SIGS];
    enum sl_status status;

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    made->db = db;
    made->config = *config;
    if (made->config.batch_len == 0)
        made->config.batch_len = BATCH_LEN;
    if (made->config.batch_len < BATCH_LEN_MIN)
        made->config.batch_len = BATCH_LEN_MIN;
    made->seen = calloc(n_sigs + 1, sizeof *made->seen);
    made->candidates = calloc(n_sigs + 1, sizeof *made->candidates);
    if (!clam_match_open(&made->match, db->block) || made->seen == NULL || made->candidates == NULL)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    else
        status = clam_filter_open(&made->filter, db->mpm, &made->config.device,
                                  made->config.batch_len, diag);
    if (status != SL_OK) {
        sl_clamav_close(made);
        return status;
    }
    *scanner = made;
    return SL_OK;
}

static void drop_fed(struct sl_clamav_scanner *scanner)
{
    if (scanner->fed_file != NULL)
        (void)fclose(scanner->fed_file);
    scanner->fed_file = NULL;
    scanner->fed_len = 0;
    scanner->fed_total = 0;
}

void sl_clamav_close(struct sl_clamav_scanner *scanner)
{
    if (scanner == NULL)
        return;
    drop_fed(scanner);
    clam_filter_close(&scanner->filter);
    clam_match_close(&scanner->match);
    free(scanner->object.memory);
    free(scanner->seen);
    free(scanner->candidates);
    free(scanner->fed);
    free(scanner);
}

/* ---- one object ------------------------------------------------------------------------------ */

static void begin_any(struct sl_clamav_scanner *scanner, void *token, uint64_t len)
{
    struct clam_object *object = &scanner->object;

    object->len = len;
    object->exe = &scanner->exe;
    object->window = scanner->window;
    object->window_cap = sizeof scanner->window;
    object->window_len = 0;
    object->window_at = 0;
    object->looked_len = 0;
    object->short_read = false;
    object->error = 0;
    object->part = false;
    object->origin = 0;
    clam_match_begin(&scanner->match, object);
    scanner->n_candidates = 0;
    scanner->object_hits = 0;
    scanner->over = false;
    scanner->token = token;
    memset(&scanner->result, 0, sizeof scanner->result);
}

static void begin_object(struct sl_clamav_scanner *scanner, void *token, uint64_t len)
{
    struct clam_object *object = &scanner->object;
    const size_t head_len = len < CLAM_HEAD_LEN ? (size_t)len : CLAM_HEAD_LEN;

    begin_any(scanner, token, len);
    if (scanner->config.time_max_ms > 0)
        scanner->match.deadline_ns = clock_ns() + scanner->config.time_max_ms * UINT64_C(1000000);
    const uint8_t *head = clam_object_at(object, 0, head_len);

    object->target = clam_target_of(head, head_len);
    scanner->result.not_opened = clam_container_type(object, head, head_len);
    clam_exe_read(object);
}

static void add_candidate(struct sl_clamav_scanner *scanner, uint32_t sig)
{
    if (scanner->seen[sig] == scanner->match.epoch)
        return;
    scanner->seen[sig] = scanner->match.epoch;
    scanner->candidates[scanner->n_candidates++] = sig;
}

static void add_candidates(struct sl_clamav_scanner *scanner, uint32_t number)
{
    const struct clam_pattern *pattern = &scanner->match.patterns[number];
    const uint32_t *sigs = clam_at(scanner->db->block, CLAM_A_ANCHORED);

    for (uint32_t i = 0; i < pattern->n_sigs; i++)
        add_candidate(scanner, sigs[pattern->sigs + i]);
}

/* An anchor ends before byte `end` of the object. */
static void take_hit(struct sl_clamav_scanner *scanner, uint64_t literal, uint64_t end)
{
    const struct clam_block *block = scanner->db->block;
    const uint32_t *literals = clam_at(block, CLAM_A_LITERALS);
    const struct clam_use *uses = clam_at(block, CLAM_A_USES);
    const uint32_t targets = clam_targets(&scanner->object);

    for (uint32_t i = literals[literal]; i < literals[literal + 1]; i++) {
        const struct clam_use *use = &uses[i];

        if ((scanner->match.patterns[use->pattern].targets & targets) == 0 || end < use->back ||
            !clam_match_wanted(&scanner->match, use->pattern))
            continue;
        if (clam_match_at(&scanner->match, use->pattern, use->seg, end - use->back))
            add_candidates(scanner, use->pattern);
    }
}

/* The hits from *next on that belong to `item`, which begins at `base` of the object. */
static void take_hits(struct sl_clamav_scanner *scanner, const struct sl_hits *hits, uint32_t item,
                      uint64_t base, size_t *next)
{
    const uint32_t max_object = scanner->config.max_object_hits;
    const uint32_t max_batch = scanner->config.max_batch_hits;

    for (; *next < hits->n && hits->hit[*next].item == item; ++*next) {
        if (clam_match_is_late(&scanner->match))
            continue;
        if ((max_batch > 0 && hits->n > max_batch) ||
            (max_object > 0 && scanner->object_hits >= max_object)) {
            scanner->result.suspect = true;
            continue;
        }
        scanner->object_hits++;
        take_hit(scanner, hits->hit[*next].id, base + hits->hit[*next].offset);
    }
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static const EVP_MD *digest_of(int kind)
{
    return kind == CLAM_MD5 ? EVP_md5() : kind == CLAM_SHA1 ? EVP_sha1() : EVP_sha256();
}

/* The first hash of this size in a range, or its end. */
static uint64_t find_size(const struct clam_hash *hashes, const uint64_t range[2], uint64_t size)
{
    uint64_t from = range[0], to = range[1];

    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;

        if (hashes[middle].size < size)
            from = middle + 1;
        else
            to = middle;
    }
    return from < range[1] && hashes[from].size == size ? from : range[1];
}

/* False: also where the object's time is over. Lists of allowed files hold then, too. */
static bool hash_part(struct clam_match *match, int purpose, uint64_t at, uint64_t len, int kind,
                      uint8_t digest[32])
{
    struct clam_object *object = match->object;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && EVP_DigestInit_ex(context, digest_of(kind), NULL) == 1;

    while (good && len > 0 && (purpose == CLAM_OF_ALLOWED || !clam_match_check_time(match))) {
        const size_t n = len < CLAM_WINDOW_LEN / 2 ? (size_t)len : CLAM_WINDOW_LEN / 2;
        const uint8_t *bytes = clam_object_at(object, at, n);

        good = bytes != NULL && EVP_DigestUpdate(context, bytes, n) == 1;
        at += n;
        len -= n;
    }
    memset(digest, 0, 32);
    good = good && len == 0 && EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    return good;
}

static void report(struct sl_clamav_scanner *scanner, uint32_t name, bool official);

/* Whether a part of the object has a hash of that purpose; each is reported, but for allowed ones.
 */
static bool match_hashes(struct sl_clamav_scanner *scanner, int purpose, uint64_t at, uint64_t len)
{
    const struct clam_block *block = scanner->db->block;
    const struct clam_hash *hashes = clam_at(block, CLAM_A_HASHES);
    const uint64_t sizes[] = {len, CLAM_ANY_SIZE};
    bool found = false;

    for (int kind = 0; kind < CLAM_HASHES && !scanner->over; kind++) {
        const uint64_t *range = block->hashes[purpose][kind];
        uint8_t digest[32];
        bool made = false;

        for (int s = 0; s < 2; s++) {
            uint64_t i = find_size(hashes, range, sizes[s]);

            if (i < range[1] && !made &&
                !hash_part(&scanner->match, purpose, at, len, kind, digest))
                return found;
            made |= i < range[1];
            for (; i < range[1] && hashes[i].size == sizes[s]; i++) {
                if (memcmp(hashes[i].digest, digest, clam_hash_len[kind]) != 0)
                    continue;
                found = true;
                if (purpose != CLAM_OF_ALLOWED)
                    report(scanner, hashes[i].name, hashes[i].official);
            }
        }
    }
    return found;
}

static bool has_size(const struct clam_block *block, uint64_t size)
{
    const uint64_t *sizes = clam_at(block, CLAM_A_SIZES);
    uint64_t from = 0, to = block->n[CLAM_A_SIZES];

    if (to > 0 && sizes[to - 1] == CLAM_ANY_SIZE)
        return true;
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;

        if (sizes[middle] < size)
            from = middle + 1;
        else
            to = middle;
    }
    return from < block->n[CLAM_A_SIZES] && sizes[from] == size;
}

/* clamscan compares sections of 32-bit PE files alone. */
static void match_sections(struct sl_clamav_scanner *scanner)
{
    const struct clam_exe *exe = &scanner->exe;
    const struct clam_block *block = scanner->db->block;
    bool any = false;

    for (int kind = 0; kind < CLAM_HASHES; kind++)
        any |= block->hashes[CLAM_OF_SECTION][kind][1] > block->hashes[CLAM_OF_SECTION][kind][0];
    if (!any || scanner->object.target != CLAM_PE || !exe->good || exe->plus)
        return;
    for (uint32_t i = 0; i < exe->n_sections && !scanner->over; i++)
        if (exe->sections[i].len > 0)
            (void)match_hashes(scanner, CLAM_OF_SECTION, exe->sections[i].raw,
                               exe->sections[i].len);
}

/* ---- the end of an object -------------------------------------------------------------------- */

static void report(struct sl_clamav_scanner *scanner, uint32_t name, bool official)
{
    const struct sl_clamav_match match = {scanner->match.text + name, official};

    if (scanner->over)
        return;
    if (scanner->result.matches == 0 && !scanner->object.part &&
        has_size(scanner->db->block, scanner->object.len) &&
        match_hashes(scanner, CLAM_OF_ALLOWED, 0, scanner->object.len)) {
        scanner->result.allowed = true;
        scanner->over = true;
        return;
    }
    scanner->result.matches++;
    if (scanner->config.match != NULL)
        scanner->config.match(scanner->config.user, scanner->token, &match);
    scanner->over = !scanner->config.all_matches;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Where the time is over, an expression that could be refuted is not decided. */
static bool holds(struct clam_match *match, uint32_t sig)
{
    return clam_match_sig(match, sig) && (!match->late || clam_match_only_gains(match, sig));
}

/* Signatures of bodies first, then hashes, then logical ones, each for the object's own type before
 * those for all: clamscan's order, as far as it has one. */
static void match_candidates_of(struct sl_clamav_scanner *scanner, unsigned logical, bool generic)
{
    for (size_t i = 0; i < scanner->n_candidates && !scanner->over; i++) {
        const uint32_t number = scanner->candidates[i];
        const struct clam_sig *sig = &scanner->match.sigs[number];

        if ((sig->flags & CLAM_LOGICAL) == logical && (sig->target == CLAM_GENERIC) == generic &&
            holds(&scanner->match, number))
            report(scanner, sig->name, (sig->flags & CLAM_OFFICIAL) != 0);
    }
}

static void match_candidates(struct sl_clamav_scanner *scanner, unsigned logical)
{
    match_candidates_of(scanner, logical, false);
    match_candidates_of(scanner, logical, true);
}

static void sort_candidates(struct sl_clamav_scanner *scanner)
{
    qsort(scanner->candidates, scanner->n_candidates, sizeof *scanner->candidates, compare_numbers);
}

static void collect_unanchored(struct sl_clamav_scanner *scanner)
{
    const struct clam_block *block = scanner->db->block;
    const uint32_t *fixed = clam_at(block, CLAM_A_FIXED),
                   *searched = clam_at(block, CLAM_A_SEARCHED);
    const uint32_t targets = clam_targets(&scanner->object);

    for (uint64_t i = 0; i < block->n[CLAM_A_FIXED]; i++)
        if ((scanner->match.patterns[fixed[i]].targets & targets) != 0 &&
            clam_match_exists(&scanner->match, fixed[i]))
            add_candidates(scanner, fixed[i]);
    for (uint64_t i = 0; i < block->n[CLAM_A_SEARCHED]; i++)
        if (clam_match_applies(&scanner->match, searched[i]))
            add_candidate(scanner, searched[i]);
}

static enum sl_status end_object(struct sl_clamav_scanner *scanner,
                                 const struct clam_queued *queued)
{
    struct sl_clamav_result *result = &scanner->result;

    scanner->match.complete = !result->suspect && !scanner->match.late;
    collect_unanchored(scanner);
    sort_candidates(scanner);
    clam_match_search_ahead(&scanner->match, scanner->candidates, scanner->n_candidates);
    match_candidates(scanner, 0);
    if (!scanner->over && queued->len == queued->full_len &&
        has_size(scanner->db->block, scanner->object.len))
        (void)match_hashes(scanner, CLAM_OF_FILE, 0, scanner->object.len);
    match_candidates(scanner, CLAM_LOGICAL);
    match_sections(scanner);
    result->len = queued->full_len;
    result->scanned_len = queued->len;
    result->timed_out = scanner->match.late;
    result->changed = queued->changed || scanner->object.short_read;
    result->error = queued->error != 0 ? queued->error : scanner->object.error;
    if (scanner->match.no_memory)
        return SL_ENOMEM;
    if (scanner->config.done != NULL)
        scanner->config.done(scanner->config.user, scanner->token, result);
    return SL_OK;
}

/* ---- payloads -------------------------------------------------------------------------------- */

void sl_clamav_engine(const struct sl_clamav_db *db, const struct sl_engine **engine,
                      const void **table)
{
    *engine = sl_mpm_engine(db->mpm);
    *table = db->mpm;
}

/* Where content begins in what looks like an HTTP message with its head: behind the empty line. */
static uint64_t content_of(const uint8_t *bytes, uint64_t len)
{
    static const char *const begins[] = {"HTTP/1.", "POST ", "PUT "};
    const uint8_t *end;

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const size_t n = strlen(begins[i]);

        if (len < n || memcmp(bytes, begins[i], n) != 0)
            continue;
        end = memmem(bytes, (size_t)len, "\r\n\r\n", 4);
        return end != NULL ? (uint64_t)(end + 4 - bytes) : 0;
    }
    return 0;
}

static enum sl_status end_part(struct sl_clamav_scanner *scanner)
{
    struct sl_clamav_result *result = &scanner->result;

    scanner->match.complete = !result->suspect;
    sort_candidates(scanner);
    match_candidates(scanner, 0);
    match_candidates(scanner, CLAM_LOGICAL);
    result->len = result->scanned_len = scanner->object.len;
    if (scanner->match.no_memory)
        return SL_ENOMEM;
    if (scanner->config.done != NULL)
        scanner->config.done(scanner->config.user, scanner->token, result);
    return SL_OK;
}

enum sl_status sl_clamav_scan_hits(struct sl_clamav_scanner *scanner, const struct sl_batch *batch,
                                   const struct sl_hits *hits)
{
    enum sl_status status = SL_OK;

    if (batch->memory == SL_MEMORY_DEVICE)
        return SL_EINVAL;
    for (size_t next = 0; next < hits->n && status == SL_OK;) {
        const uint32_t item = hits->hit[next].item;
        struct clam_object *object = &scanner->object;

        if (item >= batch->n_items)
            return SL_EINVAL;
        object->bytes = batch->bytes + batch->payload[item].offset;
        begin_any(scanner, (void *)(uintptr_t)item, batch->payload[item].len);
        object->part = true;
        object->origin = content_of(object->bytes, object->len);
        object->target = CLAM_GENERIC;
        scanner->exe.good = false;
        scanner->exe.n_sections = 0;
        take_hits(scanner, hits, item, 0, &next);
        status = end_part(scanner);
    }
    return status;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void begin_large(struct sl_clamav_scanner *scanner, const struct source *source)
{
    scanner->object.bytes = source->bytes;
    scanner->object.fd = source->fd;
    begin_object(scanner, source->queued.token, source->queued.len);
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
    take_hits(scanner, &flight->hits, 0, flight->base, &next);
    object->piece_len = 0;
    (void)clam_match_check_time(&scanner->match);
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
        begin_object(scanner, queued->token, queued->len);
        take_hits(scanner, &flight->hits, item, 0, &next);
        status = end_object(scanner, queued);
    }
    return status;
}

/* What is under way is lost with an error: no object of it ends. */
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

/* Reads up to len bytes; what cannot be read is noted. Returns the bytes read. */
static size_t read_source(struct source *source, uint64_t at, uint8_t *to, size_t len)
{
    size_t have = 0;

    if (source->bytes != NULL) {
        memcpy(to, source->bytes + at, len);
        return len;
    }
    while (have < len) {
        const ssize_t n = pread(source->fd, to + have, len - have, (off_t)(at + have));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            source->queued.changed = true;
            source->queued.error = n < 0 ? errno : source->queued.error;
            break;
        }
        have += (size_t)n;
    }
    return have;
}

static enum sl_status add_small(struct sl_clamav_scanner *scanner, struct source *source)
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
    if (n < source->queued.len) /* it shrank: what is there is scanned */
        source->queued.len = source->queued.full_len = n;
    flight->queue[sl_batch_append(flight->batch, (uint32_t)n, 0)] = source->queued;
    return SL_OK;
}

/* Fills an empty batch with the piece from *at on. */
static void fill_piece(struct clam_flight *flight, struct source *source, uint64_t *at)
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

static enum sl_status scan_large(struct sl_clamav_scanner *scanner, struct source *source)
{
    struct clam_filter *filter = &scanner->filter;
    enum sl_status status = SL_OK;
    uint64_t at = 0;

    if (clam_filter_filling(filter)->batch->n_items > 0)
        status = send_batch(scanner);
    scanner->large = source;
    scanner->match.late = false;
    while (at < source->queued.len && status == SL_OK && !scanner->match.late) {
        fill_piece(clam_filter_filling(filter), source, &at);
        status = send_batch(scanner);
    }
    source->queued.len = at;
    if (status == SL_OK)
        status = sl_clamav_flush(scanner);
    if (status == SL_OK)
        status = end_object(scanner, &source->queued);
    scanner->large = NULL;
    free(scanner->object.memory);
    scanner->object.memory = NULL;
    scanner->object.memory_cap = 0;
    return status;
}

static enum sl_status scan_source(struct sl_clamav_scanner *scanner, struct source *source)
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
    struct source source = {.bytes = bytes != NULL ? (const uint8_t *)bytes : nothing,
                            .queued = {.token = token, .len = len, .full_len = len}};

    source.queued.bytes = source.bytes;
    return scan_source(scanner, &source);
}

enum sl_status sl_clamav_scan_fd(struct sl_clamav_scanner *scanner, int fd, void *token)
{
    struct source source = {.fd = fd, .queued = {.token = token}};
    struct stat file;

    if (fstat(fd, &file) != 0)
        source.queued.error = errno;
    else if (!S_ISREG(file.st_mode))
        source.queued.error = S_ISDIR(file.st_mode) ? EISDIR : EINVAL;
    else
        source.queued.len = source.queued.full_len = (uint64_t)file.st_size;
    return scan_source(scanner, &source);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static bool keep_in_memory(struct sl_clamav_scanner *scanner, const void *bytes, size_t len)
{
    if (scanner->fed_len + len > scanner->fed_cap) {
        const size_t cap = 2 * (scanner->fed_len + len);
        uint8_t *more = realloc(scanner->fed, cap);

        if (more == NULL)
            return false;
        scanner->fed = more;
        scanner->fed_cap = cap;
    }
    memcpy(scanner->fed + scanner->fed_len, bytes, len);
    scanner->fed_len += len;
    return true;
}

enum sl_status sl_clamav_feed(struct sl_clamav_scanner *scanner, const void *bytes, size_t len)
{
    if (len == 0)
        return SL_OK;
    scanner->fed_total += len;
    if (scanner->fed_file == NULL && scanner->fed_total <= FEED_IN_MEMORY) {
        if (keep_in_memory(scanner, bytes, len))
            return SL_OK;
        drop_fed(scanner);
        return SL_ENOMEM;
    }
    if (scanner->fed_file == NULL) {
        scanner->fed_file = tmpfile();
        if (scanner->fed_file == NULL ||
            fwrite(scanner->fed, 1, scanner->fed_len, scanner->fed_file) != scanner->fed_len) {
            drop_fed(scanner);
            return SL_EIO;
        }
    }
    if (fwrite(bytes, 1, len, scanner->fed_file) != len) {
        drop_fed(scanner);
        return SL_EIO;
    }
    return SL_OK;
}

enum sl_status sl_clamav_feed_end(struct sl_clamav_scanner *scanner, void *token)
{
    enum sl_status status;

    if (scanner->fed_file == NULL)
        status = sl_clamav_scan_buffer(scanner, scanner->fed, scanner->fed_len, token);
    else if (fflush(scanner->fed_file) != 0)
        status = SL_EIO;
    else
        status = sl_clamav_scan_fd(scanner, fileno(scanner->fed_file), token);
    if (status == SL_OK) /* what was fed is lent until then */
        status = sl_clamav_flush(scanner);
    drop_fed(scanner);
    return status;
}

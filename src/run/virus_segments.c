/* SPDX-License-Identifier: MIT */
#include "virus_segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sluice/app.h"

enum {
    BLOCK = 512, /* bytes of a stream that are taken at once, if no packet has them */
    BUCKETS = VIRUS_WAITING_MAX
};

/* A hit that waits for bytes of its stream; or the name of a match. */
struct virus_node {
    union {
        uint64_t end; /* offset in the stream behind the literal */
        const char *name;
    };
    uint32_t literal : 31, matches : 1; /* its body was found: an expression waits for others */
    uint32_t next;                      /* 0: none */
};

/* A flow that has nodes, or is at hand. 0: none. */
struct virus_flow {
    uint64_t flow, entry;
    uint32_t first[2]; /* of its halves: hits that wait */
    uint32_t told[2];  /* matches in packets that waited for others: nodes of their names */
    uint32_t next;     /* of its bucket, or that is free */
};

/* Of nodes and flows 0 is none, and those behind n_used were not touched so far. */
struct virus_shard {
    struct virus_node *node;
    uint32_t free, n_used, n_waiting;
    struct virus_flow *flow;
    uint32_t *bucket; /* by entry: the first of its flows */
    uint32_t free_flow, n_used_flows;
    uint64_t left_out; /* hits and parts that were not followed */
};

/* What a thread scans windows with. */
struct virus_scanner {
    struct virus_scanner *next;
    struct sl_clamav_scanner *scanner;
    struct clam_open open;
    struct sl_hits hits; /* of the window */
    uint8_t *bytes;      /* of the last window, from `begin` to `end` of its half's stream */
    size_t bytes_max;
    uint64_t flow, begin, end;
    uint8_t half;
    struct sl_clamav_match *match; /* of the window, and behind them of the bytes before its part */
    size_t n, max;
    bool no_memory;
};

struct run_viruses {
    const struct run_streams *streams;
    const struct sl_clamav_db *database;
    struct virus_shard *shard;
    uint32_t n_shards;

    pthread_mutex_t lock; /* guards: */
    struct virus_scanner *idle;
};

/* ---- the streams of all flows ---------------------------------------------------------------- */

/* Pages that are not used are not touched. */
enum sl_status run_viruses_create(struct run_viruses **out, const struct run_streams *streams,
                                  const struct sl_clamav_db *database, struct sl_diag *diag)
{
    struct run_viruses *viruses = calloc(1, sizeof *viruses);
    bool done = viruses != NULL;

    *out = viruses;
    if (done) {
        pthread_mutex_init(&viruses->lock, NULL);
        viruses->streams = streams;
        viruses->database = database;
        viruses->shard = calloc(streams->n_shards, sizeof *viruses->shard);
        done = viruses->shard != NULL;
    }
    while (done && viruses->n_shards < streams->n_shards) {
        struct virus_shard *const shard = &viruses->shard[viruses->n_shards++];

        shard->node = calloc(VIRUS_WAITING_MAX + 1, sizeof *shard->node);
        shard->flow = calloc(VIRUS_WAITING_MAX + 2, sizeof *shard->flow);
        shard->bucket = calloc(BUCKETS, sizeof *shard->bucket);
        done = shard->node != NULL && shard->flow != NULL && shard->bucket != NULL;
    }
    return done ? SL_OK : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for viruses of flows");
}

static void free_scanner(struct virus_scanner *scanner)
{
    sl_clamav_close(scanner->scanner);
    clam_open_free(&scanner->open);
    free(scanner->hits.hit);
    free(scanner->bytes);
    free(scanner->match);
    free(scanner);
}

void run_viruses_free(struct run_viruses *viruses)
{
    if (viruses == NULL)
        return;
    for (struct virus_scanner *at = viruses->idle, *next; at != NULL; at = next) {
        next = at->next;
        free_scanner(at);
    }
    for (uint32_t i = 0; i < viruses->n_shards; i++) {
        free(viruses->shard[i].node);
        free(viruses->shard[i].flow);
        free(viruses->shard[i].bucket);
    }
    free(viruses->shard);
    pthread_mutex_destroy(&viruses->lock);
    free(viruses);
}

uint64_t run_viruses_left_out(const struct run_viruses *viruses)
{
    uint64_t n = 0;

    for (uint32_t i = 0; viruses != NULL && i < viruses->n_shards; i++)
        n += viruses->shard[i].left_out;
    return n;
}

void virus_batch_clear(struct virus_batch *mine)
{
    for (uint32_t i = 0; i < RUN_SHARDS_MAX; i++) {
        free(mine->shard[i].item);
        free(mine->shard[i].match);
    }
}

/* ---- scanners -------------------------------------------------------------------------------- */

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct virus_scanner *const scanner = user;

    (void)token;
    if (scanner->n == scanner->max) {
        const size_t max = 2 * scanner->max + 16;
        struct sl_clamav_match *more = reallocarray(scanner->match, max, sizeof *more);

        scanner->no_memory |= more == NULL;
        if (more == NULL)
            return;
        scanner->match = more;
        scanner->max = max;
    }
    scanner->match[scanner->n++] = *match;
}

static struct virus_scanner *make_scanner(const struct sl_clamav_db *database)
{
    struct virus_scanner *made = calloc(1, sizeof *made);
    struct sl_clamav_scan_config config;

    if (made == NULL)
        return NULL;
    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.batch_len = 1; /* the least: windows need none */
    config.match = on_match;
    config.user = made;
    if (sl_clamav_open(&made->scanner, database, &config, NULL) == SL_OK)
        return made;
    free(made);
    return NULL;
}

/* There are as many as threads scan at once. NULL: no memory. */
static struct virus_scanner *take_scanner(struct run_viruses *viruses)
{
    struct virus_scanner *taken;

    pthread_mutex_lock(&viruses->lock);
    taken = viruses->idle;
    if (taken != NULL)
        viruses->idle = taken->next;
    pthread_mutex_unlock(&viruses->lock);
    return taken != NULL ? taken : make_scanner(viruses->database);
}

static void return_scanner(struct run_viruses *viruses, struct virus_scanner *scanner)
{
    if (scanner == NULL)
        return;
    pthread_mutex_lock(&viruses->lock);
    scanner->next = viruses->idle;
    viruses->idle = scanner;
    pthread_mutex_unlock(&viruses->lock);
}

/* By place. A hit where items of the engine overlap comes twice, and is kept once. */
static void sort_hits(struct sl_hits *hits)
{
    size_t n = 0;

    sl_hits_sort(hits);
    for (size_t i = 0; i < hits->n; i++)
        if (n == 0 || hits->hit[n - 1].offset != hits->hit[i].offset ||
            hits->hit[n - 1].id != hits->hit[i].id)
            hits->hit[n++] = hits->hit[i];
    hits->n = n;
}

/* ---- hits that wait -------------------------------------------------------------------------- */

static void drop(struct virus_shard *shard, uint32_t *first)
{
    for (uint32_t at = *first, next; at != 0; at = next) {
        next = shard->node[at].next;
        shard->node[at].next = shard->free;
        shard->free = at;
        shard->n_waiting--;
    }
    *first = 0;
}

/* The flow of this entry; an earlier one is over. The caller lets it go. */
static struct virus_flow *flow_of(struct virus_shard *shard, size_t entry, uint64_t id)
{
    uint32_t *const bucket = &shard->bucket[entry % BUCKETS];
    uint32_t at = *bucket;

    while (at != 0 && shard->flow[at].entry != entry)
        at = shard->flow[at].next;
    struct virus_flow *flow = &shard->flow[at];
    if (at == 0) {
        at = shard->free_flow != 0 ? shard->free_flow : ++shard->n_used_flows;
        flow = &shard->flow[at];
        if (shard->free_flow != 0)
            shard->free_flow = flow->next;
        *flow = (struct virus_flow){.flow = id, .entry = entry, .next = *bucket};
        *bucket = at;
    }
    for (uint32_t half = 0; half < 2 && flow->flow != id; half++) {
        drop(shard, &flow->first[half]);
        drop(shard, &flow->told[half]);
    }
    flow->flow = id;
    return flow;
}

/* A flow without nodes needs no memory. */
static void let_go(struct virus_shard *shard, struct virus_flow *flow)
{
    const uint32_t at = (uint32_t)(flow - shard->flow);
    uint32_t *link = &shard->bucket[flow->entry % BUCKETS];

    if ((flow->first[0] | flow->first[1] | flow->told[0] | flow->told[1]) != 0)
        return;
    while (*link != at)
        link = &shard->flow[*link].next;
    *link = flow->next;
    flow->next = shard->free_flow;
    shard->free_flow = at;
}

/* Adds a node to those of a half. NULL: there are too many. */
static struct virus_node *keep(struct virus_shard *shard, uint32_t *first)
{
    uint32_t n = 0;

    for (uint32_t at = *first; at != 0; at = shard->node[at].next)
        n++;
    if (n >= VIRUS_SIDE_MAX || shard->n_waiting == VIRUS_WAITING_MAX)
        return NULL;
    const uint32_t at = shard->free != 0 ? shard->free : ++shard->n_used;
    if (shard->free != 0)
        shard->free = shard->node[at].next;
    shard->node[at].next = *first;
    *first = at;
    shard->n_waiting++;
    return &shard->node[at];
}

/* What waits for missing bytes is never decided. */
static void take_gap(struct virus_shard *shard, size_t entry, const struct stream_record *record)
{
    struct virus_flow *const flow = flow_of(shard, entry, record->flow);

    drop(shard, &flow->first[record->half]);
    let_go(shard, flow);
}

/* A half ends. Bytes before the last window might have decided an expression that waits. */
static void take_end(struct virus_shard *shard, size_t entry, const struct stream_record *record)
{
    struct virus_flow *const flow = flow_of(shard, entry, record->flow);

    for (uint32_t at = flow->first[record->half]; at != 0; at = shard->node[at].next)
        shard->left_out += shard->node[at].matches && record->offset > SL_STREAM_KNOWN;
    drop(shard, &flow->first[record->half]);
    drop(shard, &flow->told[record->half]);
    let_go(shard, flow);
}

static bool adds_bytes(const struct stream_record *record)
{
    return (record->kind == STREAM_PACKET || record->kind == STREAM_COPIED) && record->len != 0;
}

static size_t entry_of(const struct run_viruses *viruses, uint32_t shard,
                       const struct stream_record *record)
{
    return (size_t)(run_flow_of(record->stream) - viruses->streams->of_flow[shard]);
}

/* No packet takes the parts that a flow gets when it ends into a window. */
static void leave_out_parts(struct virus_shard *shard, const struct stream_parts *parts)
{
    for (const struct stream_ended *ended = parts->ended; ended != NULL; ended = ended->next)
        for (uint32_t r = ended->begin; r < ended->behind; r++)
            shard->left_out += adds_bytes(&parts->output.record[r]) &&
                               !ended->only_syn[parts->output.record[r].half];
}

void run_viruses_finish(struct run_viruses *viruses, const struct stream_batch *streams)
{
    for (uint32_t i = 0; viruses != NULL && i < viruses->n_shards; i++) {
        struct virus_shard *const shard = &viruses->shard[i];
        const struct stream_output *const output = &streams->shard[i].output;

        leave_out_parts(shard, &streams->shard[i]);
        for (uint32_t r = 1; r < output->n; r++)
            if (output->record[r].kind == STREAM_END)
                take_end(shard, entry_of(viruses, i, &output->record[r]), &output->record[r]);
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

/* A shard while it is settled. */
struct settling {
    struct run_viruses *viruses;
    struct virus_shard *shard;
    struct virus_output *output;
    struct virus_scanner *scanner; /* NULL: none was needed so far */
    const struct payload_scan *scan;
    const struct sl_batch *batch;
    const struct sl_stream_part *const *of_item;
    uint32_t index;             /* of the shard */
    size_t alone, open, across; /* the next hits of payloads, and of made items */
};

/* New bytes of a part, with those before. Places are offsets in the stream. */
struct window {
    const struct stream_record *record;
    const struct sl_stream_part *part;
    uint64_t begin, from, to; /* of the window, and the new bytes */
    bool in_packet;           /* the part's bytes lie in the packet */
    bool follows, goes_on;    /* the packet adds bytes right before the new ones, and behind them */
};

/* The first hit of the item, from *at on or, where records go back, before. */
static size_t first_hit(const struct sl_hits *hits, size_t *at, uint32_t item)
{
    while (*at > 0 && hits->hit[*at - 1].item >= item)
        --*at;
    while (*at < hits->n && hits->hit[*at].item < item)
        ++*at;
    return *at;
}

static bool has_literal(const struct settling *settling, const struct window *window, uint64_t end,
                        uint64_t literal)
{
    return end >= window->begin + clam_literal_len(settling->viruses->database, literal);
}

/* Adds a hit that ends at this offset in the stream, if the window has its first byte. */
static bool add_hit(const struct settling *settling, const struct window *window, uint64_t end,
                    uint64_t literal)
{
    const struct sl_hit hit = {.offset = (uint32_t)(end - window->begin), .id = literal};

    return !has_literal(settling, window, end, literal) ||
           clam_hits_add(&settling->scanner->hits, &hit);
}

/* Hits that leave the window undecided are counted. */
static bool add_waiting(const struct settling *settling, const struct window *window,
                        uint32_t first)
{
    bool done = true;

    for (uint32_t at = first; at != 0; at = settling->shard->node[at].next) {
        const struct virus_node *node = &settling->shard->node[at];

        settling->shard->left_out += !has_literal(settling, window, node->end, node->literal);
        done &= add_hit(settling, window, node->end, node->literal);
    }
    return done;
}

/* The hits of a packet's payload that its stream may decide: all, where it has other bytes beside
 * them. *next: the first. */
static const struct sl_hits *hits_of(struct settling *settling, uint32_t item, size_t *next)
{
    const struct sl_stream_part *const part = settling->of_item[item];
    const bool whole = part == NULL || part->whole;
    const struct sl_hits *hits =
        whole ? payload_scan_open(settling->scan) : payload_scan_alone(settling->scan);

    *next = first_hit(hits, whole ? &settling->open : &settling->alone, item);
    return hits;
}

/* Hits of the packet's payload, as far as the part has them. */
static bool add_alone(struct settling *settling, const struct window *window)
{
    const struct sl_stream_part *part = window->part;
    const uint32_t item = window->record->item;
    const uint8_t *payload = settling->batch->bytes + settling->batch->payload[item].offset;
    bool done = true;
    size_t i;

    for (const struct sl_hits *hits = hits_of(settling, item, &i);
         window->in_packet && i < hits->n && hits->hit[i].item == item; i++) {
        const uint8_t *const end = payload + hits->hit[i].offset;

        if (end > part->bytes && end <= part->bytes + part->len)
            done &= add_hit(settling, window, part->offset + (uint64_t)(end - part->bytes),
                            hits->hit[i].id & INT32_MAX);
    }
    return done;
}

/* Hits over the part's begin, and in a part that does not lie in its packet. */
static bool add_across(struct settling *settling, const struct window *window)
{
    const struct sl_hits *hits = payload_scan_made(settling->scan);
    const struct sl_stream_part *part = window->part;
    const uint32_t item = window->record->item;
    const uint32_t buffer = part->reversed ? SL_BUFFER_STREAM_BACK : SL_BUFFER_STREAM;
    const uint64_t base =
        stream_part_first(settling->of_item[item], part->reversed)->offset - SL_STREAM_HIT_BASE;
    bool done = true;

    for (size_t i = first_hit(hits, &settling->across, item);
         i < hits->n && hits->hit[i].item == item; i++) {
        const uint64_t end = base + hits->hit[i].offset;
        const uint64_t literal = hits->hit[i].id & UINT32_MAX;
        const uint32_t len = clam_literal_len(settling->viruses->database, literal);

        if (hits->hit[i].id >> 32 != buffer || end <= window->from || end > window->to ||
            (window->in_packet && end - len >= part->offset))
            continue;
        done &= add_hit(settling, window, end, literal);
    }
    return done;
}

/* Adds the matches in the window's first `len` bytes, by its hits there. `open` may be NULL. */
static bool scan_bytes(struct virus_scanner *scanner, const struct window *window, uint64_t len,
                       struct clam_open *open)
{
    const struct clam_window bytes = {.bytes = scanner->bytes,
                                      .len = len,
                                      .goes_on = open != NULL ? window->goes_on : window->follows,
                                      .begin = window->begin};
    struct sl_hits hits = scanner->hits;

    while (hits.n > 0 && hits.hit[hits.n - 1].offset > len)
        hits.n--;
    return clam_scan_window(scanner->scanner, &bytes, &hits, NULL, open) == SL_OK &&
           !scanner->no_memory;
}

static bool add_found(struct virus_output *output, uint32_t item,
                      const struct sl_clamav_match *match)
{
    if (output->n == output->max) {
        const size_t max = 2 * output->max + 16;
        uint32_t *items = reallocarray(output->item, max, sizeof *items);
        struct sl_clamav_match *matches = reallocarray(output->match, max, sizeof *matches);

        output->item = items != NULL ? items : output->item;
        output->match = matches != NULL ? matches : output->match;
        if (items == NULL || matches == NULL)
            return false;
        output->max = max;
    }
    output->item[output->n] = item;
    output->match[output->n++] = *match;
    return true;
}

static bool is_among(const struct sl_clamav_match *match, const struct sl_clamav_match *of,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (of[i].name == match->name)
            return true;
    return false;
}

/* Whether a packet that the part lies in has the match alone. */
static bool is_told(const struct settling *settling, const struct window *window, uint32_t told,
                    const struct sl_clamav_match *match)
{
    const struct payload_scan *scan = settling->scan;
    const uint32_t item = window->record->item;

    for (uint32_t at = window->in_packet ? 0 : told; at != 0; at = settling->shard->node[at].next)
        if (settling->shard->node[at].name == match->name)
            return true;
    for (size_t i = payload_scan_first(scan, item);
         i < payload_scan_count(scan) && payload_scan_item(scan, i) == item; i++)
        if (payload_scan_match(scan, i)->name == match->name)
            return true;
    return false;
}

/* Reports what was found in the window, but neither in the bytes before nor in a packet alone. */
static bool report(const struct settling *settling, const struct window *window, uint32_t told)
{
    struct virus_scanner *const scanner = settling->scanner;
    const size_t n = scanner->n;
    bool done = scan_bytes(scanner, window, window->from - window->begin, NULL);

    for (size_t i = 0; i < n && done; i++)
        done = is_among(&scanner->match[i], scanner->match + n, scanner->n - n) ||
               is_told(settling, window, told, &scanner->match[i]) ||
               add_found(settling->output, window->record->item, &scanner->match[i]);
    return done;
}

static bool make_room(struct virus_scanner *scanner, size_t len)
{
    if (scanner->bytes_max >= len)
        return true;
    uint8_t *more = realloc(scanner->bytes, 2 * len);

    if (more == NULL)
        return false;
    scanner->bytes = more;
    scanner->bytes_max = 2 * len;
    return true;
}

/* The last window may have the bytes before, which are many parts where segments are short. */
static bool copy_bytes(struct virus_scanner *scanner, const struct window *window)
{
    const struct stream_record *record = window->record;
    const struct sl_stream_part *part = window->part;
    const uint64_t own = window->begin < part->offset ? part->offset : window->begin;
    const uint32_t before = (uint32_t)(own - window->begin);

    if (!make_room(scanner, (size_t)(window->to - window->begin)))
        return false;
    if (scanner->flow == record->flow && scanner->half == record->half && scanner->end >= own &&
        scanner->begin <= window->begin)
        memmove(scanner->bytes, scanner->bytes + (window->begin - scanner->begin), before);
    else
        stream_part_copy_before(part, scanner->bytes, before);
    memcpy(scanner->bytes + before, part->bytes + (own - part->offset), (size_t)(window->to - own));
    scanner->flow = record->flow;
    scanner->half = record->half;
    scanner->begin = window->begin;
    scanner->end = window->to;
    return true;
}

/* The hits of the window that wait for bytes behind it are all that wait then. The last ones, which
 * stay longest in windows, come first. */
static bool scan_window(struct settling *settling, const struct window *window,
                        struct virus_flow *flow)
{
    uint32_t *const first = &flow->first[window->record->half];
    struct virus_scanner *const scanner = settling->scanner;
    struct clam_open *const open = &scanner->open;

    scanner->n = 0;
    if (!copy_bytes(scanner, window) ||
        !scan_bytes(scanner, window, window->to - window->begin, open))
        return false;
    drop(settling->shard, first);
    for (size_t i = open->hits.n; i > 0; i--) {
        struct virus_node *node = keep(settling->shard, first);

        if (node == NULL) {
            settling->shard->left_out += i;
            break;
        }
        node->end = window->begin + open->hits.hit[i - 1].offset;
        node->literal = open->hits.hit[i - 1].id & INT32_MAX;
        node->matches = (open->hits.hit[i - 1].id & CLAM_OPEN_MATCHES) != 0;
    }
    settling->shard->left_out += window->begin != 0 ? open->n_before : 0;
    return scanner->n == 0 || report(settling, window, flow->told[window->record->half]);
}

static bool has_hits(struct settling *settling, uint32_t item)
{
    const struct sl_hits *across = payload_scan_made(settling->scan);
    const size_t k = first_hit(across, &settling->across, item);
    size_t i;
    const struct sl_hits *alone = hits_of(settling, item, &i);

    return (i < alone->n && alone->hit[i].item == item) ||
           (k < across->n && across->hit[k].item == item);
}

/* Sets the hits of the window. False: no memory. */
static bool take_hits(struct settling *settling, const struct window *window,
                      const struct virus_flow *flow)
{
    struct sl_hits *const hits = &settling->scanner->hits;

    hits->n = 0;
    if (!add_waiting(settling, window, flow->first[window->record->half]) ||
        !add_alone(settling, window) || !add_across(settling, window))
        return false;
    sort_hits(hits);
    return true;
}

/* Whether the packet adds bytes of the same side behind the part. */
static bool adds_more(const struct sl_stream_part *part)
{
    const struct sl_stream_part *next = part->next;

    while (next != NULL && next->reversed != part->reversed)
        next = next->next;
    return next != NULL;
}

/* Sets the window of the part's next bytes. What does not lie in its packet may be several
 * segments, by the cuts into batches: it is taken in blocks of the stream. False: all were taken.
 */
static bool next_window(struct window *window)
{
    const struct sl_stream_part *part = window->part;
    const uint64_t end = part->offset + part->len, first = part->offset - part->known;

    window->follows = window->from != window->to || window->follows;
    window->from = window->to;
    window->to = end;
    window->begin = first;
    window->goes_on = adds_more(part);
    if (window->in_packet || window->from == end)
        return window->from < end;
    const uint64_t block = window->from - window->from % BLOCK + BLOCK;
    if (block < end) {
        window->to = block;
        window->goes_on = true;
    }
    if (block > first + SL_STREAM_KNOWN)
        window->begin = block - SL_STREAM_KNOWN;
    return true;
}

/* Scans the window, if it has hits. False: no memory. */
static bool take_window(struct settling *settling, const struct window *window,
                        struct virus_flow *flow)
{
    if (!take_hits(settling, window, flow))
        return false;
    if (settling->scanner->hits.n != 0)
        return scan_window(settling, window, flow);
    drop(settling->shard, &flow->first[window->record->half]);
    return true;
}

static bool take_windows(struct settling *settling, const struct stream_record *record,
                         const struct sl_stream_part *part, struct virus_flow *flow)
{
    struct window window = {
        .record = record,
        .part = part,
        .from = part->offset,
        .to = part->offset,
        .follows = stream_part_first(settling->of_item[record->item], part->reversed) != part,
        .in_packet = stream_part_in_packet(settling->batch, record->item, part)};
    bool done = true;

    if (settling->scanner == NULL)
        settling->scanner = take_scanner(settling->viruses);
    while (settling->scanner != NULL && done && next_window(&window))
        done = take_window(settling, &window, flow);
    return done && settling->scanner != NULL;
}

/* Bytes of another flow than the packet's came when their flow ended. */
static bool take_part(struct settling *settling, const struct stream_record *record,
                      const struct sl_stream_part *part)
{
    struct virus_shard *const shard = settling->shard;
    bool done = true;

    if (record->flow != settling->batch->origin[record->item].flow)
        return true;
    const bool has_some = has_hits(settling, record->item);
    if (!has_some && shard->n_waiting == 0)
        return true;
    struct virus_flow *const flow =
        flow_of(shard, entry_of(settling->viruses, settling->index, record), record->flow);
    if (has_some || flow->first[record->half] != 0)
        done = take_windows(settling, record, part, flow);
    let_go(shard, flow);
    return done;
}

/* A packet that waits: what it has alone is not told again with its stream. */
static void take_waiting(const struct settling *settling, const struct stream_waiting *waiting)
{
    const struct payload_scan *scan = settling->scan;
    const uint32_t item = waiting->item;
    struct virus_flow *const flow =
        flow_of(settling->shard, waiting->entry, settling->batch->origin[item].flow);

    for (size_t i = payload_scan_first(scan, item);
         i < payload_scan_count(scan) && payload_scan_item(scan, i) == item; i++) {
        struct virus_node *node = keep(settling->shard, &flow->told[waiting->half]);

        if (node != NULL)
            node->name = payload_scan_match(scan, i)->name;
    }
    let_go(settling->shard, flow);
}

/* ---- settling -------------------------------------------------------------------------------- */

static bool take_record(struct settling *settling, const struct stream_record *record,
                        const struct sl_stream_part *part)
{
    if (adds_bytes(record))
        return take_part(settling, record, part);
    if (settling->shard->n_waiting == 0)
        return true;
    const size_t entry = entry_of(settling->viruses, settling->index, record);
    if (record->kind == STREAM_GAP)
        take_gap(settling->shard, entry, record);
    else if (record->kind == STREAM_END)
        take_end(settling->shard, entry, record);
    return true;
}

void virus_batch_settle(struct virus_batch *mine, struct run_viruses *viruses,
                        const struct stream_batch *streams, const struct payload_scan *scan,
                        const struct sl_batch *batch, uint32_t shard)
{
    const struct stream_parts *parts = &streams->shard[shard];
    const struct stream_waiting *waiting = parts->waiting;
    struct virus_output *const output = &mine->shard[shard];
    struct settling settling = {.viruses = viruses,
                                .shard = &viruses->shard[shard],
                                .output = output,
                                .scan = scan,
                                .batch = batch,
                                .of_item = streams->of_item,
                                .index = shard};

    output->n = 0;
    output->no_memory = false;
    leave_out_parts(settling.shard, parts);
    if (settling.shard->n_waiting == 0 && payload_scan_made(scan)->n == 0 &&
        payload_scan_alone(scan)->n == 0)
        return;
    for (uint32_t r = 1; r < parts->output.n && !output->no_memory; r++) {
        const struct stream_record *record = &parts->output.record[r];

        for (; waiting != NULL && waiting->item < record->item; waiting = waiting->next)
            take_waiting(&settling, waiting);
        output->no_memory = !take_record(&settling, record, &parts->part[r]);
    }
    for (; waiting != NULL; waiting = waiting->next)
        take_waiting(&settling, waiting);
    return_scanner(viruses, settling.scanner);
}

enum sl_status virus_batch_report(const struct virus_batch *mine, struct payload_scan *scan,
                                  uint32_t n_shards, struct sl_diag *diag)
{
    bool no_memory = false;
    size_t n = 0;

    for (uint32_t s = 0; s < n_shards; s++) {
        const struct virus_output *output = &mine->shard[s];

        no_memory |= output->no_memory;
        n += output->n;
        for (size_t i = 0; i < output->n; i++)
            payload_scan_add(scan, output->item[i], &output->match[i]);
    }
    if (no_memory)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for viruses across segments");
    return n != 0 ? payload_scan_sort(scan, diag) : SL_OK;
}

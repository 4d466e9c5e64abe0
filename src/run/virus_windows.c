/* SPDX-License-Identifier: MIT */
#include "virus_windows.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 /* bytes of a stream that are taken at once, if no packet has them */ };

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

/* New bytes of a run of parts, with those before. Places are offsets in the stream. */
struct window {
    const struct stream_record *record; /* of the run's first part */
    const struct sl_stream_part *part;  /* that has the last of the new bytes */
    uint64_t begin, from, to;           /* of the window, and the new bytes */
    bool in_packet;                     /* the run is a part whose bytes lie in the packet */
    bool follows, goes_on; /* the packet adds bytes right before the new ones, and behind them */
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

/* Whether a literal that ends there begins at this place or behind it. */
static bool begins_at(const struct virus_settling *settling, uint64_t end, uint64_t literal,
                      uint64_t at)
{
    return end >= at + clam_literal_len(settling->scanners->database, literal);
}

/* Adds a hit that ends at this offset in the stream, if the window has its first byte. */
static bool add_hit(const struct virus_settling *settling, const struct window *window,
                    uint64_t end, uint64_t literal)
{
    const struct sl_hit hit = {.offset = (uint32_t)(end - window->begin), .id = literal};

    return !begins_at(settling, end, literal, window->begin) ||
           clam_hits_add(&settling->scanner->hits, &hit);
}

/* Hits that leave the window undecided are counted. */
static bool add_waiting(const struct virus_settling *settling, const struct window *window,
                        uint32_t first)
{
    bool done = true;

    for (uint32_t at = first; at != 0; at = settling->shard->node[at].next) {
        const struct virus_node *node = &settling->shard->node[at];

        settling->shard->left_out += !begins_at(settling, node->end, node->literal, window->begin);
        done &= add_hit(settling, window, node->end, node->literal);
    }
    return done;
}

/* The hits of a packet's payload that its stream may decide: all, where it has other bytes beside
 * them. *next: the first. */
static const struct sl_hits *hits_of(struct virus_settling *settling, uint32_t item, size_t *next)
{
    const struct sl_stream_part *const part = settling->of_item[item];
    const bool whole = part == NULL || part->whole;
    const struct sl_hits *hits =
        whole ? payload_scan_open(settling->scan) : payload_scan_alone(settling->scan);

    *next = first_hit(hits, whole ? &settling->open : &settling->alone, item);
    return hits;
}

/* Hits of the packet's payload, as far as the part has them. */
static bool add_alone(struct virus_settling *settling, const struct window *window)
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
static bool add_across(struct virus_settling *settling, const struct window *window)
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

        if (hits->hit[i].id >> 32 != buffer || end <= window->from || end > window->to ||
            (window->in_packet && begins_at(settling, end, literal, part->offset)))
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
static bool is_told(const struct virus_settling *settling, const struct window *window,
                    uint32_t told, const struct sl_clamav_match *match)
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
static bool report(const struct virus_settling *settling, const struct window *window,
                   uint32_t told)
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
static bool scan_window(struct virus_settling *settling, const struct window *window,
                        struct virus_flow *flow)
{
    uint32_t *const first = &flow->first[window->record->half];
    struct virus_scanner *const scanner = settling->scanner;
    struct clam_open *const open = &scanner->open;

    scanner->n = 0;
    if (!copy_bytes(scanner, window) ||
        !scan_bytes(scanner, window, window->to - window->begin, open))
        return false;
    virus_drop(settling->shard, first);
    for (size_t i = open->hits.n; i > 0; i--) {
        struct virus_node *node = virus_keep(settling->shard, first);

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

static bool has_hits(struct virus_settling *settling, uint32_t item)
{
    const struct sl_hits *across = payload_scan_made(settling->scan);
    const size_t k = first_hit(across, &settling->across, item);
    size_t i;
    const struct sl_hits *alone = hits_of(settling, item, &i);

    return (i < alone->n && alone->hit[i].item == item) ||
           (k < across->n && across->hit[k].item == item);
}

/* Sets the hits of the window. False: no memory. */
static bool take_hits(struct virus_settling *settling, const struct window *window,
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

/* The next bytes of the same side that the packet adds. NULL: there are none. */
static const struct sl_stream_part *next_of_side(const struct sl_stream_part *part)
{
    const struct sl_stream_part *next = part->next;

    while (next != NULL && next->reversed != part->reversed)
        next = next->next;
    return next;
}

/* The next part of the window's run. NULL: there is none. */
static const struct sl_stream_part *next_of_run(const struct virus_settling *settling,
                                                const struct window *window)
{
    const struct sl_stream_part *const next = next_of_side(window->part);

    return !window->in_packet && next != NULL && next->before == window->part &&
                   !stream_part_in_packet(settling->batch, window->record->item, next)
               ? next
               : NULL;
}

/* Moves on to the part of the run that has the byte before this offset, or to the last. */
static void move_on(const struct virus_settling *settling, struct window *window, uint64_t offset)
{
    const struct sl_stream_part *next = next_of_run(settling, window);

    while (window->part->offset + window->part->len < offset && next != NULL) {
        window->part = next;
        next = next_of_run(settling, window);
    }
}

/* Sets the window of the run's next bytes. What does not lie in its packet may be one part or
 * several, by the cuts into batches: it is taken in blocks of the stream. False: all were taken. */
static bool next_window(const struct virus_settling *settling, struct window *window)
{
    const uint64_t block = window->to - window->to % BLOCK + BLOCK;

    window->follows = window->from != window->to || window->follows;
    window->from = window->to;
    move_on(settling, window, window->in_packet ? window->to : block);

    const struct sl_stream_part *const part = window->part;
    const uint64_t end = part->offset + part->len, first = part->offset - part->known;
    const bool cuts = !window->in_packet && block < end;

    window->to = cuts ? block : end;
    window->goes_on = cuts || next_of_side(part) != NULL;
    window->begin =
        !window->in_packet && block > first + SL_STREAM_KNOWN ? block - SL_STREAM_KNOWN : first;
    return window->from < end;
}

/* Scans the window, if it has hits. False: no memory. */
static bool take_window(struct virus_settling *settling, const struct window *window,
                        struct virus_flow *flow)
{
    if (!take_hits(settling, window, flow))
        return false;
    if (settling->scanner->hits.n != 0)
        return scan_window(settling, window, flow);
    virus_drop(settling->shard, &flow->first[window->record->half]);
    return true;
}

static bool take_run(struct virus_settling *settling, const struct stream_record *record,
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
        settling->scanner = virus_scanner_take(settling->scanners);
    while (settling->scanner != NULL && done && next_window(settling, &window))
        done = take_window(settling, &window, flow);
    return done && settling->scanner != NULL;
}

/* Whether the part is in one run with the part before it. */
static bool is_in_run(const struct virus_settling *settling, const struct stream_record *record,
                      const struct sl_stream_part *part)
{
    const struct stream_parts *const parts = settling->parts;
    const uint32_t item = record->item;

    if (part->before == NULL || stream_part_in_packet(settling->batch, item, part))
        return false;
    const struct stream_record *const before = &parts->record[part->before - parts->part];
    return before->item == item && virus_adds_bytes(before) &&
           !stream_part_in_packet(settling->batch, item, part->before);
}

/* Bytes of another flow than the packet's came when their flow ended. */
bool virus_part_take(struct virus_settling *settling, uint32_t r)
{
    const struct stream_record *const record = &settling->parts->record[r];
    const struct sl_stream_part *const part = &settling->parts->part[r];
    struct virus_shard *const shard = settling->shard;
    bool done = true;

    if (record->flow != settling->batch->origin[record->item].flow ||
        is_in_run(settling, record, part))
        return true;
    const bool has_some = has_hits(settling, record->item);
    if (!has_some && shard->n_waiting == 0)
        return true;
    struct virus_flow *const flow =
        virus_flow_of(shard, virus_entry_of(settling->of_flow, record), record->flow);
    if (has_some || flow->first[record->half] != 0)
        done = take_run(settling, record, part, flow);
    virus_flow_let_go(shard, flow);
    return done;
}

/* SPDX-License-Identifier: MIT */
#include "defrag.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "defrag_inside.h"
#include "stream_pieces.h"

enum { MEMORY_MIN = 256 << 10 };

/* A datagram that is not whole. It is a block of its own. */
struct entry {
    uint32_t next_block;
    uint32_t chain;        /* next of the bucket; 0: none */
    uint32_t older, newer; /* in the order of first fragments */
    struct defrag_key key;
    uint64_t hash;
    struct stream_pieces pieces;
    uint32_t headers; /* chain of blocks; 0: the first fragment is missing */
    struct defrag_head head;
    int64_t time; /* the clock at its first fragment */

    struct defrag_ready *ready; /* of the batch at hand, whose bytes are not copied; else NULL */
    uint32_t n_counted;         /* blocks that they would take */
};

_Static_assert(sizeof(struct entry) <= STREAM_BLOCK_LEN, "an entry is a block");

struct defrag {
    struct stream_arena arena;
    uint32_t *buckets;
    uint32_t bucket_mask;
    uint32_t oldest, newest;
    uint64_t hash_key[2];
    uint64_t timeout_ns;
    int64_t clock;
    struct defrag_list *list; /* of the batch at hand */
    struct sl_fragment_stats stats;
    uint8_t out[DEFRAG_LINK_MAX + DEFRAG_IPV6_LEN + DEFRAG_DATAGRAM_MAX];
};

void defrag_config_init(struct defrag_config *config)
{
    *config = (struct defrag_config){.memory = 32 << 20, .timeout_seconds = 60};
}

enum sl_status defrag_create(struct defrag **out, const struct defrag_config *config,
                             struct sl_diag *diag)
{
    struct defrag *defrag;
    uint32_t n_blocks, n_buckets = 1;

    if (config->memory < MEMORY_MIN || config->memory / STREAM_BLOCK_LEN > UINT32_MAX / 2)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%llu bytes for fragments (expected at least %d)",
                        (unsigned long long)config->memory, (int)MEMORY_MIN);
    n_blocks = (uint32_t)(config->memory / STREAM_BLOCK_LEN);
    while (n_buckets < n_blocks / 2)
        n_buckets *= 2;
    defrag = (struct defrag *)calloc(1, sizeof *defrag);
    if (defrag == NULL || !stream_arena_open(&defrag->arena, n_blocks, 0) ||
        (defrag->buckets = (uint32_t *)calloc(n_buckets, sizeof *defrag->buckets)) == NULL) {
        defrag_free(defrag);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for fragments");
    }
    defrag->bucket_mask = n_buckets - 1;
    memcpy(defrag->hash_key, config->hash_key, sizeof defrag->hash_key);
    defrag->timeout_ns = config->timeout_seconds * UINT64_C(1000000000);
    *out = defrag;
    return SL_OK;
}

void defrag_free(struct defrag *defrag)
{
    if (defrag == NULL)
        return;
    stream_arena_close(&defrag->arena);
    free(defrag->buckets);
    free(defrag);
}

const struct sl_fragment_stats *defrag_get_stats(const struct defrag *defrag)
{
    return &defrag->stats;
}

uint64_t defrag_held(const struct defrag *defrag)
{
    return stream_arena_held(&defrag->arena);
}

/* ---- entries --------------------------------------------------------------------------------- */

static struct entry *entry_at(const struct defrag *defrag, uint32_t index)
{
    return (struct entry *)stream_block_at(&defrag->arena, index);
}

static uint32_t *bucket_of(const struct defrag *defrag, uint64_t hash)
{
    return &defrag->buckets[hash & defrag->bucket_mask];
}

static uint32_t find(const struct defrag *defrag, const struct defrag_key *key, uint64_t hash)
{
    uint32_t index = *bucket_of(defrag, hash);

    while (index != 0 && !defrag_key_equal(&entry_at(defrag, index)->key, key))
        index = entry_at(defrag, index)->chain;
    return index;
}

/* The bytes of the entry's datagram, which is ready, are counted no more. */
static void end_ready(struct defrag *defrag, struct entry *entry)
{
    if (entry->ready == NULL)
        return;
    stream_blocks_uncount(&defrag->arena, entry->n_counted);
    entry->n_counted = 0;
    entry->ready->entry = 0;
    entry->ready = NULL;
}

static void end_entry(struct defrag *defrag, uint32_t index)
{
    struct entry *entry = entry_at(defrag, index);
    uint32_t *link = bucket_of(defrag, entry->hash);

    end_ready(defrag, entry);
    while (*link != index)
        link = &entry_at(defrag, *link)->chain;
    *link = entry->chain;
    *(entry->older != 0 ? &entry_at(defrag, entry->older)->newer : &defrag->oldest) = entry->newer;
    *(entry->newer != 0 ? &entry_at(defrag, entry->newer)->older : &defrag->newest) = entry->older;
    stream_pieces_clear(&defrag->arena, &entry->pieces);
    stream_blocks_give(&defrag->arena, entry->headers);
    stream_blocks_give(&defrag->arena, index);
    defrag->stats.waiting--;
}

/* There are n blocks free afterwards, if the datagrams before `except` have so many. */
static bool make_room(struct defrag *defrag, uint32_t n, uint32_t except)
{
    while (defrag->arena.n_free < n) {
        uint32_t oldest = defrag->oldest;

        if (oldest != 0 && oldest == except)
            oldest = entry_at(defrag, oldest)->newer;
        if (oldest == 0)
            return false;
        end_entry(defrag, oldest);
        defrag->stats.evicted++;
    }
    return true;
}

static uint32_t new_entry(struct defrag *defrag, const struct defrag_key *key, uint64_t hash)
{
    uint32_t *bucket = bucket_of(defrag, hash);
    uint32_t index;
    struct entry *entry;

    (void)make_room(defrag, 1, 0);
    index = stream_blocks_take(&defrag->arena, 1);
    entry = entry_at(defrag, index);
    *entry = (struct entry){.chain = *bucket,
                            .older = defrag->newest,
                            .key = *key,
                            .hash = hash,
                            .time = defrag->clock};
    *bucket = index;
    defrag->stats.waiting++;
    *(defrag->newest != 0 ? &entry_at(defrag, defrag->newest)->newer : &defrag->oldest) = index;
    defrag->newest = index;
    return index;
}

/* The clock is that of the packets. Where it is set back by more than the timeout, all end. */
static void advance(struct defrag *defrag, int64_t time)
{
    const bool back = time != 0 && time < defrag->clock &&
                      (uint64_t)defrag->clock - (uint64_t)time > defrag->timeout_ns;

    if (time > defrag->clock || back)
        defrag->clock = time;
    while (defrag->oldest != 0 &&
           (back || (uint64_t)defrag->clock - (uint64_t)entry_at(defrag, defrag->oldest)->time >
                        defrag->timeout_ns)) {
        end_entry(defrag, defrag->oldest);
        defrag->stats.timed_out++;
    }
}

/* ---- datagrams ------------------------------------------------------------------------------- */

static void join(struct defrag *defrag, const struct entry *entry, struct defrag_datagram *datagram)
{
    const struct stream_arena *arena = &defrag->arena;
    const struct defrag_head *head = &entry->head;
    uint8_t *ip = defrag->out + defrag_put_link(defrag->out, head);
    uint8_t *payload = ip + head->headers_len;

    stream_blocks_read(arena, entry->headers, 0, ip, head->headers_len);
    defrag_mend_headers(ip, head);
    for (uint32_t i = entry->pieces.first; i != 0; i = stream_piece_at(arena, i)->after) {
        const struct stream_piece *piece = stream_piece_at(arena, i);

        stream_blocks_read(arena, i, piece->skip, payload + piece->begin, piece->len);
    }
    datagram->bytes = defrag->out;
    datagram->len = (uint32_t)(payload - defrag->out) + head->end;
}

static bool is_whole(const struct defrag *defrag, const struct entry *entry)
{
    const struct stream_pieces *pieces = &entry->pieces;

    return entry->head.end != 0 && entry->headers != 0 && pieces->first != 0 &&
           pieces->n_breaks == 0 && stream_piece_at(&defrag->arena, pieces->first)->begin == 0 &&
           stream_piece_end(stream_piece_at(&defrag->arena, pieces->last)) == entry->head.end;
}

/* ---- fragments ------------------------------------------------------------------------------- */

/* Notes where the datagram ends. False: an earlier fragment says otherwise. */
static bool note_end(const struct defrag *defrag, struct entry *entry,
                     const struct defrag_fragment *f)
{
    const uint32_t end = f->offset + f->len;
    const uint32_t last = entry->pieces.last;

    if (entry->head.end != 0)
        return f->more ? end <= entry->head.end : end == entry->head.end;
    if (f->more)
        return true;
    if (last != 0 && stream_piece_end(stream_piece_at(&defrag->arena, last)) > end)
        return false;
    entry->head.end = end;
    return true;
}

/* Keeps the headers of the first fragment. */
static void keep_headers(struct defrag *defrag, struct entry *entry,
                         const struct defrag_fragment *f)
{
    const uint32_t headers = stream_blocks_take(&defrag->arena, stream_blocks_of(f->headers_len));

    if (headers == 0)
        return;
    defrag->stats.tiny += defrag_is_tiny(f);
    stream_blocks_write(&defrag->arena, headers, 0, f->headers, f->headers_len);
    entry->headers = headers;
    defrag_head_read(&entry->head, f);
}

/* Lays the fragment among those of its datagram. */
static void lay(struct defrag *defrag, uint32_t index, const struct defrag_fragment *f)
{
    struct entry *entry = entry_at(defrag, index);
    struct stream_laying laying = {
        .arena = &defrag->arena,
        .pieces = &entry->pieces,
        .part = {.begin = f->offset, .end = f->offset + f->len, .rank = STREAM_SURE},
        .bytes = f->bytes,
        .policy = f->policy,
        .new_wins = defrag_policy_new_wins};

    if (f->offset == 0 && entry->headers == 0)
        keep_headers(defrag, entry, f);
    stream_pieces_lay(&laying);
    defrag->stats.overlaps += laying.overlaps;
    defrag->stats.conflicts += laying.conflicts;
    defrag->stats.dropped += laying.dropped;
}

/* The blocks that are free before the fragment is laid. */
static uint32_t room_of(uint32_t len, uint32_t headers_len)
{
    return stream_blocks_of(len) + stream_blocks_of(headers_len) + 1;
}

/* Where all fragments are there: joins them, unless the headers of the first make them too long. */
static bool settle(struct defrag *defrag, uint32_t index, struct defrag_datagram *datagram)
{
    const struct entry *entry = entry_at(defrag, index);
    bool fits;

    if (!is_whole(defrag, entry))
        return false;
    fits = defrag_head_fits(&entry->head);
    if (fits)
        join(defrag, entry, datagram);
    end_entry(defrag, index);
    *(fits ? &defrag->stats.joined : &defrag->stats.faults[SL_FRAGMENT_TOO_LONG]) += 1;
    return fits;
}

/* Copies the fragments of a datagram that was ready: another joins it, or memory is short. */
static void hold_ready(struct defrag *defrag, uint32_t index)
{
    struct entry *entry = entry_at(defrag, index);
    const struct defrag_list *list = defrag->list;
    const struct defrag_ready *ready = entry->ready;
    struct defrag_fragment f;

    end_ready(defrag, entry);
    defrag->stats.tiny -= ready->is_tiny; /* laying it counts it again */
    for (uint32_t i = ready->first; i < ready->last; i++) {
        const struct defrag_listed *listed = &list->fragment[i];

        if (listed->ready == ready - list->ready && listed->is_held &&
            defrag_read(&f, list->batch, listed->item))
            lay(defrag, index, &f);
    }
}

struct defrag_taken defrag_take(struct defrag *defrag, const struct defrag_fragment *f,
                                struct defrag_datagram *datagram)
{
    const enum sl_fragment_fault fault = defrag_fault_of(f);
    const uint64_t n_overlaps = defrag->stats.overlaps;
    const struct defrag_key key = defrag_key_of(f);
    const uint64_t hash = defrag_hash(&key, defrag->hash_key);
    struct defrag_taken taken = {0};
    uint32_t index;

    defrag->stats.fragments++;
    advance(defrag, f->time_ns);
    if (fault != SL_N_FRAGMENT_FAULTS) {
        defrag->stats.faults[fault]++;
        return taken;
    }
    index = find(defrag, &key, hash);
    if (index == 0)
        index = new_entry(defrag, &key, hash);
    else if (entry_at(defrag, index)->ready != NULL)
        hold_ready(defrag, index);
    if (!note_end(defrag, entry_at(defrag, index), f)) {
        defrag->stats.faults[SL_FRAGMENT_ENDS]++;
        taken.overlaps = stream_pieces_overlap(&defrag->arena, &entry_at(defrag, index)->pieces,
                                               f->offset, f->offset + f->len);
        defrag->stats.overlaps += taken.overlaps;
        return taken;
    }
    (void)make_room(defrag, room_of(f->len, f->headers_len), index);
    lay(defrag, index, f);
    taken.is_held = true;
    taken.overlaps = defrag->stats.overlaps != n_overlaps;
    taken.is_whole = settle(defrag, index, datagram);
    return taken;
}

/* ---- datagrams that are ready ---------------------------------------------------------------- */

const uint64_t *defrag_hash_key(const struct defrag *defrag)
{
    return defrag->hash_key;
}

bool defrag_take_ready(struct defrag *defrag, struct defrag_list *list, uint32_t i)
{
    struct defrag_listed *listed = &list->fragment[i];
    struct defrag_ready *ready = &list->ready[listed->ready];
    uint32_t n_blocks = stream_blocks_of(listed->len);

    defrag->list = list;
    advance(defrag, listed->time_ns);
    if (i == ready->first && find(defrag, &ready->key, ready->hash) == 0) {
        ready->entry = new_entry(defrag, &ready->key, ready->hash);
        entry_at(defrag, ready->entry)->ready = ready;
        n_blocks += stream_blocks_of(listed->headers_len);
        defrag->stats.tiny += ready->is_tiny;
    }
    if (ready->entry == 0)
        return false;
    if (!make_room(defrag, room_of(listed->len, listed->headers_len), ready->entry))
        return false;
    stream_blocks_count(&defrag->arena, n_blocks);
    entry_at(defrag, ready->entry)->n_counted += n_blocks;
    defrag->stats.fragments++;
    listed->is_held = true;
    if (i == ready->last) {
        end_entry(defrag, ready->entry);
        defrag->stats.joined++;
    }
    return true;
}

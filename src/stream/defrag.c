/* SPDX-License-Identifier: MIT */
#include "defrag.h"

#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "base/diag.h"
#include "stream_pieces.h"

enum {
    MEMORY_MIN = 256 << 10,
    DATAGRAM_MAX = 65535, /* bytes with the IPv4 header, or behind the IPv6 header */
    IPV6_LEN = 40,
    MAC_LEN = 12
};

struct key {
    struct sl_addr src, dst;
    uint32_t id;
    uint16_t vlan[2];
    uint8_t protocol; /* IPv6: 0 */
    uint8_t is_ipv6;
    uint8_t pad[6]; /* words of 8 bytes */
};

/* A datagram that is not whole. It is a block of its own. */
struct entry {
    uint32_t next_block;
    uint32_t chain;        /* next of the bucket; 0: none */
    uint32_t older, newer; /* in the order of first fragments */
    struct key key;
    struct stream_pieces pieces;
    uint32_t headers; /* chain of blocks; 0: the first fragment is missing */
    uint32_t headers_len, protocol_at;
    uint32_t end; /* bytes of the datagram; 0: unknown */
    int64_t time; /* the clock at its first fragment */
    uint8_t mac[MAC_LEN];
    uint8_t protocol; /* behind the headers */
};

_Static_assert(sizeof(struct entry) <= STREAM_BLOCK_LEN, "an entry is a block");
_Static_assert(sizeof(struct key) % 8 == 0, "a key is words");

struct defrag {
    struct stream_arena arena;
    uint32_t *buckets;
    uint32_t bucket_mask;
    uint32_t oldest, newest;
    uint64_t hash_key[2];
    uint64_t timeout_ns;
    int64_t clock;
    struct sl_fragment_stats stats;
    uint8_t out[DEFRAG_LINK_MAX + IPV6_LEN + DATAGRAM_MAX];
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
    if (defrag == NULL || !stream_arena_open(&defrag->arena, n_blocks) ||
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

static struct key key_of(const struct defrag_fragment *f)
{
    struct key key;

    memset(&key, 0, sizeof key);
    key.src = f->src;
    key.dst = f->dst;
    key.id = f->id;
    memcpy(key.vlan, f->vlan, sizeof key.vlan);
    key.protocol = f->is_ipv6 ? 0 : f->protocol;
    key.is_ipv6 = f->is_ipv6;
    return key;
}

static uint32_t *bucket_of(const struct defrag *defrag, const struct key *key)
{
    uint64_t word[sizeof *key / 8], sum = 0;

    memcpy(word, key, sizeof word);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        sum = core_fold(sum ^ word[i] ^ defrag->hash_key[0],
                        defrag->hash_key[1] ^ UINT64_C(0x9E3779B97F4A7C15));
    return &defrag->buckets[sum & defrag->bucket_mask];
}

static uint32_t find(const struct defrag *defrag, const struct key *key)
{
    uint32_t index = *bucket_of(defrag, key);

    while (index != 0 && memcmp(&entry_at(defrag, index)->key, key, sizeof *key) != 0)
        index = entry_at(defrag, index)->chain;
    return index;
}

static void end_entry(struct defrag *defrag, uint32_t index)
{
    struct entry *entry = entry_at(defrag, index);
    uint32_t *link = bucket_of(defrag, &entry->key);

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

static uint32_t new_entry(struct defrag *defrag, const struct key *key)
{
    uint32_t *bucket = bucket_of(defrag, key);
    uint32_t index;
    struct entry *entry;

    (void)make_room(defrag, 1, 0);
    index = stream_blocks_take(&defrag->arena, 1);
    entry = entry_at(defrag, index);
    *entry = (struct entry){
        .chain = *bucket, .older = defrag->newest, .key = *key, .time = defrag->clock};
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

static void store_be16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

/* Ethernet with the VLAN tags that the fragments had. */
static uint32_t put_link(uint8_t *out, const struct entry *entry)
{
    uint32_t len = MAC_LEN;

    memcpy(out, entry->mac, MAC_LEN);
    for (uint32_t i = 0; i < 2; i++)
        if (entry->key.vlan[i] != SL_NO_VLAN) {
            store_be16(out + len, 0x8100);
            store_be16(out + len + 2, entry->key.vlan[i]);
            len += 4;
        }
    store_be16(out + len, entry->key.is_ipv6 ? 0x86DD : 0x0800);
    return len + 2;
}

static uint16_t checksum(const uint8_t *bytes, uint32_t len)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i + 1 < len; i += 2)
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

/* The headers of a datagram that was never cut. */
static void mend_headers(uint8_t *ip, const struct entry *entry)
{
    if (entry->key.is_ipv6) {
        ip[entry->protocol_at] = entry->protocol;
        store_be16(ip + 4, entry->headers_len - IPV6_LEN + entry->end);
        return;
    }
    store_be16(ip + 2, entry->headers_len + entry->end);
    store_be16(ip + 6, 0);
    store_be16(ip + 10, 0);
    store_be16(ip + 10, checksum(ip, entry->headers_len));
}

static void join(struct defrag *defrag, const struct entry *entry, struct defrag_datagram *datagram)
{
    const struct stream_arena *arena = &defrag->arena;
    uint8_t *ip = defrag->out + put_link(defrag->out, entry);
    uint8_t *payload = ip + entry->headers_len;

    stream_blocks_read(arena, entry->headers, 0, ip, entry->headers_len);
    mend_headers(ip, entry);
    for (uint32_t i = entry->pieces.first; i != 0; i = stream_piece_at(arena, i)->after) {
        const struct stream_piece *piece = stream_piece_at(arena, i);

        stream_blocks_read(arena, i, piece->skip, payload + piece->begin, piece->len);
    }
    datagram->bytes = defrag->out;
    datagram->len = (uint32_t)(payload - defrag->out) + entry->end;
}

static bool is_whole(const struct defrag *defrag, const struct entry *entry)
{
    const struct stream_pieces *pieces = &entry->pieces;

    return entry->end != 0 && entry->headers != 0 && pieces->first != 0 && pieces->n_breaks == 0 &&
           stream_piece_at(&defrag->arena, pieces->first)->begin == 0 &&
           stream_piece_end(stream_piece_at(&defrag->arena, pieces->last)) == entry->end;
}

/* ---- fragments ------------------------------------------------------------------------------- */

/* SL_N_FRAGMENT_FAULTS: none. */
static enum sl_fragment_fault fault_of(const struct defrag_fragment *f)
{
    const uint32_t headers_len = f->headers_len - (f->is_ipv6 ? IPV6_LEN : 0);

    if (f->is_snapped)
        return SL_FRAGMENT_SNAPPED;
    if (f->len == 0 || (f->more && f->len % 8 != 0))
        return SL_FRAGMENT_LENGTH;
    if (headers_len + f->offset + f->len > DATAGRAM_MAX)
        return SL_FRAGMENT_TOO_LONG;
    return f->headers_len > DEFRAG_HEADERS_MAX ? SL_FRAGMENT_HEADERS : SL_N_FRAGMENT_FAULTS;
}

/* Notes where the datagram ends. False: an earlier fragment says otherwise. */
static bool note_end(const struct defrag *defrag, struct entry *entry,
                     const struct defrag_fragment *f)
{
    const uint32_t end = f->offset + f->len;
    const uint32_t last = entry->pieces.last;

    if (entry->end != 0)
        return f->more ? end <= entry->end : end == entry->end;
    if (f->more)
        return true;
    if (last != 0 && stream_piece_end(stream_piece_at(&defrag->arena, last)) > end)
        return false;
    entry->end = end;
    return true;
}

/* Keeps the headers of the first fragment. The ports of tiny ones lie in the next. */
static void keep_headers(struct defrag *defrag, struct entry *entry,
                         const struct defrag_fragment *f)
{
    const uint32_t transport_len = f->protocol == SL_IP_TCP ? 20 : 8;
    const uint32_t headers = stream_blocks_take(&defrag->arena, stream_blocks_of(f->headers_len));

    if (headers == 0)
        return;
    defrag->stats.tiny += f->len < transport_len;
    stream_blocks_write(&defrag->arena, headers, 0, f->headers, f->headers_len);
    entry->headers = headers;
    entry->headers_len = f->headers_len;
    entry->protocol_at = f->protocol_at;
    entry->protocol = f->protocol;
    if (f->mac != NULL)
        memcpy(entry->mac, f->mac, MAC_LEN);
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

    (void)make_room(defrag, stream_blocks_of(f->len) + stream_blocks_of(f->headers_len) + 1, index);
    if (f->offset == 0 && entry->headers == 0)
        keep_headers(defrag, entry, f);
    stream_pieces_lay(&laying);
    defrag->stats.overlaps += laying.overlaps;
    defrag->stats.conflicts += laying.conflicts;
    defrag->stats.dropped += laying.dropped;
}

/* Where all fragments are there: joins them, unless the headers of the first make them too long. */
static bool settle(struct defrag *defrag, uint32_t index, struct defrag_datagram *datagram)
{
    const struct entry *entry = entry_at(defrag, index);
    bool fits;

    if (!is_whole(defrag, entry))
        return false;
    fits = entry->headers_len - (entry->key.is_ipv6 ? IPV6_LEN : 0) + entry->end <= DATAGRAM_MAX;
    if (fits)
        join(defrag, entry, datagram);
    end_entry(defrag, index);
    *(fits ? &defrag->stats.joined : &defrag->stats.faults[SL_FRAGMENT_TOO_LONG]) += 1;
    return fits;
}

struct defrag_taken defrag_take(struct defrag *defrag, const struct defrag_fragment *f,
                                struct defrag_datagram *datagram)
{
    const enum sl_fragment_fault fault = fault_of(f);
    const uint64_t n_overlaps = defrag->stats.overlaps;
    const struct key key = key_of(f);
    struct defrag_taken taken = {0};
    uint32_t index;

    defrag->stats.fragments++;
    advance(defrag, f->time_ns);
    if (fault != SL_N_FRAGMENT_FAULTS) {
        defrag->stats.faults[fault]++;
        return taken;
    }
    index = find(defrag, &key);
    if (index == 0)
        index = new_entry(defrag, &key);
    if (!note_end(defrag, entry_at(defrag, index), f)) {
        defrag->stats.faults[SL_FRAGMENT_ENDS]++;
        taken.overlaps = stream_pieces_overlap(&defrag->arena, &entry_at(defrag, index)->pieces,
                                               f->offset, f->offset + f->len);
        defrag->stats.overlaps += taken.overlaps;
        return taken;
    }
    lay(defrag, index, f);
    taken.is_held = true;
    taken.overlaps = defrag->stats.overlaps != n_overlaps;
    taken.is_whole = settle(defrag, index, datagram);
    return taken;
}

/* SPDX-License-Identifier: MIT */
/* The hash plane: building it, and changing it under look-ups. See fib_hash_core.h. */
#include "fib_hash_core.h"

#include <stdlib.h>

#include "base/diag.h"
#include "names/fib/fib_internal.h"

enum {
    WAY_AHEAD = 16,    /* nodes whose memory is fetched into the cache ahead */
    FULL_NEW = 80,     /* per cent of the slots of a new plane, at most */
    FULL_MAX = 88,     /* and of one that grows */
    DEFAULT_SPLIT = 3, /* of an empty table: most names of hosts have three labels */
    SLOT_LEN = sizeof(uint64_t)
};

struct hash {
    struct fib_view *view;
    struct fib_arena arena;
    size_t n_used; /* slots */
    size_t n_more; /* slots that say "more" */
    struct fib_waiting pieces;
    struct fib_waiting views;  /* that larger ones took the place of */
    struct fib_waiting arenas; /* the memory of those that longer ones took the place of */
};

/* ---- slots ----------------------------------------------------------------------------------- */

/* A node's slot, 0 where it has none. */
static uint64_t slot_of(const struct fib_view *view, const struct fib_node *node)
{
    const uint64_t height = node->depth == view->split && node->n_below != 0 ? node->height : 0;

    if (node->piece == 0 && height == 0)
        return 0;
    return node->piece | height << 32 | hash_tag(node->hash);
}

static uint64_t *bucket_at(const struct fib_view *view, uint32_t place)
{
    return (uint64_t *)view->part[0] + (size_t)place * HASH_SLOTS;
}

/* Puts one slot in place of any that is equal to `before`: slots of one hash with the same content
 * are interchangeable. 0 is a free slot. */
static void swap_slot(struct hash *hash, const struct fib_view *view, uint64_t at, uint64_t before,
                      uint64_t after)
{
    const uint32_t filter = hash_filter(at);
    uint32_t place = fib_place(at, view->n_places[0]);

    hash->n_used += (after != 0) - (size_t)(before != 0);
    for (;;) {
        uint64_t *bucket = bucket_at(view, place);

        for (uint32_t i = 0; i < HASH_SLOTS; i++) {
            const uint64_t more = bucket[i] & HASH_MORE;

            if ((bucket[i] ^ more) == before) {
                fib_store64(&bucket[i], after | more);
                return;
            }
        }
        if ((bucket[filter] & HASH_MORE) == 0) {
            hash->n_more++;
            fib_store64(&bucket[filter], bucket[filter] | HASH_MORE);
        }
        place = place + 1 != view->n_places[0] ? place + 1 : 0;
    }
}

static void free_view(struct fib_view *view)
{
    if (view != NULL)
        fib_memory_give((void *)view->part[0], view->part_len[0]);
    free(view);
}

static struct fib_view *make_view(const struct sl_fib *fib, size_t n_slots, uint32_t split)
{
    const size_t n_buckets = n_slots / HASH_SLOTS + 2;
    struct fib_view *view = fib_view_make();

    if (view == NULL || n_buckets > UINT32_MAX) {
        free(view);
        return NULL;
    }
    view->secret = fib->tree.secret;
    view->split = split;
    view->n_places[0] = (uint32_t)n_buckets;
    view->part_len[0] = n_buckets * HASH_SLOTS * SLOT_LEN;
    view->part[0] = fib_memory_take(view->part_len[0]);
    if (view->part[0] != NULL)
        return view;
    free(view);
    return NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Word by word, as look-ups with an old reference may read beside it. */
static void write_record(uint32_t *record, uint32_t next_hop, const uint8_t *name, uint32_t len)
{
    const bool is_short = len < 255;
    uint32_t head = is_short ? len : 255 | len << 8;
    uint32_t at = 0; /* of the key's bytes */

    if (is_short) { /* the key's first three are in the word of its length */
        at = len < 3 ? len : 3;
        for (uint32_t i = 0; i < at; i++)
            head |= (uint32_t)name[i] << (i + 1) * 8;
    }
    fib_store32(&record[0], next_hop);
    __atomic_store_n(&record[1], head, __ATOMIC_RELAXED);
    for (record += 2; at < len; at += 4, record++) {
        uint32_t word = 0;

        if (len - at >= 4)
            memcpy(&word, name + at, 4);
        else
            memcpy(&word, name + at, len - at);
        __atomic_store_n(record, word, __ATOMIC_RELAXED);
    }
}

/* Returns the piece; 0: there is no room. */
static uint32_t take_record(struct fib_arena *arena, uint32_t next_hop, const uint8_t *name,
                            uint32_t len)
{
    const uint32_t piece = fib_arena_take(arena, hash_record_words(len));

    if (piece != 0)
        write_record(arena->words + piece, next_hop, name, len);
    return piece;
}

static void give_arena(const struct fib_retired *retired)
{
    fib_memory_give((void *)(uintptr_t)retired->what, retired->len);
}

static void hash_collect(struct sl_fib *fib, uint64_t oldest)
{
    struct hash *hash = (struct hash *)fib->plane;
    struct fib_retired retired;

    while (fib_waiting_take(&hash->pieces, oldest, &retired))
        fib_arena_give(&hash->arena, (uint32_t)retired.what, (uint32_t)retired.len);
    while (fib_waiting_take(&hash->views, oldest, &retired))
        free_view((struct fib_view *)(uintptr_t)retired.what);
    while (fib_waiting_take(&hash->arenas, oldest, &retired))
        give_arena(&retired);
}

static void hash_free(void *plane)
{
    struct hash *hash = (struct hash *)plane;
    struct fib_retired retired;

    if (hash == NULL)
        return;
    while (fib_waiting_take(&hash->views, UINT64_MAX, &retired))
        free_view((struct fib_view *)(uintptr_t)retired.what);
    while (fib_waiting_take(&hash->arenas, UINT64_MAX, &retired))
        give_arena(&retired);
    free_view(hash->view);
    fib_arena_free(&hash->arena);
    fib_waiting_free(&hash->pieces);
    fib_waiting_free(&hash->views);
    fib_waiting_free(&hash->arenas);
    free(hash);
}

/* ---- build ----------------------------------------------------------------------------------- */

/* The level at which probes are fewest for the names of the table. An entry above it takes one for
 * each level between, and one below it one more. */
static uint32_t choose_split(const struct fib_tree *tree)
{
    size_t n[HASH_SPLIT_MAX + 2] = {0}, best = SIZE_MAX;
    uint32_t split = DEFAULT_SPLIT;

    for (uint32_t i = FIB_ROOT + 1; i < tree->n; i++)
        if (fib_in_plane(&tree->nodes[i]))
            n[tree->nodes[i].depth <= HASH_SPLIT_MAX ? tree->nodes[i].depth : HASH_SPLIT_MAX + 1]++;
    for (uint32_t m = 1; m <= HASH_SPLIT_MAX; m++) {
        size_t cost = 0;

        for (uint32_t d = 1; d <= HASH_SPLIT_MAX + 1; d++)
            cost += n[d] * (d < m ? m - d + 1 : d == m ? 1 : 2);
        if (cost < best) {
            best = cost;
            split = m;
        }
    }
    return best != 0 ? split : DEFAULT_SPLIT;
}

static struct fib_node *at_split(struct fib_tree *tree, uint32_t node, uint32_t split)
{
    while (tree->nodes[node].depth > split)
        node = tree->nodes[node].parent;
    return &tree->nodes[node];
}

static void note_below(struct fib_node *top, uint32_t depth)
{
    const uint32_t height = depth - top->depth;
    const uint8_t clipped = (uint8_t)(height < HASH_HEIGHT_MAX ? height : HASH_HEIGHT_MAX);

    if (top->n_below++ == 0 || top->height < clipped)
        top->height = clipped;
}

static void forget_below(struct fib_tree *tree)
{
    for (uint32_t i = FIB_ROOT; i < tree->n; i++) {
        tree->nodes[i].n_below = 0;
        tree->nodes[i].height = 0;
    }
}

/* Counts the entries below each node at the split anew; returns the slots needed. */
static size_t count_below(struct fib_tree *tree, uint32_t split)
{
    size_t n_slots = 0;

    forget_below(tree);
    for (uint32_t i = FIB_ROOT + 1; i < tree->n; i++) {
        if (!fib_in_plane(&tree->nodes[i]))
            continue;
        n_slots++;
        if (tree->nodes[i].depth > split) {
            struct fib_node *top = at_split(tree, i, split);

            n_slots += top->n_below == 0 && !fib_in_plane(top);
            note_below(top, tree->nodes[i].depth);
        }
    }
    return n_slots;
}

/* Slots into a view that nobody reads yet: each is fetched a while before it is filled. `pieces`,
 * if not NULL, are where the nodes' records are from now on. */
static void fill_slots(struct hash *hash, const struct fib_view *view, struct fib_tree *tree,
                       const uint32_t *pieces)
{
    struct {
        uint64_t hash, slot;
    } ahead[WAY_AHEAD];
    size_t n = 0;

    hash->n_used = 0;
    hash->n_more = 0;
    for (uint32_t i = FIB_ROOT + 1; i < tree->n; i++) {
        struct fib_node *node = &tree->nodes[i];

        if (pieces != NULL)
            node->piece = pieces[i];
        const uint64_t slot = slot_of(view, node);
        if (slot == 0)
            continue;
        if (n >= WAY_AHEAD)
            swap_slot(hash, view, ahead[n % WAY_AHEAD].hash, 0, ahead[n % WAY_AHEAD].slot);
        ahead[n % WAY_AHEAD].hash = node->hash;
        ahead[n % WAY_AHEAD].slot = slot;
        __builtin_prefetch(bucket_at(view, fib_place(node->hash, view->n_places[0])), 1);
        n++;
    }
    for (size_t i = n > WAY_AHEAD ? n - WAY_AHEAD : 0; i < n; i++)
        swap_slot(hash, view, ahead[i % WAY_AHEAD].hash, 0, ahead[i % WAY_AHEAD].slot);
}

/* The records of all entries into an arena; pieces[node] says where. */
static bool fill_records(struct sl_fib *fib, struct fib_arena *arena, uint32_t *pieces)
{
    const struct fib_tree *tree = &fib->tree;

    for (uint32_t i = FIB_ROOT + 1; i < tree->n; i++) {
        if (!fib_in_plane(&tree->nodes[i]))
            continue;
        const uint32_t len = fib_tree_name(tree, i, fib->name);

        if (!fib_arena_fits(arena, hash_record_words(len)) &&
            !fib_arena_grow(arena, hash_record_words(len)))
            return false;
        pieces[i] = take_record(arena, tree->nodes[i].next_hop, fib->name, len);
        if (pieces[i] == 0)
            return false;
    }
    return true;
}

static uint64_t arena_len(const struct fib_arena *arena)
{
    return (arena->n_words + FIB_LINE) * sizeof(uint32_t);
}

static enum sl_status no_memory(const struct sl_fib *fib, struct sl_diag *diag)
{
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the look-up table of %zu names",
                    fib->n_entries);
}

static struct hash *make_hash(struct sl_fib *fib, uint32_t split, size_t n_slots, uint32_t *pieces)
{
    struct hash *hash = (struct hash *)calloc(1, sizeof *hash);

    if (hash == NULL || pieces == NULL ||
        !fib_arena_init(&hash->arena, hash_record_words(SL_NAME_LEN_MAX)) ||
        !fill_records(fib, &hash->arena, pieces) ||
        (hash->view = make_view(fib, n_slots, split)) == NULL) {
        hash_free(hash);
        return NULL;
    }
    fill_slots(hash, hash->view, &fib->tree, pieces);
    hash->view->part[1] = hash->arena.words;
    hash->view->part_len[1] = arena_len(&hash->arena);
    return hash;
}

/* Everything that can fail comes before anything that a look-up or an update could notice. */
static enum sl_status hash_build(struct sl_fib *fib, struct sl_diag *diag)
{
    struct fib_tree *tree = &fib->tree;
    const uint32_t old_split = fib_view_of(fib) != NULL ? fib_view_of(fib)->split : 0;
    const uint32_t split = choose_split(tree);
    const size_t n_slots = count_below(tree, split) * 100 / FULL_NEW;
    const size_t pieces_len = (size_t)tree->n * sizeof(uint32_t);
    uint32_t *pieces = (uint32_t *)fib_memory_take(pieces_len);
    struct hash *made =
        fib_waiting_reserve(&fib->old, 1) ? make_hash(fib, split, n_slots, pieces) : NULL;

    fib_memory_give(pieces, pieces_len);
    if (made == NULL) {
        if (old_split != 0)
            (void)count_below(tree, old_split);
        return no_memory(fib, diag);
    }
    fib_put_plane(fib, made, made->view);
    return SL_OK;
}

/* ---- updates --------------------------------------------------------------------------------- */

/* Puts a view with more slots in the place of the present one, and where a record of n_words does
 * not fit, a longer arena. Both at once, as slots lead to the records of their own view. */
static bool grow(struct sl_fib *fib, uint32_t n_words)
{
    struct hash *hash = (struct hash *)fib->plane;
    struct fib_retired arena = {0}, old = {.what = (uint64_t)(uintptr_t)hash->view};

    if (!fib_waiting_reserve(&hash->views, 1) || !fib_waiting_reserve(&hash->arenas, 1))
        return false;
    struct fib_view *view = make_view(fib, (hash->n_used + 64) * 3 / 2, hash->view->split);
    if (view == NULL)
        return false;
    if (!fib_arena_fits(&hash->arena, n_words) &&
        !fib_arena_replace(&hash->arena, n_words, &arena)) {
        free_view(view);
        return false;
    }
    view->root_hop = hash->view->root_hop;
    view->part[1] = hash->arena.words;
    view->part_len[1] = hash->view->part_len[1];
    fill_slots(hash, view, &fib->tree, NULL);

    hash->view = view;
    atomic_store(&fib->table.view, view);
    arena.mark = old.mark = fib_retire(fib);
    fib_waiting_add(&hash->views, &old);
    if (arena.what != 0)
        fib_waiting_add(&hash->arenas, &arena);
    return true;
}

/* Room for two more slots and a record, and few buckets that say "more": a probe is to end soon. */
static bool make_room(struct sl_fib *fib, uint32_t n_words)
{
    const struct hash *hash = (const struct hash *)fib->plane;
    const size_t n_buckets = hash->view->n_places[0];
    const bool few = (hash->n_used + 2) * 100 <= n_buckets * HASH_SLOTS * FULL_MAX;

    return (few && hash->n_more < n_buckets && fib_arena_fits(&hash->arena, n_words)) ||
           grow(fib, n_words);
}

/* An entry came or went below a node at the split. */
static void swap_below(struct sl_fib *fib, uint32_t node, bool comes)
{
    struct hash *hash = (struct hash *)fib->plane;
    struct fib_node *top = at_split(&fib->tree, node, hash->view->split);
    const uint64_t before = slot_of(hash->view, top);

    if (comes)
        note_below(top, fib->tree.nodes[node].depth);
    else
        top->n_below--;

    const uint64_t after = slot_of(hash->view, top);
    if (before != after)
        swap_slot(hash, hash->view, top->hash, before, after);
}

static bool hash_add(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    struct hash *hash = (struct hash *)fib->plane;
    struct fib_node *node = &fib->tree.nodes[at];

    if (!make_room(fib, hash_record_words(len)))
        return false;
    const uint32_t piece = take_record(&hash->arena, node->next_hop, name, len);
    const uint64_t before = slot_of(hash->view, node);
    node->piece = piece;
    hash->view->part_len[1] = arena_len(&hash->arena);
    swap_slot(hash, hash->view, node->hash, before, slot_of(hash->view, node));
    if (node->depth > hash->view->split)
        swap_below(fib, at, true);
    return true;
}

static bool hash_drop(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    struct hash *hash = (struct hash *)fib->plane;
    struct fib_node *node = &fib->tree.nodes[at];

    (void)name;
    if (!fib_waiting_reserve(&hash->pieces, 1))
        return false;

    struct fib_retired retired = {.what = node->piece, .len = hash_record_words(len)};
    const uint64_t before = slot_of(hash->view, node);
    node->piece = 0;
    swap_slot(hash, hash->view, node->hash, before, slot_of(hash->view, node));
    if (node->depth > hash->view->split)
        swap_below(fib, at, false);
    retired.mark = fib_retire(fib);
    fib_waiting_add(&hash->pieces, &retired);
    return true;
}

static bool hash_change(struct sl_fib *fib, uint32_t at, const uint8_t *name, uint32_t len)
{
    struct hash *hash = (struct hash *)fib->plane;
    const struct fib_node *node = &fib->tree.nodes[at];

    (void)name;
    (void)len;
    fib_store32(&hash->arena.words[node->piece], node->next_hop);
    return true;
}

static void hash_fetch(const struct sl_fib *fib, uint64_t at)
{
    const struct fib_view *view = fib_view_of(fib);

    if (view != NULL) /* a new table is planted before it is built */
        __builtin_prefetch(bucket_at(view, fib_place(at, view->n_places[0])), 1);
}

static size_t hash_control_len(const struct sl_fib *fib)
{
    const struct hash *hash = (const struct hash *)fib->plane;

    return (hash->pieces.cap + hash->views.cap + hash->arenas.cap) * sizeof(struct fib_retired);
}

/* ---- tables from files ----------------------------------------------------------------------- */

static bool record_fits(const struct fib_view *view, uint32_t piece)
{
    const uint64_t n_words = view->part_len[1] / sizeof(uint32_t);
    const uint32_t *arena = (const uint32_t *)view->part[1];

    if ((uint64_t)piece + 2 + FIB_LINE > n_words)
        return false;

    const uint32_t first = arena[piece + 1] & 0xFF;
    const uint32_t len = first < 255 ? first : arena[piece + 1] >> 8 & 0xFFFF;
    const uint32_t n_record = hash_record_words(len);
    return (first < 255 || len >= 255) && (uint64_t)piece + n_record + FIB_LINE <= n_words &&
           (n_record > FIB_LINE || piece % FIB_LINE + n_record <= FIB_LINE);
}

static const char *hash_check(const struct fib_view *view, uint64_t n_hops)
{
    const uint64_t *slots = (const uint64_t *)view->part[0];
    const uint64_t n_slots = (uint64_t)view->n_places[0] * HASH_SLOTS;
    uint32_t goes_on = (1u << HASH_SLOTS) - 1; /* filter numbers that no bucket has ended yet */

    if (view->split == 0 || view->split > HASH_SPLIT_MAX)
        return "its split is out of range";
    if (n_slots == 0 || view->part_len[0] != n_slots * SLOT_LEN)
        return "its buckets are not where it says";
    for (uint64_t i = 0; i < n_slots; i++) {
        const uint64_t ahead = slots[i + WAY_AHEAD < n_slots ? i + WAY_AHEAD : i];

        __builtin_prefetch(hash_record(view, hash_piece(ahead))); /* it may lie anywhere */
        if ((slots[i] & HASH_USED) != 0 && hash_piece(slots[i]) != 0) {
            if (!record_fits(view, hash_piece(slots[i])))
                return "a key lies outside it";
            if (*hash_record(view, hash_piece(slots[i])) >= n_hops)
                return FIB_NO_SUCH_HOP;
        }
        if ((slots[i] & HASH_MORE) == 0)
            goes_on &= ~(1u << i % HASH_SLOTS);
    }
    return goes_on == 0 ? NULL : "its buckets have no end";
}

/* ---- backends -------------------------------------------------------------------------------- */

extern const struct sl_fib_backend fib_hash_cuda, fib_hash_cuda_direct, fib_hash_cuda_interwoven,
    fib_hash_cuda_persistent;
extern const struct sl_fib_backend fib_hash_avx512, fib_hash_avx2, fib_hash_interleaved,
    fib_hash_scalar, fib_hash_tiled, fib_hash_tiled_interwoven;

static const struct sl_fib_backend *const backends[] = {&fib_hash_cuda,
                                                        &fib_hash_cuda_direct,
                                                        &fib_hash_cuda_interwoven,
                                                        &fib_hash_cuda_persistent,
                                                        &fib_hash_avx512,
                                                        &fib_hash_avx2,
                                                        &fib_hash_interleaved,
                                                        &fib_hash_scalar,
                                                        &fib_hash_tiled,
                                                        &fib_hash_tiled_interwoven,
                                                        NULL};

static const struct sl_fib_engine engine = {"hash", backends};

const struct fib_plane fib_hash_plane = {.name = "hash",
                                         .engine = &engine,
                                         .build = hash_build,
                                         .add = hash_add,
                                         .drop = hash_drop,
                                         .change = hash_change,
                                         .collect = hash_collect,
                                         .fetch = hash_fetch,
                                         .control_len = hash_control_len,
                                         .free = hash_free,
                                         .check = hash_check};

/* SPDX-License-Identifier: MIT */
/* The table, its truth, and the work of a plane for it. */
#ifndef FIB_INTERNAL_H
#define FIB_INTERNAL_H

#include <pthread.h>

#include "fib_epoch.h"
#include "fib_memory.h"
#include "fib_table.h"
#include "fib_tree.h"

/* A plane keeps its state in fib->plane and its view in the table. Entries that are in the plane
 * are those of the tree that are not folded, but for the root's, which the view has. All under
 * fib->lock. */
struct fib_plane {
    const char *name;
    const struct sl_fib_engine *engine;

    /* Makes the plane of what the tree holds and gives it to fib_put_plane. Where it fails nothing
     * has changed. */
    enum sl_status (*build)(struct sl_fib *fib, struct sl_diag *diag);

    /* A node's entry comes into the plane, with the tree's next hop; leaves it; gets another next
     * hop. The last thing they do is one store that lets look-ups see it. False: no memory, nothing
     * changed. */
    bool (*add)(struct sl_fib *fib, uint32_t node, const uint8_t *name, uint32_t len);
    bool (*drop)(struct sl_fib *fib, uint32_t node, const uint8_t *name, uint32_t len);
    bool (*change)(struct sl_fib *fib, uint32_t node, const uint8_t *name, uint32_t len);

    /* NULL, or fetches into the cache what a change of the entry with this hash will touch. */
    void (*fetch)(const struct sl_fib *fib, uint64_t hash);

    /* Memory that was retired before `oldest` may be used again. */
    void (*collect)(struct sl_fib *fib, uint64_t oldest);

    size_t (*control_len)(const struct sl_fib *fib); /* bytes that only updates need */
    void (*free)(void *plane); /* a plane that nobody reads any more; accepts NULL */

    /* NULL, or the fault of a view from a file. Look-ups may read nothing outside its parts, none
     * may go on forever, and their answers must be below n_hops. */
    const char *(*check)(const struct fib_view *view, uint64_t n_hops);
};

struct fib_block;

struct sl_fib_table {
    const struct fib_plane *plane;
    struct fib_view *_Atomic view;
    pthread_mutex_t lock; /* of what follows */
    struct fib_epochs epochs;
    void *copies;
    fib_publish *publish;
    struct sl_fib *fib; /* NULL: loaded from a file, mapped at `file` */
    const struct fib_block *file;
};

struct sl_fib {
    pthread_mutex_t lock;
    struct sl_fib_table table;
    bool aggregate;
    struct fib_tree tree;
    void *plane;
    struct fib_waiting old; /* planes that another one took the place of; theirs to free */
    uint64_t version;
    size_t n_entries, n_folded;
    struct fib_path path; /* of the call that goes on */
    uint8_t name[SL_NAME_LEN_MAX];
};

extern const struct fib_plane fib_hash_plane, fib_mata_plane, fib_ata_plane, fib_stt_plane;

/* ---- planes: fib_plane.c --------------------------------------------------------------------- */

const struct fib_plane *fib_find_plane(const char *name); /* NULL: this build has none */

/* The plane of a name; NULL and "auto" are the first. SL_EINVAL, and SL_EUNSUPPORTED for a plane
 * of the papers' that this build leaves out: diag says which. */
enum sl_status fib_choose_plane(const struct fib_plane **plane, const char *name,
                                struct sl_diag *diag);

/* One with zeros, in cache lines of its own, to be freed; NULL: no memory. */
struct fib_view *fib_view_make(void);

void fib_table_init(struct sl_fib_table *table, const struct fib_plane *plane);
void fib_table_end(struct sl_fib_table *table);

/* Takes a mark for what a plane has just taken out. */
uint64_t fib_retire(struct sl_fib *fib);

/* Publishes a plane in place of the one that there may be, for which fib->old has room. */
void fib_put_plane(struct sl_fib *fib, void *plane, struct fib_view *view);

static inline const struct fib_view *fib_view_of(const struct sl_fib *fib)
{
    return atomic_load_explicit(&((struct sl_fib *)fib)->table.view, memory_order_relaxed);
}

static inline bool fib_in_plane(const struct fib_node *node)
{
    return node->next_hop != SL_FIB_NONE && !node->folded;
}

/* These change memory that look-ups read. */
static inline void fib_store32(uint32_t *at, uint32_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static inline void fib_store64(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

/* For functions that load several words at once while another thread stores one of them. C does not
 * define that, and the thread sanitizer reports a race. CPUs load each aligned word whole, and
 * these functions use only words that are published. */
#define FIB_LOADS_WORDS __attribute__((no_sanitize("thread")))

/* ---- what is in the plane: fib.c ------------------------------------------------------------- */

/* Marks an entry as folded or not, and counts it. */
void fib_count_folded(struct sl_fib *fib, struct fib_node *node, bool folded);

/* Writes the number of the plane's entries into its view. */
void fib_count_in_plane(struct sl_fib *fib);

/* ---- files: fib_store.c ---------------------------------------------------------------------- */

/* Bytes of a view's flat block, and the block itself at `to`, aligned to 64. */
size_t fib_block_len(const struct fib_view *view);
void fib_block_make(struct fib_block *to, const struct fib_view *view, const char *plane);

/* Makes length and checksum right after changes: so that fuzzing reaches what is behind them. */
void fib_block_seal(struct fib_block *block, uint64_t len);

/* The reason where an answer is none of n_hops. */
#define FIB_NO_SUCH_HOP "it answers a next hop that there is none of"

/* Whether a block of len bytes can be used, and answers next hops below n_hops alone; `view`
 * becomes what it holds. */
enum sl_status fib_block_open(const void *memory, uint64_t len, const char *path, uint64_t n_hops,
                              struct fib_view *view, const struct fib_plane **plane,
                              struct sl_diag *diag);

/* ---- CPU backends: fib_cpu.c ----------------------------------------------------------------- */

/* Looks all items up. prefix_len may be NULL. */
typedef void fib_cpu_lookup(const struct fib_view *view, const struct sl_batch *batch,
                            uint32_t *next_hop, uint32_t *prefix_len);

enum sl_status fib_cpu_open(void **context, struct sl_fib_table *table,
                            const struct sl_limits *limits, struct sl_diag *diag);
enum sl_status fib_cpu_submit(void *context, const struct sl_batch *batch,
                              const struct sl_fib_answers *answers, fib_cpu_lookup *lookup);
enum sl_status fib_cpu_wait(void *context);
void fib_cpu_close(void *context);
bool fib_cpu_usable(char why[SL_WHY_LEN]);
bool fib_cpu_usable_avx512(char why[SL_WHY_LEN]);
bool fib_cpu_usable_avx2(char why[SL_WHY_LEN]);

#define FIB_CPU_BACKEND(symbol, label, is_usable, lookup)                              \
    static enum sl_status symbol##_submit(void *context, const struct sl_batch *batch, \
                                          const struct sl_fib_answers *answers)        \
    {                                                                                  \
        return fib_cpu_submit(context, batch, answers, (lookup));                      \
    }                                                                                  \
    extern const struct sl_fib_backend symbol;                                         \
    const struct sl_fib_backend symbol = {.name = (label),                             \
                                          .device = SL_DEVICE_CPU,                     \
                                          .usable = (is_usable),                       \
                                          .open = fib_cpu_open,                        \
                                          .submit = symbol##_submit,                   \
                                          .wait = fib_cpu_wait,                        \
                                          .close = fib_cpu_close}

/* An item as the core reads it. Items begin at multiples of SL_BATCH_ALIGN. */
static inline struct fib_reader fib_item(const struct sl_batch *batch, uint32_t item,
                                         uint32_t stride)
{
    const struct sl_span span = batch->payload[item];
    const struct fib_reader name = {(const uint32_t *)(const void *)(batch->bytes + span.offset),
                                    stride, span.len};

    return name;
}

#endif

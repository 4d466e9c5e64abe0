/* SPDX-License-Identifier: MIT */
/* Longest-prefix match of names by components: the index behind sluice/names.h. It also serves
 * programs that map names to numbers, or compare look-up structures.
 *
 * After "Wire Speed Name Lookup: A GPU-based Approach" (NSDI 2013), whose sections the comments
 * name. The encoding of names is that of sluice/name_syntax.h. Names that are looked up need not be
 * well formed: bytes behind their last well-formed component are no part of them. */
#ifndef SLUICE_FIB_H
#define SLUICE_FIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/engine.h"
#include "sluice/name_syntax.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- control plane --------------------------------------------------------------------------- */

#define SL_FIB_NONE UINT32_MAX /* the answer where no prefix matches, not even the root */

enum { SL_FIB_KEY_LEN = 16 }; /* bytes */

/* Returns all planes of this build by name, ended by NULL: "hash", "mata", and of the papers' "ata"
 * and "stt", which a build may leave out. "auto" takes the first. Static; any thread. */
SL_API const char *const *sl_fib_planes(void);

/* The configuration of a table. */
struct sl_fib_config {
    const char *plane; /* a name of sl_fib_planes, or "auto", as NULL is */

    /* An entry is left out of the data plane where its nearest shorter prefix has the same next hop
     * (section 2.1). Next hops of answers stay the same. The lengths of matched prefixes become
     * those of the shorter ones. */
    bool aggregate;

    /* SL_FIB_KEY_LEN secret bytes that hashes depend on, copied; NULL: random ones. */
    const uint8_t *key;

    uint64_t reserved[4]; /* 0: room to grow */
};

/* Plane "auto", no aggregation, random key. */
SL_API void sl_fib_config_init(struct sl_fib_config *config);

/* A name and its number. */
struct sl_fib_entry {
    const uint8_t *name; /* lent for the call */
    uint32_t name_len;   /* bytes, at most SL_NAME_LEN_MAX */
    uint32_t next_hop;   /* any number but SL_FIB_NONE: a port, an entry's id, an action */
};

/* The exact, unaggregated table, and a data plane that follows it. Any thread may call; calls on
 * one table take turns. Look-ups never wait. */
struct sl_fib;

/* Makes a table of n_entries names; 0 is allowed. The caller frees it. Equal names have the effect
 * of inserts one after the other. SL_EINVAL: there is no such plane (diag names the known ones); or
 * a name is not well formed or too long, or its next hop is SL_FIB_NONE (diag->line is its index +
 * 1). SL_EUNSUPPORTED: the build leaves the plane out, or the plane does not take as many names.
 * SL_EIO: the system has no random key. SL_ENOMEM: diag has the size that is needed. */
SL_CHECK SL_API enum sl_status sl_fib_build(struct sl_fib **fib, const struct sl_fib_config *config,
                                            const struct sl_fib_entry *entries, size_t n_entries,
                                            struct sl_diag *diag);

/* Frees a table. Accepts NULL. All contexts over its data plane must be closed. */
SL_API void sl_fib_free(struct sl_fib *fib);

/* The kind of an update. */
enum sl_fib_verb {
    SL_FIB_INSERT, /* adds a holder of the name; the latest next hop counts */
    SL_FIB_DELETE, /* removes a holder; the entry goes with its last one */
    SL_FIB_CHANGE  /* gives an existing entry another next hop */
};

/* The outcome of an update. */
enum sl_fib_outcome {
    SL_FIB_DONE,
    SL_FIB_ABSENT, /* DELETE, CHANGE: there is no such entry */
    SL_FIB_BAD     /* not well formed, too long, or a next hop of SL_FIB_NONE */
};

/* An update. */
struct sl_fib_update {
    struct sl_fib_entry entry; /* DELETE ignores next_hop */
    enum sl_fib_verb verb;
    enum sl_fib_outcome outcome; /* set by sl_fib_apply */
};

/* Applies updates in order while look-ups go on. A look-up gets the answer of before or after each
 * single update, never another one. Hundreds of updates a call are much faster than one. Sets
 * *n_applied to the updates that were handled: all of them unless memory ran out. SL_ENOMEM: the
 * update at *n_applied had no effect. */
SL_CHECK SL_API enum sl_status sl_fib_apply(struct sl_fib *fib, struct sl_fib_update *updates,
                                            size_t n_updates, size_t *n_applied,
                                            struct sl_diag *diag);

/* Builds the data plane anew, as small and fast as at first, while look-ups go on. Until it ends
 * there are two planes in memory. SL_ENOMEM: nothing changed. */
SL_CHECK SL_API enum sl_status sl_fib_rebuild(struct sl_fib *fib, struct sl_diag *diag);

/* Publishes the table to its copies on GPUs. Look-ups there answer from the table that was
 * published last; kernels go on meanwhile. SL_ENOMEM, SL_EDEVICE: the copies stay as they were. */
SL_CHECK SL_API enum sl_status sl_fib_publish(struct sl_fib *fib, struct sl_diag *diag);

/* An entry that was found. */
struct sl_fib_match {
    uint32_t next_hop;   /* SL_FIB_NONE: no prefix matches */
    uint32_t prefix_len; /* bytes of the name */
    uint32_t n_holders;  /* inserts less deletes of that entry */
};

/* Returns the longest entry that is a prefix of the name, in the unaggregated table. */
SL_API struct sl_fib_match sl_fib_match(struct sl_fib *fib, const uint8_t *name, size_t name_len);

/* Returns the entry of exactly this name, in the same table; next_hop SL_FIB_NONE: there is none.
 */
SL_API struct sl_fib_match sl_fib_find(struct sl_fib *fib, const uint8_t *name, size_t name_len);

/* Calls `each` for every entry of the unaggregated table in no particular order, until it returns
 * false. `each` must not call the table. The entry is lent for the call. */
SL_API void sl_fib_each(struct sl_fib *fib,
                        bool (*each)(void *user, const struct sl_fib_entry *entry,
                                     uint32_t n_holders),
                        void *user);

/* Facts of a table. */
struct sl_fib_info {
    const char *plane;
    uint64_t version;   /* updates that had an effect, since the build */
    size_t n_entries;   /* of the unaggregated table */
    size_t n_folded;    /* entries that aggregation left out of the plane */
    size_t plane_len;   /* bytes of the data plane, the part that look-ups read */
    size_t control_len; /* bytes of the unaggregated table and of what updates need */
};

/* Copies the facts. */
SL_API void sl_fib_info(struct sl_fib *fib, struct sl_fib_info *info);

/* ---- data planes ----------------------------------------------------------------------------- */

/* The table that look-ups run over: the data plane of a sl_fib, or one loaded from a file. The
 * first lives as long as its sl_fib and follows its updates. */
struct sl_fib_table;

/* Returns the data plane of a table. */
SL_API struct sl_fib_table *sl_fib_table(struct sl_fib *fib);

/* Writes the data plane as one flat block that sl_fib_load reads: to a new file beside it
 * (PATH.sluice-new-N), which is then renamed. Updates wait meanwhile, look-ups do not. SL_EIO: the
 * system refused, or the path is no regular file. */
SL_CHECK SL_API enum sl_status sl_fib_save(struct sl_fib *fib, const char *path,
                                           struct sl_diag *diag);

/* Loads a file that sl_fib_save wrote. A file of more than 256 MiB is mapped (sluice/mapped.h): it
 * may be replaced or removed, and must not be written to. It does not hold the names, so that the
 * table takes no updates. The caller unloads it. SL_EIO: the file cannot be read. SL_EFORMAT: it is
 * no table, is cut or damaged, or has another version or byte order, or a plane that this build
 * lacks. diag has the reason. SL_ENOMEM. The checksum finds damage, not malice. */
SL_CHECK SL_API enum sl_status sl_fib_load(struct sl_fib_table **table, const char *path,
                                           struct sl_diag *diag);

/* Frees a table of sl_fib_load, after its contexts. Accepts NULL. */
SL_API void sl_fib_unload(struct sl_fib_table *table);

/* Facts of a data plane. */
struct sl_fib_table_info {
    const char *plane;
    size_t n_entries; /* in the plane: without folded ones */
    size_t table_len; /* bytes of the flat block */
};

/* Copies the facts. Any thread. */
SL_API void sl_fib_table_info(const struct sl_fib_table *table, struct sl_fib_table_info *info);

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Answers of a batch: entry i is item i's. The caller owns them and lends them until wait.
 *
 * Results are dense, one a name, so that they are plain columns and no hits. 4 bytes a name cross
 * back instead of 16, and none can overflow. Therefore names have backends of their own kind; all
 * else is as in sluice/engine.h.
 *
 * GPU backends copy answers to host memory, fastest where it is pinned. Where `memory` is pinned or
 * the device's own, the kernels write there and nothing is copied. */
struct sl_fib_answers {
    uint32_t *next_hop;    /* as many as the batch has items; SL_FIB_NONE: no match */
    uint32_t *prefix_len;  /* bytes of the matched prefix, 0 where none matched; NULL: unwanted */
    size_t cap;            /* entries of each */
    enum sl_memory memory; /* where both lie; 0 is the host's */
};

/* As struct sl_backend: a context serves one thread at a time, one batch at a time. Items of a
 * batch are names: the payload spans. limits.max_hits is ignored.
 *
 * CUDA backends also take batches in pinned memory, where the kernel reads the names. With answers
 * in pinned memory too, this has the least latency.
 *
 * "cuda-persistent" takes pinned batches alone, and calls no driver: a kernel stays on the GPU and
 * serves all contexts of a table there, at most 128 (SL_EUNSUPPORTED). It is for batches of some
 * hundred to some thousand names from many threads, each with two or three contexts; wait spins.
 * While it stays it takes half of each multiprocessor's registers and a quarter of its threads.
 * Calls that wait for the whole GPU (cudaFree, closing other contexts) wait for its end. It ends
 * after 100 ms, busy or not, and the next submit or wait of any of its contexts launches another.
 * So a batch is served only while some thread waits for one. After sl_fib_publish all answers are
 * the new table's. */
struct sl_fib_backend {
    const char *name;
    enum sl_device_kind device;
    bool (*usable)(char why[SL_WHY_LEN]);
    enum sl_status (*open)(void **context, struct sl_fib_table *table,
                           const struct sl_limits *limits, struct sl_diag *diag);

    /* SL_EINVAL: the batch is in the wrong memory or above the limits, or answers->cap is below its
     * items. SL_EDEVICE. */
    enum sl_status (*submit)(void *context, const struct sl_batch *batch,
                             const struct sl_fib_answers *answers);
    enum sl_status (*wait)(void *context); /* SL_OK, SL_EDEVICE */
    void (*close)(void *context);          /* accepts NULL */
};

/* As struct sl_engine. */
struct sl_fib_engine {
    const char *name;                             /* the plane's */
    const struct sl_fib_backend *const *backends; /* best first, ended by NULL */
};

/* Returns the engine of this table. Static storage; any thread. */
SL_API const struct sl_fib_engine *sl_fib_engine(const struct sl_fib_table *table);

/* Returns a backend as sl_engine_choose does, but none that takes interwoven batches. Any thread.
 */
SL_API const struct sl_fib_backend *sl_fib_choose(const struct sl_fib_engine *engine,
                                                  enum sl_device_kind kind, char why[SL_WHY_LEN]);

/* Empties `to`, a host batch, and fills it with the names of `from`, another one, interwoven
 * (section 4): of each 32 names in turn, the first 4 bytes of all, then the next 4 of all, and so
 * on. Word k of item i lies at its span's offset + 128 x k. The backends "cuda-interwoven" and
 * "tiled-interwoven" alone take such batches. SL_EOVERFLOW: the names do not fit. */
SL_CHECK SL_API enum sl_status sl_fib_interweave(struct sl_batch *to, const struct sl_batch *from);

#ifdef __cplusplus
}
#endif
#endif

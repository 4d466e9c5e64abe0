/* SPDX-License-Identifier: MIT */
/* Name tables: longest-prefix match of names by components, after "Wire Speed Name Lookup: A
 * GPU-based Approach" (NSDI 2013).
 *
 * A name in memory is its components back to back, each as NDN's packet format has it: type and
 * length as VAR-NUMBERs in their shortest form, then that many bytes. So a prefix of components is
 * a prefix of bytes that ends where a component ends, /com/par is no prefix of /com/parc, and any
 * byte may stand in a component, which may be empty. The root is the name of 0 bytes. Types are 1
 * to 65535; ordinary components are SL_NAME_GENERIC. A domain is its labels from the last to the
 * first, in lower case, without the root's empty one: www.parc.com is /com/parc/www. A URL is its
 * host so, then each part of its path between '/' as it stands.
 *
 * Names that are looked up need not be well formed: what stands behind their last well-formed
 * component is no part of them. */
#ifndef SLUICE_FIB_H
#define SLUICE_FIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names ----------------------------------------------------------------------------------- */

enum {
    SL_NAME_GENERIC = 8,      /* the type of ordinary components (NDN's GenericNameComponent) */
    SL_NAME_TYPE_MAX = 65535, /* NDN's largest type */
    SL_NAME_LEN_MAX = 16384,  /* bytes of a name in a table; an NDN packet has at most 8,800 */
    SL_NAME_HEAD_MAX = 8      /* bytes of a type and a length, at most, in names of a table */
};

struct sl_name_component {
    const uint8_t *bytes;
    uint32_t len; /* bytes */
    uint32_t type;
};

/* Appends a component to the name of *name_len bytes in name[cap]. False: it does not fit, or the
 * type is 0 or too large; nothing changes then. `bytes` may be NULL where len is 0. */
SL_CHECK SL_API bool sl_name_append(uint8_t *name, size_t cap, size_t *name_len, uint32_t type,
                                    const void *bytes, size_t len);

/* The component at *at, which advances to the next one. False: the name ends there, at `len`, or is
 * not well formed from there on; *at stays. */
SL_API bool sl_name_next(const uint8_t *name, size_t len, size_t *at,
                         struct sl_name_component *component);

/* Bytes of the leading well-formed components: `len` where all is well formed. */
SL_API size_t sl_name_well_formed(const uint8_t *name, size_t len);

/* ---- control plane --------------------------------------------------------------------------- */

#define SL_FIB_NONE UINT32_MAX /* the answer where no prefix matches, not even the root */

enum { SL_FIB_KEY_LEN = 16 }; /* bytes */

struct sl_fib_config {
    const char *plane; /* a name of sl_fib_planes, or "auto" */

    /* Leave out of the data plane what its nearest shorter prefix answers with the same next hop
     * (section 2.1). Answers stay the same; the lengths of matched prefixes become those of the
     * shorter ones. */
    bool aggregate;

    /* SL_FIB_KEY_LEN secret bytes that hashes depend on, copied; NULL: random ones. */
    const uint8_t *key;
};

/* plane "auto", no aggregation, random key. */
SL_API void sl_fib_config_init(struct sl_fib_config *config);

struct sl_fib_entry {
    const uint8_t *name; /* lent for the call */
    uint32_t name_len;   /* bytes, at most SL_NAME_LEN_MAX */
    uint32_t next_hop;   /* any number but SL_FIB_NONE: a port, an entry's id, an action */
};

/* A table of names: the exact, unaggregated table, and a data plane that follows it. Calls on it
 * may come from any thread; one at a time goes on, the others wait. Look-ups never wait. */
struct sl_fib;

/* Makes a table of n_entries names, none at all included. Equal names are as if inserted one after
 * the other. SL_EINVAL: no such plane (the known ones are named); a name is not well formed or too
 * long, or its next hop is SL_FIB_NONE (diag->line is its index + 1). SL_EUNSUPPORTED: more than
 * this plane takes. SL_ENOMEM: diag says what is needed. */
SL_CHECK SL_API enum sl_status sl_fib_build(struct sl_fib **fib, const struct sl_fib_config *config,
                                            const struct sl_fib_entry *entries, size_t n_entries,
                                            struct sl_diag *diag);

/* Accepts NULL. All contexts over its table must be closed. */
SL_API void sl_fib_free(struct sl_fib *fib);

enum sl_fib_verb {
    SL_FIB_INSERT, /* one holder of the name more; the latest next hop counts */
    SL_FIB_DELETE, /* one holder less; the entry goes with its last one */
    SL_FIB_CHANGE  /* another next hop for an entry that there is */
};

enum sl_fib_outcome {
    SL_FIB_DONE,
    SL_FIB_ABSENT, /* DELETE, CHANGE: there is no such entry */
    SL_FIB_BAD     /* not well formed, too long, or a next hop of SL_FIB_NONE */
};

struct sl_fib_update {
    struct sl_fib_entry entry; /* DELETE does not look at next_hop */
    enum sl_fib_verb verb;
    enum sl_fib_outcome outcome; /* set by sl_fib_apply */
};

/* Applies updates in order while look-ups go on. A look-up that runs meanwhile gets the answer of
 * before or after each single update, never another one. Much faster with hundreds of updates a
 * call than with one. *n_applied are the ones dealt with, all of them unless memory ran out;
 * SL_ENOMEM: the update at n_applied had no effect. */
SL_CHECK SL_API enum sl_status sl_fib_apply(struct sl_fib *fib, struct sl_fib_update *updates,
                                            size_t n_updates, size_t *n_applied,
                                            struct sl_diag *diag);

/* Builds the data plane anew, as small and fast as a new one, and puts it in place of the one that
 * many updates went into; look-ups go on. While it runs there are two. SL_ENOMEM: nothing changed.
 */
SL_CHECK SL_API enum sl_status sl_fib_rebuild(struct sl_fib *fib, struct sl_diag *diag);

/* Has GPU copies follow: until then their look-ups give the answers of the last call. Kernels go
 * on meanwhile. SL_ENOMEM, SL_EDEVICE: the copies stay what they were. */
SL_CHECK SL_API enum sl_status sl_fib_publish(struct sl_fib *fib, struct sl_diag *diag);

struct sl_fib_match {
    uint32_t next_hop;   /* SL_FIB_NONE: no prefix matches */
    uint32_t prefix_len; /* bytes of the name */
    uint32_t n_holders;  /* inserts less deletes of that entry */
};

/* The longest entry that is a prefix of the name, in the unaggregated table. */
SL_API struct sl_fib_match sl_fib_match(struct sl_fib *fib, const uint8_t *name, size_t name_len);

/* The entry of exactly this name, in the same table; next_hop SL_FIB_NONE: there is none. */
SL_API struct sl_fib_match sl_fib_find(struct sl_fib *fib, const uint8_t *name, size_t name_len);

/* Calls `each` for every entry of the unaggregated table in no particular order, until it returns
 * false. It must not call the table. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status
sl_fib_each(struct sl_fib *fib,
            bool (*each)(void *user, const struct sl_fib_entry *entry, uint32_t n_holders),
            void *user);

struct sl_fib_info {
    const char *plane;
    uint64_t version;   /* updates that had an effect, since the build */
    size_t n_entries;   /* of the unaggregated table */
    size_t n_folded;    /* of them left out by aggregation */
    size_t plane_len;   /* bytes of the data plane, the part that look-ups read */
    size_t control_len; /* bytes of the unaggregated table and what updates need */
};

SL_API void sl_fib_info(struct sl_fib *fib, struct sl_fib_info *info);

/* ---- tables ---------------------------------------------------------------------------------- */

/* What look-ups run over: the data plane of a sl_fib, which lives as long as that and follows its
 * updates, or one loaded from a file. */
struct sl_fib_table;

SL_API struct sl_fib_table *sl_fib_table(struct sl_fib *fib);

/* Writes the data plane as one flat block to a file that sl_fib_load reads: to a new one beside it
 * (PATH.PID-N) that is then renamed. Updates wait meanwhile, look-ups do not. SL_EIO: the system
 * refused, or path is something else than a file. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_fib_save(struct sl_fib *fib, const char *path,
                                           struct sl_diag *diag);

/* Maps a file that sl_fib_save wrote; it may be replaced or removed meanwhile, not written to.
 * Updates need the names that it was built from: they are not in it. SL_EIO: the file cannot be
 * read. SL_EFORMAT: it is no table, is cut or damaged, or is of another version or byte order; diag
 * says which. The checksum finds damage, not malice. */
SL_CHECK SL_API enum sl_status sl_fib_load(struct sl_fib_table **table, const char *path,
                                           struct sl_diag *diag);

/* For tables of sl_fib_load. Accepts NULL. */
SL_API void sl_fib_unload(struct sl_fib_table *table);

struct sl_fib_table_info {
    const char *plane;
    size_t n_entries; /* in the plane: without folded ones */
    size_t table_len; /* bytes of the flat block */
};

SL_API void sl_fib_table_info(const struct sl_fib_table *table, struct sl_fib_table_info *info);

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Answers of a batch: entry i is item i's. Results are dense, one a name, so they are plain columns
 * and no hits: 4 bytes a name cross back instead of 16, and none can overflow. This is why names
 * have backends of their own kind; all else is as in sluice/engine.h. Caller-owned, lent until
 * wait. From a GPU they are copied to host memory, fastest where it is pinned. Where `memory` says
 * that it is, CUDA backends write there themselves, and nothing is copied; likewise in memory of
 * their device. */
struct sl_fib_answers {
    uint32_t *next_hop;    /* as many as the batch has items; SL_FIB_NONE: no match */
    uint32_t *prefix_len;  /* bytes of the matched prefix, 0 also where none matched; NULL: unwanted
                            */
    size_t cap;            /* entries of each */
    enum sl_memory memory; /* where both lie; 0 is the host's */
};

/* As struct sl_backend: a context serves one thread at a time, one batch at a time. Items of a
 * batch are names: the payload spans. limits.max_hits is not looked at.
 *
 * CUDA backends also take batches in pinned memory, without a stage: the kernel reads the names
 * there. With answers in pinned memory too this has the least latency.
 *
 * "cuda-persistent" takes those alone, and calls no driver: a kernel stays on the GPU and serves
 * all contexts of a table there, at most 128 (SL_EUNSUPPORTED). It is for batches of some hundred
 * to some thousand names from many threads, each with two or three contexts; wait spins. What it
 * costs others: half of each multiprocessor's registers and a quarter of its threads while it
 * stays, and whatever waits for the whole GPU (cudaFree, closing other contexts) waits for its end.
 * It ends after 100 ms, busy or not, and the next submit or wait of any of its contexts launches
 * another, so a batch is served only while somebody waits for one. After sl_fib_publish all answers
 * are the new table's. */
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

struct sl_fib_engine {
    const char *name;                             /* the plane's */
    const struct sl_fib_backend *const *backends; /* best first, ended by NULL */
};

/* The engine that looks names up in this table. */
SL_API const struct sl_fib_engine *sl_fib_engine(const struct sl_fib_table *table);

/* As sl_engine_choose. Never a backend that takes interwoven batches. */
SL_API const struct sl_fib_backend *sl_fib_choose(const struct sl_fib_engine *engine,
                                                  enum sl_device_kind kind, char why[SL_WHY_LEN]);

/* All planes by name, ended by NULL: "hash", "mata", "ata", "stt". Static; any thread. */
SL_API const char *const *sl_fib_planes(void);

/* Fills `to`, an empty host batch, with the names of `from` interwoven (section 4): of each 32
 * names in turn, the first 4 bytes of all, then the next 4 of all, and so on; item i's word k lies
 * at its span's offset + 128 x k. For the backends "cuda-interwoven" and "tiled-interwoven" alone.
 * SL_EOVERFLOW: it does not fit. */
SL_CHECK SL_API enum sl_status sl_fib_interweave(struct sl_batch *to, const struct sl_batch *from);

#ifdef __cplusplus
}
#endif
#endif

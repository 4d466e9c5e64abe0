/* SPDX-License-Identifier: MIT */
/* Virus signatures: ClamAV's databases compiled, and the scanner.
 *
 * Three steps. A set reads databases (text or .cvd/.cld containers) and says what of them is
 * supported; sl_clamav_compile makes one immutable block of it, which can be saved and mapped; any
 * number of scanners, one a thread, share the block. A new database is a new block: scanners that
 * are open keep the old one until they are closed.
 *
 * Formats: ClamAV's documentation (docs.clamav.net/manual/Signatures). The filter in front is
 * sluice/mpm.h's, after GPU Gems 3, chapter 35, without its limits. docs/virus-scan.md lists what
 * is supported and where results differ from clamscan's. */
#ifndef SLUICE_CLAMAV_H
#define SLUICE_CLAMAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/device.h"
#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- databases ------------------------------------------------------------------------------- */

/* Signatures as read. One thread at a time. */
struct sl_clamav_set;

/* SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_clamav_set_create(struct sl_clamav_set **set,
                                                    struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_clamav_set_free(struct sl_clamav_set *set);

/* Reads a database file, or all database files of a directory (not below it). A wrong line costs
 * that line, and a signature that is not supported that signature: both are counted and listed.
 * SL_EIO: cannot be read. SL_EFORMAT: a container whose MD5 is not what its header says, that is
 * cut, or is no container; nothing of it is taken. SL_EINVAL: the file's name says no format known
 * here, or the directory has no such file. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_clamav_set_read(struct sl_clamav_set *set, const char *path,
                                                  struct sl_diag *diag);

/* One database from memory; `name` ends in its format (".ndb") and is what diagnostics call it. */
SL_CHECK SL_API enum sl_status sl_clamav_set_read_text(struct sl_clamav_set *set, const char *name,
                                                       const char *text, size_t text_len,
                                                       struct sl_diag *diag);

struct sl_clamav_count {
    size_t signatures; /* understood; hashes among them */
    size_t hashes;     /* of files and sections */
    size_t allowed;    /* hashes of files that never match (.fp, .sfp) */
    size_t bad;        /* lines that cannot be read */
    size_t skipped;    /* signatures that are not supported, or not for this engine's level */
    size_t files;      /* databases read, those in containers one by one */
    size_t unchecked;  /* containers: their MD5 was checked, their RSA signature was not */
};

SL_API void sl_clamav_set_count(const struct sl_clamav_set *set, struct sl_clamav_count *count);

/* The i-th reason for skipping and how many it concerns; false behind the last. */
SL_API bool sl_clamav_skip_reason(const struct sl_clamav_set *set, size_t i, const char **reason,
                                  size_t *n);

/* The i-th skipped signature (its name and the reason in text), or wrong line; NULL behind the
 * last. */
SL_API const struct sl_diag *sl_clamav_skipped(const struct sl_clamav_set *set, size_t i);
SL_API const struct sl_diag *sl_clamav_bad_line(const struct sl_clamav_set *set, size_t i);

/* ---- the compiled database ------------------------------------------------------------------- */

/* Immutable; shared by any number of scanners and threads. */
struct sl_clamav_db;

/* Compiles a set, which may then be freed. `device` is what the matcher's algorithm is chosen for.
 * Signatures named in .ign2 files are left out. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_clamav_compile(struct sl_clamav_db **db,
                                                 const struct sl_clamav_set *set,
                                                 enum sl_device_kind device, struct sl_diag *diag);

/* As sl_mpm_save and sl_mpm_load do for tables: one file, written beside and renamed; mapped, its
 * checksum and every index in it checked. */
SL_CHECK SL_API enum sl_status sl_clamav_save(const struct sl_clamav_db *db, const char *path,
                                              struct sl_diag *diag);
SL_CHECK SL_API enum sl_status sl_clamav_load(struct sl_clamav_db **db, const char *path,
                                              struct sl_diag *diag);

/* Whether the file begins as sl_clamav_save writes them, be it on a machine of another byte order.
 * Any thread. */
SL_API bool sl_clamav_is_saved(const char *path);

/* Opens what paths name: maps the only path where sl_clamav_save wrote it, else reads all into a
 * set and compiles that. *set is what was read, also after a failure, for reports; the caller frees
 * it. NULL: a compiled database was mapped. Statuses are those of the steps. */
SL_CHECK SL_API enum sl_status
sl_clamav_load_paths(struct sl_clamav_db **db, struct sl_clamav_set **set, const char *const *paths,
                     size_t n_paths, enum sl_device_kind device, struct sl_diag *diag);

/* Accepts NULL. All its scanners are closed. */
SL_API void sl_clamav_free(struct sl_clamav_db *db);

struct sl_clamav_info {
    size_t signatures; /* that can match, hashes among them */
    size_t hashes;
    size_t patterns;  /* distinct subsignatures */
    size_t literals;  /* anchors given to the matcher */
    size_t anchored;  /* signatures that are looked at where an anchor is found */
    size_t fixed;     /* at fixed positions: one compare a file */
    size_t searched;  /* without an anchor: each file of their type is searched for them */
    size_t in_parts;  /* of the anchored and the fixed ones: what sl_clamav_scan_hits looks for */
    size_t block_len; /* bytes of the block */
    const char *algorithm;
};

SL_API void sl_clamav_info(const struct sl_clamav_db *db, struct sl_clamav_info *info);

/* ---- the scanner ----------------------------------------------------------------------------- */

/* Callbacks get the token of the object that they are about. */
struct sl_clamav_match {
    const char *name; /* lives as long as the database */
    bool official;    /* from a container: clamscan prints others with ".UNOFFICIAL" */
};

struct sl_clamav_result {
    uint64_t len;         /* bytes of the object */
    uint64_t scanned_len; /* bytes looked at */
    uint32_t matches;     /* reported for it */
    bool allowed;         /* it matched, but its hash is in a list of allowed files */
    bool suspect;         /* a threshold (below) left candidates unverified */
    bool changed;         /* it shrank, or could not be read to its end, while scanned */
    int error;            /* errno of a failed read, or 0 */
};

struct sl_clamav_scan_config {
    struct sl_device device; /* where the filter runs; sl_device_choose */
    uint32_t batch_len;      /* bytes of a batch; 0: 4 MiB */
    bool all_matches;        /* else the first match ends an object */
    uint64_t max_scan_len;   /* of each object no more bytes are scanned; 0: no limit */

    /* The chapter's two rules: with more candidates than this in a batch, or in an object, the rest
     * of it is not verified and reported as suspect. 0: off, everything is verified. */
    uint32_t max_batch_hits;
    uint32_t max_object_hits;

    /* Called in the thread that calls the scanner, matches of an object before its done. done may
     * come later than the call that gave the object, at the latest in sl_clamav_flush; until then
     * buffers are lent. Descriptors are lent during the call alone. Either may be NULL. */
    void (*match)(void *user, void *token, const struct sl_clamav_match *match);
    void (*done)(void *user, void *token, const struct sl_clamav_result *result);
    void *user;
};

/* The CPU, first match, no limits, no callbacks. */
SL_API void sl_clamav_scan_config_init(struct sl_clamav_scan_config *config);

/* One thread at a time. */
struct sl_clamav_scanner;

/* SL_ENOMEM, SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_clamav_open(struct sl_clamav_scanner **scanner,
                                              const struct sl_clamav_db *db,
                                              const struct sl_clamav_scan_config *config,
                                              struct sl_diag *diag);

/* Accepts NULL. Objects that were given and are not done are dropped. */
SL_API void sl_clamav_close(struct sl_clamav_scanner *scanner);

/* Scans a buffer. SL_ENOMEM, SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_clamav_scan_buffer(struct sl_clamav_scanner *scanner,
                                                     const void *bytes, uint64_t len, void *token);

/* Scans a regular file from its first byte; its position is not changed. What cannot be read is
 * said in the result. SL_ENOMEM, SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_clamav_scan_fd(struct sl_clamav_scanner *scanner, int fd,
                                                 void *token);

/* Scans what comes in pieces of any length (pipes, streams): feed them, then end. They are kept, in
 * memory and above 16 MiB in a temporary file, as expressions look back. One object at a time.
 * SL_EIO: no room for the temporary file; the object is dropped. */
SL_CHECK SL_API enum sl_status sl_clamav_feed(struct sl_clamav_scanner *scanner, const void *bytes,
                                              size_t len);
SL_CHECK SL_API enum sl_status sl_clamav_feed_end(struct sl_clamav_scanner *scanner, void *token);

/* Ends all objects that were given. */
SL_CHECK SL_API enum sl_status sl_clamav_flush(struct sl_clamav_scanner *scanner);

/* ---- payloads -------------------------------------------------------------------------------- */

/* The matcher that finds a database's anchors in batches that others fill, for a pipeline. Both
 * live as long as the database. */
SL_API void sl_clamav_engine(const struct sl_clamav_db *db, const struct sl_engine **engine,
                             const void **table);

/* Scans the payloads of a host batch in which that engine has found `hits`, which sl_hits_sort has
 * sorted. Each payload is taken for a part of a file of any type: targets and the least size of the
 * file are not asked for. Absolute offsets count from the payload's first byte, or behind the head
 * of an HTTP message that begins it; EOF is the payload's end. Offsets from entry points and
 * sections, hashes, and signatures without a literal (sl_clamav_info: those that are not in_parts)
 * never match, and nothing that lies in two payloads does. match and done are called for payloads
 * with hits, the token being (void *)(uintptr_t)item. No object waits for sl_clamav_flush.
 * SL_EINVAL: the batch is not in the host's memory, or a hit names an item beyond it. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_clamav_scan_hits(struct sl_clamav_scanner *scanner,
                                                   const struct sl_batch *batch,
                                                   const struct sl_hits *hits);

#ifdef __cplusplus
}
#endif
#endif

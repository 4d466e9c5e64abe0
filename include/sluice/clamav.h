/* SPDX-License-Identifier: MIT */
/* Virus signatures: ClamAV's databases compiled, and the scanner.
 *
 * There are three steps. A set reads databases (text or .cvd/.cld containers) and counts the
 * supported signatures. The call sl_clamav_compile makes one immutable block of the set, which can
 * be saved and loaded. Any number of scanners, one a thread, share the block. A new database is a
 * new block, and open scanners keep the old one until they are closed.
 *
 * The formats are those of ClamAV's documentation (docs.clamav.net/manual/Signatures). The filter
 * is that of sluice/mpm.h, after GPU Gems 3, chapter 35, without its limits. docs/virus-scan.md
 * lists the supported parts and the differences from clamscan. */
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

/* Signatures as they were read. A set belongs to one thread at a time. */
struct sl_clamav_set;

/* Makes an empty set. The caller frees it. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_clamav_set_create(struct sl_clamav_set **set,
                                                    struct sl_diag *diag);

/* Signatures of programs that are unwanted, and no viruses (PUA: .ndu, .ldu, .hdu, .hsu, .mdu,
 * .msu). With categories, "Win" for PUA.Win.Name, only names of that form are read: those of the
 * categories, or all others. */
struct sl_clamav_pua {
    const char *const *categories;
    size_t n_categories;
    bool excludes; /* all others are read, else the categories alone */
};

/* Sets which such signatures are read from now on. `pua` must live as long as the set. NULL, as at
 * first: they are skipped and counted. */
SL_API void sl_clamav_set_detect_pua(struct sl_clamav_set *set, const struct sl_clamav_pua *pua);

/* Accepts NULL. */
SL_API void sl_clamav_set_free(struct sl_clamav_set *set);

/* Reads the databases that `paths` name: files, and all databases in directories (not below them).
 * A file that sl_clamav_save wrote is known by its first bytes, whatever its name; other files by
 * their suffix. Lists of ignored names (.ign2) hold for all of these paths. Wrong lines and
 * unsupported signatures are omitted, counted and listed.
 * SL_EIO: a path cannot be read. SL_EFORMAT: a container or a compiled database is cut, damaged or
 * of another version; a container (.cvd, .cld) is not signed by ClamAV; or a database has a wrong
 * line and none that can be used, and `diag` names the first. SL_EINVAL: a file's suffix is that of
 * no format; a directory has no database; or a list ignores by the MD5 of a line a name of a
 * compiled database, which has no lines.
 * SL_EUNSUPPORTED: OpenSSL refuses to make the MD5 of a container, or to check its signature, as in
 * FIPS mode. SL_ENOMEM.
 * After a failure the set is fit to be freed only. */
SL_CHECK SL_API enum sl_status sl_clamav_set_read(struct sl_clamav_set *set,
                                                  const char *const *paths, size_t n_paths,
                                                  struct sl_diag *diag);

/* Reads one database from memory. `name` ends in the suffix of its format (".ndb") and stands for
 * the file in diagnostics. Statuses are those of sl_clamav_set_read. */
SL_CHECK SL_API enum sl_status sl_clamav_set_read_text(struct sl_clamav_set *set, const char *name,
                                                       const char *text, size_t text_len,
                                                       struct sl_diag *diag);

/* Counts of a set. `bad` and `skipped` count lines of text. */
struct sl_clamav_count {
    size_t signatures; /* understood; hashes among them */
    size_t hashes;     /* of files, sections and addresses */
    size_t allowed;    /* hashes of what never matches (.fp, .sfp, and addresses of .gdb) */
    size_t bad;        /* lines that cannot be read */
    size_t skipped;    /* signatures that are not supported, or not for this engine's level */
    size_t files;      /* databases read, those in containers one by one */
    size_t unchecked;  /* containers that are not signed (.cud): their MD5 was checked alone */
};

/* Copies the counts. */
SL_API void sl_clamav_set_count(const struct sl_clamav_set *set, struct sl_clamav_count *count);

/* Sets *reason to the i-th reason for skipping, valid as long as the set, and *n to the number of
 * its signatures. False: i is behind the last. */
SL_API bool sl_clamav_skip_reason(const struct sl_clamav_set *set, size_t i, const char **reason,
                                  size_t *n);

/* Returns the i-th skipped signature (name and reason in text), or the i-th wrong line. It is valid
 * until the next of these calls for this set. NULL: i is behind the last. */
SL_API const struct sl_diag *sl_clamav_skipped(const struct sl_clamav_set *set, size_t i);
SL_API const struct sl_diag *sl_clamav_bad_line(const struct sl_clamav_set *set, size_t i);

/* ---- the compiled database ------------------------------------------------------------------- */

/* Immutable; shared by any number of scanners and threads. */
struct sl_clamav_db;

/* Compiles a set, which may then be freed. The caller frees *db. The matcher's algorithm is chosen
 * for `device`; CPUs run a GPU's, too. Signatures that .ign2 files name are omitted. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_clamav_compile(struct sl_clamav_db **db,
                                                 const struct sl_clamav_set *set,
                                                 enum sl_device_kind device, struct sl_diag *diag);

/* Save and load a database, as sl_mpm_save and sl_mpm_load do a table, but that a file of more than
 * 16 MiB is mapped (sluice/mapped.h). Such a file may be replaced or removed, not written to.
 * Loading checks the checksum and every index in the block. */
SL_CHECK SL_API enum sl_status sl_clamav_save(const struct sl_clamav_db *db, const char *path,
                                              struct sl_diag *diag);
SL_CHECK SL_API enum sl_status sl_clamav_load(struct sl_clamav_db **db, const char *path,
                                              struct sl_diag *diag);

/* Opens the databases that `paths` name, as sl_clamav_set_read finds them. One that sl_clamav_save
 * wrote, and no other, is loaded as it is, and *set is NULL. Otherwise all are read into *set,
 * which is then compiled: a compiled database combines with others at the cost of compiling them
 * all. *set then has counts and what was left out, and no signatures: it is neither read into nor
 * compiled again. It is the caller's to free, also after a failure. Statuses are those of the
 * steps. `pua` is that of sl_clamav_set_detect_pua; a compiled database has what it was compiled
 * with. */
SL_CHECK SL_API enum sl_status
sl_clamav_load_paths(struct sl_clamav_db **db, struct sl_clamav_set **set, const char *const *paths,
                     size_t n_paths, const struct sl_clamav_pua *pua, enum sl_device_kind device,
                     struct sl_diag *diag);

/* Frees a database, after its scanners. Accepts NULL. */
SL_API void sl_clamav_free(struct sl_clamav_db *db);

/* Facts of a database. */
struct sl_clamav_info {
    size_t signatures; /* that can match, hashes among them */
    size_t hashes;
    size_t patterns;  /* distinct subsignatures */
    size_t literals;  /* anchors given to the matcher */
    size_t anchored;  /* signatures that are verified where an anchor is found */
    size_t fixed;     /* signatures at fixed positions: one compare a file */
    size_t searched;  /* without an anchor: each file of their type is searched for them */
    size_t in_parts;  /* of the anchored and fixed ones: those that sl_clamav_scan_hits finds */
    size_t bad;       /* lines that could not be read when it was compiled, */
    size_t skipped;   /* and signatures that are not supported */
    size_t block_len; /* bytes of the block */
    const char *algorithm;
};

/* Copies the facts. Any thread. */
SL_API void sl_clamav_info(const struct sl_clamav_db *db, struct sl_clamav_info *info);

/* ---- the scanner ----------------------------------------------------------------------------- */

/* A match. A callback gets the token of its object. */
struct sl_clamav_match {
    const char *name; /* lives as long as the database */
    bool official;    /* from a container: clamscan prints others with ".UNOFFICIAL" */
};

/* The result of an object. */
struct sl_clamav_result {
    uint64_t len;         /* bytes of the object */
    uint64_t scanned_len; /* bytes that were scanned */
    uint32_t matches;     /* reported for it */
    bool allowed;         /* it matched, but its hash is in a list of allowed files, or it is a
                             program that a trusted certificate signed */

    /* The object is an archive, a mail or a document of this type ("zip"): its bytes were scanned
     * as they are, and its packed contents were not. NULL: it is none. A constant. */
    const char *not_opened;

    bool timed_out; /* time_max_ms (below) ended its scan */
    bool suspect;   /* a threshold (below) left candidates unverified */
    bool changed;   /* it shrank, or could not be read to its end, while scanned */
    int error;      /* errno of a failed read; ENOTSUP: OpenSSL refuses a digest that signatures of
                       hashes need; or 0 */
};

/* The configuration of a scanner. */
struct sl_clamav_scan_config {
    struct sl_device device; /* where the filter runs; sl_device_choose */
    uint32_t batch_len; /* bytes of a batch, below 4 GiB - 64 KiB; 0: 4 MiB; below 64 KiB: that */
    bool all_matches;   /* else the first match ends an object */
    bool ignores_certificates; /* of programs (.crb) */
    uint64_t max_scan_len;     /* of each object no more bytes are scanned; 0: no limit */

    /* Milliseconds of an object's scan, from its first byte on; 0: no limit. Matches that are known
     * by then are reported. The scan ends at its next step: some ms later, or some 100 ms where a
     * signature has collected millions of places. Payloads have no limit. */
    uint32_t time_max_ms;

    /* The two rules of GPU Gems 3, chapter 35. A batch with more candidates than max_batch_hits is
     * not verified. Candidates of an object beyond max_object_hits are not verified. Such objects
     * are reported as suspect. 0: all candidates are verified. */
    uint32_t max_batch_hits;
    uint32_t max_object_hits;

    /* The scanner calls these in the thread of its caller: `match` for each match of an object,
     * then `done`. `done` may come after the call that began the object, at the latest in
     * sl_clamav_flush. A buffer is lent until its `done`, and a descriptor during the call. Both
     * functions may be NULL. */
    void (*match)(void *user, void *token, const struct sl_clamav_match *match);
    void (*done)(void *user, void *token, const struct sl_clamav_result *result);
    void *user;

    uint64_t reserved[4]; /* 0: room to grow */
};

/* Sets the CPU, the first match, no limits, no callbacks. */
SL_API void sl_clamav_scan_config_init(struct sl_clamav_scan_config *config);

/* A scanner belongs to one thread at a time. */
struct sl_clamav_scanner;

/* Opens a scanner over a database, which must outlive it. The caller closes it. SL_EINVAL:
 * batch_len is out of its range. SL_EUNSUPPORTED: a GPU, and a database that was compiled for the
 * CPU. SL_ENOMEM, SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_clamav_open(struct sl_clamav_scanner **scanner,
                                              const struct sl_clamav_db *db,
                                              const struct sl_clamav_scan_config *config,
                                              struct sl_diag *diag);

/* Closes a scanner. Objects without their `done` are dropped. Accepts NULL. */
SL_API void sl_clamav_close(struct sl_clamav_scanner *scanner);

/* Scans len bytes; `bytes` may be NULL where len is 0. SL_ENOMEM, SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_clamav_scan_buffer(struct sl_clamav_scanner *scanner,
                                                     const void *bytes, uint64_t len, void *token);

/* Scans a regular file from its first byte; the descriptor's position does not change. The result
 * has the errno of a failed read. SL_ENOMEM, SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_clamav_scan_fd(struct sl_clamav_scanner *scanner, int fd,
                                                 void *token);

/* Scan an object that comes in pieces of any length (pipes, streams). The caller feeds each piece,
 * and then ends the object. One object at a time. The pieces are kept, because expressions refer to
 * earlier bytes: up to 16 MiB in memory, and beyond in a temporary file. SL_EIO: the file has no
 * room. SL_ENOMEM, SL_EDEVICE. After a failure the object is dropped. */
SL_CHECK SL_API enum sl_status sl_clamav_feed(struct sl_clamav_scanner *scanner, const void *bytes,
                                              size_t len);
SL_CHECK SL_API enum sl_status sl_clamav_feed_end(struct sl_clamav_scanner *scanner, void *token);

/* Completes all objects: their `done` has been called on return. SL_ENOMEM, SL_EDEVICE: objects
 * without their `done` are lost. */
SL_CHECK SL_API enum sl_status sl_clamav_flush(struct sl_clamav_scanner *scanner);

/* ---- payloads -------------------------------------------------------------------------------- */

/* Sets the engine and the table that find a database's anchors in the batches of a pipeline. Both
 * live as long as the database. Any thread. */
SL_API void sl_clamav_engine(const struct sl_clamav_db *db, const struct sl_engine **engine,
                             const void **table);

/* Scans the payloads of a host batch by the hits of that engine, which sl_hits_sort has sorted. A
 * payload counts as a part of a file of any type, so targets and least sizes of files are ignored.
 * An absolute offset counts from the payload's first byte, or from behind the head of an HTTP
 * message that begins it. EOF is the payload's end. Hashes, offsets from entry points and sections,
 * and signatures that are not in_parts (sl_clamav_info) never match. A match lies in one payload.
 * `match` and `done` are called for payloads with hits, with (void *)(uintptr_t)item as token. No
 * object waits for sl_clamav_flush. SL_EINVAL: the batch is not in the host's memory, a hit has an
 * item behind its last, or the list of hits overflowed. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_clamav_scan_hits(struct sl_clamav_scanner *scanner,
                                                   const struct sl_batch *batch,
                                                   const struct sl_hits *hits);

#ifdef __cplusplus
}
#endif
#endif

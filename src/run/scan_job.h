/* SPDX-License-Identifier: MIT */
/* The execution of a scan: a walk fills a ring of entries, threads with a scanner each take them,
 * and they are reported in the order of the walk, whichever thread was done first. */
#ifndef RUN_SCAN_JOB_H
#define RUN_SCAN_JOB_H

#include <sys/stat.h>

#include "base/diag.h"
#include "clamav/place.h"
#include "scan_cache.h"
#include "scan_tree.h"
#include "unpack/client.h"

enum { SCAN_ENTRIES = 1024 };

/* The token of an object that the scanner is given: a file, or an object in it. */
struct scan_part {
    struct scan_entry *entry;
    bool is_file;
    struct scan_part *next; /* of the same file */
    char inside[];          /* its path in the file; "": the file itself */
};

/* A path on its way. */
struct scan_entry {
    char *path;
    struct scan_part *parts;
    int fd; /* opened ahead, or -1 */
    bool is_stdin;
    enum sl_scan_verdict verdict; /* from SL_SCAN_EXCLUDED on: nothing to scan */
    char error[128];              /* why it could not be scanned; "": it could */
    char
        not_opened[UNPACK_TEXT_LEN]; /* why it was not fully opened; "": it was, or holds nothing */
    char limit[UNPACK_TEXT_LEN];     /* that was reached inside it; "": none */
    char
        alert[UNPACK_TEXT_LEN]; /* the one that is found, where nothing else is or it comes first */
    char **names, **inside;     /* of matches, and where each was found */
    size_t n_names;
    struct sl_clamav_result result;
    uint8_t digest[SCAN_DIGEST_LEN]; /* of its content, */
    bool has_digest;                 /* where the cache takes it if it is clean, */
    struct stat hashed;              /* and the file is still as it was then */
    bool repeated;                   /* the cache had it */
    bool done;
};

struct scan_job {
    struct sl_scan *scan;
    const struct sl_clamav_db *db;
    struct sl_clamav_scan_config config;
    struct unpack_request request;
    struct scan_cache *cache; /* NULL: none is wanted */

    pthread_mutex_t lock;
    pthread_cond_t work, room;
    /* A ring: reported up to `reported`, taken by threads up to `taken`, opened ahead (or by
     * the thread that takes it) up to `opened`, filled up to `filled`. */
    struct scan_entry entries[SCAN_ENTRIES];
    uint64_t reported, taken, opened, filled;
    bool walked;           /* no more will be filled */
    enum sl_status status; /* of the first thread that failed */
    struct sl_diag diag;
};

/* A thread's own. */
struct scan_thread {
    struct sl_clamav_scanner *scanner;
    struct unpack_client *client;
    uint8_t started[256][SCAN_DIGEST_LEN]; /* digests of files that may be on their way */
};

/* ---- the ring (scan_ring.c) ------------------------------------------------------------------ */

/* Whether the scan failed or was stopped. The lock is held, or the answer may be late. */
bool scan_is_over(const struct scan_job *job);

/* Adds a path. An entry with an error, or with nothing to scan, is done. */
void scan_ring_put(struct scan_job *job, const char *path, enum sl_scan_verdict verdict,
                   const char *error, bool is_stdin);

/* The next entry to scan. NULL: none is there now, or, where `wait`, none will come. */
struct scan_entry *scan_ring_take(struct scan_job *job, bool wait);

/* Opens the files that come next and has them read, so that the disk reads many at once. */
void scan_ring_open_ahead(struct scan_job *job);

/* Reports entries that are done, in order. The lock is held. */
void scan_ring_report(struct scan_job *job);

int scan_open_file(const char *path);

/* ---- an entry (scan_entry.c) ----------------------------------------------------------------- */

/* A token, which lives as long as the entry. NULL: no memory, and the entry has failed. */
struct scan_part *scan_entry_part(struct scan_entry *entry, bool is_file, const char *inside);

void scan_entry_fail(struct scan_entry *entry, const char *reason);

/* Adds a name, once a file, whichever of its objects have it. */
void scan_entry_add(struct scan_entry *entry, const char *name, const char *suffix,
                    const char *inside);

void scan_entry_drop_names(struct scan_entry *entry);

/* The first match ends a file, but its other objects may be in the same batch. Where alerts come
 * first, an alert alone does. */
bool scan_entry_wants(const struct scan_job *job, const struct scan_entry *entry);

/* A limit is reported beside a signature only where all matches are wanted, as clamscan does. */
void scan_entry_add_limit(const struct sl_scan *scan, struct scan_entry *entry);

/* Whether nothing at all is to be said about a file that was scanned. */
bool scan_entry_is_clean(const struct scan_entry *entry);

void scan_entry_report(struct sl_scan *scan, const struct scan_entry *entry);
void scan_entry_free(struct scan_entry *entry);

/* ---- its bytes ------------------------------------------------------------------------------- */

/* Has a file opened, and gives the scanner the objects in it, and the file last, unless its content
 * was clean before (scan_inside.c). */
enum sl_status scan_inside(struct scan_job *job, struct scan_thread *thread,
                           struct scan_entry *entry, int fd);

/* The bytes of standard input as a file, in memory as long as they are few. -1: an error is set
 * (scan_stdin.c). */
int scan_read_stdin(struct scan_job *job, struct scan_entry *entry);

#endif

/* SPDX-License-Identifier: MIT */
/* Scanning files and directories for ClamAV's signatures.
 *
 * A scan walks its paths in one thread, scans files in others, and reports each file by a callback,
 * in the order of the walk. The database is given to sl_scan_execute and can serve any number of
 * scans at once (sluice/clamav.h). The library prints nothing, installs no signal handler and never
 * ends the process. The choice of files follows clamscan: docs/virus-scan.md. */
#ifndef SLUICE_SCAN_H
#define SLUICE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/clamav.h"
#include "sluice/device.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The verdict on a path. Paths with SL_SCAN_EXCLUDED and the verdicts behind it were not scanned.
 */
enum sl_scan_verdict {
    SL_SCAN_CLEAN,
    SL_SCAN_FOUND,
    SL_SCAN_SUSPECT,    /* nothing found, but a limit on hits left candidates unverified */
    SL_SCAN_INCOMPLETE, /* nothing found, but a limit ended its scan, or it was not fully opened */
    SL_SCAN_FAILED,     /* not scanned, or not to its end */
    SL_SCAN_EXCLUDED,   /* by an expression */
    SL_SCAN_EMPTY,      /* 0 bytes */
    SL_SCAN_LINK,       /* a symbolic link that is not followed */
    SL_SCAN_TOO_LARGE   /* above file_len_max */
};

/* One file, or a directory that cannot be read or is excluded. Lent during the callback. */
struct sl_scan_file {
    const char *path; /* as it was reached from its named path; "stdin" */
    enum sl_scan_verdict verdict;
    const char *error; /* SL_SCAN_FAILED: the reason; else NULL */

    /* Of signatures that match, ".UNOFFICIAL" behind those that are not from a container. The file
     * may have failed after some were found. */
    const char *const *names;
    size_t n_names;
    const char *const *inside; /* n_names: where each was found, as a path through containers, in
                                * which "#2" is the second object of one without names; "": in the
                                * file itself */

    uint64_t len;         /* bytes of the file; 0 where it was not scanned */
    uint64_t scanned_len; /* bytes that were scanned */
    bool suspect;         /* candidates were left unverified, whatever was found */
    bool allowed;         /* it matched, and is allowed as in struct sl_clamav_result */

    /* Why an archive, a mail or a document was not fully opened ("zip: encrypted"); NULL: it was,
     * or it is none. */
    const char *not_opened;

    /* The limit that the file reached, by clamscan's name for it
     * ("Heuristics.Limits.Exceeded.MaxScanTime"); NULL: none. */
    const char *limit;
};

/* Groups of files that a scan may leave closed. */
enum sl_scan_group {
    SL_SCAN_ARCHIVES,
    SL_SCAN_MAILS,
    SL_SCAN_PDFS,
    SL_SCAN_OLE2S,
    SL_SCAN_HTMLS,
    SL_SCAN_SWFS,
    SL_SCAN_XMLS,
    SL_SCAN_ONENOTES,
    SL_SCAN_HWPS
};

/* Findings that a scan may have beside signatures. */
enum sl_scan_alert {
    SL_SCAN_ENCRYPTED_ARCHIVE,
    SL_SCAN_ENCRYPTED_DOC,
    SL_SCAN_MACROS,
    SL_SCAN_BROKEN_EXE,   /* programs (PE, ELF) */
    SL_SCAN_BROKEN_MEDIA, /* images (JPEG, PNG, GIF) */

    /* Of all links in mails, and not only of those to protected domains (.pdb): an address without
     * TLS behind one that is shown with TLS; a NUL in an address. */
    SL_SCAN_PHISHING_SSL,
    SL_SCAN_PHISHING_CLOAK
};

/* Which symbolic links are followed: none, those that are named, or all. */
enum sl_scan_follow { SL_SCAN_FOLLOW_NEVER, SL_SCAN_FOLLOW_NAMED, SL_SCAN_FOLLOW_ALWAYS };

/* POSIX extended regular expressions, which match anywhere in a path. */
struct sl_scan_patterns {
    const char *const *text;
    size_t n; /* at most SL_SCAN_PATTERNS_MAX */
};

/* Bounds and defaults of a scan; lengths are bytes. */
enum {
    SL_SCAN_PATTERNS_MAX = 64,
    SL_SCAN_DEPTH_MAX = 1000,
    SL_SCAN_DEPTH_DEFAULT = 15,    /* clamscan's */
    SL_SCAN_TIME_DEFAULT = 120000, /* ms; clamscan's */
    SL_SCAN_LEVELS_DEFAULT = 17,   /* clamscan's */
    SL_SCAN_MEMBERS_DEFAULT = 10000,
    SL_SCAN_MEMBER_LEN_DEFAULT = 100 << 20,
    SL_SCAN_LEN_DEFAULT = 400 << 20,
    SL_SCAN_HTML_LEN_DEFAULT = 40 << 20,
    SL_SCAN_HTML_TEXT_LEN_DEFAULT = 8 << 20,
    SL_SCAN_TEXT_LEN_DEFAULT = 20 << 20,
    SL_SCAN_THREADS_MAX = 1024
};

/* The configuration of a scan, which borrows the texts until it is closed. */
struct sl_scan_config {
    const char *const *paths; /* files and directories; "-" is standard input */
    size_t n_paths;
    const char *list; /* a file that names more paths, one a line; "-": standard input; or NULL */

    bool recursive; /* directories below the named ones */
    bool stays;     /* on the file system of the directory above */
    enum sl_scan_follow follow_files, follow_directories; /* symbolic links to them */
    uint32_t depth_max; /* directories below a named one, at most SL_SCAN_DEPTH_MAX */

    /* Where `include` has expressions, only files that match one are scanned. Named directories
     * need not match include_directories. */
    struct sl_scan_patterns exclude, include, exclude_directories, include_directories;

    uint64_t file_len_max; /* bytes; larger files are not scanned; 0: no limit */
    uint64_t scan_len_max; /* bytes of each file that are scanned; 0: no limit */
    uint32_t time_max_ms;  /* of each file's scan, as in struct sl_clamav_scan_config */
    bool alert_exceeds;    /* a limit that a file reaches counts as found in it, by its name */

    /* Archives, mail and documents are opened by processes without privileges, one a thread. The
     * program that they run: NULL: sluice-unpack, beside the running program or as installed.
     * Unpacked objects have the limits above, too: where those are 0, SL_SCAN_MEMBER_LEN_DEFAULT
     * for each object and SL_SCAN_LEN_DEFAULT for all of a file. */
    const char *unpacker;
    uint32_t levels_max;  /* of nesting; the file is the first; 0, and more than 32: 32 */
    uint32_t members_max; /* objects of a file; 0: no limit */
    uint32_t closed;      /* bits of enum sl_scan_group: not opened, which their files' lines say */
    uint32_t alerts;      /* bits of enum sl_scan_alert: the last one is found in a file without a
                           * match, as a name, and with all_matches each one in any file */
    bool alerts_first;    /* an alert ends a file's scan, and comes before its matches */
    bool ignores_certificates; /* of programs (.crb) */
    bool ignores_links;        /* of mails: they are not looked for in lists of phishing */
    bool no_cache;             /* else a container whose content was clean is not scanned again */
    bool normalizes;           /* texts and HTML are searched in ClamAV's normal form, too */

    /* Bytes above which HTML is searched as it is, HTML has no form without its tags, and texts
     * are searched as they are alone; 0: no limit. */
    uint64_t html_len_max, html_text_len_max, text_len_max;

    struct sl_device device; /* where the filter runs; sl_device_choose */
    uint32_t n_threads;      /* that scan, at most SL_SCAN_THREADS_MAX; 0: one a core */
    bool all_matches;        /* else the first match ends a file */
    uint32_t max_batch_hits; /* as in struct sl_clamav_scan_config */
    uint32_t max_object_hits;

    /* Walks all paths twice, first to count files and bytes: for the time left. Standard
     * input is not counted. */
    bool count;

    /* Called for each path that has a verdict, one call at a time, on any thread of the scan. The
     * order is that of the walk: paths as they are named, the entries of a directory by name. The
     * function may call sl_scan_snapshot and sl_scan_stop. The scan waits for it. May be NULL. */
    void (*file)(void *user, const struct sl_scan_file *file);
    void *user;

    uint64_t reserved[4]; /* 0: room to grow */
};

/* No paths. Directories are not entered below the named ones, and named links are followed. The
 * CPU, one thread, the first match, normal forms. clamscan's limits of time and nesting, and of
 * members SL_SCAN_MEMBERS_DEFAULT. */
SL_API void sl_scan_config_init(struct sl_scan_config *config);

/* A scan. */
struct sl_scan;

/* Checks the configuration; opens no file. The caller closes *scan. SL_EINVAL: an expression is
 * wrong, or a number is out of its range. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status
sl_scan_open(struct sl_scan **scan, const struct sl_scan_config *config, struct sl_diag *diag);

/* Scans, and returns when all paths have been reported. After a stop it returns when the files that
 * were being scanned are done. Once a scan. `db` is lent until the call returns. SL_OK: also where
 * files could not be read, which are reported as failed. SL_EINVAL: the scan was executed before.
 * SL_ENOMEM, SL_EDEVICE, SL_EUNSUPPORTED (as sl_clamav_open): the scan cannot go on; files behind
 * the last reported one are lost. */
SL_CHECK SL_API enum sl_status sl_scan_execute(struct sl_scan *scan, const struct sl_clamav_db *db,
                                               struct sl_diag *diag);

/* Counters of reported files. */
struct sl_scan_counts {
    uint64_t directories;   /* entered */
    uint64_t files;         /* scanned to their end */
    uint64_t found;         /* of them, those with a match */
    uint64_t suspect;       /* of them, those without one, and not verified as a whole */
    uint64_t limited;       /* files that reached a limit: not scanned, or not to their end */
    uint64_t not_opened;    /* of `files`: not fully opened, with and without a match */
    uint64_t failed;        /* paths that could not be scanned */
    uint64_t repeated;      /* of `files`: their content was clean before in this scan */
    uint64_t bytes;         /* of the files */
    uint64_t scanned_bytes; /* of them that were scanned */
    uint64_t elapsed_ns;    /* since sl_scan_execute began, until it returned */

    bool counted;                  /* the walk ahead is over: the members below are known */
    uint64_t all_files, all_bytes; /* that are to be scanned, those already scanned among them */
    uint64_t left_ns;              /* at the rate so far; UINT64_MAX: not known */

    uint64_t reserved[4];
};

/* Copies the counters. Any thread, from sl_scan_open to sl_scan_close. */
SL_API void sl_scan_snapshot(struct sl_scan *scan, struct sl_scan_counts *counts);

/* Ends the walk: files that are being scanned are the last. Returns at once. The scan still waits
 * for a list of paths that comes from a pipe. Any thread, and signal handlers. */
SL_API void sl_scan_stop(struct sl_scan *scan);

/* Closes a scan, which is not being executed. Accepts NULL. */
SL_API void sl_scan_close(struct sl_scan *scan);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* Tables of names: the action for a name, after routes, block lists, zones and categories.
 *
 * A table is filled from files (sl_names_formats), built, and looked up in batches. Rules may be
 * added and removed while look-ups go on. Each line of a file is a rule, or the table counts and
 * keeps the reason why it is none. docs/names.md describes the formats.
 *
 * Which rule answers. A rule applies to names at or below its own name (enum sl_names_match). Of
 * the rules that apply to a name, the first in this order answers:
 *   1. the rule of the highest rank (SL_NAMES_RANK_*: Adblock exceptions before blocks);
 *   2. the rule with the longest name;
 *   3. a rule for exactly this name before a rule for all names below;
 *   4. the rule of the list that was loaded first;
 *   5. the earlier line.
 * Rules of one list with the same name and action (two addresses, several next hops) are one rule
 * with all their values.
 *
 * Threads: one thread at a time fills, builds, updates or frees a table. Each thread that looks
 * names up has a reader of its own. */
#ifndef SLUICE_NAMES_H
#define SLUICE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/name_syntax.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rules ----------------------------------------------------------------------------------- */

/* The action for a name. */
enum sl_names_action {
    SL_NAMES_NONE,     /* no rule applies */
    SL_NAMES_FORWARD,  /* values: next hops, "PORT" or "FACE COST" */
    SL_NAMES_BLOCK,    /* blocked; the list has no more on it */
    SL_NAMES_ALLOW,    /* an exception: as if no rule applied */
    SL_NAMES_NXDOMAIN, /* answer: no such name */
    SL_NAMES_NODATA,   /* answer: no such record */
    SL_NAMES_REFUSE,   /* answer: refused */
    SL_NAMES_DROP,     /* no answer */
    SL_NAMES_TRUNCATE, /* answer: ask again over TCP */
    SL_NAMES_ADDRESS,  /* values: IP addresses to answer with */
    SL_NAMES_REDIRECT, /* value: the name to answer with (CNAME) */
    SL_NAMES_SERVER,   /* values: the servers to ask */
    SL_NAMES_CATEGORY, /* values: categories */
    SL_N_NAMES_ACTIONS
};

/* "forward", "block", ...; "?" for a number beyond the last action. Static; any thread. */
SL_API const char *sl_names_action_name(enum sl_names_action action);

/* The names that a rule applies to. In names that are no URL, the host is the whole name. */
enum sl_names_match {
    SL_NAMES_PREFIX,  /* all names that begin with its components */
    SL_NAMES_EXACT,   /* the host itself, and every path on it */
    SL_NAMES_SUBTREE, /* the host and all hosts below */
    SL_NAMES_BELOW,   /* all hosts below the host, not itself */
    SL_NAMES_PATH     /* paths that begin with its components on exactly its host; NDN: PREFIX */
};

/* Ranks of rules, the lowest first. */
enum {
    SL_NAMES_RANK_NORMAL,
    SL_NAMES_RANK_EXCEPTION,           /* @@||x^ */
    SL_NAMES_RANK_IMPORTANT,           /* ||x^$important */
    SL_NAMES_RANK_IMPORTANT_EXCEPTION, /* @@||x^$important */
    SL_N_NAMES_RANKS
};

/* ---- opening a table ------------------------------------------------------------------------- */

/* A table of names. */
struct sl_names;

/* A format of lists. */
struct sl_names_format {
    const char *name; /* "hosts" */
    const char *text; /* the format in a few words */
};

/* Returns the known formats, ended by a NULL name. Static; any thread. */
SL_API const struct sl_names_format *sl_names_formats(void);

/* A file of a table: a list, or a table that sl_names_save wrote. */
struct sl_names_file {
    const char *path;
    const char *format; /* a name of sl_names_formats; NULL: the first lines decide */
};

/* The configuration of a table that is opened from files. */
struct sl_names_config {
    const struct sl_names_file *files; /* n_files of them, lent for the call */
    size_t n_files;
    const char *plane;    /* as in sl_fib_config (sluice/fib.h); NULL: "auto" */
    bool updates;         /* a saved table is made ready for updates */
    uint64_t reserved[4]; /* 0: room to grow */
};

/* No file, plane "auto", no updates of a saved table. */
SL_API void sl_names_config_init(struct sl_names_config *config);

/* Opens a table that is ready for look-ups: reads all lists in their order and builds the table, or
 * opens a saved one. SL_EINVAL: a saved table beside another file, with a format, or with another
 * plane than it was built with. Other statuses are those of sl_names_load, sl_names_build and
 * sl_names_open. Where it fails *names is NULL. */
SL_CHECK SL_API enum sl_status sl_names_open_files(struct sl_names **names,
                                                   const struct sl_names_config *config,
                                                   struct sl_diag *diag);

/* Frees a table. Accepts NULL. All its readers must be closed. */
SL_API void sl_names_free(struct sl_names *names);

/* ---- filling and building a table step by step ----------------------------------------------- */

/* Makes an empty table. The caller frees it. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_names_create(struct sl_names **names, struct sl_diag *diag);

/* Reads a file as one more list. `format` is a name of sl_names_formats; NULL: the first lines
 * decide. A line that is no rule does not fail the call. SL_EINVAL: the format is unknown (diag
 * names the known ones), the table is built already, or it has 65,535 lists. SL_EFORMAT: no known
 * format fits; a line is longer than SL_NAMES_LINE_MAX; or no line is a rule, and some line is
 * wrong (diag names the first). SL_EIO: reading failed, the file changed meanwhile, or the path is
 * a character device. SL_ENOMEM. Where it fails, the table may hold a part of the file. */
SL_CHECK SL_API enum sl_status sl_names_load(struct sl_names *names, const char *path,
                                             const char *format, struct sl_diag *diag);

/* The same from text_len bytes of memory, without a bound of lines. `label` takes the place of the
 * file's name. */
SL_CHECK SL_API enum sl_status sl_names_load_text(struct sl_names *names, const char *label,
                                                  const char *format, const char *text,
                                                  size_t text_len, struct sl_diag *diag);

/* Returns about how many bytes of memory building takes beside the table's own; 0: the table is
 * built. plane NULL: "auto". */
SL_API uint64_t sl_names_estimate(const struct sl_names *names, const char *plane);

/* Ends filling and makes the table ready for look-ups. plane NULL: "auto". SL_EINVAL: the table is
 * built already. SL_EINVAL, SL_EUNSUPPORTED, SL_EIO: as sl_fib_build. SL_ENOMEM: the memory is
 * below the estimate and nothing was begun, or memory ran out; diag says both figures. */
SL_CHECK SL_API enum sl_status sl_names_build(struct sl_names *names, const char *plane,
                                              struct sl_diag *diag);

/* ---- saved tables ---------------------------------------------------------------------------- */

/* Writes a built table to one file, which appears whole or not at all. SL_EINVAL: the table is not
 * built, or takes no updates. SL_EIO: the system refused, or the path is no regular file.
 * SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_names_save(struct sl_names *names, const char *path,
                                             struct sl_diag *diag);

/* Whether the file can be read, and begins as sl_names_save writes files. Any thread. */
SL_API bool sl_names_is_saved(const char *path);

/* Opens what sl_names_save wrote: a built table. `updates` makes it ready for updates, which takes
 * the time and memory of building. SL_EFORMAT: the file is cut, damaged or of another version; diag
 * has the reason. SL_EIO, SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_names_open(struct sl_names **names, const char *path,
                                             bool updates, struct sl_diag *diag);

/* ---- contents of a table --------------------------------------------------------------------- */

/* Counts of a table. */
struct sl_names_count {
    uint64_t lines;    /* neither empty nor comments, of lists and of updates */
    uint64_t rules;    /* lines that were understood */
    uint64_t skipped;  /* lines that are well formed and not supported, each for a reason */
    uint64_t ignored;  /* lines that are wrong, each for a reason */
    uint64_t repeated; /* rules that an earlier line had made already */
    uint64_t names;    /* different names */
    uint32_t lists;
    uint64_t table_len; /* bytes that look-ups read; 0 until built */
    const char *plane;  /* NULL until built */

    /* Nanoseconds that sl_names_open_files took to read the files, and to build. */
    uint64_t load_ns, build_ns;
};

/* Copies the counts, on the thread that fills, builds or updates. */
SL_API void sl_names_count(const struct sl_names *names, struct sl_names_count *count);

/* Why lines were skipped or ignored. */
struct sl_names_reason {
    const char *text; /* static */
    bool skipped;     /* the lines are well formed and not supported; else they are wrong */
    uint64_t n_lines;
};

/* Copies the i-th reason, the most lines first. False: i is behind the last. */
SL_API bool sl_names_ignore_reason(const struct sl_names *names, size_t i,
                                   struct sl_names_reason *reason);

/* Sets *diag to the i-th line that was skipped or ignored: file, line and reason. False: i is
 * behind the last that was kept. A table keeps the first SL_NAMES_IGNORED_MAX; counts are of all.
 */
enum { SL_NAMES_IGNORED_MAX = 1000000 };
SL_API bool sl_names_ignored(const struct sl_names *names, size_t i, struct sl_diag *diag);

/* Returns the file's name of a list, and sets *format, which may be NULL, to its format. NULL:
 * `list` is behind the last. The texts live as long as the table. Any thread. */
SL_API const char *sl_names_list(const struct sl_names *names, uint32_t list, const char **format);

/* ---- updates --------------------------------------------------------------------------------- */

/* Counts of updates. */
struct sl_names_updated {
    uint64_t added, removed; /* rules */
    uint64_t absent;         /* rules to be removed that the table did not have */
    uint64_t rules;          /* lines that were understood */
    uint64_t skipped;        /* lines that are well formed and not supported */
    uint64_t ignored;        /* lines that are wrong; the table keeps both */
};

/* Applies lines "+RULE" and "-RULE" to a built table, in order, while look-ups go on.
 *
 * RULE is a line of the format. "-" removes what the same line added, in whichever list. In the
 * format "prefix", a line without ports removes the whole prefix. A line without a sign is wrong.
 *
 * `label` is the list's name; updates of one label continue one list. `line` is the number of the
 * text's first line. Counts are added to *updated. SL_EINVAL: the table is not built or takes no
 * updates, the format is unknown, or there would be more than 65,535 lists. SL_ENOMEM: the lines
 * before had their effect. SL_ENOMEM and SL_EDEVICE also: GPUs keep the table of before. */
SL_CHECK SL_API enum sl_status sl_names_update(struct sl_names *names, const char *label,
                                               const char *format, const char *text,
                                               size_t text_len, uint32_t line,
                                               struct sl_names_updated *updated,
                                               struct sl_diag *diag);

enum { SL_NAMES_LINE_MAX = 1 << 20 }; /* bytes of a line of a file or a file descriptor */

/* The same with the lines of a file descriptor, as they come, until it ends or until stop_fd (-1:
 * none) can be read. Statuses are those of sl_names_update, and these. SL_EIO: reading failed.
 * SL_EFORMAT: a line is longer than SL_NAMES_LINE_MAX; or no line was an update, and some line is
 * wrong (diag names the first). */
SL_CHECK SL_API enum sl_status sl_names_update_from(struct sl_names *names, const char *label,
                                                    const char *format, int fd, int stop_fd,
                                                    struct sl_names_updated *updated,
                                                    struct sl_diag *diag);

/* ---- look-ups -------------------------------------------------------------------------------- */

/* The answer to a name. */
struct sl_names_answer {
    enum sl_names_action action;
    uint32_t values;     /* for sl_names_value */
    uint32_t prefix_len; /* the first bytes of the name, which are the rule's name */
    uint32_t list;       /* for sl_names_list */
    uint32_t line;       /* in that list */
    uint32_t rule;       /* its number in the table, valid until an update; SL_NAMES_NONE: 0 */
};

/* Returns the i-th value of an answer, *len bytes without a NUL. NULL: i is behind the last. The
 * value is valid as long as the table. Any thread. */
SL_API const char *sl_names_value(const struct sl_names *names,
                                  const struct sl_names_answer *answer, uint32_t i, size_t *len);

/* One thread's access to a table, which it must not outlive. */
struct sl_names_reader;

enum { SL_NAMES_BATCH_MAX = 4096 }; /* names a look-up call */

/* Opens a reader. device: "cpu", "auto", ... as sl_device_choose. Any thread. The caller closes it.
 * SL_EINVAL: no such device, or the table is not built. SL_EUNSUPPORTED: the table has 128 readers
 * on that GPU. SL_EDEVICE, SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_names_reader_open(struct sl_names_reader **reader,
                                                    struct sl_names *names, const char *device,
                                                    struct sl_diag *diag);

/* Sets answers[] to those of n names. While an update goes on, each name gets the answer of before
 * or after it. SL_EINVAL: n is above SL_NAMES_BATCH_MAX, or a name longer than SL_NAME_LEN_MAX.
 * SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_names_lookup(struct sl_names_reader *reader,
                                               const struct sl_name *name, uint32_t n,
                                               struct sl_names_answer *answers);

/* Closes a reader. Accepts NULL. */
SL_API void sl_names_reader_close(struct sl_names_reader *reader);

/* ---- streams of names ------------------------------------------------------------------------ */

/* One text of a stream. All pointers are valid for the call that passes them. */
struct sl_names_result {
    const char
        *text;       /* as it was added, without blanks around it; the begin of an over-long line */
    size_t text_len; /* bytes */
    const char *why; /* the reason why the text is no name (static); NULL: it is a name */
    const struct sl_name *name;
    const struct sl_names_answer *answer; /* both NULL where the text is no name */
};

/* Takes the results of a batch, n of them, in the order of the texts. Another status than SL_OK is
 * returned by the call that looked the batch up. Calls come one at a time, also from threads of the
 * stream. */
typedef enum sl_status sl_names_take(void *user, const struct sl_names_result *results, uint32_t n);

enum { SL_NAMES_THREADS_MAX = 1024 }; /* of a stream */

/* The configuration of a stream. The stream borrows the texts. */
struct sl_names_stream_config {
    struct sl_names *names;     /* built; it must outlive the stream */
    const char *device;         /* as in sl_names_reader_open */
    enum sl_name_syntax syntax; /* of the texts */
    sl_names_take *take;        /* NULL: answers are written as lines */
    void *user;                 /* the first argument of `take` */

    /* Lines, one an answer: docs/names.md. */
    int out;      /* the descriptor that they are written to; -1: none */
    bool json;    /* else tab-separated values */
    bool explain; /* also which list, and which line of it, gave the answer */

    uint32_t n_threads;   /* of sl_names_stream_read, the caller's among them, at most
                             SL_NAMES_THREADS_MAX; 0: one a core. It starts them where the input is
                             fast, and goes on with fewer where it must */
    uint64_t reserved[4]; /* 0: room to grow */
};

/* Device "cpu", syntax SL_NAME_AUTO, a thread a core; no table, no taker and no descriptor. */
SL_API void sl_names_stream_config_init(struct sl_names_stream_config *config);

/* Reads texts as names and looks them up in batches, in order. For one thread at a time. */
struct sl_names_stream;

/* Opens a stream. The caller closes it. SL_EINVAL: no table, neither a taker nor a descriptor, or
 * too many threads. Other statuses are those of sl_names_reader_open. */
SL_CHECK SL_API enum sl_status sl_names_stream_open(struct sl_names_stream **stream,
                                                    const struct sl_names_stream_config *config,
                                                    struct sl_diag *diag);

/* Adds one text, which is lent until its batch was taken. Each text, an empty one too, has one
 * result. A full batch is answered first. SL_EDEVICE. SL_EIO: lines cannot be written. Other
 * statuses are the taker's. */
SL_CHECK SL_API enum sl_status sl_names_stream_add(struct sl_names_stream *stream, const char *text,
                                                   size_t text_len, struct sl_diag *diag);

/* Answers all texts that were added, and writes all lines. Statuses are those of
 * sl_names_stream_add. */
SL_CHECK SL_API enum sl_status sl_names_stream_flush(struct sl_names_stream *stream,
                                                     struct sl_diag *diag);

/* Adds the lines of a file descriptor until it ends, or until stop_fd (-1: none) can be read. The
 * names of one read are answered at once, whether more come or not. Each line has one result: a
 * line of more than SL_NAMES_LINE_MAX bytes is no name, and its first SL_NAMES_LINE_MAX bytes are
 * the text. Results do not depend on n_threads. SL_EIO: reading failed. SL_ENOMEM. Other statuses
 * are those of sl_names_stream_flush. */
SL_CHECK SL_API enum sl_status sl_names_stream_read(struct sl_names_stream *stream, int fd,
                                                    int stop_fd, struct sl_diag *diag);

/* How many written lines have no rule that applies, or a text that is no name. With a taker: 0. */
SL_API uint64_t sl_names_stream_missing(const struct sl_names_stream *stream);

/* Closes a stream; texts that were added and not answered are dropped. Accepts NULL. */
SL_API void sl_names_stream_close(struct sl_names_stream *stream);

#ifdef __cplusplus
}
#endif
#endif

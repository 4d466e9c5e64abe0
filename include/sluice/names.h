/* SPDX-License-Identifier: MIT */
/* Names as people, lists and packets write them, and tables of what is to be done with them.
 *
 * A table is filled from files (routes, block lists, zones: sl_names_formats), built, and asked in
 * batches; names may be added and taken away while look-ups go on. Every line of a file is either a
 * rule or ignored with a reason that is counted and kept: nothing is lost silently.
 *
 * Which rule answers. A rule applies to names at or below its own, as its format says (enum
 * sl_names_match). Of the rules that apply to a name the one of the highest rank answers
 * (SL_NAMES_RANK_*: Adblock exceptions before blocks), then the longest, then one for exactly this
 * name before one for all below, then that of the list loaded first, then the earlier line. Rules
 * of one list for one name that do the same (two addresses, several next hops) are one rule with
 * all their values. docs/names.md has the formats. */
#ifndef SLUICE_NAMES_H
#define SLUICE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/engine.h"
#include "sluice/fib.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names ----------------------------------------------------------------------------------- */

enum sl_name_syntax {
    SL_NAME_AUTO,   /* reading: "/..." and "ndn:..." are NDN; what holds '/', ':', '?' or '[' a URL;
                       all else a domain */
    SL_NAME_NDN,    /* /com/parc/8=www/v=7 */
    SL_NAME_DOMAIN, /* www.parc.com */
    SL_NAME_URL     /* https://www.parc.com/a/b?c */
};

/* A name in the encoding of sluice/fib.h. */
struct sl_name {
    const uint8_t *bytes;
    uint32_t len;      /* bytes, at most SL_NAME_LEN_MAX */
    uint32_t host_len; /* bytes of them that are a URL's host; others: len */
    enum sl_name_syntax syntax;
};

/* Reads a name; its bytes go to the caller's array, which name->bytes points to. NULL: done;
 * otherwise why the text is no name (static).
 *
 * NDN: "/a/b" or "ndn:/a/b"; percent-escapes; TYPE=VALUE; sha256digest= and params-sha256= in
 * hexadecimal; seg=, off=, v=, t=, seq= numbers; an empty component is "...", and one that consists
 * of periods has three more. A slash at the end means nothing; "/" is the root.
 * Domains: labels from the last to the first, lower-cased; a trailing dot means nothing; letters,
 * digits, '-' and '_'; labels beyond ASCII must be A-labels (xn--...), which stay what they are. An
 * IPv4 address is one component. "." is the root.
 * URLs: the host as a domain (IPv6 addresses: one component), then the path's segments: percent-
 * escapes of unreserved characters undone, others kept in upper case; "." and ".." resolved; empty
 * segments left out. A query is one component more, which begins with '?'. Scheme, user, port and
 * fragment mean nothing and are left out. */
SL_CHECK SL_API const char *sl_name_read(struct sl_name *name, enum sl_name_syntax syntax,
                                         uint8_t *bytes, uint32_t bytes_cap, const char *text,
                                         size_t text_len);

/* Writes a name in its syntax (AUTO: NDN), canonically: what was read twice from what was written
 * is the same. As snprintf: cut to text_cap with its NUL, returns what all of it takes. */
SL_API size_t sl_name_write(const struct sl_name *name, char *text, size_t text_cap);

/* The name of an NDN Interest or Data packet (NDN packet format 0.3), bare or in an NDNLPv2 packet;
 * bytes behind the packet are not looked at (Ethernet pads). name->bytes points into it. NULL:
 * done; otherwise why there is none (static). */
SL_CHECK SL_API const char *sl_name_from_packet(struct sl_name *name, const uint8_t *packet,
                                                size_t packet_len);

/* ---- tables ---------------------------------------------------------------------------------- */

enum sl_names_action {
    SL_NAMES_NONE,     /* no rule applies */
    SL_NAMES_FORWARD,  /* values: next hops, "PORT" or "FACE COST" */
    SL_NAMES_BLOCK,    /* a block list does not say how */
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

/* "forward", "block", ... */
SL_API const char *sl_names_action_text(enum sl_names_action action);

/* Which names a rule applies to. In names that are no URL, the host is the whole name. */
enum sl_names_match {
    SL_NAMES_PREFIX,  /* all names that begin with its components */
    SL_NAMES_EXACT,   /* the host itself (and what is on it) */
    SL_NAMES_SUBTREE, /* the host and all below */
    SL_NAMES_BELOW,   /* all below the host, not itself */
    SL_NAMES_PATH /* what begins with its components on exactly its host; NDN names: as PREFIX */
};

enum {
    SL_NAMES_RANK_NORMAL,
    SL_NAMES_RANK_EXCEPTION,           /* @@||x^ */
    SL_NAMES_RANK_IMPORTANT,           /* ||x^$important */
    SL_NAMES_RANK_IMPORTANT_EXCEPTION, /* @@||x^$important */
    SL_N_NAMES_RANKS
};

/* A table. Filling, building, updating and freeing: one thread at a time. */
struct sl_names;

struct sl_names_format {
    const char *name; /* "hosts" */
    const char *text; /* what it is, in a few words */
};

/* The known formats, ended by a NULL name. Static; any thread. */
SL_API const struct sl_names_format *sl_names_formats(void);

SL_CHECK SL_API enum sl_status sl_names_create(struct sl_names **names, struct sl_diag *diag);

/* Accepts NULL. All readers must be closed. */
SL_API void sl_names_free(struct sl_names *names);

/* Reads a file as one more list. format: a name of sl_names_formats, or NULL to find it out from
 * the first lines. SL_EINVAL: no such format (the known ones are named), the table is built
 * already, or it has 65,535 lists. SL_EFORMAT: no known format fits. SL_EIO, SL_ENOMEM. Lines that
 * are no rule do not fail the call. */
SL_CHECK SL_API enum sl_status sl_names_load(struct sl_names *names, const char *path,
                                             const char *format, struct sl_diag *diag);

/* The same from memory; `label` stands for the file's name. */
SL_CHECK SL_API enum sl_status sl_names_load_text(struct sl_names *names, const char *label,
                                                  const char *format, const char *text,
                                                  size_t text_len, struct sl_diag *diag);

/* Bytes of memory that building takes, about, beside what the table takes already. plane: as in
 * sl_fib_config, NULL is "auto". */
SL_API uint64_t sl_names_estimate(const struct sl_names *names, const char *plane);

/* Ends filling and makes the table ready for look-ups. plane: as in sl_fib_config. SL_ENOMEM: there
 * is less memory than the estimate, and nothing was begun, or it ran out; diag says both figures.
 */
SL_CHECK SL_API enum sl_status sl_names_build(struct sl_names *names, const char *plane,
                                              struct sl_diag *diag);

/* Writes the table to two files, `path` and `path`.fib, each to a new one that is then renamed.
 * SL_EIO, SL_ENOMEM; SL_EINVAL: it is not built. */
SL_CHECK SL_API enum sl_status sl_names_save(struct sl_names *names, const char *path,
                                             struct sl_diag *diag);

/* Whether the file begins as sl_names_save writes them. */
SL_API bool sl_names_is_saved(const char *path);

/* Maps what sl_names_save wrote: a built table. With `updates` it is made ready for them, which
 * takes the time and memory of building. SL_EFORMAT: cut, damaged, of another version, or the two
 * files do not belong together; diag says which. SL_EIO, SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_names_open(struct sl_names **names, const char *path,
                                             bool updates, struct sl_diag *diag);

/* A file of a table: a list, or what sl_names_save wrote. */
struct sl_names_file {
    const char *path;
    const char *format; /* as for sl_names_load; not of a saved table */
};

struct sl_names_config {
    const struct sl_names_file *files; /* n_files of them, lent for the call */
    size_t n_files;
    const char *plane;    /* as in sl_fib_config */
    bool updates;         /* a saved table is made ready for them */
    uint64_t reserved[4]; /* 0: room to grow */
};

/* No file, plane "auto", no updates of a saved table. */
SL_API void sl_names_config_init(struct sl_names_config *config);

/* A table ready for look-ups: reads all lists in their order and builds it, or maps a saved one.
 * SL_EINVAL: a saved table beside another file. Others: as sl_names_load, sl_names_build and
 * sl_names_open. *names is NULL then. */
SL_CHECK SL_API enum sl_status sl_names_open_files(struct sl_names **names,
                                                   const struct sl_names_config *config,
                                                   struct sl_diag *diag);

struct sl_names_count {
    uint64_t lines;    /* that are neither empty nor comments, of tables and of updates */
    uint64_t rules;    /* of them: understood */
    uint64_t ignored;  /* of them: not, each with a reason */
    uint64_t repeated; /* of the rules: said the same as an earlier one */
    uint64_t names;    /* different names in the table */
    uint32_t lists;
    uint64_t table_len; /* bytes that look-ups read, once built */
    const char *plane;  /* NULL until built */

    /* Nanoseconds that sl_names_open_files took to read the files, and to build. */
    uint64_t load_ns, build_ns;
};

SL_API void sl_names_count(const struct sl_names *names, struct sl_names_count *count);

/* Why lines were ignored: the i-th reason by count, largest first; false behind the last. */
SL_API bool sl_names_ignore_reason(const struct sl_names *names, size_t i, const char **reason,
                                   uint64_t *count);

/* The i-th ignored line: file, line and reason; false behind the last. Of the first
 * SL_NAMES_IGNORED_MAX; the counts are of all. */
enum { SL_NAMES_IGNORED_MAX = 1000000 };
SL_API bool sl_names_ignored(const struct sl_names *names, size_t i, struct sl_diag *diag);

/* A list's name and format; NULL: there is none of this number. */
SL_API const char *sl_names_list(const struct sl_names *names, uint32_t list, const char **format);

/* ---- updates --------------------------------------------------------------------------------- */

struct sl_names_updated {
    uint64_t added, removed;
    uint64_t absent;  /* to be removed and not there */
    uint64_t ignored; /* no update, or no rule behind its sign: kept as sl_names_ignored */
};

/* Applies lines "+RULE" and "-RULE" of a built table, in order, while look-ups go on: RULE is a
 * line of the format, "-" takes what was added by the same line in whichever list (in "prefix", a
 * line without ports takes the prefix away altogether). Lines without a sign are ignored with a
 * reason. label: the list's name; the same label goes on with the same list, at `line`. Counts are
 * added to *updated. SL_EINVAL: not built, or opened without updates, no such format, or one list
 * more than 65,535. SL_ENOMEM: the lines before had their effect. */
SL_CHECK SL_API enum sl_status sl_names_update(struct sl_names *names, const char *label,
                                               const char *format, const char *text,
                                               size_t text_len, uint32_t line,
                                               struct sl_names_updated *updated,
                                               struct sl_diag *diag);

/* ---- look-ups -------------------------------------------------------------------------------- */

struct sl_names_answer {
    enum sl_names_action action;
    uint32_t values;     /* for sl_names_value */
    uint32_t prefix_len; /* bytes of the name that the rule's name is */
    uint32_t list;       /* for sl_names_list */
    uint32_t line;       /* in that list */
    uint32_t rule;       /* its number in the table, until an update; SL_NAMES_NONE: 0 */
};

/* The i-th value, i from 0, and its length; NULL behind the last. Valid as long as the table; any
 * thread. */
SL_API const char *sl_names_value(const struct sl_names *names,
                                  const struct sl_names_answer *answer, uint32_t i, size_t *len);

/* One thread's way into a table. */
struct sl_names_reader;

enum { SL_NAMES_BATCH_MAX = 4096 }; /* names a look-up call */

/* device: "cpu", "auto", ... as sl_device_choose. SL_EINVAL, SL_EDEVICE, SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_names_reader_open(struct sl_names_reader **reader,
                                                    struct sl_names *names, const char *device,
                                                    struct sl_diag *diag);

/* Looks n names up. Each gets the answer of before or after each update that goes on. SL_EINVAL:
 * n is above SL_NAMES_BATCH_MAX. SL_EDEVICE. */
SL_CHECK SL_API enum sl_status sl_names_lookup(struct sl_names_reader *reader,
                                               const struct sl_name *name, uint32_t n,
                                               struct sl_names_answer *answers);

/* Accepts NULL. */
SL_API void sl_names_reader_close(struct sl_names_reader *reader);

#ifdef __cplusplus
}
#endif
#endif

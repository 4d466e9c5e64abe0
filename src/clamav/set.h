/* SPDX-License-Identifier: MIT */
/* A set of signatures as read: the block's records in growing arrays, and the lines that were
 * omitted. */
#ifndef CLAMAV_SET_H
#define CLAMAV_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "clamav/block.h"
#include "sluice/clamav.h"

/* The engine level that Engine: and flevel fields are compared with: that of ClamAV 1.4. */
enum { CLAM_LEVEL = 216 };

struct clam_records {
    void *at;
    size_t n, cap;
};

/* Something not taken. */
struct clam_note {
    uint32_t file; /* index in set->files */
    uint32_t line;
    char *text;
};

struct clam_notes {
    struct clam_note *at;
    size_t n, cap;
};

struct clam_reason {
    char *text;
    size_t n;
};

/* A name of an .ign2 file; with a digest it holds only for the line that has it. */
struct clam_ignore {
    char *name;
    bool has_digest;
    uint8_t digest[16];
};

/* Texts that were read, by a hash: chains of equal remainders. */
struct clam_chains {
    uint32_t *heads;
    struct clam_records entries; /* struct clam_chain */
};

/* What an expression became. */
struct clam_tree {
    uint32_t node, n_subs, count_max;
};

/* Whether nothing is found where it matches. */
static inline bool clam_hash_allows(int purpose, const struct clam_hash *hash)
{
    return purpose == CLAM_OF_ALLOWED || (purpose == CLAM_OF_URL && hash->size == CLAM_URL_ALLOWED);
}

enum { CLAM_STEMS = 1 << 14 };

struct sl_clamav_set {
    struct clam_records records[CLAM_A_READ];
    struct clam_records hashes[CLAM_HASHED][CLAM_HASHES]; /* struct clam_hash */
    struct clam_records ignores;                          /* struct clam_ignore */
    struct clam_notes bad, skipped;
    struct clam_reason *reasons;
    size_t n_reasons;
    char **files;
    size_t n_files;
    const struct clam_key *header_key, *list_key; /* of containers */
    const struct sl_clamav_pua *pua;              /* NULL: none is read */
    size_t n_unchecked;
    bool md5_is_refused; /* by OpenSSL: lists of ignored names cannot have MD5s */
    size_t n_allowed;
    uint64_t n_bad_before, n_skipped_before; /* when blocks that were merged were compiled */

    struct clam_chains bodies;      /* equal bodies are one pattern */
    struct clam_chains expressions; /* equal expressions are one tree */
    struct clam_records trees;      /* struct clam_tree, one an expression */
    uint32_t stems[CLAM_STEMS];     /* texts of names without their numbers, by a hash: the last */

    struct sl_diag *shown; /* the result of sl_clamav_skipped and _bad_line */

    /* The line being read. */
    uint32_t line;
    bool official;
    char why[256];
};

/* The outcome of a line or a part of it; set->why has the reason. */
enum clam_taken { CLAM_TAKEN, CLAM_BAD, CLAM_SKIPPED, CLAM_NO_MEMORY };

/* Frees what reading needs. No more can be read. */
void clam_set_end(struct sl_clamav_set *set);

/* Compiles a set that then has counts and notes alone. */
enum sl_status clam_compile_spent(struct sl_clamav_db **db, struct sl_clamav_set *set,
                                  enum sl_device_kind device, struct sl_diag *diag);

/* Room for n more records; NULL: no memory. */
void *clam_grow(struct clam_records *records, size_t record_len, size_t n);

/* The same in one of the block's arrays; *index becomes that of the first. */
void *clam_push(struct sl_clamav_set *set, enum clam_array array, size_t n, uint32_t *index);

static inline uint32_t clam_count(const struct sl_clamav_set *set, enum clam_array array)
{
    return (uint32_t)set->records[array].n;
}

enum clam_taken clam_bad(struct sl_clamav_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum clam_taken clam_skip(struct sl_clamav_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Part of a line. */
struct clam_text {
    const char *at;
    size_t len;
};

bool clam_text_is(struct clam_text text, const char *word);

/* Takes decimal digits, all of the text. False: it is no number or above max. */
bool clam_text_number(struct clam_text text, uint64_t max, uint64_t *value);

/* Takes the digits from byte `from` on as a number below 2^31. */
bool clam_text_u32(struct clam_text text, size_t from, uint32_t *value);

/* Cuts off the text before the first `end`, or all of it. True: there was one. */
bool clam_text_cut(struct clam_text *rest, char end, struct clam_text *before);

/* Lists an omitted line with the reason in set->why. `name` is the signature's. False: no memory.
 */
bool clam_note(struct sl_clamav_set *set, enum clam_taken taken, struct clam_text name);

/* The lengths of the arrays before a line: a line that fails adds nothing. */
struct clam_mark {
    size_t n[CLAM_A_READ];
    size_t hashes[CLAM_HASHED][CLAM_HASHES], trees;
};

void clam_mark_take(const struct sl_clamav_set *set, struct clam_mark *mark);
void clam_mark_restore(struct sl_clamav_set *set, const struct clam_mark *mark);

/* Names the file that the next lines are of. False: no memory. */
bool clam_set_add_file(struct sl_clamav_set *set, const char *name);

enum { CLAM_NOCASE = 1, CLAM_WIDE = 2, CLAM_FULLWORD = 4, CLAM_ASCII_TOO = 8 };

/* Where a body may lie: "*", "EP+0", "10,5", ... */
struct clam_offset {
    uint32_t kind, section, offset, shift;
};

enum clam_taken clam_offset_read(struct sl_clamav_set *set, struct clam_text text, uint8_t target,
                                 struct clam_offset *offset);

/* Reads a body; *pattern is its index, that of an equal one where there was one. */
enum clam_taken clam_body_read(struct sl_clamav_set *set, struct clam_text hex, unsigned options,
                               const struct clam_offset *offset, uint32_t *pattern);

/* Reads a logical expression; *node is its root, *n_subs one above the highest subsignature named,
 * *count_max the highest count asked about. */
enum clam_taken clam_logic_read(struct sl_clamav_set *set, struct clam_text text, uint32_t *node,
                                uint32_t *n_subs, uint32_t *count_max);

/* One line of a database. */
enum clam_format {
    CLAM_NDB,
    CLAM_DB,
    CLAM_LDB,
    CLAM_CDB,
    CLAM_PWDB,
    CLAM_CRB,
    CLAM_PDB,
    CLAM_WDB,
    CLAM_HDB,
    CLAM_HSB,
    CLAM_MDB,
    CLAM_MSB,
    CLAM_FP,
    CLAM_SFP,
    CLAM_IGN2,
    CLAM_CVD,
    CLAM_OTHER_FORMAT, /* ClamAV's, not read here */
    CLAM_COMPILED,     /* a block; no name says so */
    CLAM_UNKNOWN
};

enum clam_format clam_format_of(const char *name);

/* Whether a database has signatures of unwanted programs. */
bool clam_is_of_pua(const char *name);
enum clam_taken clam_line_read(struct sl_clamav_set *set, enum clam_format format,
                               struct clam_text line);

/* A whole database from memory, whose pages are given back as its lines are read. */
enum sl_status clam_text_read(struct sl_clamav_set *set, const char *name, char *text, size_t len,
                              bool official, struct sl_diag *diag);

/* A container: its signatures are checked, and its lists of ignored names are read, or its
 * other databases. What was read of it is lost. */
enum sl_status clam_container_read(struct sl_clamav_set *set, const char *path, uint8_t *bytes,
                                   size_t len, bool ignores, struct sl_diag *diag);

/* Adds the signatures of a block that was loaded from `path`. SL_EINVAL: a list of ignored names
 * has one of them with the MD5 of its line, which a block does not have. SL_ENOMEM. */
enum sl_status clam_set_merge(struct sl_clamav_set *set, const struct clam_block *block,
                              const char *path, struct sl_diag *diag);

/* The number of the text that has this hash, from 0. CLAM_NONE: none. */
uint32_t clam_chain_find(const struct clam_chains *chains, const uint64_t key[2]);
bool clam_chain_add(struct clam_chains *chains, const uint64_t key[2]);

#endif

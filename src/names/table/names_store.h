/* SPDX-License-Identifier: MIT */
/* Tables in files. PATH holds rules, values, lists and the names themselves, PATH.fib the index;
 * both are loaded (base/file_bytes.h). Behind the head of PATH, each at a multiple of 8, lie: rules, values, lists,
 * their texts, and the names, each behind its node and length.
 *
 * PATH is no block file (base/block_file.h): it is written as it is made, which takes no memory for
 * a second table, and what is loaded of it is written to where rules are freed. */
#ifndef NAMES_NAMES_STORE_H
#define NAMES_NAMES_STORE_H

#include <limits.h>

#include "names_internal.h"

#define NAMES_STORE_MAGIC "SLNAMES" /* the first 8 bytes, its NUL included */

enum { NAMES_STORE_VERSION = 2, NAMES_STORE_ORDER = 0x01020304 };

struct names_store_head {
    char magic[8];
    uint32_t version;
    uint32_t order;              /* NAMES_STORE_ORDER in the byte order of the writer */
    uint64_t checksum;           /* XXH3 of all behind it */
    uint64_t len;                /* bytes of the file */
    uint64_t fib_check, fib_len; /* of PATH.fib: names_store_check_fib */
    uint64_t n_rules, n_values, n_lists, n_names;
    uint64_t text_len, names_len; /* bytes */
    uint64_t n_lines, n_understood, n_skipped, n_ignored, n_repeated;
    uint64_t n_ranks[SL_N_NAMES_RANKS];
    char plane[16];
};

struct names_store_values {
    uint64_t text;
    uint32_t len, action;
};

struct names_store_list {
    uint64_t label;
    uint32_t len;
    char format[20];
};

/* The checksum of the body, and of the head's fields behind its own. */
uint64_t names_store_checksum(const struct names_store_head *head, uint64_t body);

/* The path of the index beside `path`. SL_EIO: it is too long. */
enum sl_status names_store_fib_path(char fib_path[PATH_MAX], const char *path,
                                    struct sl_diag *diag);

/* What distinguishes one PATH.fib from others: a hash of its first bytes, which have a checksum of
 * all others, and its length. SL_EIO, SL_ENOMEM. */
enum sl_status names_store_check_fib(const char *path, uint64_t *check, uint64_t *len,
                                     struct sl_diag *diag);

#endif

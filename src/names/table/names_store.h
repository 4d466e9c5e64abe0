/* SPDX-License-Identifier: MIT */
/* Tables in files. Behind the head lie, each at a multiple of 8: rules, values, lists, their texts,
 * and the names, each behind its node and length. The index follows at a multiple of 64, as a block
 * file holds it (fib/fib_store.c).
 *
 * The whole is no block file (base/block_file.h). It is written as it is made, which takes no
 * memory for a second table. Updates of a loaded table write into its memory. */
#ifndef NAMES_NAMES_STORE_H
#define NAMES_NAMES_STORE_H

#include "names_internal.h"

#define NAMES_STORE_MAGIC "SLNAMES" /* the first 8 bytes, its NUL included */

enum { NAMES_STORE_VERSION = 3, NAMES_STORE_ORDER = 0x01020304, NAMES_STORE_ALIGN = 64 };

struct names_store_head {
    char magic[8];
    uint32_t version;
    uint32_t order;    /* NAMES_STORE_ORDER in the byte order of the writer */
    uint64_t checksum; /* XXH3 of all behind it up to the index, which has its own */
    uint64_t len;      /* bytes of the file */
    uint64_t index;    /* where the index begins */
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

#endif

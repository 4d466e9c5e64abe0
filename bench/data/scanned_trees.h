/* SPDX-License-Identifier: MIT */
/* The same generated documents, plain, in each kind of container, and mixed, a folder each. */
#ifndef BENCH_SCANNED_TREES_H
#define BENCH_SCANNED_TREES_H

#include <stdbool.h>
#include <stdint.h>

enum scanned_tree {
    TREE_PLAIN,
    TREE_MAIL,
    TREE_STORED,
    TREE_DEFLATED,
    TREE_MIXED, /* each file in another form, and some as scripts and as programs */
    TREE_BZ2,
    TREE_XZ,
    TREE_SEVENZIP,
    SCANNED_TREES
};

extern const char *const scanned_tree_names[SCANNED_TREES];

/* Writes them into an existing folder, each one's as its name. `len`: bytes of the documents of
 * one. False: an error was printed. */
bool scanned_trees_make(const char *folder, uint64_t *len);

/* Unpacks all files of a folder, and drops their content: what a scan cannot do without. Returns
 * the bytes of content; 0: it failed. */
uint64_t scanned_tree_unpack(const char *folder);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CLAMAV_DB_H
#define CLAMAV_DB_H

#include "clamav/block.h"
#include "sluice/clamav.h"
#include "sluice/mpm.h"

struct sl_clamav_db {
    const struct clam_block *block;
    const struct sl_mpm_table *mpm; /* inside the block */
    bool loaded;                    /* from a file; else allocated */
    struct clam_hash_names *names;
};

/* Takes a block: checks the matcher's table in it and frees the block where that fails. */
enum sl_status clam_db_create(struct sl_clamav_db **db, const struct clam_block *block, bool loaded,
                              const char *path, struct sl_diag *diag);

extern const struct block_kind clam_block_kind;

#endif

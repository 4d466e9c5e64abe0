/* SPDX-License-Identifier: MIT */
/* Names of hashes, written out. */
#ifndef CLAMAV_HASH_NAME_H
#define CLAMAV_HASH_NAME_H

#include "clamav/db.h"

/* Names that were found: one string for each hash. */
struct clam_hash_names;

/* NULL: no memory. */
struct clam_hash_names *clam_hash_names_create(void);
void clam_hash_names_free(struct clam_hash_names *names);

/* The name of a database's hash, which lives as long as the database. NULL: no memory. Any thread.
 */
const char *clam_hash_name(const struct sl_clamav_db *db, const struct clam_hash *hash);

/* The same for a pool of texts; the caller frees it. */
char *clam_hash_name_copy(const char *texts, const struct clam_hash *hash);

#endif

/* SPDX-License-Identifier: MIT */
/* Community IDs of flows: version 1 of Corelight's specification, seed 0. */
#ifndef RUN_COMMUNITY_IDS_H
#define RUN_COMMUNITY_IDS_H

#include "sluice/dissect.h"

struct community_ids;

/* Makes an empty memory of ids, for one thread at a time. The caller frees it. SL_EUNSUPPORTED:
 * OpenSSL refuses SHA-1. SL_ENOMEM. */
enum sl_status community_ids_create(struct community_ids **ids, struct sl_diag *diag);
void community_ids_free(struct community_ids *ids); /* accepts NULL */

/* The id of a packet's tuple, a text of 30 characters and a NUL. `flow` is the packet's, by which
 * ids are remembered too; 0: not known. The text is valid until the next call. NULL: OpenSSL
 * failed.
 */
const char *community_ids_of(struct community_ids *ids, uint64_t flow,
                             const struct sl_tuple *tuple);

#endif

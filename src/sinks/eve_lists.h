/* SPDX-License-Identifier: MIT */
/* Lists of texts as EVE shows them. Each function writes the value alone, without its key. */
#ifndef SINKS_EVE_LISTS_H
#define SINKS_EVE_LISTS_H

#include "line_sink.h"

/* Entries of a rule's metadata, split and ordered, in memory that is kept between alerts. */
struct eve_metadata {
    struct eve_entry *entries;
    size_t n, cap;
};

/* Splits "key value" entries and sorts them by key. Entries without a value are left out, so that
 * n may be 0. False: no memory. */
bool eve_metadata_sort(struct eve_metadata *metadata, const char *const *texts);

/* {"key":["value",...],...} of at least one entry. Keys are printable ASCII without quote and
 * backslash, other bytes are '_'; keys that differ in case alone are one, as in Suricata. */
void eve_put_metadata(struct line_sink *out, const struct eve_metadata *metadata);

void eve_metadata_free(struct eve_metadata *metadata);

/* {"hop":"262","cost":10} of "262 10", or a port alone. */
void eve_put_hops(struct line_sink *out, const char *const *hops);

void eve_put_texts(struct line_sink *out, const char *const *texts);

#endif

/* SPDX-License-Identifier: MIT */
/* The oracle: a list of names, compared one by one, component by component. */
#ifndef FIB_REF_H
#define FIB_REF_H

#include "sluice/fib.h"

struct ref_part {
    uint64_t type, len;
    const uint8_t *bytes;
};

struct ref_entry {
    uint8_t *name;
    uint32_t len, next_hop, n_holders;
    bool folded;            /* since ref_fold */
    struct ref_part *parts; /* its components, with the bytes of the name */
    size_t n_parts;
};

struct ref {
    struct ref_entry *entries;
    size_t n, cap;
};

void ref_free(struct ref *ref);
enum sl_fib_outcome ref_apply(struct ref *ref, const struct sl_fib_update *update);
struct sl_fib_match ref_match(const struct ref *ref, const uint8_t *name, size_t len);

/* By the definition of aggregation: the nearest shorter entry answers the same. */
bool ref_is_folded(const struct ref *ref, const struct ref_entry *entry);
void ref_fold(struct ref *ref); /* of all entries */

/* Bytes of the longest entry that was not folded when ref_fold was called last. */
uint32_t ref_folded_len(const struct ref *ref, const uint8_t *name, size_t len);

#endif

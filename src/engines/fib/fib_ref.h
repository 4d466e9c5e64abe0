/* SPDX-License-Identifier: MIT */
/* The oracle: a list of names, compared one by one, component by component. */
#ifndef FIB_REF_H
#define FIB_REF_H

#include "sluice/fib.h"

struct ref_entry {
    uint8_t *name;
    uint32_t len, next_hop, n_holders;
};

struct ref {
    struct ref_entry *entries;
    size_t n, cap;
};

void ref_free(struct ref *ref);
enum sl_fib_outcome ref_apply(struct ref *ref, const struct sl_fib_update *update);
struct sl_fib_match ref_match(const struct ref *ref, const uint8_t *name, size_t len);

/* The longest entry, by the definition of aggregation, that no shorter one answers the same as. */
uint32_t ref_folded_len(const struct ref *ref, const uint8_t *name, size_t len);
bool ref_is_folded(const struct ref *ref, const struct ref_entry *entry);

#endif

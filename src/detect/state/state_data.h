/* SPDX-License-Identifier: MIT */
/* Sets of data that rules change: the state's own, in the order of all packets. */
#ifndef DETECT_STATE_DATA_H
#define DETECT_STATE_DATA_H

#include <stdatomic.h>

#include "detect/data/rule_data.h"
#include "detect/evaluate/rule_findings.h"

struct state_set;

struct state_data {
    struct rule_map by_key; /* of the name -> struct state_set */
    struct state_set *first, **last;
    uint64_t secret; /* of their hashes */
    atomic_uint_fast64_t values, refused;
};

void state_data_init(struct state_data *data, uint64_t secret);
void state_data_free(struct state_data *data);

/* Marks the sets that rules change, and the rules that ask them: these are late. False: no memory.
 */
bool state_data_mark(struct sl_rules *rules);

/* Takes the sets that these rules change, as they were loaded, unless a set of that name is known.
 * False: no memory. */
bool state_data_adopt(struct state_data *data, const struct sl_rules *rules);

/* Whether the values of a candidate hold for its rule, and what they set or unset. NULL: sets are
 * as they were loaded, and stay so. */
bool state_data_meets(struct state_data *data, const struct rule_findings *findings,
                      size_t candidate);

/* Writes the files. SL_EIO, SL_ENOMEM: the first failure; the others are written. */
enum sl_status state_data_save(const struct state_data *data, struct sl_diag *diag);

#endif

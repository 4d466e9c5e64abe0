/* SPDX-License-Identifier: MIT */
/* The values that a batch's candidates ask sets of data for. Sets change from packet to packet, so
 * evaluation keeps the values, and they are looked up when the candidates are decided. */
#ifndef DETECT_RULE_VALUES_H
#define DETECT_RULE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer that meets the other steps of its section. */
struct rule_value {
    size_t at; /* in rule_values.bytes */
    uint32_t len;
    uint32_t section;
};

/* A way in which a packet matches a rule, by the values of its sections. */
struct rule_ask {
    size_t first, n;
    uint32_t rule;
    uint32_t next; /* another way, by its index from 1 on; behind the last the first */
};

struct rule_values {
    uint8_t *bytes; /* of the batch; grows */
    size_t len, cap;
    struct rule_value *value; /* of the batch; grows */
    size_t n, cap_values;
    size_t n_kept; /* those of the rule at hand lie behind */
    struct rule_ask *ask;
    size_t n_asks, cap_asks;
    size_t first_ask;       /* of the packet at hand */
    uint32_t *ask_of;       /* of each rule: its last way to match that packet, from 1 on; 0: none.
                               NULL: no rule asks */
    size_t room;            /* bytes that the packet may keep yet */
    bool any;               /* the packet has kept some, */
    struct rule_value last; /* and this one last */
    bool no_memory;         /* once set it stays */
};

/* Of a zeroed struct. False: no memory. */
bool rule_values_open(struct rule_values *values, size_t n_rules);
void rule_values_close(struct rule_values *values);

/* Begins with a batch, and with a view of a packet of so many bytes of payload. The bytes that a
 * packet keeps are bounded: names of a message may be longer than itself. */
void rule_values_begin_batch(struct rule_values *values);
static inline void rule_values_begin_packet(struct rule_values *values, uint32_t payload_len)
{
    enum { ROOM = 1024, ROOM_A_BYTE = 8 /* of payload */ };

    values->room = ROOM + (size_t)ROOM_A_BYTE * payload_len;
    values->any = false;
}

/* Keeps a value of the rule at hand. False: the packet may keep no more. */
bool rule_values_add(struct rule_values *values, uint32_t section, const uint8_t *bytes,
                     uint32_t len);

/* The rule at hand is matched by its values. */
void rule_values_keep(struct rule_values *values, uint32_t rule);

/* Ends the packet: its rules are forgotten, its ways stay. */
void rule_values_end_packet(struct rule_values *values);

#endif

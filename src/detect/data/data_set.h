/* SPDX-License-Identifier: MIT */
/* A set of data that rules look values up in: strings, digests or addresses. It keeps the order in
 * which values were added, and has bounded memory. One thread changes it; any number look up in one
 * that nobody changes. */
#ifndef DETECT_DATA_SET_H
#define DETECT_DATA_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum data_type { DATA_STRING, DATA_MD5, DATA_SHA256, DATA_IPV4, DATA_IP };

/* The head of a value, whose bytes follow in as many units of its size as they need. */
struct data_unit {
    uint32_t len;
    uint16_t reputation;
    uint16_t is_removed;
};

struct data_slot {
    uint32_t tag; /* of the value's hash */
    uint32_t at;  /* its unit, from 1 on; 0: none; UINT32_MAX: it was removed */
};

struct data_set {
    enum data_type type;
    bool has_reputations; /* each value that a file had was followed by one */
    uint64_t memory_max;  /* bytes for values: each takes its own, rounded up to 8, and 24 more */
    uint64_t memory;
    uint64_t secret; /* of the hash */
    struct data_unit *unit;
    size_t n_units, cap_units;
    struct data_slot *slot;
    uint32_t n_slots;    /* 0 or a power of two */
    uint32_t n, n_taken; /* values; slots that are not empty */
};

enum data_outcome { DATA_ADDED, DATA_KNOWN, DATA_NO_ROOM, DATA_UNFIT };

/* Whether the value is in the set; *reputation is 0 where it came without one. A digest or address
 * of another length is in no set. Nor is the empty string. */
bool data_set_find(const struct data_set *set, const uint8_t *bytes, uint32_t len,
                   uint16_t *reputation);

/* Adds a value. DATA_UNFIT: it has no length of the type. DATA_NO_ROOM: it is not added, as the
 * memory is used up, or there is none. */
enum data_outcome data_set_add(struct data_set *set, const uint8_t *bytes, uint32_t len,
                               uint16_t reputation);

/* False: it was not in the set. */
bool data_set_remove(struct data_set *set, const uint8_t *bytes, uint32_t len);

/* Makes *copy, whose hash has its own secret, the same set. False: no memory; it is empty. */
bool data_set_copy(struct data_set *copy, const struct data_set *set, uint64_t secret);

/* A value, as it is kept: addresses have 16 bytes, those of IPv4 as IPv6 maps them. */
struct data_value {
    const uint8_t *bytes;
    uint32_t len;
    uint16_t reputation;
};

/* Gives the next value, in the order of adding; *at is 0 at first. False: there is none. */
bool data_set_next(const struct data_set *set, size_t *at, struct data_value *value);

/* Frees its memory. Accepts zeros. */
void data_set_free(struct data_set *set);

#endif

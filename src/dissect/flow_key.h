/* SPDX-License-Identifier: MIT */
/* A flow's key: the ends of a conversation in an order that does not depend on the sender. */
#ifndef DISSECT_FLOW_KEY_H
#define DISSECT_FLOW_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core.h"
#include "sluice/batch.h"

enum { FLOW_KEY_WORDS = 6, FLOW_ID_BITS = 51 /* JavaScript's numbers hold 53 */ };

/* Words 0 and 1 are the lower end's address, words 2 and 3 the higher end's. Word 4 holds the ports
 * of both ends and the VLAN ids. Word 5 holds the protocol, and whether the ports are an ICMP
 * echo's id. */
struct flow_key {
    uint64_t word[FLOW_KEY_WORDS];
};

/* Reads the key of a dissected packet; *sender is the end that sent it, 0 or 1 (0 where the ends
 * are equal). False: the packet belongs to no flow. */
bool flow_key_read(struct flow_key *key, uint8_t *sender, const struct sl_batch *batch,
                   uint32_t item);

/* Makes the hash's secret of 128 bits. */
void flow_key_secret(uint64_t secret[FLOW_KEY_WORDS], const uint64_t seed[2]);

static inline uint16_t flow_key_port(const struct flow_key *key, uint32_t end)
{
    return (uint16_t)(key->word[4] >> 16 * end);
}

/* Whether both ends are the same. */
static inline bool flow_key_has_equal_ends(const struct flow_key *key)
{
    return key->word[0] == key->word[2] && key->word[1] == key->word[3] &&
           flow_key_port(key, 0) == flow_key_port(key, 1);
}

/* Word by word: a key that was just written would be slow to load in other parts. */
static inline bool flow_key_equal(const struct flow_key *a, const struct flow_key *b)
{
    return a->word[4] == b->word[4] && a->word[1] == b->word[1] && a->word[3] == b->word[3] &&
           a->word[0] == b->word[0] && a->word[2] == b->word[2] && a->word[5] == b->word[5];
}

/* Folded products of keyed words, as in wyhash and umash. Without the secret a sender cannot choose
 * keys that collide more often than by chance. */
static inline uint64_t flow_key_hash(const struct flow_key *key,
                                     const uint64_t secret[FLOW_KEY_WORDS])
{
    const uint64_t sum = core_fold(key->word[0] ^ secret[0], key->word[1] ^ secret[1]) +
                         core_fold(key->word[2] ^ secret[2], key->word[3] ^ secret[3]) +
                         core_fold(key->word[4] ^ secret[4], key->word[5] ^ secret[5]);

    return core_fold(sum ^ secret[0], secret[5] | 1);
}

/* The id of a flow that began at this time: 51 bits, not 0. The secret is that of a sensor, and no
 * secret to anybody: all tables of the sensor give the same id. */
static inline uint64_t flow_key_id(const struct flow_key *key, int64_t start_ns,
                                   const uint64_t secret[FLOW_KEY_WORDS])
{
    const uint64_t id =
        core_fold(flow_key_hash(key, secret) ^ secret[1], (uint64_t)start_ns ^ secret[2]) >>
        (64 - FLOW_ID_BITS);

    return id != 0 ? id : 1;
}

#endif

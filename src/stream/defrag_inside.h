/* SPDX-License-Identifier: MIT */
/* What the table of fragments shares with the lists of batches. */
#ifndef STREAM_DEFRAG_INSIDE_H
#define STREAM_DEFRAG_INSIDE_H

#include <string.h>

#include "base/core.h"
#include "defrag.h"

enum {
    DEFRAG_DATAGRAM_MAX = 65535, /* bytes with the IPv4 header, or behind the IPv6 header */
    DEFRAG_IPV6_LEN = 40
};

static inline struct defrag_key defrag_key_of(const struct defrag_fragment *f)
{
    struct defrag_key key;

    memset(&key, 0, sizeof key);
    key.src = f->src;
    key.dst = f->dst;
    key.id = f->id;
    memcpy(key.vlan, f->vlan, sizeof key.vlan);
    key.protocol = f->is_ipv6 ? 0 : f->protocol;
    key.is_ipv6 = f->is_ipv6;
    return key;
}

static inline uint64_t defrag_hash(const struct defrag_key *key, const uint64_t hash_key[2])
{
    uint64_t word[sizeof *key / 8], sum = 0;

    memcpy(word, key, sizeof word);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        sum = core_fold(sum ^ word[i] ^ hash_key[0], hash_key[1] ^ UINT64_C(0x9E3779B97F4A7C15));
    return sum;
}

static inline bool defrag_key_equal(const struct defrag_key *a, const struct defrag_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* The random words. Any thread. */
const uint64_t *defrag_hash_key(const struct defrag *defrag);

/* SL_N_FRAGMENT_FAULTS: none. */
enum sl_fragment_fault defrag_fault_of(const struct defrag_fragment *f);

/* Whether a fragment ends inside the transport header. The ports of tiny ones lie in the next. */
bool defrag_is_tiny(const struct defrag_fragment *f);

/* Keeps what the first fragment says of its datagram. */
void defrag_head_read(struct defrag_head *head, const struct defrag_fragment *first);

/* Whether the headers of the first fragment leave room for the datagram. */
bool defrag_head_fits(const struct defrag_head *head);

#endif

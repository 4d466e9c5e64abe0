/* SPDX-License-Identifier: MIT */
#include "fingerprint_index.h"

#include "base/diag.h"
#include "packet_log.h"

_Static_assert(sizeof(struct index_bucket) == 64, "a bucket is a cache line");
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "entries are read as little-endian numbers"
#endif

static uint64_t begin_of(uint64_t n_max)
{
    return n_max > INDEX_BEGIN ? n_max / INDEX_BEGIN : n_max;
}

enum sl_status index_create(struct fingerprint_index *index, uint64_t len, struct sl_diag *diag)
{
    const uint64_t n = len / sizeof(struct index_bucket);

    *index = (struct fingerprint_index){.n_max = n > INDEX_BEGIN ? n / INDEX_BEGIN * INDEX_BEGIN
                                                 : n > 0         ? n
                                                                 : 1,
                                        .shift = 32};
    index->n_buckets = begin_of(index->n_max);
    if (index->n_max > UINT32_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "an index of %llu bytes (expected less than 256 GiB)",
                        (unsigned long long)len);
    index->buckets = memory_map(index->n_max * sizeof *index->buckets, "an index", diag);
    return index->buckets != NULL ? SL_OK : SL_ENOMEM;
}

uint64_t index_room(uint64_t n_buckets, unsigned n_bits)
{
    return (n_buckets + INDEX_RUN - 1) / INDEX_RUN * INDEX_RUN << n_bits;
}

void index_place(struct fingerprint_index *index, struct index_bucket *room, uint64_t n_buckets,
                 unsigned n_bits, uint32_t number)
{
    *index = (struct fingerprint_index){.buckets = room + (uint64_t)number * INDEX_RUN,
                                        .others = ((UINT64_C(1) << n_bits) - 1) * INDEX_RUN,
                                        .n_buckets = begin_of(n_buckets),
                                        .n_max = n_buckets,
                                        .shift = 32 - n_bits};
}

void index_free(struct fingerprint_index *index)
{
    memory_unmap(index->buckets, index->n_max * sizeof *index->buckets);
    index->buckets = NULL;
}

void index_clear(struct fingerprint_index *index)
{
    for (uint64_t i = 0; i < index->n_buckets; i++)
        *index_bucket_at(index, i) = (struct index_bucket){0};
    index->n_buckets = begin_of(index->n_max);
    index->n_entries = 0;
}

/* The bucket of a hash is its place among all, so a bucket's place becomes two. From the last on,
 * in place: none is overwritten before it was copied. */
void index_grow(struct fingerprint_index *index)
{
    for (uint64_t at = index->n_buckets; at-- > 0;) {
        const struct index_bucket bucket = *index_bucket_at(index, at);

        *index_bucket_at(index, 2 * at) = bucket;
        *index_bucket_at(index, 2 * at + 1) = bucket;
    }
    index->n_buckets *= 2;
}

/* SPDX-License-Identifier: MIT */
#include "fingerprint_index.h"

#include "base/diag.h"
#include "packet_log.h"

_Static_assert(sizeof(struct index_bucket) == 64, "a bucket is a cache line");
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "entries are read as little-endian numbers"
#endif

enum sl_status index_create(struct fingerprint_index *index, uint64_t len, struct sl_diag *diag)
{
    const uint64_t n = len / sizeof(struct index_bucket);

    *index = (struct fingerprint_index){.n_buckets = n > 0 ? n : 1};
    if (index->n_buckets > UINT32_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "an index of %llu bytes (expected less than 256 GiB)",
                        (unsigned long long)len);
    index->buckets = memory_map(index->n_buckets * sizeof *index->buckets, "an index", diag);
    return index->buckets != NULL ? SL_OK : SL_ENOMEM;
}

void index_free(struct fingerprint_index *index)
{
    memory_unmap(index->buckets, index->n_buckets * sizeof *index->buckets);
    index->buckets = NULL;
}

void index_clear(struct fingerprint_index *index)
{
    memset(index->buckets, 0, index->n_buckets * sizeof *index->buckets);
}

static int oldest_way(const struct index_bucket *bucket)
{
    int oldest = 0;
    uint64_t lowest = index_entry(bucket, 0);

    for (int way = 1; way < INDEX_WAYS; way++) {
        const uint64_t offset = index_entry(bucket, way);

        oldest = offset < lowest ? way : oldest;
        lowest = offset < lowest ? offset : lowest;
    }
    return oldest;
}

uint64_t index_put(struct fingerprint_index *index, uint64_t hash, uint64_t offset)
{
    struct index_bucket *const bucket = index_bucket_of(index, hash);
    const uint16_t tag = index_tag(hash);
    int way = index_find(bucket, tag);
    uint64_t before = UINT64_MAX;

    if (way >= 0) {
        before = index_entry(bucket, way);
    } else {
        way = oldest_way(bucket);
        bucket->tag[way] = tag;
    }
    index_entry_set(bucket, way, offset);
    return before;
}

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

/* SPDX-License-Identifier: MIT */
#include "stream_shard.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "stream_half.h"

enum {
    SHARD_MEMORY_MIN = 128 << 10,
    BLOCKS_MAX = (1 << STREAM_BLOCK_BITS) - STREAM_CLAIMS_MAX,
    UNACKED_MAX = 1 << 30, /* bytes */
    FIRST_RECORDS = 2048,  /* that an output takes memory for */
    FIRST_COPIED = 16 << 10
};

void stream_config_init(struct stream_config *config)
{
    *config = (struct stream_config){.memory = UINT64_C(256) << 20,
                                     .context_len = STREAM_BLOCK_LEN - STREAM_HEAD_LEN,
                                     .overlap_len = 63,
                                     .unacked_len = 1 << 20};
}

static const uint64_t shard_memory_max = UINT64_C(4) << 30;

/* With one for their numbers. Bytes may begin with the last byte of a block. */
static uint32_t context_blocks(uint32_t len)
{
    return 2 + (len + STREAM_BLOCK_LEN - 2) / STREAM_BLOCK_LEN;
}

static bool open_shard(struct stream_shard *shard, uint64_t memory,
                       const struct stream_config *config)
{
    const uint64_t n_blocks = memory / STREAM_BLOCK_LEN;
    const uint32_t n = n_blocks < BLOCKS_MAX ? (uint32_t)n_blocks : BLOCKS_MAX;
    const uint32_t half_more = n + n / 2, most = BLOCKS_MAX - n;
    const uint32_t n_retired = half_more < most ? half_more : most;

    *shard = (struct stream_shard){.unacked_len = config->unacked_len,
                                   .is_inline = config->is_inline,
                                   .omits_edges = config->omits_edges,
                                   .keeps_urgent = config->keeps_urgent,
                                   .min_ttl = config->min_ttl,
                                   .context_len = config->context_len,
                                   .context_blocks = context_blocks(config->context_len),
                                   .overlap_len = config->overlap_len};
    return stream_arena_open(&shard->arena, n, n_retired) &&
           stream_epochs_open(&shard->epochs, n_retired);
}

enum sl_status stream_shards_create(struct stream_shard **out, uint32_t n,
                                    const struct stream_config *config, struct sl_diag *diag)
{
    const uint64_t memory = n == 0 ? 0 : config->memory / n;
    struct stream_shard *shards;

    if (memory < SHARD_MEMORY_MIN || memory > shard_memory_max)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%llu bytes for streams (expected %llu to %llu)",
                        (unsigned long long)config->memory,
                        (unsigned long long)n * SHARD_MEMORY_MIN,
                        (unsigned long long)n * shard_memory_max);
    if (config->context_len == 0 || config->context_len > STREAM_CONTEXT_MAX ||
        config->overlap_len > config->context_len)
        return diag_set(diag, SL_EINVAL, NULL, 0, "context of %u and overlap of %u bytes",
                        config->context_len, config->overlap_len);
    if (config->unacked_len > UNACKED_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%u bytes that wait for an answer (at most %d)",
                        config->unacked_len, UNACKED_MAX);
    shards = (struct stream_shard *)aligned_alloc(64, n * sizeof *shards);
    if (shards == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u shards", n);
    memset(shards, 0, n * sizeof *shards);
    for (uint32_t i = 0; i < n; i++)
        if (!open_shard(&shards[i], memory, config)) {
            stream_shards_free(shards, n);
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for streams");
        }
    *out = shards;
    return SL_OK;
}

uint64_t stream_size(const struct stream *stream, uint32_t half)
{
    const struct stream_half *h = &stream->half[half];

    return (h->flags & STREAM_STARTED) != 0 ? h->next + 1 : 0;
}

bool stream_waits(const struct stream *stream, uint32_t half)
{
    return (stream->half[half].flags & STREAM_QUEUED) != 0;
}

void stream_shards_free(struct stream_shard *shards, uint32_t n)
{
    for (uint32_t i = 0; shards != NULL && i < n; i++) {
        stream_arena_close(&shards[i].arena);
        stream_epochs_close(&shards[i].epochs);
    }
    free(shards);
}

struct stream_shard *stream_shard_at(struct stream_shard *shards, uint32_t index)
{
    return &shards[index];
}

uint64_t stream_shard_held(const struct stream_shard *shard)
{
    return stream_arena_held(&shard->arena);
}

void stream_output_lend_records(struct stream_output *output, struct stream_record *record,
                                uint32_t n)
{
    if (output->record != NULL)
        return;
    output->record = output->lent_record = record;
    output->max = n;
}

void stream_output_return_records(struct stream_output *output)
{
    if (output->record == output->lent_record) {
        output->record = NULL;
        output->max = 0;
    }
    output->lent_record = NULL;
}

void stream_output_lend_copied(struct stream_output *output, uint8_t *copied, uint32_t len)
{
    output->copied = output->lent_copied = copied;
    output->copied_max = len;
}

static bool is_lent(const struct stream_output *output, const void *memory)
{
    return memory != NULL && (memory == output->lent_record || memory == output->lent_copied);
}

static void release(const struct stream_output *output, void *memory)
{
    if (!is_lent(output, memory))
        free(memory);
}

void stream_output_release(struct stream_output *output)
{
    if (output->epoch != NULL)
        atomic_store_explicit(&output->epoch->is_over, true, memory_order_release);
    output->epoch = NULL;
}

void stream_output_free(struct stream_output *output)
{
    stream_output_release(output);
    release(output, output->record);
    release(output, output->copied);
    memset(output, 0, sizeof *output);
}

/* Twice the room, or the first one, of which pages are taken as they are used. */
static bool grow(const struct stream_output *output, void **memory, uint32_t *max, uint32_t first,
                 uint64_t wanted, size_t size)
{
    const bool lent = is_lent(output, *memory);
    uint64_t n = *max != 0 ? *max : first;
    void *more;

    while (n < wanted)
        n *= 2;
    more = n <= UINT32_MAX ? realloc(lent ? NULL : *memory, n * size) : NULL;
    if (more == NULL)
        return false;
    if (lent)
        memcpy(more, *memory, *max * size);
    *memory = more;
    *max = (uint32_t)n;
    return true;
}

void stream_shard_begin(struct stream_shard *shard, struct stream_output *output,
                        const uint8_t *bytes)
{
    stream_output_release(output);
    stream_epochs_reclaim(&shard->epochs, &shard->arena);
    output->n = 1;
    output->copied_len = 0;
    output->no_memory = false;
    memset(&output->stats, 0, sizeof output->stats);
    shard->output = output;
    shard->bytes = bytes;
}

void stream_shard_end(struct stream_shard *shard)
{
    const struct stream_output *output = shard->output;

    stream_context_settle(shard);
    for (uint32_t i = 1; i < output->n; i++) {
        const struct stream_record *record = &output->record[i];

        /* A half's last record of bytes names it; those of flows that ended name others. */
        if (record->kind <= STREAM_COPIED && record->stream->half[record->half].last == i)
            stream_context_keep(shard, record->stream, record->half);
    }
    shard->output = NULL;
    shard->bytes = NULL;
}

struct stream_record *stream_record_make(struct stream_output *output)
{
    static _Thread_local struct stream_record lost;

    if (grow(output, (void **)&output->record, &output->max, FIRST_RECORDS, (uint64_t)output->n + 1,
             sizeof *output->record))
        return &output->record[output->n++];
    output->no_memory = true;
    return &lost;
}

uint8_t *stream_output_copy(struct stream_shard *shard, uint32_t len, uint32_t align)
{
    struct stream_output *output = shard->output;
    const uint64_t begin = ((uint64_t)output->copied_len + align - 1) / align * align;
    const uint64_t wanted = begin + len;

    if (wanted > output->copied_max &&
        !grow(output, (void **)&output->copied, &output->copied_max, FIRST_COPIED, wanted, 1)) {
        output->no_memory = true;
        return NULL;
    }
    output->copied_len = (uint32_t)wanted;
    return output->copied + begin;
}

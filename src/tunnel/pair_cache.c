/* SPDX-License-Identifier: MIT */
/* A pair's caches outlive it: the encoder's log, then the decoder's. They may share memory. */
#include "pair_state.h"
#include "redundancy/live/held_cache.h"
#include "redundancy/live/kept_cache.h"

enum sl_status pair_save(const struct pair *pair, int fd, struct sl_diag *diag)
{
    const enum sl_status status = encoder_save(pair->encoder, fd, diag);

    return status == SL_OK ? decoder_save(pair->decoder, fd, diag) : status;
}

enum sl_status pair_load(struct pair *pair, int fd, bool *sends, struct sl_diag *diag)
{
    struct kept_log kept;
    enum sl_status status = encoder_load(pair->encoder, fd, &kept, diag);

    pair->learn_end = kept.end;
    *sends = status == SL_OK;
    if (status == SL_OK)
        status = decoder_load(pair->decoder, fd, &kept, diag);
    return status;
}

bool pair_learn(struct pair *pair)
{
    if (pair->learned >= pair->learn_end)
        return false;
    if (pair->n_gathered > 0)
        return true;
    if (!encoder_part(pair->encoder, &pair->learned, pair->batch, pair->batch->bytes_cap))
        pair->learned = pair->learn_end;
    else if (sampler_take(&pair->sampler, pair->batch, NULL) == SL_OK)
        encoder_learn(pair->encoder, pair->learned - pair->batch->payload[0].len,
                      &pair->sampler.hits);
    sl_batch_reset(pair->batch);
    return pair->learned < pair->learn_end;
}

uint64_t pair_held(const struct pair *pair, enum pair_cache cache)
{
    return cache == PAIR_SENT ? encoder_held(pair->encoder) : decoder_held(pair->decoder);
}

void pair_forget(struct pair *pair, enum pair_cache cache, uint64_t len)
{
    if (cache == PAIR_SENT)
        encoder_forget(pair->encoder, len);
    else
        decoder_forget(pair->decoder, len);
}

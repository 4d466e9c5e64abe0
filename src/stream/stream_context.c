/* SPDX-License-Identifier: MIT */
/* The blocks that halves hold for their last bytes: they are counted when a segment brings bytes,
 * and drawn when its batch ends, or sooner where many halves begin in it. */
#include "stream_context.h"

static bool is_claim(const struct stream_shard *shard, uint32_t context)
{
    return context >= shard->arena.n_all;
}

static struct stream_claim *claim_at(struct stream_shard *shard, uint32_t context)
{
    return &shard->claim[context - shard->arena.n_all];
}

static struct stream_holder *held_by(const struct stream_shard *shard, uint32_t context)
{
    return &stream_context_at(shard, context)->holder;
}

uint32_t stream_context_held(const struct stream_shard *shard, const struct stream *stream,
                             uint32_t half)
{
    const uint32_t context = stream->rest[half].context;

    if (is_claim(shard, context))
        return shard->claim[context - shard->arena.n_all].n_blocks;
    return context != 0 ? held_by(shard, context)->n_blocks : 0;
}

static void settle_claim(struct stream_shard *shard, const struct stream_claim *claim)
{
    const uint32_t context = stream_context_begin(shard);
    struct stream_holder *holder = held_by(shard, context);

    holder->stream = claim->stream;
    holder->half = (uint8_t)claim->half;
    holder->n_blocks = claim->n_blocks;
    stream_holder_append(shard, &shard->contexts, context);
    claim->stream->rest[claim->half].context = context;
}

void stream_context_settle(struct stream_shard *shard)
{
    for (uint32_t i = 0; i < shard->n_claims; i++)
        if (shard->claim[i].stream != NULL)
            settle_claim(shard, &shard->claim[i]);
    shard->n_claims = 0;
}

void stream_context_free(struct stream_shard *shard, struct stream *stream, uint32_t half)
{
    struct stream_rest *rest = &stream->rest[half];

    if (rest->context == 0)
        return;
    if (is_claim(shard, rest->context)) {
        stream_blocks_uncount(&shard->arena, claim_at(shard, rest->context)->n_blocks);
        claim_at(shard, rest->context)->stream = NULL;
    } else {
        stream_holder_remove(shard, &shard->contexts, rest->context);
        stream_blocks_uncount(&shard->arena, held_by(shard, rest->context)->n_blocks);
        stream_context_return(shard, rest->context);
    }
    rest->context = 0;
    stream->half[half].flags &= (uint16_t) ~(STREAM_CONTEXT_HELD | STREAM_CONTEXT_FITS);
}

/* The half goes on as if it began here. */
static void give_up(const struct stream_site *site, struct stream *stream, uint32_t half)
{
    stream_context_free(site->shard, stream, half);
    stream->rest[half].solid = (uint32_t)stream->half[half].next;
    stream->half[half].last = 0;
    stream_stats(site)->contexts_lost++;
}

bool stream_context_evict(const struct stream_site *site)
{
    if (site->shard->contexts.oldest == 0) /* the halves of claims are newer */
        stream_context_settle(site->shard);

    const uint32_t oldest = site->shard->contexts.oldest;

    if (oldest == 0)
        return false;
    const struct stream_holder *holder = held_by(site->shard, oldest);

    give_up(site, holder->stream, holder->half);
    return true;
}

/* Claims blocks for a half that has none. */
static void claim_blocks(const struct stream_site *site, uint32_t half, uint32_t n)
{
    struct stream_shard *shard = site->shard;

    if (shard->n_claims == STREAM_CLAIMS_MAX)
        stream_context_settle(shard);
    stream_blocks_count(&shard->arena, n);
    site->stream->rest[half].context = shard->arena.n_all + shard->n_claims;
    shard->claim[shard->n_claims++] = (struct stream_claim){site->stream, n, half};
}

/* Counts n more blocks of the half. The shard has as many. */
static void add_blocks(const struct stream_site *site, uint32_t half, uint32_t n)
{
    struct stream_shard *shard = site->shard;
    const uint32_t context = site->stream->rest[half].context;

    if (context == 0) {
        claim_blocks(site, half, n);
        return;
    }
    stream_blocks_count(&shard->arena, n);
    if (is_claim(shard, context))
        claim_at(shard, context)->n_blocks += n;
    else
        held_by(shard, context)->n_blocks += n;
}

/* Evicts a context, unless the half alone has one: pieces have all other blocks. */
static bool evict_some(const struct stream_site *site, uint32_t half)
{
    struct stream_shard *shard = site->shard;
    const struct stream_holders *contexts = &shard->contexts;

    if (contexts->oldest == 0)
        stream_context_settle(shard);
    const bool alone = shard->n_claims == 0 && contexts->oldest == contexts->newest &&
                       contexts->oldest == site->stream->rest[half].context;

    return !alone && stream_context_evict(site);
}

static bool hold_more(const struct stream_site *site, uint32_t half, uint32_t wanted)
{
    const struct stream_arena *arena = &site->shard->arena;
    uint32_t held = stream_context_held(site->shard, site->stream, half);

    while (held < wanted) {
        const uint32_t more = wanted - held < arena->n_free ? wanted - held : arena->n_free;

        if (more != 0)
            add_blocks(site, half, more);
        else if (!evict_some(site, half))
            return false;
        held = more != 0 ? held + more : stream_context_held(site->shard, site->stream, half);
    }
    return true;
}

void stream_context_hold(const struct stream_site *site, uint32_t half)
{
    const struct stream_shard *shard = site->shard;
    struct stream_half *h = stream_half_of(site, half);
    const uint32_t wanted = stream_context_blocks(shard, h->next);

    if (hold_more(site, half, wanted))
        h->flags |= wanted == shard->context_blocks ? STREAM_CONTEXT_HELD : STREAM_CONTEXT_FITS;
    else
        give_up(site, site->stream, half);
}

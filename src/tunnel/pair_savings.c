/* SPDX-License-Identifier: MIT */
/* The savings of a pair: by protocol, and by minute. */
#include "pair_state.h"

void savings_count(struct pair *pair, uint8_t protocol, uint32_t len, uint32_t sent)
{
    struct pair_saving *const saving = &pair->protocols[protocol];

    saving->packets++;
    saving->bytes += len;
    saving->sent += sent;
}

void savings_tick(struct pair *pair, uint64_t now)
{
    const uint64_t minute = now / PAIR_MINUTE;

    if (minute == pair->minute)
        return;
    pair->minute = minute;
    pair->minutes[pair->n_minutes++ % PAIR_MINUTES] =
        (struct pair_saving){pair->stats.packets_in - pair->minute_begin.packets,
                             pair->stats.bytes_in - pair->minute_begin.bytes,
                             pair->stats.bytes_sent - pair->minute_begin.sent};
    pair->minute_begin =
        (struct pair_saving){pair->stats.packets_in, pair->stats.bytes_in, pair->stats.bytes_sent};
}

const struct pair_saving *pair_protocols(const struct pair *pair)
{
    return pair->protocols;
}

size_t pair_minutes(const struct pair *pair, struct pair_saving minutes[PAIR_MINUTES])
{
    const uint64_t n = pair->n_minutes < PAIR_MINUTES ? pair->n_minutes : PAIR_MINUTES;

    for (uint64_t i = 0; i < n; i++)
        minutes[i] = pair->minutes[(pair->n_minutes - 1 - i) % PAIR_MINUTES];
    return (size_t)n;
}

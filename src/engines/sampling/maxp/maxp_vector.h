/* SPDX-License-Identifier: MIT */
/* Local maxima with vectors. The highest values of all runs of `reach` positions cost one step a
 * doubling of the length. A position is chosen when its value exceeds the run before it and is not
 * below the run behind it.
 *
 * A file for one instruction set includes this one. It defines LANES (values of a vector), load,
 * store, values, higher, exceeding and reaching. */
enum {
    TILE = 4096,                           /* positions that runs are taken for at a time, */
    REACH_MAX = SL_SAMPLING_PERIOD_MAX / 2 /* with as many on either side */
};

struct tile {
    uint32_t value[REACH_MAX + TILE + REACH_MAX + 2 * LANES];
    uint32_t run[REACH_MAX + TILE + REACH_MAX + 2 * LANES];
};

/* Values of the positions from reach before the tile's n to reach behind them; 0, which exceeds
 * nothing, where the item has none. */
static void fill(struct tile *tile, const uint8_t *payload, uint64_t n_positions, uint64_t begin,
                 uint32_t n, uint32_t reach)
{
    const uint64_t from = begin > reach ? begin - reach : 0;
    const uint64_t to = n_positions - begin - n > reach ? begin + n + reach : n_positions;
    uint32_t *out = tile->value + (from + reach - begin);

    memset(tile->value, 0, (from + reach - begin) * sizeof *out);
    for (uint64_t at = from; at < to; at += LANES)
        store(out + (at - from), values(payload + at));
    memset(out + (to - from), 0, (begin + n + reach - to) * sizeof *out);
}

/* run[i] becomes the highest of value[i] to value[i + reach - 1], for i below n + reach + 1. */
static void widen(struct tile *tile, uint32_t n, uint32_t reach)
{
    const uint32_t n_values = n + 2 * reach;
    const uint32_t *from = tile->value;
    uint32_t len = 1;

    for (; 2 * len <= reach; len *= 2, from = tile->run)
        for (uint32_t i = 0; i + 2 * len <= n_values; i += LANES)
            store(tile->run + i, higher(load(from + i), load(from + i + len)));
    for (uint32_t i = 0; (len < reach || from == tile->value) && i + reach <= n_values; i += LANES)
        store(tile->run + i, higher(load(from + i), load(from + i + reach - len)));
}

static inline uint32_t first_lanes(uint32_t n)
{
    return n < LANES ? (1u << n) - 1 : (uint32_t)((UINT64_C(1) << LANES) - 1);
}

static void scan_item(struct tile *tile, const uint8_t *payload, uint64_t n_positions,
                      uint32_t reach, uint32_t window, uint32_t first, uint32_t item,
                      struct sl_hits *hits)
{
    for (uint64_t begin = 0; begin < n_positions; begin += TILE) {
        const uint64_t rest = n_positions - begin;
        const uint32_t n = rest < TILE ? (uint32_t)rest : TILE;

        fill(tile, payload, n_positions, begin, n, reach);
        widen(tile, n, reach);
        for (uint32_t i = 0; i < n; i += LANES) {
            const uint32_t *value = tile->value + reach + i;
            uint32_t chosen = exceeding(load(value), load(tile->run + i));

            if (begin + i == 0) /* has none before it, and its value may be 0 */
                chosen |= 1;
            chosen &= reaching(load(value), load(tile->run + i + reach + 1)) & first_lanes(n - i);
            for (; chosen != 0; chosen &= chosen - 1) {
                const uint64_t at = begin + i + (uint32_t)__builtin_ctz(chosen);

                if (at >= first)
                    cpu_hits_append(hits, item, (uint32_t)at,
                                    sampling_fingerprint(payload + at, window));
            }
        }
    }
}

/* Without reach all positions are chosen: every run is empty, and `widen` has no result for that.
 */
static void scan_items(const struct maxp_table *table, const struct sl_batch *batch,
                       struct sl_hits *hits)
{
    struct tile tile;

    if (table->reach == 0) {
        maxp_scan_scalar(table, batch, hits);
        return;
    }
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];
        const uint32_t window = table->head.window;

        if (span.len >= window)
            scan_item(&tile, batch->bytes + span.offset, (uint64_t)span.len - window + 1,
                      table->reach, window, sampling_first(&table->head, batch, item), item, hits);
    }
}

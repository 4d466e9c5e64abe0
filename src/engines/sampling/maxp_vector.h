/* SPDX-License-Identifier: MIT */
/* Local maxima with vectors. A chosen position's first byte is a highest of its reach (of turned
 * bytes, see MAXP_TURN); maxima over the reach of all positions cost one step a doubling. The few
 * positions that pass are compared with those of their reach that have the same first byte.
 * Included by a file for one instruction set, which defines WIDTH (bytes of a vector), vector,
 * load, store, highest, turned and equal. */
enum {
    TILE = 4096,                           /* positions that maxima are taken for at a time, */
    REACH_MAX = SL_SAMPLING_PERIOD_MAX / 2 /* with as many on either side */
};

struct tile {
    uint8_t highest[REACH_MAX + TILE + REACH_MAX + 2 * WIDTH];
};

/* Turned bytes of the positions from reach before the tile to reach behind it; 0, which exceeds
 * nothing, where the item has none. */
static void fill(struct tile *tile, const uint8_t *payload, uint64_t n_positions, uint64_t begin,
                 uint32_t n, uint32_t reach)
{
    const uint64_t from = begin > reach ? begin - reach : 0;
    const uint64_t to = n_positions - begin - n > reach ? begin + n + reach : n_positions;
    uint8_t *out = tile->highest + (from + reach - begin);

    memset(tile->highest, 0, from + reach - begin);
    for (uint64_t at = from; at < to; at += WIDTH)
        store(out + (at - from), turned(load(payload + at)));
    memset(out + (to - from), 0, begin + n + reach - to);
}

/* Afterwards entry i is the highest of what entries i to i + 2 reach were. */
static void widen(struct tile *tile, uint32_t n, uint32_t reach)
{
    const uint32_t wanted = 2 * reach + 1;
    uint8_t *highest_of = tile->highest;
    uint32_t len = 1;

    for (; 2 * len <= wanted; len *= 2)
        for (uint32_t i = 0; i < n + wanted - 2 * len; i += WIDTH)
            store(highest_of + i, highest(load(highest_of + i), load(highest_of + i + len)));
    for (uint32_t i = 0; len < wanted && i < n; i += WIDTH)
        store(highest_of + i, highest(load(highest_of + i), load(highest_of + i + wanted - len)));
}

static inline uint64_t lowest_bits(uint64_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0);
}

/* Whether none of the `n` positions from `from` on with this first byte has a value of `least` or
 * more. Nearest first, `behind` tells which end that is. */
static inline bool all_below(const uint8_t *from, uint64_t n, uint8_t first_byte, uint64_t least,
                             bool behind)
{
    uint64_t same = equal(load(from), first_byte) & lowest_bits(n);

    while (same != 0) {
        const uint32_t bit =
            behind ? (uint32_t)__builtin_ctzll(same) : 63 - (uint32_t)__builtin_clzll(same);

        if (maxp_value(from + bit) >= least)
            return false;
        same &= ~(UINT64_C(1) << bit);
    }
    return true;
}

/* Outwards on both sides at once, so that a position costs as much as its nearer rival is away:
 * O(log period) a position on average, whatever the bytes. */
static bool is_chosen(const uint8_t *payload, uint64_t n_positions, uint32_t reach, uint64_t at)
{
    const uint64_t before = at < reach ? at : reach;
    const uint64_t behind = n_positions - 1 - at < reach ? n_positions - 1 - at : reach;
    const uint64_t value = maxp_value(payload + at);

    for (uint64_t away = 0; away < before || away < behind; away += WIDTH) {
        if (away < before) {
            const uint64_t n = before - away < WIDTH ? before - away : WIDTH;

            if (!all_below(payload + at - away - n, n, payload[at], value, false))
                return false;
        }
        if (away < behind) {
            const uint64_t n = behind - away < WIDTH ? behind - away : WIDTH;

            if (!all_below(payload + at + away + 1, n, payload[at], value + 1, true))
                return false;
        }
    }
    return true;
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
        for (uint32_t i = 0; i < n; i += WIDTH) {
            uint64_t passed = equal_turned(load(payload + begin + i), load(tile->highest + i)) &
                              lowest_bits(n - i);

            for (; passed != 0; passed &= passed - 1) {
                const uint64_t at = begin + i + (uint32_t)__builtin_ctzll(passed);

                if (at >= first && is_chosen(payload, n_positions, reach, at))
                    cpu_hits_append(hits, item, (uint32_t)at,
                                    sampling_fingerprint(payload + at, window));
            }
        }
    }
}

static void scan_items(const struct maxp_table *table, const struct sl_batch *batch,
                       struct sl_hits *hits)
{
    struct tile tile;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];
        const uint32_t window = table->head.window;

        if (span.len >= window)
            scan_item(&tile, batch->bytes + span.offset, (uint64_t)span.len - window + 1,
                      table->reach, window, sampling_first(&table->head, batch, item), item, hits);
    }
}

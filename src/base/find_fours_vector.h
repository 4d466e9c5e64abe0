/* SPDX-License-Identifier: MIT */
/* The search for groups of four bytes with vectors, WIDTH places at a time. Included by a file for
 * one instruction set, which defines WIDTH, mask (a bit a place), struct tables, load_tables and
 * may_lie. */

static inline size_t write_places(mask found, size_t at, uint16_t *places)
{
    size_t n = 0;

    for (; found != 0; found &= found - 1)
        places[n++] = (uint16_t)(at + (size_t)__builtin_ctzll(found));
    return n;
}

static inline size_t find_places(const struct find_fours *fours, const uint8_t *text, size_t n,
                                 uint16_t *places)
{
    struct tables tables;
    size_t n_places = 0, at = 0;

    if (n < WIDTH)
        return find_fours_scalar(fours, text, n, places);
    load_tables(&tables, fours);
    for (; at + WIDTH <= n; at += WIDTH)
        n_places += write_places(may_lie(&tables, text + at), at, places + n_places);
    if (at < n) { /* the last places, without those that were checked */
        const mask rest = (mask)(~(mask)0 << (at - (n - WIDTH)));

        n_places +=
            write_places(may_lie(&tables, text + n - WIDTH) & rest, n - WIDTH, places + n_places);
    }
    return n_places;
}

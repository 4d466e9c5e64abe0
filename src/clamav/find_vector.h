/* SPDX-License-Identifier: MIT */
/* The search with vectors, WIDTH places at a time. Included by a file for one instruction set,
 * which defines WIDTH, mask (a bit a place), struct probes (the probed bytes, in every lane),
 * load_probe and all_stand. */

/* The first place from `at` on at whose block some place has all of them; *places says which. A
 * function of its own, so that nothing in it is called and all stays in registers. */
static __attribute__((noinline)) size_t first_block(const struct clam_needle *needle,
                                                    const uint8_t *text, size_t at, size_t n,
                                                    mask *places)
{
    struct probes probes;

    for (int i = 0; i < CLAM_PROBES; i++)
        load_probe(&probes, i, needle->fold[i], needle->value[i]);
    for (; at + WIDTH <= n; at += WIDTH)
        if ((*places = all_stand(&probes, needle->at, text + at)) != 0)
            return at;
    if (at < n) { /* the last places, some of them once more */
        at = n - WIDTH;
        *places = all_stand(&probes, needle->at, text + at);
    }
    return at;
}

static inline size_t find(const struct clam_needle *needle, const uint8_t *text, size_t n)
{
    if (n < WIDTH)
        return clam_find_scalar(needle, text, n);
    for (size_t at = 0; at < n; at += WIDTH) {
        mask places = 0;

        at = first_block(needle, text, at, n, &places);
        for (; places != 0; places &= places - 1) {
            const size_t place = at + (size_t)__builtin_ctzll(places);

            if (clam_needle_equals(needle, text + place))
                return place;
        }
    }
    return n;
}

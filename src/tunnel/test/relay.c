/* SPDX-License-Identifier: MIT */
#include "relay.h"

#include "test.h"

enum { WAY_MAX = 1 << 14, OLD_MAX = 1024, LONGEST = 9400 };

struct parcel {
    uint64_t at, number; /* when it comes; those of one time come in order */
    uint32_t len;
    uint8_t traffic_class;
    uint8_t to;
    uint8_t *bytes;
};

struct relay {
    struct relay_config config;
    uint64_t random, n_parcels, n_lost, n_forged;
    uint64_t free_at[2]; /* when the link has sent what it was given */
    uint32_t burst_left[2];
    struct parcel heap[WAY_MAX];
    uint32_t n;
    struct parcel old[OLD_MAX];
    uint32_t n_old;
    void (*receive)(void *user, int side, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                    uint64_t now);
    void *user;
};

struct relay *relay_create(uint64_t seed,
                           void (*receive)(void *user, int side, const uint8_t *bytes, uint32_t len,
                                           uint8_t traffic_class, uint64_t now),
                           void *user)
{
    struct relay *const relay = calloc(1, sizeof *relay);

    assert_non_null(relay);
    relay->random = seed * 2 + 1;
    relay->receive = receive;
    relay->user = user;
    for (int i = 0; i < 8; i++)
        test_random(&relay->random);
    return relay;
}

void relay_free(struct relay *relay)
{
    for (uint32_t i = 0; i < relay->n; i++)
        free(relay->heap[i].bytes);
    for (uint32_t i = 0; i < relay->n_old; i++)
        free(relay->old[i].bytes);
    free(relay);
}

void relay_set(struct relay *relay, const struct relay_config *config)
{
    relay->config = *config;
}

static bool chance(struct relay *r, uint32_t of_1000)
{
    return of_1000 > 0 && test_below(&r->random, 1000) < of_1000;
}

/* ---- what is under way ----------------------------------------------------------------------- */

static bool comes_before(const struct parcel *a, const struct parcel *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void put(struct relay *r, int to, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                uint64_t at)
{
    uint32_t i = r->n++;
    struct parcel parcel = {at, r->n_parcels++, len, traffic_class, (uint8_t)to, malloc(len + 1)};

    assert_true(r->n < WAY_MAX);
    assert_non_null(parcel.bytes);
    memcpy(parcel.bytes, bytes, len);
    while (i > 0 && comes_before(&parcel, &r->heap[(i - 1) / 2])) {
        r->heap[i] = r->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    r->heap[i] = parcel;
}

static struct parcel take(struct relay *r)
{
    const struct parcel first = r->heap[0], last = r->heap[--r->n];
    uint32_t i = 0;

    for (uint32_t child; (child = 2 * i + 1) < r->n; i = child) {
        if (child + 1 < r->n && comes_before(&r->heap[child + 1], &r->heap[child]))
            child++;
        if (comes_before(&last, &r->heap[child]))
            break;
        r->heap[i] = r->heap[child];
    }
    r->heap[i] = last;
    return first;
}

/* ---- faults ---------------------------------------------------------------------------------- */

static bool is_lost(struct relay *r, int from, uint32_t len)
{
    if (r->config.mtu > 0 && len > r->config.mtu)
        return true;
    if (r->burst_left[from] > 0) {
        r->burst_left[from]--;
        return true;
    }
    if (!chance(r, r->config.loss))
        return false;
    r->burst_left[from] = r->config.burst > 0 ? test_below(&r->random, 2 * r->config.burst) : 0;
    return true;
}

/* Somebody beside the link: noise, or the begin of a datagram that was seen. */
static void forge(struct relay *r, int to, const uint8_t *bytes, uint32_t len, uint64_t at)
{
    uint8_t forged[LONGEST];
    uint32_t n = test_below(&r->random, len);

    memcpy(forged, bytes, n);
    if (chance(r, 500)) { /* headers that look right, of sessions that are guessed */
        for (uint32_t i = 2; i < n; i++)
            forged[i] = (uint8_t)test_random(&r->random);
        if (n > 16 && chance(r, 500))
            memcpy(forged + 16, bytes + 16, n - 16);
    } else if (n == len - 1 || n < 17) {
        n = n > 17 ? 17 : n; /* cut so that no record is whole */
    } else {
        n = 16 + 1 + test_below(&r->random, 2);
    }
    put(r, to, forged, n, 0, at);
    r->n_forged++;
}

static void remember(struct relay *r, const struct parcel *parcel)
{
    struct parcel copy = *parcel;

    copy.bytes = malloc(copy.len + 1);
    assert_non_null(copy.bytes);
    memcpy(copy.bytes, parcel->bytes, copy.len);
    if (r->n_old < OLD_MAX) {
        r->old[r->n_old++] = copy;
        return;
    }

    struct parcel *const place = &r->old[test_below(&r->random, OLD_MAX)];
    free(place->bytes);
    *place = copy;
}

void relay_send(struct relay *relay, int from, const uint8_t *bytes, uint32_t len,
                uint8_t traffic_class, uint64_t now)
{
    const struct relay_config *const config = &relay->config;
    uint64_t at = now;

    if (is_lost(relay, from, len)) {
        relay->n_lost++;
        return;
    }
    if (config->rate > 0) {
        at = relay->free_at[from] > now ? relay->free_at[from] : now;
        at += len * UINT64_C(1000000000) / config->rate;
        relay->free_at[from] = at;
    }
    at += config->delay_us * UINT64_C(1000);

    const uint64_t first =
        at + (config->jitter_us > 0 ? test_below(&relay->random, config->jitter_us * 1000) : 0);
    put(relay, 1 - from, bytes, len, traffic_class, first);
    if (chance(relay, config->repeat))
        put(relay, 1 - from, bytes, len, traffic_class, at + config->jitter_us * UINT64_C(500));
    if (chance(relay, config->reflect)) {
        put(relay, from, bytes, len, traffic_class, at);
        relay->n_forged++;
    }
    if (chance(relay, config->forge))
        forge(relay, 1 - from, bytes, len, at);
    if (relay->n_old > 0 && chance(relay, config->replay)) {
        const struct parcel *const old = &relay->old[test_below(&relay->random, relay->n_old)];

        put(relay, old->to, old->bytes, old->len, old->traffic_class, at);
        relay->n_forged++;
    }
}

uint64_t relay_next(const struct relay *relay)
{
    return relay->n > 0 ? relay->heap[0].at : UINT64_MAX;
}

void relay_run(struct relay *relay, uint64_t now)
{
    while (relay->n > 0 && relay->heap[0].at <= now) {
        const struct parcel parcel = take(relay);

        if (relay->config.replay > 0)
            remember(relay, &parcel);
        relay->receive(relay->user, parcel.to, parcel.bytes, parcel.len, parcel.traffic_class, now);
        free(parcel.bytes);
    }
}

uint64_t relay_lost(const struct relay *relay)
{
    return relay->n_lost;
}

uint64_t relay_forged(const struct relay *relay)
{
    return relay->n_forged;
}

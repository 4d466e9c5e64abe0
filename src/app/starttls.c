/* SPDX-License-Identifier: MIT */
#include "starttls.h"

enum { TLS_HANDSHAKE = 22 };

struct starttls_flow {
    uint32_t n_bytes[2]; /* of lines */
    bool in_line[2];
};

static void *open_flow(void)
{
    return calloc(1, sizeof(struct starttls_flow));
}

static enum app_verdict give_flow(void *of, enum app_side side, const uint8_t *bytes, uint32_t len,
                                  uint32_t *taken, const struct app_listener *listener)
{
    struct starttls_flow *const flow = of;

    (void)listener;
    for (*taken = 0; *taken < len && flow->n_bytes[side] < STARTTLS_MAX; ++*taken) {
        if (!flow->in_line[side] && bytes[*taken] == TLS_HANDSHAKE)
            return APP_TUNNEL;
        flow->in_line[side] = bytes[*taken] != '\n';
        flow->n_bytes[side]++;
    }
    return *taken == len ? APP_GOES_ON : APP_GIVEN_UP;
}

static enum app_verdict gap_flow(void *of, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    struct starttls_flow *const flow = of;

    (void)len;
    (void)listener;
    flow->in_line[side] = true;
    return APP_GOES_ON;
}

static void end_flow(void *of, enum app_side side, const struct app_listener *listener)
{
    (void)of;
    (void)side;
    (void)listener;
}

static void close_flow(void *of, const struct app_listener *listener)
{
    (void)listener;
    free(of);
}

static uint64_t held_by(const void *of)
{
    (void)of;
    return sizeof(struct starttls_flow);
}

/* It reports nothing, so that nothing is shown. */
const struct app_parser starttls_parser = {.app = SL_APP_UNKNOWN,
                                           .open = open_flow,
                                           .give = give_flow,
                                           .gap = gap_flow,
                                           .end = end_flow,
                                           .close = close_flow,
                                           .held = held_by};

static enum app_likeness like(const char *greeting, const uint8_t *bytes, uint32_t len)
{
    const uint32_t n = (uint32_t)strlen(greeting);

    if (memcmp(greeting, bytes, len < n ? len : n) != 0)
        return APP_UNLIKE;
    return len < n ? APP_TOO_SHORT : APP_LIKE;
}

enum app_likeness starttls_probe(enum app_side side, const uint8_t *bytes, uint32_t len)
{
    static const char *const greetings[] = {"220 ", "220-", "* OK ", "+OK "};
    enum app_likeness likeness = APP_UNLIKE;

    for (size_t i = 0; side == APP_SERVER && i < sizeof greetings / sizeof *greetings; i++) {
        const enum app_likeness other = like(greetings[i], bytes, len);

        likeness = other > likeness ? other : likeness;
        if (other == APP_LIKE)
            return other;
    }
    return likeness;
}

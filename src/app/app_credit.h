/* SPDX-License-Identifier: MIT */
/* Credit of a shard: what bodies, files and messages may take. A byte of a flow brings APP_CREDIT
 * of it. What a call brings is its own at first, whatever other flows have taken. What it leaves
 * goes into a pool, which pays for calls that take more. */
#ifndef APP_CREDIT_H
#define APP_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/least.h"

enum {
    APP_CREDIT = 16,
    APP_CREDIT_MAX = 1 << 20, /* bytes of the pool */
    APP_CREDIT_MORE = 64      /* so many bytes does a call bring, beside those it gives */
};

struct app_credit {
    uint64_t own; /* of the call */
    int64_t pool;
};

/* What a call with so many bytes brings. */
static inline uint64_t app_credit_of(uint32_t len)
{
    return APP_CREDIT * ((uint64_t)len + APP_CREDIT_MORE);
}

/* A call begins. */
static inline void app_credit_add(struct app_credit *credit, uint32_t len)
{
    const int64_t pool = credit->pool + (int64_t)credit->own;

    credit->pool = pool < APP_CREDIT_MAX ? pool : APP_CREDIT_MAX;
    credit->own = app_credit_of(len);
}

/* Takes the price of what is there already: the pool may come to lack it. */
static inline void app_credit_charge(struct app_credit *credit, uint64_t price)
{
    const uint64_t own = least(credit->own, price);

    credit->own -= own;
    credit->pool -= (int64_t)(price - own);
}

/* False: nothing is left of the pool, and the call's own is not enough. */
static inline bool app_credit_has(const struct app_credit *credit, uint64_t price)
{
    return credit->own >= price || credit->pool > 0;
}

static inline bool app_credit_pay(struct app_credit *credit, uint64_t price)
{
    if (!app_credit_has(credit, price))
        return false;
    app_credit_charge(credit, price);
    return true;
}

#endif

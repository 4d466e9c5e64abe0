/* SPDX-License-Identifier: MIT */
/* The datagrams of a session that have come, after RFC 6479: each is taken once, and none that is
 * older than the window. */
#ifndef TUNNEL_REPLAY_WINDOW_H
#define TUNNEL_REPLAY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Sequence numbers behind the newest. Reordering beyond it costs datagrams: at 1,400 bytes and 10
 * Gbit/s these are 36 ms. */
enum { REPLAY_WINDOW = 32768 };

struct replay_window {
    uint64_t newest; /* 0: none has come */
    uint64_t came[REPLAY_WINDOW / 64];
};

static inline void replay_reset(struct replay_window *window)
{
    memset(window, 0, sizeof *window);
}

/* Whether the number is new: it has come from now on. */
static inline bool replay_take(struct replay_window *window, uint64_t number)
{
    uint64_t *const word = &window->came[number / 64 % (REPLAY_WINDOW / 64)];
    const uint64_t bit = UINT64_C(1) << number % 64;

    if (number > window->newest) {
        const uint64_t first = window->newest / 64 + 1, last = number / 64;

        if (last >= first + REPLAY_WINDOW / 64)
            memset(window->came, 0, sizeof window->came);
        else
            for (uint64_t i = first; i <= last; i++)
                window->came[i % (REPLAY_WINDOW / 64)] = 0;
        window->newest = number;
    } else if (window->newest - number >= REPLAY_WINDOW - 64 || (*word & bit) != 0) {
        return false;
    }
    *word |= bit;
    return true;
}

#endif

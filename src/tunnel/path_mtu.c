/* SPDX-License-Identifier: MIT */
#include "path_mtu.h"

#include <stddef.h>

#define MS UINT64_C(1000000)

enum {
    TRIES = 3,          /* probes of a length, before it counts as too long */
    PROBE_WAIT = 250,   /* milliseconds for an answer */
    RAISE_WAIT = 600,   /* seconds, after which longer datagrams are tried again */
    CONFIRM_WAIT = 1000 /* milliseconds from one confirmation to the next, while datagrams go */
};

/* Lengths that paths have, less 48 for IPv6 and UDP: those of an interface, of PPPoE, of tunnels.
 * A search tries them first, and then halves what is left. */
static const uint32_t usual[] = {8952, 1452, 1444, 1432, 1424, 1392, 1372, 1352, 1332, 1252, 1232};

enum { N_USUAL = sizeof usual / sizeof *usual, CLOSE = 8 /* bytes: a search ends */ };

void path_begin(struct path_mtu *path, uint32_t base, uint32_t max, uint64_t now)
{
    *path =
        (struct path_mtu){.base = base, .max = max, .known = base, .failed = max + 1, .due = now};
}

/* The next length to try; 0: the search has ended. */
static uint32_t next_probe(const struct path_mtu *path)
{
    if (path->known >= path->max || path->failed - path->known <= CLOSE)
        return 0;
    if (path->failed > path->max)
        return path->max;
    for (size_t i = 0; i < N_USUAL; i++)
        if (usual[i] < path->failed && usual[i] > path->known)
            return usual[i];
    return path->known + (path->failed - path->known) / 2;
}

/* Whether what is known still holds: a path may shrink without a word. */
static uint32_t confirm(struct path_mtu *path, uint64_t now)
{
    if (!path->used || now < path->confirm_at)
        return 0;
    if (path->n_unheard == TRIES) {
        path_refused(path, path->known, now);
        return 0;
    }
    path->n_unheard++;
    path->confirm_at = now + (path->n_unheard > 1 ? PROBE_WAIT : CONFIRM_WAIT) * MS;
    return path->known;
}

uint32_t path_step(struct path_mtu *path, uint64_t now)
{
    if (path->known > path->base) {
        const uint32_t len = confirm(path, now);

        if (len > 0)
            return len;
    }
    if (now < path->due)
        return 0;
    if (path->probe > 0 && path->tries == TRIES) {
        path->failed = path->probe;
        path->probe = 0;
    }
    if (path->probe == 0) {
        path->probe = next_probe(path);
        path->tries = 0;
    }
    if (path->probe == 0) { /* the search has ended, or is due again */
        path->failed = path->raises ? path->max + 1 : path->failed;
        path->raises = !path->raises;
        path->due = path->raises ? now + RAISE_WAIT * UINT64_C(1000) * MS : now;
        return 0;
    }
    path->tries++;
    path->due = now + PROBE_WAIT * MS;
    return path->probe;
}

void path_answered(struct path_mtu *path, uint32_t len, uint64_t now)
{
    if (len == path->known) {
        path->n_unheard = 0;
        path->used = false;
        path->confirm_at = now + CONFIRM_WAIT * MS;
    }
    if (len <= path->known || len > path->max)
        return;
    path->known = len;
    path->n_unheard = 0;
    if (path->probe <= len)
        path->probe = 0;
    if (path->failed <= len)
        path->failed = path->max + 1;
    path->due = now;
}

void path_refused(struct path_mtu *path, uint32_t len, uint64_t now)
{
    if (len <= path->known)
        path_begin(path, path->base, path->max, now);
    if (len > path->base && len < path->failed)
        path->failed = len;
    path->probe = 0;
    path->due = now;
}

bool path_is_known(const struct path_mtu *path)
{
    return path->probe == 0 && next_probe(path) == 0;
}

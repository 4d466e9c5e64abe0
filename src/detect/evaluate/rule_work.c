/* SPDX-License-Identifier: MIT */
#include "rule_work.h"

/* A run takes 500 steps for an ordinary packet, and two for each of its bytes. A rule with the
 * transforms of a buffer spends up to 20 times as much: three halves of the effort here, and that
 * of the transforms. */
uint64_t rule_work_effort(uint32_t len)
{
    enum { EFFORT_MAX = 37 << 10, OF_PACKET = 5000, OF_TWO_BYTES = 45, OF_BYTE_OF_LONG = 7 };
    const uint64_t effort = OF_PACKET + (uint64_t)OF_TWO_BYTES * len / 2;

    if ((uint64_t)OF_BYTE_OF_LONG * len > EFFORT_MAX)
        return (uint64_t)OF_BYTE_OF_LONG * len;
    return effort < EFFORT_MAX ? effort : EFFORT_MAX;
}

uint64_t rule_work_transform_effort(uint32_t len)
{
    enum { OF_PACKET = 2500, OF_BYTE = 6 };

    return OF_PACKET + (uint64_t)OF_BYTE * len;
}

uint64_t rule_work_spent(const struct rule_work *work)
{
    return work->spent + work->given - work->effort_left - work->search_left;
}

void rule_work_reset(struct rule_work *work)
{
    work->n_stopped = work->spent = work->given = work->effort_left = work->search_left = 0;
}

void rule_work_begin(struct rule_work *work, uint32_t len)
{
    work->spent = rule_work_spent(work);
    work->effort_left = rule_work_effort(len);
    work->search_left = work->effort_left / 2;
    work->given = work->effort_left + work->search_left;
    work->stopped = false;
}

void rule_work_stop(struct rule_work *work)
{
    work->n_stopped += !work->stopped;
    work->stopped = true;
}

static bool spend(struct rule_work *work, uint64_t *left, uint64_t effort)
{
    if (*left < effort) {
        *left = 0;
        rule_work_stop(work);
        return false;
    }
    *left -= effort;
    return true;
}

bool rule_work_spend(struct rule_work *work, uint64_t effort)
{
    return spend(work, &work->effort_left, effort);
}

bool rule_work_search(struct rule_work *work, uint64_t effort)
{
    return spend(work, &work->search_left, effort);
}

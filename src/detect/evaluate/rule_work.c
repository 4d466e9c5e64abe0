/* SPDX-License-Identifier: MIT */
#include "rule_work.h"

uint64_t rule_work_effort(uint32_t len)
{
    enum { EFFORT_MIN = 37 << 10, EFFORT_OF_BYTE = 7 };
    const uint64_t effort = (uint64_t)EFFORT_OF_BYTE * len;

    return effort > EFFORT_MIN ? effort : EFFORT_MIN;
}

void rule_work_begin(struct rule_work *work, uint32_t len)
{
    work->effort_left = rule_work_effort(len);
    work->search_left = work->effort_left / 2;
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

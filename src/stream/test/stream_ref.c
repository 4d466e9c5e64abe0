/* SPDX-License-Identifier: MIT */
#include "stream_ref.h"

#include <stdlib.h>
#include <string.h>

/* Three columns: new bytes that begin before, at the same, behind. In each: end before, at the
 * same, behind. */
static const char *const wins[SL_N_HOST_POLICIES] = {
    [SL_HOST_FIRST] = "000 000 000",      [SL_HOST_LAST] = "111 111 111",
    [SL_HOST_BSD] = "111 000 000",        [SL_HOST_WINDOWS] = "111 000 000",
    [SL_HOST_WINDOWS2K3] = "111 000 000", [SL_HOST_IRIX] = "111 000 000",
    [SL_HOST_HPUX10] = "111 000 000",     [SL_HOST_MACOS] = "111 000 000",
    [SL_HOST_LINUX] = "111 001 000",      [SL_HOST_OLD_LINUX] = "111 011 000",
    [SL_HOST_SOLARIS] = "011 011 001",    [SL_HOST_HPUX11] = "011 011 001"};

bool stream_ref_new_wins(enum sl_host_policy policy, int begin, int end)
{
    return wins[policy][4 * (begin + 1) + end + 1] == '1';
}

static int side_of(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

void stream_ref_begin(struct stream_ref *ref, enum sl_host_policy policy, bool is_heard)
{
    memset(ref, 0, sizeof *ref);
    ref->policy = policy;
    ref->is_heard = is_heard;
    ref->n_segments = 1;
}

/* ---- what the receiver passes on ---- */

/* Whether a byte counts. Refused bytes that the receiver acknowledged were not refused. */
static bool counts(const struct stream_ref *ref, uint32_t at)
{
    return ref->segment[ref->of[at]].rank != STREAM_REF_REFUSED ||
           (ref->is_heard && ref->acked > at);
}

static uint32_t first_byte(const struct stream_ref *ref)
{
    uint32_t at = ref->next;

    while (at < STREAM_REF_MAX && ref->of[at] == 0)
        at++;
    return at;
}

static void miss(struct stream_ref *ref, enum sl_stream_gap cause)
{
    ref->gap_bytes[cause]++;
    ref->text[ref->next++] = '_';
}

static void pass(struct stream_ref *ref)
{
    const struct stream_ref_segment *const segment = &ref->segment[ref->of[ref->next]];

    if (segment->rank == STREAM_REF_CUT) {
        miss(ref, SL_GAP_SNAPPED);
        return;
    }
    ref->text[ref->next] = (char)segment->byte[ref->next - segment->begin];
    ref->next++;
}

/* Passes on what is next. What is acknowledged and did not come will not come. */
static void settle(struct stream_ref *ref)
{
    for (uint32_t at = first_byte(ref); at < STREAM_REF_MAX; at = first_byte(ref)) {
        if (!counts(ref, at) || (at > ref->next && (!ref->is_heard || ref->acked < at)))
            return;
        while (ref->next < at)
            miss(ref, SL_GAP_LOST);
        pass(ref);
    }
}

void stream_ref_acknowledge(struct stream_ref *ref, uint32_t behind)
{
    if (behind > ref->acked)
        ref->acked = behind;
    settle(ref);
}

void stream_ref_end(struct stream_ref *ref)
{
    for (uint32_t at = first_byte(ref); at < STREAM_REF_MAX; at = first_byte(ref)) {
        if (!counts(ref, at)) {
            ref->of[at] = 0;
            continue;
        }
        while (ref->next < at)
            miss(ref, ref->is_heard && ref->acked >= at ? SL_GAP_LOST : SL_GAP_END);
        pass(ref);
    }
    if (ref->is_heard && ref->acked > ref->next + 1) /* one may be a FIN's */
        while (ref->next < ref->acked)
            miss(ref, SL_GAP_LOST);
}

uint32_t stream_ref_edge(const struct stream_ref *ref)
{
    return ref->is_heard && ref->acked < ref->next ? ref->acked : ref->next;
}

/* ---- overlaps ---- */

/* The offset behind the bytes in a row that are of one segment. */
static uint32_t run_end(const struct stream_ref *ref, uint32_t at)
{
    const uint32_t of = ref->of[at];

    while (at < STREAM_REF_MAX && ref->of[at] == of)
        at++;
    return at;
}

static bool new_wins(const struct stream_ref *ref, const struct stream_ref_segment *segment,
                     uint32_t begin, uint32_t old_begin, uint32_t old_end)
{
    const enum stream_ref_rank old = ref->segment[ref->of[old_begin]].rank;

    if (old != segment->rank)
        return segment->rank > old;
    return old != STREAM_REF_CUT &&
           stream_ref_new_wins(ref->policy, side_of(begin, old_begin),
                               side_of(segment->begin + segment->len, old_end));
}

void stream_ref_take(struct stream_ref *ref, enum stream_ref_rank rank, uint32_t begin,
                     const void *bytes, uint32_t len)
{
    struct stream_ref_segment *const segment = &ref->segment[ref->n_segments];
    const uint32_t end = begin + len;
    const uint32_t from = begin > ref->next ? begin : ref->next; /* no host takes back */

    if (ref->n_segments == STREAM_REF_SEGMENTS || len > STREAM_REF_LEN || end > STREAM_REF_MAX)
        abort();
    segment->begin = begin;
    segment->len = len;
    segment->rank = rank;
    if (bytes != NULL)
        memcpy(segment->byte, bytes, len);
    for (uint32_t at = ref->next, behind; at < end; at = behind) {
        behind = run_end(ref, at);
        if (ref->of[at] == 0 || new_wins(ref, segment, from, at, behind))
            for (uint32_t i = at < from ? from : at; i < behind && i < end; i++)
                ref->of[i] = ref->n_segments;
    }
    ref->n_segments++;
    settle(ref);
}

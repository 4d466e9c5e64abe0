/* SPDX-License-Identifier: MIT */
#include "stream/test/defrag_trial.h"

#include <string.h>

enum { FRAME_MAX = 70000 };

bool defrag_trial_open(struct defrag_trial *trial, const struct defrag_config *config)
{
    *trial = (struct defrag_trial){0};
    return defrag_create(&trial->listed, config, NULL) == SL_OK &&
           defrag_create(&trial->single, config, NULL) == SL_OK;
}

void defrag_trial_close(struct defrag_trial *trial)
{
    defrag_free(trial->listed);
    defrag_free(trial->single);
    defrag_list_clear(&trial->list);
}

/* The frame of a datagram that is ready, copied from the batch. */
static uint32_t build(const struct defrag_list *list, uint32_t index, uint8_t *frame)
{
    const struct defrag_ready *ready = &list->ready[index];
    uint8_t *ip = frame + defrag_put_link(frame, &ready->head);
    uint8_t *payload = ip + ready->head.headers_len;

    memcpy(ip, ready->headers, ready->head.headers_len);
    defrag_mend_headers(ip, &ready->head);
    for (uint32_t i = ready->first; i <= ready->last; i++) {
        const struct defrag_listed *listed = &list->fragment[i];

        if (listed->ready == index)
            memcpy(payload + listed->offset, list->batch->bytes + listed->at, listed->len);
    }
    return (uint32_t)(payload - frame) + ready->head.end;
}

static bool equal(const struct defrag_taken *a, const struct defrag_taken *b,
                  const struct defrag_datagram *x, const struct defrag_datagram *y)
{
    if (a->is_held != b->is_held || a->is_whole != b->is_whole || a->overlaps != b->overlaps)
        return false;
    return !a->is_whole || (x->len == y->len && memcmp(x->bytes, y->bytes, x->len) == 0);
}

static bool same_state(const struct defrag_trial *trial)
{
    return defrag_held(trial->listed) == defrag_held(trial->single) &&
           memcmp(defrag_get_stats(trial->listed), defrag_get_stats(trial->single),
                  sizeof(struct sl_fragment_stats)) == 0;
}

/* A fragment in both tables, in the way of any. */
static bool take(struct defrag_trial *trial, const struct defrag_fragment *fragment)
{
    struct defrag_datagram x, y;
    const struct defrag_taken a = defrag_take(trial->listed, fragment, &x);
    const struct defrag_taken b = defrag_take(trial->single, fragment, &y);

    return equal(&a, &b, &x, &y) && same_state(trial);
}

static bool take_ready(struct defrag_trial *trial, const struct defrag_fragment *fragment,
                       uint32_t i)
{
    static uint8_t frame[FRAME_MAX];
    const uint32_t index = trial->list.fragment[i].ready;
    const bool is_last = i == trial->list.ready[index].last;
    const struct defrag_taken ready = {.is_held = true, .is_whole = is_last};
    struct defrag_datagram built = {.bytes = frame}, datagram;
    const struct defrag_taken taken = defrag_take(trial->single, fragment, &datagram);

    if (is_last)
        built.len = build(&trial->list, index, frame);
    trial->n_ready += is_last;
    return equal(&ready, &taken, &built, &datagram) && same_state(trial);
}

static bool take_listed(struct defrag_trial *trial, const struct sl_batch *batch, uint32_t i)
{
    const struct defrag_listed *listed = &trial->list.fragment[i];
    struct defrag_fragment fragment;

    if (!defrag_read(&fragment, batch, listed->item))
        return false;
    fragment.policy = (uint8_t)(fragment.id % SL_N_HOST_POLICIES);
    if (listed->ready != DEFRAG_NOT_READY && defrag_take_ready(trial->listed, &trial->list, i))
        return take_ready(trial, &fragment, i);
    return take(trial, &fragment);
}

bool defrag_trial_take(struct defrag_trial *trial, const struct sl_batch *batch,
                       const struct defrag_other *other)
{
    struct defrag_fragment fragment;
    bool same = defrag_list_begin(&trial->list, trial->listed, batch, batch->n_items);

    for (uint32_t item = 0; same && item < batch->n_items; item++)
        if (defrag_read(&fragment, batch, item))
            defrag_list_add(&trial->list, &fragment, item);
    defrag_list_end(&trial->list);
    for (uint32_t i = 0; same && i < trial->list.n; i++) {
        if (other != NULL && i == other->before)
            same = take(trial, other->fragment);
        same = same && take_listed(trial, batch, i);
    }
    return same;
}

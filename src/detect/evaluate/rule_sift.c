/* SPDX-License-Identifier: MIT */
/* Hits that no rule can use. Most are such: short literals of a few rules for a few ports. */
#include "detect/compile/rule_compile.h"
#include "evaluate_view.h"

/* The answers of a packet to a literal's wants, as it is and turned. */
struct answers {
    uint64_t from, to;
    uint32_t flow[2];    /* bits of rule_flow_value */
    uint32_t body_flows; /* bits of flows whose rules may see a body that the packet holds a part
                            of; 0: none */
    uint16_t protocols;
};

static uint64_t port_bit(const struct rule_view *view, uint16_t port)
{
    return view->has_ports ? UINT64_C(1) << port % 64 : UINT64_MAX;
}

/* The flow may have another state when a body is shown, but not another direction. Of a flow's
 * first packets the protocol is not known. */
static uint32_t body_flows_of(const struct rule_view *view)
{
    if (view->app != SL_APP_UNKNOWN && view->app != SL_APP_HTTP && view->app != SL_APP_SMTP)
        return 0;
    return (view->flow & SL_FLOW_TO_SERVER) != 0 ? RULE_FLOWS_TO_SERVER : ~RULE_FLOWS_TO_SERVER;
}

static struct answers answers_of(const struct sl_batch *batch, uint32_t item)
{
    struct rule_scan scan = {0};
    struct rule_view view;

    rule_view_packet(batch, item, &scan, &view);
    rule_view_behind(&view);
    return (struct answers){
        .from = port_bit(&view, view.src_port),
        .to = port_bit(&view, view.dst_port),
        .flow = {1u << rule_flow_value(view.flow),
                 1u << rule_flow_value(view.flow ^ SL_FLOW_TO_SERVER)},
        .body_flows = body_flows_of(&view),
        .protocols = view.protocols,
    };
}

/* Whether some rule may look for the literal in the packet's payload, or in a body that the packet
 * holds a part of. */
static inline bool wants_payload(const struct rule_wants *wants, const struct answers *answers)
{
    const uint32_t flows = ((wants->buffers & SL_BUFFER_PAYLOAD) != 0 ? answers->flow[0] : 0) |
                           ((wants->buffers & SL_BUFFER_BODY) != 0 ? answers->body_flows : 0);

    return (wants->flows & flows) != 0 && (wants->from & answers->from) != 0 &&
           (wants->to & answers->to) != 0 && (wants->protocols & answers->protocols) != 0;
}

/* Whether some rule may look for the literal in these buffers, which are not 0. */
static bool wants_buffers(const struct rule_wants *wants, uint32_t buffers)
{
    if (buffers == SL_BUFFER_STREAM || buffers == SL_BUFFER_STREAM_BACK)
        return (wants->buffers & SL_BUFFER_PAYLOAD) != 0;
    return (wants->buffers & buffers) != 0;
}

/* Whether some rule may look for the literal in these buffers, which are made of a packet's streams
 * or messages. Bytes of its sender's stream are not turned, and those of its receiver's stream are.
 * A message may be of either side. */
static bool wants_made_item(const struct rule_wants *wants, const struct answers *answers,
                            uint32_t buffers)
{
    const bool straight = (wants->flows & answers->flow[0]) != 0 &&
                          (wants->from & answers->from) != 0 && (wants->to & answers->to) != 0;
    const bool turned = (wants->flows & answers->flow[1]) != 0 &&
                        (wants->from & answers->to) != 0 && (wants->to & answers->from) != 0;

    if ((wants->protocols & answers->protocols) == 0 || !wants_buffers(wants, buffers))
        return false;
    if (buffers == SL_BUFFER_STREAM)
        return straight;
    return turned || (straight && buffers != SL_BUFFER_STREAM_BACK);
}

/* Items that were fetched last. */
struct ahead {
    uint32_t near, far;
};

/* Hits of the same item follow each other. */
__attribute__((always_inline)) static inline void
fetch_ahead(struct ahead *ahead, const struct sl_batch *batch, const struct sl_hits *hits, size_t i)
{
    enum { AHEAD = 16 };

    if (i + AHEAD >= hits->n)
        return;
    const size_t last = i + 2 * AHEAD < hits->n ? i + 2 * AHEAD : hits->n - 1;
    const uint32_t far = hits->hit[last].item, near = hits->hit[i + AHEAD].item;

    if (far != ahead->far && far < batch->n_items)
        __builtin_prefetch(&batch->packet[far]);
    if (near != ahead->near && near < batch->n_items)
        rule_view_fetch(batch, near);
    *ahead = (struct ahead){near, far};
}

void sl_rules_sift(const struct sl_rules *rules, const struct sl_batch *batch, struct sl_hits *hits)
{
    const struct rule_index *index = rules->index;
    struct answers answers = {0};
    struct ahead ahead = {UINT32_MAX, UINT32_MAX};
    uint32_t answered = UINT32_MAX;
    size_t n = 0;

    if (hits->n > hits->cap)
        return;
    for (size_t i = 0; i < hits->n; i++) {
        const struct sl_hit hit = hits->hit[i];
        const struct rule_wants *wants = &index->wants[(uint32_t)hit.id];
        const uint32_t buffers = (uint32_t)(hit.id >> 32);

        fetch_ahead(&ahead, batch, hits, i);
        if ((uint32_t)hit.id >= index->n_literals)
            continue;
        if (hit.item < batch->n_items && hit.item != answered) {
            answers = answers_of(batch, hit.item);
            answered = hit.item;
        }
        if (hit.item >= batch->n_items) { /* a message of a flow that ended, which has buffers */
            if (!wants_buffers(wants, buffers))
                continue;
        } else if (buffers == 0 ? !wants_payload(wants, &answers)
                                : !wants_made_item(wants, &answers, buffers)) {
            continue;
        }
        hits->hit[n++] = hit;
    }
    hits->n = n;
}

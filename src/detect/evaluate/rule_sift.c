/* SPDX-License-Identifier: MIT */
/* Hits that no rule can use. Most are such: short literals of a few rules for a few ports. */
#include "detect/compile/rule_compile.h"
#include "evaluate_view.h"

/* The answers of a packet to a literal's wants, as it is and turned. */
struct answers {
    uint64_t from, to;
    uint32_t flow[2]; /* bits of rule_flow_value */
    uint16_t protocols;
    bool may_have_body;
};

static uint64_t port_bit(const struct rule_view *view, uint16_t port)
{
    return view->has_ports ? UINT64_C(1) << port % 64 : UINT64_MAX;
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
        .protocols = view.protocols,
        /* Of a flow's first packets the protocol is not known. */
        .may_have_body =
            view.app == SL_APP_UNKNOWN || view.app == SL_APP_HTTP || view.app == SL_APP_SMTP,
    };
}

/* Whether some rule may look for the literal in these buffers. A packet may hold a part of a body.
 */
static bool wants_buffers(const struct rule_wants *wants, uint32_t buffers)
{
    uint32_t sought = buffers;

    if (buffers == 0)
        sought = SL_BUFFER_PAYLOAD | SL_BUFFER_BODY;
    else if (buffers == SL_BUFFER_STREAM || buffers == SL_BUFFER_STREAM_BACK)
        sought = SL_BUFFER_PAYLOAD;
    return (wants->buffers & sought) != 0;
}

/* Whether some rule may look for the literal in a body that the packet holds a part of. The flow
 * may have another state when the body is shown, but not another direction. */
static bool wants_body(const struct rule_wants *wants, const struct answers *answers)
{
    const bool to_server = (answers->flow[0] & RULE_FLOWS_TO_SERVER) != 0;
    const uint32_t flows = to_server ? RULE_FLOWS_TO_SERVER : ~RULE_FLOWS_TO_SERVER;

    return answers->may_have_body && (wants->buffers & SL_BUFFER_BODY) != 0 &&
           (wants->flows & flows) != 0 && (wants->from & answers->from) != 0 &&
           (wants->to & answers->to) != 0;
}

/* Bytes of a packet and of its sender's stream are not turned, and those of its receiver's stream
 * are. A message may be of either side. */
static bool wants_packet(const struct rule_wants *wants, const struct answers *answers,
                         uint32_t buffers)
{
    const bool straight = (wants->flows & answers->flow[0]) != 0 &&
                          (wants->from & answers->from) != 0 && (wants->to & answers->to) != 0;
    const bool turned = (wants->flows & answers->flow[1]) != 0 &&
                        (wants->from & answers->to) != 0 && (wants->to & answers->from) != 0;

    if ((wants->protocols & answers->protocols) == 0)
        return false;
    if (buffers == 0 && wants_body(wants, answers))
        return true;
    if (buffers == 0 || buffers == SL_BUFFER_STREAM)
        return straight && (wants->buffers & SL_BUFFER_PAYLOAD) != 0;
    return turned || (straight && buffers != SL_BUFFER_STREAM_BACK);
}

/* Hits of the same item follow each other. */
__attribute__((always_inline)) static inline void fetch_ahead(const struct sl_batch *batch,
                                                              const struct sl_hits *hits, size_t i)
{
    enum { AHEAD = 16 };

    if (i + 2 * AHEAD < hits->n && hits->hit[i + 2 * AHEAD].item < batch->n_items)
        __builtin_prefetch(&batch->packet[hits->hit[i + 2 * AHEAD].item]);
    if (i + AHEAD < hits->n && hits->hit[i + AHEAD].item < batch->n_items)
        rule_view_fetch(batch, hits->hit[i + AHEAD].item);
}

void sl_rules_sift(const struct sl_rules *rules, const struct sl_batch *batch, struct sl_hits *hits)
{
    const struct rule_index *index = rules->index;
    struct answers answers = {0};
    uint32_t answered = UINT32_MAX;
    size_t n = 0;

    if (hits->n > hits->cap)
        return;
    for (size_t i = 0; i < hits->n; i++) {
        const struct sl_hit hit = hits->hit[i];
        const struct rule_wants *wants = &index->wants[(uint32_t)hit.id];
        const uint32_t buffers = (uint32_t)(hit.id >> 32);

        fetch_ahead(batch, hits, i);
        if ((uint32_t)hit.id >= index->n_literals || !wants_buffers(wants, buffers))
            continue;
        if (hit.item < batch->n_items) { /* and no message of a flow that ended */
            if (hit.item != answered)
                answers = answers_of(batch, hit.item);
            answered = hit.item;
            if (!wants_packet(wants, &answers, buffers))
                continue;
        }
        hits->hit[n++] = hit;
    }
    hits->n = n;
}

/* SPDX-License-Identifier: MIT */
/* The rules that a packet may match, and whether it does. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "content_find.h"
#include "detect/compile/rule_compile.h"
#include "evaluate_buffer.h"
#include "evaluate_header.h"
#include "evaluate_message.h"
#include "evaluate_section.h"
#include "evaluate_stream.h"
#include "rule_findings.h"
#include "rule_profile.h"

/* Messages, in the order of their items. */
struct evaluator_talk {
    const struct sl_app_message *message;
    size_t n, at;
    uint32_t base; /* added to their indices */
};

struct sl_evaluator {
    const struct sl_rules *rules;
    const struct sl_batch *batch;
    const struct sl_hits *hits;
    size_t n_hits, at_hit;
    uint64_t *seen; /* by literal: the last item it was found in, by `items` */
    uint64_t items; /* of all runs, the one at hand included: never 0, never twice the same */
    const struct rule_ranges *home; /* not seen in a packet yet; NULL: seen, or not looked for */
    bool saw_home;
    struct rule_work work;
    struct rule_scan scan, empty;
    const struct sl_stream_part *const *parts; /* by item; NULL: rules inspect packets alone */
    const struct sl_stream_facts *facts;       /* by item; NULL: none */
    struct rule_stream stream;
    const struct sl_stream_part *shown; /* whose first block messages found in `stream`; or NULL */
    struct rule_scan said;              /* a message of DNS over TCP */
    struct rule_body body;              /* that the packets of a message hold */
    struct rule_grams grams;            /* of the message at hand */
    const struct sl_app_message *of_grams; /* a message of the batch with the same; NULL: none */
    struct evaluator_talk talk;            /* of the batch that comes next */
    struct evaluator_talk late_talk;       /* of flows that ended in it */
    const struct sl_late *late;            /* NULL: none */
    uint32_t at_late;                      /* the next of its packets */
    size_t at_late_hit;
    const struct sl_late *ended; /* of the packet at hand; NULL: it is of the batch */
    bool messages_alone;         /* packets are passed over */
    struct rule_buffers buffers;
    struct rule_findings findings; /* of the last run */
};

static inline void find_home(struct sl_evaluator *work, const struct rule_view *view)
{
    if (work->home == NULL || view->ip == NULL ||
        (!rule_ranges_contain(work->home, view->src) &&
         !rule_ranges_contain(work->home, view->dst)))
        return;
    work->home = NULL;
    work->saw_home = true;
}

/* The batch of the packet at hand, and the first part of a stream that the packet adds; NULL: none.
 */
static const struct sl_batch *batch_at_hand(const struct sl_evaluator *work)
{
    return work->ended != NULL ? work->ended->batch : work->batch;
}

static const struct sl_stream_part *part_of(const struct sl_evaluator *work, uint32_t item)
{
    const struct sl_stream_part *const *parts =
        work->ended != NULL ? work->ended->streams : work->parts;

    return parts != NULL ? parts[item] : NULL;
}

static bool take_stream(struct sl_evaluator *work)
{
    const bool done = rule_stream_take(&work->stream);

    work->buffers.no_memory |= !done;
    return done;
}

/* Takes the first block of a part of a message's packet. The rules of a message ask for the same
 * one. False: no memory. */
static bool take_shown(struct sl_evaluator *work, const struct rule_view *view,
                       const struct sl_stream_part *head, const struct sl_stream_part *part)
{
    static const struct rule_hits none;

    if (work->shown != part) {
        rule_stream_begin(&work->stream, batch_at_hand(work), view->message->item, head, part);
        (void)rule_stream_next_block(&work->stream, &none, true); /* it has bytes */
        rule_stream_measure(&work->stream);
    }
    work->shown = part;
    return take_stream(work);
}

/* Whether the payload meets a section: of a message's packet, or, where it is in a stream, a part
 * that the message's side adds to it, with what is known before. */
static bool meets_payload(struct sl_evaluator *work, const struct rule_payload *steps, size_t n,
                          const struct rule_view *view)
{
    const struct sl_stream_part *head =
        view->message != NULL ? part_of(work, view->message->item) : NULL;

    if (head == NULL)
        return rule_section_match(steps, n, view->scan, &work->work);
    for (const struct sl_stream_part *part = head; part != NULL; part = part->next) {
        if (part->reversed != view->turned || part->len == 0)
            continue;
        if (!take_shown(work, view, head, part))
            return false;
        if (rule_section_match(steps, n, &work->stream.scan, &work->work))
            return true;
    }
    return false;
}

/* Whether the message has a value with the content where the rule asks for it: most rules about
 * messages that have no literal fail here. */
static bool meets_opening(const struct rule_payload *content, const struct rule_view *view)
{
    const struct content_sought sought = {content->bytes, content->len, content->nocase};
    const uint32_t at = (uint32_t)content->distance;
    struct sl_app_value value;

    return rule_message_opening(view, content->buffer, at + sought.len, &value) &&
           content_is_at(&sought, value.bytes + at);
}

/* Whether the payload, or the stream, may have the content where the rule asks for it. What is
 * known of the stream may begin behind that place. */
static bool meets_placed(const struct rule_payload *content, const struct rule_scan *scan)
{
    const struct content_sought sought = {content->bytes, content->len, content->nocase};
    const uint64_t at = (uint64_t)content->distance;

    return at >= scan->before && at + sought.len <= scan->before + scan->len &&
           (scan->payload == NULL || content_is_at(&sought, scan->payload + (at - scan->before)));
}

/* Whether the content may end in what the part adds to the stream. Else it was found before, as
 * rules with a literal are tried where it ends alone. A search that takes too long tells nothing.
 */
static bool is_new(const struct rule_payload *content, const struct rule_stream *stream)
{
    const struct content_sought sought = {content->bytes, content->len, content->nocase};
    const struct rule_scan *scan = &stream->scan;
    const uint64_t offset = stream->part->offset, back = content->len - 1;
    const uint64_t begin = offset > scan->before + back ? offset - scan->before - back : 0;
    uint64_t end = scan->len;
    struct content_search search;

    if (!content->relative && content->window != RULE_NO_WINDOW && content->distance >= 0 &&
        content->distance_name == 0 && content->window_name == 0) {
        const uint64_t last = (uint64_t)content->distance + content->window;

        if (last <= offset || last <= scan->before)
            return false;
        end = last - scan->before < end ? last - scan->before : end;
    }
    content_search_begin(&search, &sought, scan->payload, (size_t)end, rule_work_effort(scan->len));
    return content_search_next(&search, (size_t)begin) != CONTENT_NOWHERE ||
           content_search_stopped(&search);
}

/* Whether the message has a value of such a length. */
static bool meets_size(const struct rule_payload *size, const struct rule_view *view)
{
    struct sl_app_value value;

    return rule_message_value(view, size->buffer, 0, &value) && rule_size_meets(size, value.len);
}

/* Whether the rule's contents may be met, by what is known from one look. */
static inline bool may_meet_contents(const struct rule *rule, const struct rule_view *view)
{
    if (view->message == NULL)
        return rule->placed == NULL || meets_placed(rule->placed, view->scan);
    return (rule->opening == NULL || meets_opening(rule->opening, view)) &&
           (rule->size == NULL || meets_size(rule->size, view));
}

/* Each section of the rule is met by the payload, or by another buffer. */
static bool meets_contents(struct sl_evaluator *work, const struct rule *rule,
                           const struct rule_view *view)
{
    if (view->scan == &work->stream.scan &&
        (!take_stream(work) || (rule->sought != NULL && !is_new(rule->sought, &work->stream))))
        return false;
    rule_work_begin(&work->work, view->message == NULL ? view->scan->len : view->said);
    work->findings.values.n = work->findings.values.n_kept; /* those of a rule that failed go */
    for (size_t i = 0; i < rule->n_sections; i++) {
        const struct rule_section section = rule->walk[i];

        if (section.steps[0].section == 0
                ? !meets_payload(work, section.steps, section.n, view)
                : !rule_buffers_match(&work->buffers, view, section.steps, section.n, &work->work))
            return false;
    }
    return true;
}

static bool asks_event(const struct rule *rule)
{
    for (size_t i = 0; i < rule->n_checks; i++)
        if (rule->check[i].field == RULE_APP_EVENT)
            return true;
    return false;
}

/* Whether the rule has matched the message before, which showed less of the body. One with an event
 * waits for the last. */
__attribute__((noinline)) static bool
matched_before(struct sl_evaluator *work, const struct rule *rule, struct rule_view *view)
{
    if (view->message->body_shown == 0 || view->sees == RULE_SEES_FILES || asks_event(rule))
        return false;
    rule_buffers_begin(&work->buffers);
    view->body_len = view->message->body_shown;

    const bool matched = may_meet_contents(rule, view) && meets_contents(work, rule, view);

    view->body_len = view->message->body_len;
    rule_buffers_begin(&work->buffers);
    return matched;
}

/* Inlined by force: both of its callers are loops over many rules. */
__attribute__((always_inline)) static inline void try_rule(struct sl_evaluator *work, uint32_t i,
                                                           struct rule_view *view)
{
    const struct rule *rule = work->rules->rule[i];

    if ((rule->protocol & view->protocols) == 0 || (rule->sees & view->sees) == 0 ||
        (rule->app != SL_APP_UNKNOWN ? rule->app != view->app : view->asks_app) ||
        (view->flow & rule->flow_mask) != rule->flow_flags || !may_meet_contents(rule, view) ||
        !rule_view_meets_checks(rule, view) || !rule_view_meets_endpoints(rule, view) ||
        !meets_contents(work, rule, view))
        return;
    if (view->message != NULL && matched_before(work, rule, view))
        return;
    rule_findings_add(&work->findings, i);
    if (work->findings.values.n != work->findings.values.n_kept)
        rule_values_keep(&work->findings.values, i);
}

/* As try_rules, and measures each rule. */
__attribute__((noinline)) static void profile_rules(struct sl_evaluator *work, const uint32_t *rule,
                                                    const uint32_t *end, struct rule_view *view)
{
    for (; rule != end; rule++) {
        const size_t before = work->findings.n_matched;
        const uint64_t begin = rule_profile_now();

        try_rule(work, *rule, view);
        rule_profile_count(&work->rules->profile[*rule], rule_profile_now() - begin,
                           work->findings.n_matched != before);
    }
}

static void try_rules(struct sl_evaluator *work, const uint32_t *rule, const uint32_t *end,
                      struct rule_view *view)
{
    if (work->rules->profile != NULL) {
        profile_rules(work, rule, end, view);
        return;
    }
    for (; rule != end; rule++)
        try_rule(work, *rule, view);
}

/* Most lists are empty. */
static inline void try_list(struct sl_evaluator *work, const struct rule_lists *lists, uint32_t key,
                            struct rule_view *view)
{
    if (!rule_list_is_empty(lists, key))
        try_rules(work, lists->rule + lists->first[key], lists->rule + lists->first[key + 1], view);
}

/* Buffers of values of messages, without names of DNS. */
enum { OF_MESSAGES = SL_BUFFER_STREAM_BACK - SL_BUFFER_HTTP_URI };

/* Whether some rule about packets wants the literal where it was found: in the payload, or in a
 * name. */
static inline bool is_wanted(const struct rule_index *index, uint64_t id)
{
    const uint32_t buffers = (uint32_t)(id >> 32);
    const uint32_t wanted = buffers != 0 ? buffers & ~(uint32_t)OF_MESSAGES : SL_BUFFER_PAYLOAD;

    return (index->wants[(uint32_t)id].buffers & wanted) != 0;
}

/* The rules whose literal is in the payload, or in a name. Most hits end here: they repeat one of
 * the packet, or no rule wants them. */
static void try_hits(struct sl_evaluator *work, uint32_t item, struct rule_view *view)
{
    const struct rule_index *index = work->rules->index;
    const uint32_t n_literals = index->n_literals;
    const struct sl_hit *hit = &work->hits->hit[work->at_hit];
    const struct sl_hit *const end = &work->hits->hit[work->n_hits];
    uint64_t *const seen = work->seen;
    const uint64_t items = work->items;

    for (; hit != end && hit->item == item; hit++) {
        const uint32_t id = (uint32_t)hit->id;

        if (id >= n_literals || seen[id] == items || !is_wanted(index, hit->id))
            continue;
        seen[id] = items;
        try_list(work, &index->by_literal, id, view);
    }
    work->at_hit = (size_t)(hit - work->hits->hit);
}

static inline void try_address(struct sl_evaluator *work, const struct rule_address_index *index,
                               unsigned __int128 address, struct rule_view *view)
{
    if (index->n != 0)
        try_list(work, &index->lists, rule_address_index_find(index, address), view);
}

/* The rules without a literal. */
static void try_header(struct sl_evaluator *work, struct rule_view *view)
{
    const struct rule_index *index = work->rules->index;
    uint32_t type, flags;

    try_list(work, &index->by_carried, view->carried, view);
    try_list(work, &index->by_app, view->app, view);
    if (view->ip != NULL) {
        try_address(work, &index->by_source, view->src, view);
        try_address(work, &index->by_destination, view->dst, view);
        try_list(work, &index->by_ip_protocol, view->ip_protocol, view);
    }
    if (view->has_ports) {
        try_list(work, &index->by_dst_port, view->dst_port, view);
        try_list(work, &index->by_src_port, view->src_port, view);
    }
    if (rule_view_field(view, RULE_ICMP_TYPE, &type))
        try_list(work, &index->by_icmp_type, type, view);
    if (rule_view_field(view, RULE_TCP_FLAGS, &flags))
        try_list(work, &index->by_tcp_flags, flags, view);
}

/* The rules whose literal ends in a block of the part. */
static void try_block(struct sl_evaluator *work, const struct rule_hits *hits,
                      struct rule_view *view)
{
    const struct rule_index *index = work->rules->index;

    work->items++;
    for (size_t i = 0; i < hits->n; i++) {
        const struct sl_hit *hit = &hits->hit[i];
        const uint32_t id = (uint32_t)hit->id;

        if (!rule_stream_has(&work->stream, hit) || id >= index->n_literals ||
            (index->wants[id].buffers & SL_BUFFER_PAYLOAD) == 0 || work->seen[id] == work->items)
            continue;
        work->seen[id] = work->items;
        try_list(work, &index->by_literal, id, view);
    }
}

/* The rules that inspect streams, on a part that the packet adds to one. any_header: those without
 * a literal, too. */
static void match_part(struct sl_evaluator *work, const struct rule_hits *hits, bool any_header,
                       struct rule_view *view)
{
    while (rule_stream_next_block(&work->stream, hits, any_header)) {
        rule_stream_measure(&work->stream);
        try_block(work, hits, view);
        if (work->stream.is_key)
            try_header(work, view);
    }
}

/* The same on all parts of the item. Its hits are those from `first` up to `end`. */
static void match_stream(struct sl_evaluator *work, uint32_t item, size_t first, size_t end,
                         bool any_header, const struct rule_view *packet)
{
    const struct sl_stream_part *const head = part_of(work, item);
    struct rule_hits hits = {NULL, end - first};

    if (head == NULL || head->len == 0 || (hits.n == 0 && !any_header))
        return;
    if (hits.n != 0)
        hits.hit = work->hits->hit + first;

    struct rule_view view = *packet;

    rule_view_behind(&view);
    view.sees = RULE_SEES_STREAMS;
    view.scan = &work->stream.scan;

    bool is_turned = false;

    for (const struct sl_stream_part *part = head; part != NULL; part = part->next) {
        if (part->reversed != is_turned)
            rule_view_turn(&view);
        is_turned = part->reversed;
        rule_stream_begin(&work->stream, batch_at_hand(work), item, head, part);
        match_part(work, &hits, any_header, &view);
    }
}

/* A literal of a body that was found in a packet: a hit that the packet's payload alone has. */
static bool is_in_piece(const struct sl_evaluator *work, const struct sl_hit *hit,
                        const struct sl_app_piece *piece)
{
    const struct rule_index *index = work->rules->index;
    const struct sl_batch *batch = work->batch; /* packets of flows that ended lie in it, too */
    const uint32_t id = (uint32_t)hit->id;
    const uint64_t behind = (uint64_t)piece->begin + piece->len;

    if (hit->id >> 32 != 0 || id >= index->n_literals ||
        (index->wants[id].buffers & SL_BUFFER_BODY) == 0 || piece->len < index->literal[id].len)
        return false;
    if (hit->offset > behind)
        return rule_hits_had(index, hit, batch->bytes + batch->payload[piece->item].offset, behind);
    return hit->offset >= piece->begin + index->literal[id].len;
}

/* The first hit of an item, or of one behind it, among those before `end`. Most are near it. */
static size_t first_hit_of(const struct sl_evaluator *work, uint32_t item, size_t end)
{
    size_t step = 1, begin;

    while (step <= end && work->hits->hit[end - step].item >= item) {
        end -= step;
        step *= 2;
    }
    begin = step <= end ? end - step : 0;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;

        if (work->hits->hit[middle].item < item)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The rules whose literal is in the bytes that a message adds to a body, as packets have them. The
 * hits of these end at `end`. */
static void try_pieces(struct sl_evaluator *work, size_t end, struct rule_view *view)
{
    const struct rule_index *index = work->rules->index;
    const struct sl_app_piece *piece = view->message->pieces;

    for (; piece != NULL && end != 0; piece = piece->next)
        for (size_t i = first_hit_of(work, piece->item, end);
             i < end && work->hits->hit[i].item == piece->item; i++) {
            const struct sl_hit *hit = &work->hits->hit[i];
            const uint32_t id = (uint32_t)hit->id;

            if (!is_in_piece(work, hit, piece) || work->seen[id] == work->items)
                continue;
            work->seen[id] = work->items;
            try_list(work, &index->by_literal, id, view);
        }
}

static uint32_t n_without_body(const struct sl_app_half *half)
{
    const uint32_t n = half->n_values;

    return n != 0 && half->value[n - 1].id == SL_APP_BODY ? n - 1 : n;
}

/* Whether both messages of a batch have the same bytes in the same values, but for bodies. */
static bool say_the_same(const struct sl_app_message *one, const struct sl_app_message *other)
{
    bool same = true;

    for (int side = 0; side < 2 && same; side++) {
        const struct sl_app_half *const a = &one->half[side], *const b = &other->half[side];
        const uint32_t n = n_without_body(a);

        same = n == n_without_body(b);
        for (uint32_t i = 0; i < n && same; i++)
            same = a->value[i].bytes == b->value[i].bytes && a->value[i].len == b->value[i].len &&
                   a->value[i].id == b->value[i].id;
    }
    return same;
}

/* The runs and openings of the message's values. Those of the message before may be the same. */
static void list_grams(struct sl_evaluator *work, const struct sl_app_message *message)
{
    if (work->of_grams != NULL && say_the_same(work->of_grams, message))
        return;
    work->of_grams = message;
    rule_grams_begin(&work->grams);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < message->half[side].n_values; i++) {
            const struct sl_app_value *value = &message->half[side].value[i];

            if (value->id < SL_APP_BODY)
                rule_grams_add(&work->grams, &work->rules->index->gram_values, value);
        }
}

/* The openings of bodies, as far as they have come. Those of another message do no harm. */
static void list_body_openings(struct sl_evaluator *work, const struct rule_view *view)
{
    const struct rule_gram_values *asked = &work->rules->index->gram_values;
    struct sl_app_value value;

    if ((asked->openings & sl_app_value_bit(SL_APP_BODY)) == 0)
        return;
    for (int side = RULE_OF_CLIENT; side <= RULE_OF_SERVER; side++)
        if (rule_message_begin(view, rule_buffer_of((enum rule_side)side, SL_APP_BODY),
                               RULE_GRAM_LEN, &value))
            rule_grams_add(&work->grams, asked, &value);
}

/* The rules without a literal, on a message. */
static void try_by_message(struct sl_evaluator *work, struct rule_view *view)
{
    const struct rule_index *index = work->rules->index;
    const struct rule_lists *lists = &index->by_message;
    const uint32_t key = rule_message_key(view->app, view->sees);

    if (rule_list_is_empty(lists, key))
        return;
    list_grams(work, view->message);
    list_body_openings(work, view);
    for (uint32_t i = lists->first[key]; i < lists->first[key + 1]; i++)
        if (rule_grams_have(&work->grams, index->asked[i]))
            try_rules(work, &lists->rule[i], &lists->rule[i] + 1, view);
}

/* The rules that a message may match: whose literal is in one of the packet's messages, and those
 * without one. */
static void try_message(struct sl_evaluator *work, const struct rule_hits *hits, size_t end,
                        struct rule_view *view)
{
    enum { OF_DNS = SL_BUFFER_HTTP_URI - SL_BUFFER_DNS_QUERY };
    const struct rule_index *index = work->rules->index;
    const uint32_t wanted = view->app == SL_APP_DNS ? OF_DNS : OF_MESSAGES;

    work->items++;
    for (size_t i = 0; i < hits->n; i++) {
        const uint32_t id = (uint32_t)hits->hit[i].id;
        const uint32_t buffers = (uint32_t)(hits->hit[i].id >> 32) & wanted;

        if (id >= index->n_literals || (index->wants[id].buffers & buffers) == 0 ||
            work->seen[id] == work->items)
            continue;
        work->seen[id] = work->items;
        try_list(work, &index->by_literal, id, view);
    }
    try_pieces(work, end, view);
    try_by_message(work, view);
}

/* A message of DNS or SIP is scanned as the payload of a datagram is. False: no memory. */
static bool scan_whole(struct sl_evaluator *work, struct rule_view *view)
{
    const struct sl_app_half *half = &view->message->half[view->message->side];
    const bool is_there = half->n_values != 0 && (half->value[0].id == SL_DNS_MESSAGE ||
                                                  half->value[0].id == SL_SIP_MESSAGE);
    const uint32_t len = is_there ? half->value[0].len : 0;
    struct rule_scan *const scan = &work->said;

    if (!rule_scan_reserve(scan, len))
        return false;
    scan->payload = is_there ? half->value[0].bytes : NULL;
    scan->len = len;
    view->scan = scan;
    return true;
}

/* The rules that inspect messages, on those of the packet. Its hits are those from `first` up to
 * `end`. False: no memory. */
static bool match_messages(struct sl_evaluator *work, struct evaluator_talk *talk, uint32_t item,
                           size_t first, size_t end, const struct rule_view *packet)
{
    struct rule_hits hits = {NULL, end - first};

    if (hits.n != 0)
        hits.hit = work->hits->hit + first;
    work->shown = NULL;
    for (; talk->at < talk->n; talk->at++) {
        const struct sl_app_message *message = &talk->message[talk->at];
        const uint16_t sees = rule_message_sees(message);

        if (message->item != item)
            break;
        if (sees == 0)
            continue;

        struct rule_view view = *packet;

        rule_view_message(message, sees, &view);
        view.body = &work->body;
        if ((message->app == SL_APP_DNS || message->app == SL_APP_SIP) && !scan_whole(work, &view))
            return false;
        rule_buffers_begin(&work->buffers);
        if (!rule_findings_begin_message(&work->findings, talk->base + (uint32_t)talk->at))
            return false;
        try_message(work, &hits, end, &view);
    }
    return true;
}

/* Whether messages of the packet wait for rules. */
static bool has_messages(struct evaluator_talk *talk, uint32_t item)
{
    while (talk->at < talk->n && talk->message[talk->at].item < item)
        talk->at++;
    return talk->at < talk->n && talk->message[talk->at].item == item;
}

/* The rules without a literal, on the packet, and on a tunnel by its outer header. */
static void match_header(struct sl_evaluator *work, uint32_t item, struct rule_view *view)
{
    try_header(work, view);
    if (!rule_view_is_tunnel(&work->batch->packet[item]) ||
        !rule_view_tunnel(work->batch, item, &work->empty, view))
        return;
    const size_t first = work->findings.n_matched;
    const bool passed = work->findings.passed;

    rule_buffers_begin(&work->buffers);
    find_home(work, view);
    try_header(work, view);
    rule_findings_end_outer(&work->findings, first, passed);
}

/* Of the packet that adds this to a stream. */
static uint16_t seen_by(const struct sl_evaluator *work, const struct sl_stream_part *head)
{
    if (work->parts == NULL)
        return RULE_SEES_ALL;
    return head != NULL && head->whole ? RULE_SEES_PACKETS : RULE_SEES_OTHERS;
}

/* Each flow shows its addresses in its first packets. */
static bool may_show_home(const struct sl_evaluator *work, uint32_t item)
{
    const struct sl_origin *origin = work->batch->origin;

    return work->home != NULL && (origin == NULL || origin[item].flow == 0 ||
                                  (origin[item].flow_flags & SL_FLOW_FIRST) != 0);
}

static bool match_item(struct sl_evaluator *work, uint32_t item)
{
    const struct rule_index *index = work->rules->index;
    const struct sl_stream_part *head = part_of(work, item);

    rule_findings_begin_item(&work->findings);
    while (work->at_hit < work->n_hits && work->hits->hit[work->at_hit].item < item)
        work->at_hit++;

    const bool any_hit = work->at_hit < work->n_hits && work->hits->hit[work->at_hit].item == item;
    const bool any_message = has_messages(&work->talk, item);
    const uint32_t sees =
        index->any_without_literal ? rule_header_filter_sees(&index->header, work->batch, item) : 0;
    const bool any_header = sees != 0 && (sees & seen_by(work, head)) != 0;
    const bool any_stream =
        head != NULL && index->any_stream_without_literal && (sees & RULE_SEES_STREAMS) != 0;
    if (!any_hit && !any_header && !any_stream && !any_message && !may_show_home(work, item))
        return true;

    const size_t first = work->at_hit;
    struct rule_view view;

    rule_view_packet(work->batch, item, &work->scan, &view);
    view.facts = work->facts != NULL ? &work->facts[item] : NULL;
    view.sees = work->messages_alone ? 0 : seen_by(work, head);
    rule_buffers_begin(&work->buffers);
    find_home(work, &view);
    if (any_hit)
        try_hits(work, item, &view);
    match_stream(work, item, first, work->at_hit, any_stream, &view);
    if (any_message && !match_messages(work, &work->talk, item, first, work->at_hit, &view))
        return false;
    if (any_header)
        match_header(work, item, &view);
    return true;
}

/* The rules that inspect streams and messages, on those of a flow that ended. */
static bool match_late(struct sl_evaluator *work, uint32_t late)
{
    const uint32_t item = work->batch->n_items + late;
    const size_t first = work->at_late_hit;
    struct rule_view view;

    rule_findings_begin_item(&work->findings);
    while (work->at_late_hit < work->n_hits && work->hits->hit[work->at_late_hit].item == item)
        work->at_late_hit++;
    if (!has_messages(&work->late_talk, late) && part_of(work, late) == NULL)
        return true;
    rule_view_packet(work->late->batch, late, &work->scan, &view);
    view.facts = work->late->facts != NULL ? &work->late->facts[late] : NULL;
    rule_buffers_begin(&work->buffers);
    work->findings.message = work->late_talk.base + (uint32_t)work->late_talk.n + late;
    match_stream(work, late, first, work->at_late_hit,
                 work->rules->index->any_stream_without_literal, &view);
    return match_messages(work, &work->late_talk, late, first, work->at_late_hit, &view);
}

/* The flows that the packet ended. False: no memory. */
static bool match_ended(struct sl_evaluator *work, uint32_t item)
{
    bool done = true;

    work->ended = work->late;
    for (; done && work->at_late < work->late->batch->n_items &&
           work->late->before[work->at_late] == item;
         work->at_late++) {
        work->findings.late = work->at_late + 1;
        done = match_late(work, work->at_late) && rule_findings_end_item(&work->findings, item);
    }
    work->findings.late = 0;
    work->ended = NULL;
    return done;
}

/* Hits of flows that ended are behind those of the batch's packets. */
static void begin_late(struct sl_evaluator *work)
{
    work->at_late_hit = first_hit_of(work, work->batch->n_items, work->n_hits);
    work->at_late = 0;
}

/* Makes room for the batch's longest payload. */
static bool grow_scan(struct sl_evaluator *work, const struct sl_batch *batch)
{
    uint32_t max_len = 0;

    for (uint32_t i = 0; i < batch->n_items; i++)
        if (batch->payload[i].len > max_len)
            max_len = batch->payload[i].len;
    if (!rule_scan_reserve(&work->scan, max_len))
        return false;
    work->empty = work->scan;
    work->empty.payload = NULL;
    work->empty.len = 0;
    return true;
}

enum sl_status sl_evaluator_create(struct sl_evaluator **evaluator, const struct sl_rules *rules,
                                   struct sl_diag *diag)
{
    if (!rules->compiled)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the rules are not compiled");

    struct sl_evaluator *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->rules = rules;
        made->stream.index = rules->index;
        made->home = rules->home;
        made->buffers.values = &made->findings.values;
        made->seen = calloc((size_t)rules->index->n_literals + 1, sizeof *made->seen);
    }
    if (made != NULL && rules->index->any_expression)
        made->buffers.transform.matcher = made->work.matcher = rule_matcher_create();
    if (made == NULL || made->seen == NULL || !rule_findings_open(&made->findings, rules) ||
        (rules->index->any_expression && made->work.matcher == NULL)) {
        sl_evaluator_free(made);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to evaluate %zu rules",
                        rules->n_rules);
    }
    *evaluator = made;
    return SL_OK;
}

void sl_evaluator_set_streams(struct sl_evaluator *evaluator,
                              const struct sl_stream_part *const *of_item)
{
    evaluator->parts = of_item;
}

void sl_evaluator_set_stream_facts(struct sl_evaluator *evaluator,
                                   const struct sl_stream_facts *of_item)
{
    evaluator->facts = of_item;
}

void sl_evaluator_set_messages(struct sl_evaluator *evaluator,
                               const struct sl_app_message *messages, size_t n)
{
    evaluator->talk = (struct evaluator_talk){.message = messages,
                                              .n = evaluator->rules->index->any_message ? n : 0};
    evaluator->late_talk.base = (uint32_t)n;
}

void sl_evaluator_set_late(struct sl_evaluator *evaluator, const struct sl_late *late)
{
    const uint32_t base = evaluator->late_talk.base;

    evaluator->late = late;
    evaluator->findings.late_batch = late != NULL ? late->batch : NULL;
    evaluator->late_talk = (struct evaluator_talk){.base = base};
    if (late != NULL)
        evaluator->late_talk =
            (struct evaluator_talk){.message = late->messages, .n = late->n_messages, .base = base};
}

void sl_evaluator_see_messages(struct sl_evaluator *evaluator)
{
    evaluator->messages_alone = true;
}

uint64_t sl_evaluator_stopped(const struct sl_evaluator *evaluator)
{
    return evaluator->work.n_stopped;
}

bool sl_evaluator_saw_home(const struct sl_evaluator *evaluator)
{
    return evaluator->saw_home;
}

void sl_evaluator_free(struct sl_evaluator *evaluator)
{
    if (evaluator == NULL)
        return;
    free(evaluator->seen);
    rule_matcher_free(evaluator->work.matcher);
    rule_decoded_free(&evaluator->work.decoded);
    rule_scan_free(&evaluator->scan);
    rule_scan_free(&evaluator->said);
    rule_body_free(&evaluator->body);
    rule_stream_free(&evaluator->stream);
    rule_buffers_free(&evaluator->buffers);
    rule_findings_close(&evaluator->findings);
    free(evaluator);
}

/* As rule_view_fetch, and the packet's part of a stream. */
__attribute__((always_inline)) static inline void fetch_item(const struct sl_evaluator *evaluator,
                                                             uint32_t item)
{
    rule_view_fetch(evaluator->batch, item);
    if (evaluator->parts != NULL && evaluator->parts[item] != NULL)
        __builtin_prefetch(&evaluator->parts[item]->whole);
}

enum sl_status sl_evaluator_run(struct sl_evaluator *evaluator, const struct sl_batch *batch,
                                const struct sl_hits *hits, const struct sl_alert **alerts,
                                size_t *n)
{
    enum { AHEAD = 24 };

    *n = 0;
    rule_values_begin_batch(&evaluator->findings.values);
    rule_work_reset(&evaluator->work);
    if (batch->memory == SL_MEMORY_DEVICE || batch->packet == NULL ||
        (hits == NULL && evaluator->rules->index->n_literals != 0) ||
        (hits != NULL && hits->n > hits->cap))
        return SL_EINVAL;
    if (!rule_findings_begin(&evaluator->findings, batch, evaluator->messages_alone) ||
        !grow_scan(evaluator, batch))
        return SL_ENOMEM;
    evaluator->buffers.no_memory = evaluator->work.decoded.no_memory = false;
    rule_body_begin(&evaluator->body);
    evaluator->of_grams = NULL;
    evaluator->batch = batch;
    evaluator->hits = hits;
    evaluator->at_hit = evaluator->n_hits = evaluator->talk.at = 0;
    if (hits != NULL)
        evaluator->n_hits = hits->n;
    if (evaluator->late != NULL)
        begin_late(evaluator);
    for (uint32_t item = 0; item < batch->n_items; item++) {
        if (item + AHEAD < batch->n_items)
            fetch_item(evaluator, item + AHEAD);
        evaluator->items++;
        if ((evaluator->late != NULL && !match_ended(evaluator, item)) ||
            !match_item(evaluator, item) || evaluator->buffers.no_memory ||
            evaluator->work.decoded.no_memory || evaluator->findings.values.no_memory ||
            evaluator->body.no_memory || !rule_findings_end_item(&evaluator->findings, item))
            return SL_ENOMEM;
    }
    evaluator->talk.n = 0;
    evaluator->late = NULL;
    *alerts = evaluator->findings.alert;
    *n = evaluator->findings.n;
    return SL_OK;
}

uint64_t evaluator_steps(const struct sl_evaluator *evaluator)
{
    return rule_work_spent(&evaluator->work);
}

struct rule_findings *evaluator_findings(struct sl_evaluator *evaluator)
{
    return &evaluator->findings;
}

const struct sl_candidates *sl_evaluator_candidates(const struct sl_evaluator *evaluator, size_t *n)
{
    *n = evaluator->findings.n_held;
    return evaluator->findings.held;
}

const uint32_t *sl_evaluator_tagged(const struct sl_evaluator *evaluator, size_t *n)
{
    *n = evaluator->findings.n_tagged;
    return evaluator->findings.tagged;
}

bool sl_evaluator_is_met(const struct sl_evaluator *evaluator, size_t alert)
{
    const uint8_t outcome = evaluator->findings.outcome[alert];

    return outcome == RULE_RAISED || outcome == RULE_SILENT || outcome == RULE_NOTED;
}

void sl_evaluator_conclude(struct sl_evaluator *evaluator, const struct sl_alert **alerts,
                           size_t *n)
{
    rule_findings_conclude(&evaluator->findings);
    *alerts = evaluator->findings.alert;
    *n = evaluator->findings.n;
}

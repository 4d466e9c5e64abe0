/* SPDX-License-Identifier: MIT */
#include "rule_compile.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/spread.h"
#include "detect/parse/filter_config.h"
#include "detect/parse/rule_list.h"
#include "detect/state/rule_state.h"
#include "detect/state/state_data.h"
#include "rule_literal.h"
#include "rule_order.h"

void rule_index_free(struct rule_index *index)
{
    if (index == NULL)
        return;
    free(index->literal);
    free(index->wants);
    free(index->rank);
    rule_lists_free(&index->by_literal);
    rule_lists_free(&index->by_dst_port);
    rule_lists_free(&index->by_src_port);
    rule_lists_free(&index->by_icmp_type);
    rule_lists_free(&index->by_tcp_flags);
    rule_lists_free(&index->by_ip_protocol);
    rule_lists_free(&index->by_carried);
    rule_lists_free(&index->by_app);
    rule_address_index_free(&index->by_source);
    rule_address_index_free(&index->by_destination);
    rule_lists_free(&index->by_message);
    free(index->asked);
    free(index);
}

/* The state between a set and its index. */
struct compiler {
    struct sl_rules *rules;
    struct rule_index *index;
    struct rule_map known; /* a byte of flags and the literal -> its id + 1, as uint32_t */
    size_t cap_literals, cap_wants;
    struct rule_pairs by_literal, by_dst_port, by_src_port, by_icmp_type, by_carried, by_app;
    struct rule_pairs by_tcp_flags;
    struct rule_pairs by_source, by_destination, by_ip_protocol, by_message;
};

/* The id of a literal that no rule had before. NULL: no memory. */
static const uint32_t *add_literal(struct compiler *compiler, const uint8_t *key,
                                   struct sl_literal literal)
{
    struct rule_index *index = compiler->index;
    uint32_t *id = rule_arena_copy(&compiler->rules->shared, &index->n_literals, sizeof *id);
    uint8_t *copy = rule_arena_copy(&compiler->rules->shared, key, (size_t)literal.len + 1);
    struct sl_literal *grown =
        rule_grow(index->literal, &compiler->cap_literals, index->n_literals, sizeof *grown);
    struct rule_wants *wants =
        rule_grow(index->wants, &compiler->cap_wants, index->n_literals, sizeof *wants);

    if (grown != NULL)
        index->literal = grown;
    if (wants != NULL)
        index->wants = wants;
    if (grown == NULL || wants == NULL)
        return NULL;
    if (id == NULL || copy == NULL ||
        !rule_map_put(&compiler->known, copy, (size_t)literal.len + 1, id))
        return NULL;
    literal.bytes = copy + 1;
    index->wants[index->n_literals] = (struct rule_wants){.is_run = rule_literal_is_run(literal)};
    index->literal[index->n_literals++] = literal;
    return id;
}

static uint64_t ports_of(const struct rule_ranges *ports)
{
    uint64_t of = 0;

    if (ports == NULL)
        return UINT64_MAX;
    for (size_t i = 0; i < ports->n; i++) {
        const uint64_t first = (uint64_t)ports->range[i].first;
        const uint64_t last = (uint64_t)ports->range[i].last;

        for (uint64_t port = first; port <= last && port < first + 64; port++)
            of |= UINT64_C(1) << port % 64;
    }
    return of;
}

static void add_wants(struct rule_wants *wants, const struct rule *rule)
{
    const uint64_t from = ports_of(rule->from.ports), to = ports_of(rule->to.ports);

    wants->from |= from | (rule->both_ways ? to : 0);
    wants->to |= to | (rule->both_ways ? from : 0);
    wants->buffers |= rule_buffer_searched(rule->literal->buffer);
    wants->protocols |= rule->protocol;
    for (unsigned flow = 0; flow < 32; flow++) {
        const unsigned value = (flow & 15) | (flow & 16) << 3;

        if ((value & rule->flow_mask) == rule->flow_flags)
            wants->flows |= 1u << rule_flow_value((uint8_t)value);
    }
}

static bool place_by_literal(struct compiler *compiler, uint32_t i)
{
    const struct rule_payload *content = compiler->rules->rule[i]->literal;
    const struct sl_literal literal = rule_literal_of(content);
    uint8_t key[1 + SL_RULE_LITERAL_MAX];

    key[0] = (uint8_t)literal.flags;
    memcpy(key + 1, literal.bytes, literal.len);

    const uint32_t *id = rule_map_get(&compiler->known, key, (size_t)literal.len + 1);
    if (id == NULL)
        id = add_literal(compiler, key, literal);
    if (id == NULL)
        return false;
    add_wants(&compiler->index->wants[*id], compiler->rules->rule[i]);
    compiler->index->all_buffers |= rule_buffer_searched(content->buffer);
    return rule_pairs_add(&compiler->by_literal, *id, i);
}

static bool place_by_port(struct rule_pairs *pairs, const struct rule_ranges *ports, uint32_t i)
{
    for (size_t k = 0; k < ports->n; k++)
        for (uint64_t port = (uint64_t)ports->range[k].first; port <= ports->range[k].last; port++)
            if (!rule_pairs_add(pairs, (uint32_t)port, i))
                return false;
    return true;
}

static bool place_by_values(struct rule_pairs *pairs, const struct rule_check *check, uint32_t i)
{
    for (uint32_t value = check->first; value <= check->last; value++)
        if (!rule_pairs_add(pairs, value, i))
            return false;
    return true;
}

static bool place_by_flags(struct compiler *compiler, const struct rule_check *check, uint32_t i)
{
    for (uint32_t flags = 0; flags <= UINT8_MAX; flags++)
        if (rule_check_holds(check, flags) && !rule_pairs_add(&compiler->by_tcp_flags, flags, i))
            return false;
    return true;
}

/* Whether the rule is about packets that carry this. */
static bool is_about(const struct rule *rule, enum rule_carried carried)
{
    static const uint16_t ip = RULE_PACKET | RULE_IP | RULE_IPV4 | RULE_IPV6;
    static const uint16_t protocols[RULE_N_CARRIED] = {
        [RULE_CARRIES_NO_IP] = RULE_PACKET,   [RULE_CARRIES_OTHER] = ip,
        [RULE_CARRIES_TCP] = ip | RULE_TCP,   [RULE_CARRIES_UDP] = ip | RULE_UDP,
        [RULE_CARRIES_SCTP] = ip | RULE_SCTP, [RULE_CARRIES_ICMP] = ip | RULE_ICMPV4 | RULE_ICMPV6,
    };

    return (rule->protocol & protocols[carried]) != 0;
}

static bool place_by_carried(struct compiler *compiler, uint32_t i)
{
    for (uint32_t carried = 0; carried < RULE_N_CARRIED; carried++)
        if (is_about(compiler->rules->rule[i], (enum rule_carried)carried) &&
            !rule_pairs_add(&compiler->by_carried, carried, i))
            return false;
    return true;
}

static bool place_by_address(struct compiler *compiler, enum rule_key key, uint32_t i)
{
    const struct rule *rule = compiler->rules->rule[i];
    bool placed;

    if (key == RULE_BY_SOURCE
            ? !rule_address_index_place(&compiler->index->by_source, &compiler->by_source,
                                        rule->from.addresses, i, &placed)
            : !rule_address_index_place(&compiler->index->by_destination, &compiler->by_destination,
                                        rule->to.addresses, i, &placed))
        return false;
    return placed || place_by_carried(compiler, i);
}

/* The rule may be about messages of several protocols: then it names none. */
static bool place_by_message(struct compiler *compiler, uint32_t i)
{
    const struct rule *rule = compiler->rules->rule[i];

    for (uint32_t app = SL_APP_DNS; app < SL_N_APPS; app++)
        for (uint32_t sees = RULE_SEES_CLIENT; sees <= RULE_SEES_EVENTS; sees *= 2)
            if ((rule->app == SL_APP_UNKNOWN ? app >= SL_APP_HTTP : rule->app == app) &&
                (rule->sees & sees) != 0 &&
                !rule_pairs_add(&compiler->by_message, rule_message_key(app, sees), i))
                return false;
    return true;
}

static uint64_t values_of(const struct rule *rule)
{
    uint64_t values = 0;

    for (size_t i = 0; i < rule->n_checks; i++)
        if (rule->check[i].field >= RULE_TLS_NOT_BEFORE && rule->check[i].field <= RULE_TLS_EXPIRED)
            values |= UINT64_C(1) << SL_TLS_CERT_NOT_BEFORE | UINT64_C(1) << SL_TLS_CERT_NOT_AFTER;
    for (size_t i = 0; i < rule->n_payloads; i++)
        if (rule_buffer_is_value(rule->payload[i].buffer) &&
            rule_buffer_source(rule->payload[i].buffer) < SL_N_APP_VALUES)
            values |= sl_app_value_bit(rule_buffer_source(rule->payload[i].buffer));
    if ((rule->sees & RULE_SEES_MESSAGES) != 0 &&
        (rule->app == SL_APP_DNS || rule->app == SL_APP_SIP))
        values |= UINT64_C(1) << (rule->app == SL_APP_DNS ? SL_DNS_MESSAGE : SL_SIP_MESSAGE);
    return values;
}

static uint32_t files_of(const struct rule *rule)
{
    uint32_t asked = 0;

    if ((rule->sees & RULE_SEES_FILES) == 0)
        return 0;
    for (size_t i = 0; i < rule->n_payloads; i++) {
        const uint32_t id = rule_buffer_is_value(rule->payload[i].buffer)
                                ? rule_buffer_id(rule->payload[i].buffer)
                                : SL_N_APP_VALUES;

        if (id >= RULE_FILE_MD5 && id <= RULE_FILE_SHA256)
            asked |= 1u << (id - RULE_FILE_MD5);
        else if (id == SL_FILE_MAGIC)
            asked |= SL_RULES_FILE_MAGIC;
    }
    return asked | SL_RULES_FILES;
}

/* Whether the rule asks for one of the fields from `first` to `last`. */
static bool asks(const struct rule *rule, enum rule_field first, enum rule_field last)
{
    for (size_t k = 0; k < rule->n_checks; k++)
        if (rule->check[k].field >= first && rule->check[k].field <= last)
            return true;
    return false;
}

/* Whether the rule asks for the first datagram of a side. */
static bool asks_found(const struct rule *rule)
{
    for (size_t k = 0; k < rule->n_checks; k++)
        if (rule->check[k].field == RULE_APP && rule->check[k].which == RULE_APP_FOUND)
            return true;
    return false;
}

/* Asks for the expressions of the rule's steps, and of the transforms before them. */
static void ask_expressions(const struct rule *rule)
{
    for (size_t i = 0; i < rule->n_payloads; i++) {
        const struct transform_chain *chain = rule->payload[i].chain;

        if (rule->payload[i].expression != NULL)
            rule->payload[i].expression->is_asked = true;
        for (uint32_t k = 0; chain != NULL && k < chain->n; k++)
            if (chain->step[k].expression != NULL)
                chain->step[k].expression->is_asked = true;
    }
}

/* The expressions that threads make fast. */
struct fast_work {
    struct sl_rules *rules;
    struct rule_expression **expression;
    atomic_bool failed; /* there is no memory */
};

static void make_fast(void *context, unsigned thread, size_t i)
{
    struct fast_work *work = context;

    if (!rule_expression_make_fast(&work->rules->of_thread[thread], work->expression[i]))
        atomic_store_explicit(&work->failed, true, memory_order_relaxed);
}

/* Makes the expressions that rules ask for fast. False: no memory. */
static bool make_expressions_fast(struct compiler *compiler)
{
    enum { SHARE = 32 /* a thread's, at least */ };
    struct sl_rules *rules = compiler->rules;
    struct fast_work work = {.rules = rules};
    size_t n = 0, cap = 0;
    bool done = true;

    for (size_t i = 0; i < rules->n_rules; i++)
        ask_expressions(rules->rule[i]);
    for (struct rule_expression *each = rules->expression; each != NULL && done;
         each = each->next) {
        struct rule_expression **grown = NULL;

        compiler->index->any_expression |= each->is_asked;
        if (!each->is_asked || each->is_fast)
            continue;
        grown = rule_grow(work.expression, &cap, n, sizeof(void *));
        done = grown != NULL;
        if (done) {
            work.expression = grown;
            work.expression[n++] = each;
        }
    }
    if (done)
        spread(rules->threads, n, SHARE, make_fast, &work);
    free(work.expression);
    return done && !work.failed;
}

/* Whether the content is at one place of its buffer. The first step of a section is relative to the
 * beginning. */
static bool is_placed(const struct rule_payload *content, bool first)
{
    return content->kind == RULE_CONTENT && content->chain == NULL && !content->negated &&
           (first || !content->relative) && !content->decoded && !content->optional &&
           !content->unplaced && content->len != 0 && content->distance >= 0 &&
           content->window == content->len && content->distance_name == 0 &&
           content->window_name == 0;
}

/* The first placed content of the payload, or of values that a message has once. */
static const struct rule_payload *placed_of(const struct rule *rule, bool of_payload)
{
    for (size_t i = 0; i < rule->n_payloads; i++) {
        const struct rule_payload *step = &rule->payload[i];
        const bool first = i == 0 || step[-1].section != step->section;

        if (is_placed(step, first) &&
            (of_payload ? step->section == 0
                        : rule_buffer_is_value(step->buffer) && !rule_buffer_repeats(step->buffer)))
            return step;
    }
    return NULL;
}

/* Whether the rule inspects streams, or the payload beside a message. */
static bool asks_stream(const struct rule *rule)
{
    bool any = (rule->sees & RULE_SEES_STREAMS) != 0;

    for (size_t i = 0; i < rule->n_payloads && (rule->sees & RULE_SEES_MESSAGES) != 0; i++)
        any |= rule->payload[i].section == 0;
    return any;
}

/* The length of a value that a message has once. A body's is known at its end alone. */
static const struct rule_payload *size_of(const struct rule *rule)
{
    const struct rule_payload *first = NULL; /* of the section */

    for (size_t i = 0; i < rule->n_payloads; i++) {
        const struct rule_payload *step = &rule->payload[i];

        first = first != NULL && first->section == step->section ? first : step;
        if (step->kind == RULE_SIZE && first->kind != RULE_ABSENT && step->chain == NULL &&
            rule_buffer_is_value(step->buffer) && !rule_buffer_repeats(step->buffer) &&
            rule_buffer_id(step->buffer) != SL_APP_BODY)
            return step;
    }
    return NULL;
}

static bool place(struct compiler *compiler, uint32_t i)
{
    struct rule *rule = compiler->rules->rule[i];

    rule->opening = placed_of(rule, false);
    rule->placed = placed_of(rule, true);
    rule->sought = rule->literal == NULL ? rule_literal_sought(rule) : NULL;
    rule->size = size_of(rule);
    if (!rule_order_sections(rule, &compiler->rules->arena))
        return false;
    compiler->index->any_app |= rule->app != SL_APP_UNKNOWN || asks(rule, RULE_APP, RULE_APP) ||
                                (rule->sees & RULE_SEES_MESSAGES) != 0;
    compiler->index->any_stream |= asks_stream(rule);
    compiler->index->any_total |= asks(rule, RULE_FLOW_AGE, RULE_FLOW_BYTES) || asks_found(rule);
    compiler->index->any_side |= asks(rule, RULE_APP, RULE_APP);
    compiler->index->any_stream_facts |=
        asks(rule, RULE_STREAM_SIZE, RULE_STREAM_EVENT) || asks(rule, RULE_APP, RULE_APP);
    compiler->index->any_message |= (rule->sees & RULE_SEES_MESSAGES) != 0;
    compiler->index->any_step |=
        (rule->sees & RULE_SEES_MESSAGES & ~(RULE_SEES_FILES | RULE_SEES_EVENTS)) != 0;
    compiler->index->any_event |= asks(rule, RULE_APP_EVENT, RULE_APP_EVENT);
    compiler->index->values |= values_of(rule);
    compiler->index->files |= files_of(rule);
    if (rule->literal != NULL)
        return place_by_literal(compiler, i);
    if ((rule->sees & RULE_SEES_MESSAGES) != 0 && !place_by_message(compiler, i))
        return false;
    if (rule_key_of(rule) == RULE_BY_MESSAGE)
        return true;
    compiler->index->any_without_literal = true;
    compiler->index->any_stream_without_literal |= (rule->sees & RULE_SEES_STREAMS) != 0;
    const enum rule_key key = rule_key_of(rule);
    switch (key) {
    case RULE_BY_SOURCE:
    case RULE_BY_DESTINATION:
        return place_by_address(compiler, key, i);
    case RULE_BY_DST_PORT:
        return place_by_port(&compiler->by_dst_port, rule->to.ports, i);
    case RULE_BY_SRC_PORT:
        return place_by_port(&compiler->by_src_port, rule->from.ports, i);
    case RULE_BY_EITHER_PORT:
        return place_by_port(&compiler->by_dst_port, rule_either_ports(rule), i) &&
               place_by_port(&compiler->by_src_port, rule_either_ports(rule), i);
    case RULE_BY_ICMP_TYPE:
        return place_by_values(&compiler->by_icmp_type, rule_icmp_types(rule), i);
    case RULE_BY_TCP_FLAGS:
        return place_by_flags(compiler, rule_tcp_flags(rule), i);
    case RULE_BY_IP_PROTOCOL:
        return place_by_values(&compiler->by_ip_protocol, rule_ip_protocols(rule), i);
    case RULE_BY_APP:
        return rule_pairs_add(&compiler->by_app, rule->app, i);
    case RULE_BY_MESSAGE:
    case RULE_BY_PROTOCOL:
        break;
    }
    return place_by_carried(compiler, i);
}

/* False: no memory. */
static bool make_asked_grams(struct rule_index *index, const struct sl_rules *rules)
{
    const struct rule_lists *lists = &index->by_message;
    const uint32_t n = lists->n_keys != 0 ? lists->first[lists->n_keys] : 0;

    index->asked = calloc((size_t)n + 1, sizeof *index->asked);
    for (uint32_t i = 0; i < n && index->asked != NULL; i++)
        index->asked[i] = rule_asked_grams_of(rules->rule[lists->rule[i]], &index->gram_values);
    return index->asked != NULL;
}

/* False: no memory. */
static bool make_lists(struct compiler *compiler)
{
    struct rule_index *index = compiler->index;

    return rule_lists_make(&index->by_literal, &compiler->by_literal, index->n_literals) &&
           rule_lists_make(&index->by_dst_port, &compiler->by_dst_port, 65536) &&
           rule_lists_make(&index->by_src_port, &compiler->by_src_port, 65536) &&
           rule_lists_make(&index->by_icmp_type, &compiler->by_icmp_type, 256) &&
           rule_lists_make(&index->by_tcp_flags, &compiler->by_tcp_flags, 256) &&
           rule_lists_make(&index->by_ip_protocol, &compiler->by_ip_protocol, 256) &&
           rule_lists_make(&index->by_carried, &compiler->by_carried, RULE_N_CARRIED) &&
           rule_lists_make(&index->by_app, &compiler->by_app, SL_N_APPS) &&
           rule_lists_make(&index->by_source.lists, &compiler->by_source, index->by_source.n) &&
           rule_lists_make(&index->by_destination.lists, &compiler->by_destination,
                           index->by_destination.n) &&
           rule_lists_make(&index->by_message, &compiler->by_message, RULE_MESSAGE_KEYS);
}

static bool compile(struct compiler *compiler)
{
    struct rule_index *index = compiler->index;

    if (!make_expressions_fast(compiler) ||
        !rule_address_index_make(&index->by_source, compiler->rules, RULE_BY_SOURCE) ||
        !rule_address_index_make(&index->by_destination, compiler->rules, RULE_BY_DESTINATION))
        return false;
    for (uint32_t i = 0; i < compiler->rules->n_rules; i++)
        if (!place(compiler, i))
            return false;
    if (!make_lists(compiler))
        return false;
    rule_header_filter_make(&index->header, index, compiler->rules);
    return make_asked_grams(index, compiler->rules);
}

uint32_t sl_rules_buffers(const struct sl_rules *rules)
{
    return rules->compiled ? rules->index->all_buffers : 0;
}

bool sl_rules_need_app(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->any_app;
}

bool sl_rules_need_sides(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->any_side;
}

uint64_t sl_rules_need_values(const struct sl_rules *rules)
{
    return rules->compiled ? rules->index->values : 0;
}

bool sl_rules_need_steps(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->any_step;
}

bool sl_rules_need_events(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->any_event;
}

uint32_t sl_rules_need_files(const struct sl_rules *rules)
{
    return rules->compiled ? rules->index->files : 0;
}

bool sl_rules_see_streams(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->any_stream;
}

bool sl_rules_ask_stream_facts(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->any_stream_facts;
}

bool sl_rules_need_totals(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->any_total;
}

bool sl_rules_have_state(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->rank != NULL;
}

bool sl_rules_decide(const struct sl_rules *rules)
{
    return rules->compiled && rules->index->any_late;
}

static bool is_of_message(const struct rule_check *check)
{
    return (check->field >= RULE_DNS_OPCODE && check->field < RULE_APP) ||
           check->field == RULE_APP_EVENT || check->field == RULE_DNS_RRTYPE;
}

/* Whether a rule without contents asks for its flow: messages, the protocol of the flow, or
 * addresses alone. */
static bool headers_ask_flow(const struct rule *rule)
{
    const uint8_t side = RULE_FLOW_KNOWN | SL_FLOW_TO_SERVER;
    bool others = (rule->flow_mask & ~(side | SL_FLOW_FIRST)) != 0;

    for (size_t i = 0; i < rule->n_checks; i++) {
        if (is_of_message(&rule->check[i]))
            return true;
        others |= rule->check[i].field != RULE_APP;
    }
    return !others &&
           ((rule->flow_mask & side) == 0 || rule->app != SL_APP_UNKNOWN || rule->n_checks != 0);
}

/* Whether what a rule asks for is of its flow, and not of one packet. */
static bool asks_flow(const struct rule *rule)
{
    if (rule->n_payloads == 0)
        return headers_ask_flow(rule);
    for (size_t i = 0; i < rule->n_payloads; i++) {
        const enum rule_buffer buffer = rule->payload[i].buffer;

        if (rule->payload[i].section != 0)
            return buffer < RULE_BUFFER_IPV4_HEADER || buffer > RULE_BUFFER_DESTINATION;
    }
    return rule->protocol == RULE_TCP && (rule->sees & RULE_SEES_STREAMS) != 0;
}

/* Whether the rule's action, or one that a filter gives it, waits for the packets of all flows. */
static bool acts_late(const struct rule *rule)
{
    bool late = rule->state->late;

    for (size_t i = 0; i < rule->state->n_filters; i++)
        late |= rule->state->filter[i].drops ||
                (rule->drops && rule->state->filter[i].kind != STATE_LIMIT);
    return late;
}

static bool is_dropped_by_rate(const struct rule *rule)
{
    for (size_t i = 0; rule->state != NULL && i < rule->state->n_filters; i++)
        if (rule->state->filter[i].drops)
            return true;
    return false;
}

/* Whether the rule's action takes its flow, as in Suricata. */
static void find_ends(struct rule *rule)
{
    const bool ends = (rule->pass || rule->drops || is_dropped_by_rate(rule)) && asks_flow(rule);

    rule->ends_late = ends && rule->state != NULL && acts_late(rule);
    rule->ends_flow = ends && !rule->ends_late;
}

/* Prepares the settling of candidates, where a rule has state. */
static bool compile_state(struct sl_rules *rules, struct rule_index *index)
{
    bool any = false;

    state_find_actions(rules);
    if (!rule_filters_apply(rules) || !state_data_mark(rules) || !state_find_late(rules))
        return false;
    for (size_t i = 0; i < rules->n_rules; i++) {
        struct rule *rule = rules->rule[i];
        const struct rule_state *state = rule->state;

        find_ends(rule);
        index->any_end |= rule->ends_late;
        index->any_pass |= rule->ends_flow || rule->ends_late || rule->alerts;
        any |= state != NULL || index->any_pass;
        index->any_data |= state != NULL && state->asks_data;
        index->any_late |= state != NULL && (state->late || state->n_filters != 0);
        index->any_tag |= state != NULL && state->tag != NULL;
    }
    index->any_late |= index->any_tag || index->any_end;
    if (!any)
        return true;
    index->rank = calloc(rules->n_rules, sizeof *index->rank);
    return index->rank != NULL && state_rank(rules, index->rank);
}

/* Keeps the networks of HOME_NET where rules name it, and nobody has set it. */
static bool keep_home(struct sl_rules *rules)
{
    const struct rule_text home = {"$HOME_NET", strlen("$HOME_NET")};
    const char *where = NULL;

    return !rules->names_home || rules->home_is_set ||
           rule_list_read(rules, RULE_ADDRESSES, home, &rules->home, &where, NULL) == SL_OK;
}

enum sl_status sl_rules_compile(struct sl_rules *rules, const struct sl_literal **literals,
                                size_t *n_literals, struct sl_diag *diag)
{
    struct compiler compiler = {.rules = rules, .index = calloc(1, sizeof(struct rule_index))};

    if (rules->compiled || rules->n_rules > UINT32_MAX / RULE_KEYS_MAX) {
        free(compiler.index);
        return diag_set(diag, SL_EINVAL, NULL, 0, "%s",
                        rules->compiled ? "the rules are compiled already" : "too many rules");
    }

    const bool done = compiler.index != NULL && compile(&compiler) &&
                      compile_state(rules, compiler.index) && keep_home(rules);

    rule_map_free(&compiler.known);
    rule_pairs_free(&compiler.by_literal);
    rule_pairs_free(&compiler.by_dst_port);
    rule_pairs_free(&compiler.by_src_port);
    rule_pairs_free(&compiler.by_icmp_type);
    rule_pairs_free(&compiler.by_tcp_flags);
    rule_pairs_free(&compiler.by_ip_protocol);
    rule_pairs_free(&compiler.by_carried);
    rule_pairs_free(&compiler.by_app);
    rule_pairs_free(&compiler.by_source);
    rule_pairs_free(&compiler.by_destination);
    rule_pairs_free(&compiler.by_message);
    if (!done) {
        rule_index_free(compiler.index);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    }
    rules->index = compiler.index;
    rules->compiled = true;
    *literals = rules->index->literal;
    *n_literals = rules->index->n_literals;
    return SL_OK;
}

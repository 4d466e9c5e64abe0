/* SPDX-License-Identifier: MIT */
#include "state_ref.h"

#include <stdlib.h>
#include <string.h>

enum {
    FLOWS_MAX = 4096,
    BITS = 16,
    HOST_BITS_MAX = 1 << 16,
    WINDOWS_MAX = 1 << 16,
    TAGS_MAX = 1 << 16
};

static const int64_t SECOND = 1000000000;

/* A flow of UDP, with the timeouts of suricata.yaml. */
struct flow {
    uint32_t client, server;
    bool seen[2];
    int64_t first, last;
    uint64_t packets[2], bytes[2]; /* by enum ref_side */
    bool bit[BITS];
    bool has_number[BITS];
    uint32_t number[BITS];
};

/* A bit of a host, or of a pair. */
struct host_bit {
    uint32_t a, b; /* b: 0 for a host */
    uint32_t bit;
    int64_t until; /* it was unset where this is 0 */
};

/* The window of a filter of a rule. */
struct window {
    size_t rule;
    uint32_t filter, a, b;
    int64_t since;
    uint32_t n;
    bool has[2]; /* the client's port, the server's */
};

/* The host or the flow that an alert has tagged. */
struct tagged {
    bool of_flow;
    uint32_t host; /* or the flow's number */
    bool counts[REF_N_UNITS];
    int64_t left[REF_N_UNITS];
    int64_t end;  /* the last second */
    int64_t last; /* of its packets */
    bool over;
};

struct state_ref {
    const struct ref_rule *rules;
    size_t n_rules;
    struct ref_set *sets;
    bool changes[REF_SETS];      /* some rule does */
    struct flow flow[FLOWS_MAX]; /* the last one of a pair counts */
    size_t n_flows;
    struct host_bit host_bit[HOST_BITS_MAX];
    size_t n_host_bits;
    struct window window[WINDOWS_MAX];
    size_t n_windows;
    struct tagged tagged[TAGS_MAX];
    size_t n_tagged;
    size_t *order; /* of the rules */
};

/* ---- order ----------------------------------------------------------------------------------- */

static bool is_condition(enum ref_act act)
{
    return act <= REF_SOME_UNSET || act == REF_EQUAL || act == REF_GREATER;
}

/* Kinds of variables in the order in which they sort rules. */
static int variable(enum ref_owner owner)
{
    return owner == REF_FLOW ? 0 : owner == REF_NUMBER ? 1 : owner == REF_PAIR ? 3 : 2;
}

/* For one kind: rules that only write, those that write and read, those that only read, others. */
static int kind(const struct ref_rule *rule, int of)
{
    bool reads = false, writes = false;

    for (uint32_t i = 0; i < rule->n_options; i++) {
        if (variable(rule->option[i].owner) != of)
            continue;
        reads |= is_condition(rule->option[i].act);
        writes |= !is_condition(rule->option[i].act);
    }
    if (writes)
        return reads ? 2 : 1;
    return reads ? 3 : 4;
}

static bool comes_before(const struct ref_rule *rules, size_t a, size_t b)
{
    if (rules[a].place != rules[b].place)
        return rules[a].place < rules[b].place;
    for (int of = 0; of < 4; of++)
        if (kind(&rules[a], of) != kind(&rules[b], of))
            return kind(&rules[a], of) < kind(&rules[b], of);
    if (rules[a].priority != rules[b].priority)
        return rules[a].priority < rules[b].priority;
    return a < b;
}

struct state_ref *state_ref_create(const struct ref_rule *rules, size_t n_rules,
                                   struct ref_set *sets)
{
    struct state_ref *ref = calloc(1, sizeof *ref);

    ref->rules = rules;
    ref->n_rules = n_rules;
    ref->sets = sets;
    for (size_t i = 0; i < n_rules; i++)
        for (uint32_t k = 0; k < rules[i].n_asks; k++)
            ref->changes[rules[i].ask[k].set] |= rules[i].ask[k].ask >= REF_PUT;
    ref->order = calloc(n_rules, sizeof *ref->order);
    for (size_t i = 0; i < n_rules; i++) {
        size_t at = i;

        for (; at > 0 && comes_before(rules, i, ref->order[at - 1]); at--)
            ref->order[at] = ref->order[at - 1];
        ref->order[at] = i;
    }
    return ref;
}

void state_ref_free(struct state_ref *ref)
{
    free(ref->order);
    free(ref);
}

/* ---- flows ----------------------------------------------------------------------------------- */

static struct flow *flow_of(struct state_ref *ref, const struct ref_packet *packet)
{
    struct flow *flow = NULL;

    for (size_t i = 0; i < ref->n_flows; i++)
        if (ref->flow[i].client == packet->client && ref->flow[i].server == packet->server)
            flow = &ref->flow[i];
    if (flow != NULL &&
        packet->time - flow->last > (flow->seen[0] && flow->seen[1] ? 300 : 30) * SECOND)
        flow = NULL;
    if (flow == NULL) {
        if (ref->n_flows == FLOWS_MAX)
            abort();
        flow = &ref->flow[ref->n_flows++];
        *flow = (struct flow){
            .client = packet->client, .server = packet->server, .first = packet->time};
    }
    flow->seen[packet->to_server] = true;
    flow->last = packet->time;
    flow->packets[packet->to_server ? REF_TO_SERVER : REF_TO_CLIENT]++;
    flow->bytes[packet->to_server ? REF_TO_SERVER : REF_TO_CLIENT] += packet->len;
    return flow;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void owner_of(enum ref_owner owner, const struct ref_packet *packet, uint32_t *a,
                     uint32_t *b)
{
    const uint32_t src = packet->to_server ? packet->client : packet->server;
    const uint32_t dst = packet->to_server ? packet->server : packet->client;

    *a = owner == REF_SRC ? src : owner == REF_DST ? dst : owner == REF_PAIR ? packet->client : 0;
    *b = owner == REF_PAIR ? packet->server : 0;
}

static struct host_bit *host_bit(struct state_ref *ref, enum ref_owner owner,
                                 const struct ref_packet *packet, uint32_t bit)
{
    uint32_t a, b;

    owner_of(owner, packet, &a, &b);
    for (size_t i = 0; i < ref->n_host_bits; i++)
        if (ref->host_bit[i].a == a && ref->host_bit[i].b == b && ref->host_bit[i].bit == bit)
            return &ref->host_bit[i];
    if (ref->n_host_bits == HOST_BITS_MAX)
        abort();
    ref->host_bit[ref->n_host_bits] = (struct host_bit){.a = a, .b = b, .bit = bit};
    return &ref->host_bit[ref->n_host_bits++];
}

static bool is_set(struct state_ref *ref, const struct ref_option *option, uint32_t i,
                   const struct ref_packet *packet, const struct flow *flow)
{
    if (option->owner == REF_FLOW)
        return flow->bit[option->bit[i]];
    if (option->owner == REF_NUMBER)
        return flow->has_number[option->bit[i]];
    return packet->time <= host_bit(ref, option->owner, packet, option->bit[i])->until;
}

static bool meets_option(struct state_ref *ref, const struct ref_option *option,
                         const struct ref_packet *packet, const struct flow *flow)
{
    uint32_t n_set = 0;

    for (uint32_t i = 0; i < option->n; i++)
        n_set += is_set(ref, option, i, packet, flow);
    switch (option->act) {
    case REF_ANY_SET:
        return n_set > 0;
    case REF_ALL_SET:
        return n_set == option->n;
    case REF_SOME_UNSET:
        return n_set < option->n;
    case REF_EQUAL:
        return n_set != 0 && flow->number[option->bit[0]] == option->value;
    case REF_GREATER:
        return n_set != 0 && flow->number[option->bit[0]] > option->value;
    default:
        return true;
    }
}

static bool meets(struct state_ref *ref, const struct ref_rule *rule,
                  const struct ref_packet *packet, const struct flow *flow)
{
    for (uint32_t i = 0; i < rule->n_options; i++)
        if (!meets_option(ref, &rule->option[i], packet, flow))
            return false;
    return true;
}

static void change_number(const struct ref_option *option, struct flow *flow)
{
    const uint32_t i = option->bit[0];

    if (is_condition(option->act) || (option->act == REF_SUBTRACT && !flow->has_number[i]))
        return;
    if (option->act == REF_ASSIGN || !flow->has_number[i])
        flow->number[i] = option->value;
    else
        flow->number[i] += option->act == REF_ADD ? option->value : 0 - option->value;
    flow->has_number[i] = true;
}

static void change_bit(struct state_ref *ref, const struct ref_option *option, uint32_t i,
                       const struct ref_packet *packet, struct flow *flow)
{
    const bool was = is_set(ref, option, i, packet, flow);
    const bool now = option->act == REF_SET || (option->act == REF_TOGGLE && !was);

    if (is_condition(option->act))
        return;
    if (option->owner == REF_FLOW)
        flow->bit[option->bit[i]] = now;
    else
        host_bit(ref, option->owner, packet, option->bit[i])->until =
            now ? packet->time + option->seconds * SECOND : 0;
}

static void apply(struct state_ref *ref, const struct ref_rule *rule,
                  const struct ref_packet *packet, struct flow *flow)
{
    for (uint32_t i = 0; i < rule->n_options; i++) {
        if (rule->option[i].owner == REF_NUMBER)
            change_number(&rule->option[i], flow);
        for (uint32_t k = 0; k < rule->option[i].n && rule->option[i].owner != REF_NUMBER; k++)
            change_bit(ref, &rule->option[i], k, packet, flow);
    }
}

static bool is_between(const struct ref_rule *rule, uint64_t sum)
{
    return sum > rule->above && sum < rule->below;
}

static bool meets_sum(const struct ref_rule *rule, const struct flow *flow)
{
    const uint64_t *sums = rule->sum == REF_PACKETS ? flow->packets : flow->bytes;

    if (!rule->has_sum)
        return true;
    if (rule->sum == REF_AGE)
        return is_between(rule, (uint64_t)(flow->last / SECOND - flow->first / SECOND));
    if (rule->side == REF_EITHER_SIDE)
        return is_between(rule, sums[0]) || is_between(rule, sums[1]);
    if (rule->side == REF_BOTH_SIDES)
        return is_between(rule, sums[0]) && is_between(rule, sums[1]);
    return is_between(rule, sums[rule->side]);
}

static bool meets_ask(struct ref_set *set, enum ref_ask ask, uint32_t host)
{
    uint32_t i = 0;

    while (i < set->n && set->host[i] != host)
        i++;
    const bool found = i != set->n;

    if (ask == REF_PUT) {
        if (found || set->n == set->max)
            return false;
        set->host[set->n++] = host;
        return true;
    }
    if (ask == REF_TAKE && found) {
        memmove(&set->host[i], &set->host[i + 1], (set->n - i - 1) * sizeof set->host[0]);
        set->n--;
    }
    return ask == REF_IS_NOT_IN ? !found : found;
}

/* Sets that no rule changes are asked first. */
static bool meets_asks(struct state_ref *ref, const struct ref_rule *rule,
                       const struct ref_packet *packet)
{
    uint32_t host, none;

    for (int changes = 0; changes < 2; changes++)
        for (uint32_t i = 0; i < rule->n_asks; i++) {
            if (ref->changes[rule->ask[i].set] != (changes == 1))
                continue;
            owner_of(rule->ask[i].owner, packet, &host, &none);
            if (!meets_ask(&ref->sets[rule->ask[i].set], rule->ask[i].ask, host))
                return false;
        }
    return true;
}

/* ---- filters --------------------------------------------------------------------------------- */

static struct window *window_of(struct state_ref *ref, size_t rule, uint32_t filter,
                                const struct ref_packet *packet, const struct flow *flow)
{
    const enum ref_owner owner = ref->rules[rule].filter[filter].owner;
    uint32_t a, b;

    owner_of(owner, packet, &a, &b);
    if (owner == REF_FLOW)
        a = (uint32_t)(flow - ref->flow) + 1000;
    for (size_t i = 0; i < ref->n_windows; i++)
        if (ref->window[i].rule == rule && ref->window[i].filter == filter &&
            ref->window[i].a == a && ref->window[i].b == b)
            return &ref->window[i];
    if (ref->n_windows == WINDOWS_MAX)
        abort();
    ref->window[ref->n_windows] =
        (struct window){.rule = rule, .filter = filter, .a = a, .b = b, .since = INT64_MIN / 2};
    return &ref->window[ref->n_windows++];
}

static bool is_suppressed(const struct ref_filter *filter, const struct ref_packet *packet)
{
    const uint32_t src = packet->to_server ? packet->client : packet->server;
    const uint32_t dst = packet->to_server ? packet->server : packet->client;

    return (filter->owner != REF_DST && src == filter->host) ||
           (filter->owner != REF_SRC && dst == filter->host);
}

static void count(struct window *window, const struct ref_filter *filter,
                  const struct ref_packet *packet)
{
    const bool is_server = packet->to_server == (filter->unique == REF_DST_PORTS);

    if (filter->unique == REF_ALERTS)
        window->n++;
    else if (!window->has[is_server])
        window->n++;
    window->has[is_server] = true;
}

static bool is_power(const struct ref_filter *filter, uint32_t n)
{
    uint32_t step = filter->count;

    for (int i = 0; i < 20 && step < n; i++)
        step *= filter->multiplier;
    return step == n;
}

static bool passes(struct state_ref *ref, size_t rule, const struct ref_packet *packet,
                   const struct flow *flow)
{
    for (uint32_t i = 0; i < ref->rules[rule].n_filters; i++) {
        const struct ref_filter *filter = &ref->rules[rule].filter[i];
        struct window *window;
        bool pass;

        if (filter->kind == REF_SUPPRESS) {
            if (is_suppressed(filter, packet))
                return false;
            continue;
        }
        window = window_of(ref, rule, i, packet, flow);
        if (filter->kind != REF_BACKOFF &&
            packet->time - window->since > filter->seconds * SECOND) {
            window->since = packet->time;
            window->n = 0;
            window->has[0] = window->has[1] = false;
        }
        count(window, filter, packet);
        pass = filter->kind == REF_LIMIT ? window->n <= filter->count
               : filter->kind == REF_THRESHOLD
                   ? filter->count != 0 && window->n % filter->count == 0
               : filter->kind == REF_BOTH    ? window->n == filter->count
               : filter->kind == REF_BACKOFF ? is_power(filter, window->n)
                                             : window->n > filter->count;
        if (!pass)
            return false;
    }
    return true;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static bool is_of(const struct state_ref *ref, const struct tagged *tagged,
                  const struct ref_packet *packet, const struct flow *flow)
{
    return tagged->of_flow ? tagged->host == (uint32_t)(flow - ref->flow)
                           : tagged->host == packet->client || tagged->host == packet->server;
}

/* Ten minutes of silence end those that do not count seconds. */
static bool take(struct tagged *tagged, const struct ref_packet *packet)
{
    if (tagged->counts[REF_TAG_SECONDS])
        tagged->over = packet->time / SECOND > tagged->end;
    else
        tagged->over = packet->time - tagged->last > (int64_t)600 * SECOND;
    if (tagged->counts[REF_TAG_PACKETS])
        tagged->over |= --tagged->left[REF_TAG_PACKETS] < 0;
    if (tagged->counts[REF_TAG_BYTES])
        tagged->over |= (tagged->left[REF_TAG_BYTES] -= packet->len) < 0;
    tagged->last = packet->time;
    return !tagged->over;
}

static bool is_tagged(struct state_ref *ref, const struct ref_packet *packet,
                      const struct flow *flow)
{
    bool found = false;

    for (size_t i = 0; i < ref->n_tagged; i++)
        if (!ref->tagged[i].over && is_of(ref, &ref->tagged[i], packet, flow))
            found |= take(&ref->tagged[i], packet);
    return found;
}

/* One that counts the same of the same host or flow, and may count on. */
static struct tagged *same_as(struct state_ref *ref, const struct tagged *added)
{
    for (size_t i = 0; i < ref->n_tagged; i++) {
        struct tagged *tagged = &ref->tagged[i];

        if (!tagged->over && tagged->of_flow == added->of_flow && tagged->host == added->host &&
            memcmp(tagged->counts, added->counts, sizeof added->counts) == 0 &&
            (added->counts[REF_TAG_SECONDS] ? added->last / SECOND <= tagged->end
                                            : added->last - tagged->last <= (int64_t)600 * SECOND))
            return tagged;
    }
    return NULL;
}

static void start_tag(struct state_ref *ref, const struct tagged *added)
{
    struct tagged *tagged = same_as(ref, added);

    if (ref->n_tagged == TAGS_MAX)
        abort();
    if (tagged == NULL) {
        ref->tagged[ref->n_tagged++] = *added;
        return;
    }
    for (int unit = 0; unit < REF_N_UNITS; unit++)
        if (tagged->left[unit] < added->left[unit])
            tagged->left[unit] = added->left[unit];
    tagged->end = tagged->end > added->end ? tagged->end : added->end;
    tagged->last = added->last;
}

static void start_tags(struct state_ref *ref, const struct ref_rule *rule,
                       const struct ref_packet *packet, const struct flow *flow)
{
    for (uint32_t i = 0; i < rule->n_tags; i++) {
        const struct ref_tag *tag = &rule->tag[i];
        struct tagged added = {.of_flow = tag->owner == REF_FLOW, .last = packet->time};
        uint32_t none;

        owner_of(tag->owner, packet, &added.host, &none);
        if (added.of_flow)
            added.host = (uint32_t)(flow - ref->flow);
        for (int unit = 0; unit < REF_N_UNITS; unit++)
            added.counts[unit] = tag->limit[unit] != 0;
        added.left[REF_TAG_PACKETS] = (int64_t)tag->limit[REF_TAG_PACKETS] - 1;
        added.left[REF_TAG_BYTES] = (int64_t)tag->limit[REF_TAG_BYTES] - packet->len;
        added.end = packet->time / SECOND + tag->limit[REF_TAG_SECONDS];
        if ((!added.counts[REF_TAG_PACKETS] || added.left[REF_TAG_PACKETS] > 0) &&
            (!added.counts[REF_TAG_BYTES] || added.left[REF_TAG_BYTES] > 0))
            start_tag(ref, &added);
    }
}

/* ---- packets --------------------------------------------------------------------------------- */

bool state_ref_packet(struct state_ref *ref, const struct ref_packet *packet, bool *alerts)
{
    struct flow *flow = flow_of(ref, packet);
    const bool tagged = is_tagged(ref, packet, flow);
    uint32_t passed = UINT32_MAX; /* actions of this place and behind */

    memset(alerts, 0, ref->n_rules * sizeof *alerts);
    for (size_t i = 0; i < ref->n_rules; i++) {
        const size_t index = ref->order[i];
        const struct ref_rule *rule = &ref->rules[index];

        if (strchr(packet->payload, rule->letter) == NULL || !meets(ref, rule, packet, flow) ||
            !meets_sum(rule, flow) || !meets_asks(ref, rule, packet))
            continue;
        apply(ref, rule, packet, flow);
        if (rule->action == REF_PASS)
            passed = rule->place;
        alerts[index] = rule->action != REF_PASS;
    }
    for (size_t i = 0; i < ref->n_rules; i++) {
        const bool is_silent = ref->rules[i].noalert;

        alerts[i] = alerts[i] && ref->rules[i].place < passed &&
                    (is_silent || passes(ref, i, packet, flow));
        if (alerts[i])
            start_tags(ref, &ref->rules[i], packet, flow);
        alerts[i] = alerts[i] && !is_silent;
    }
    return tagged;
}

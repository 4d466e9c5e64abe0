/* SPDX-License-Identifier: MIT */
/* State of rules as docs/rules.md states it, slowly: one list of all that is known, searched from
 * end to end, one packet after another. A rule is what it means, and not its text. */
#ifndef RUN_TEST_STATE_REF_H
#define RUN_TEST_STATE_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REF_OPTIONS_MAX = 4,
    REF_NAMES_MAX = 3,
    REF_FILTERS_MAX = 2,
    REF_SETS = 4,
    REF_SET_MAX = 16,
    REF_ASKS_MAX = 2,
    REF_TAGS_MAX = 2
};

enum ref_action { REF_PASS, REF_DROP, REF_REJECT, REF_ALERT };

enum ref_act {
    REF_ANY_SET,
    REF_ALL_SET,
    REF_SOME_UNSET,
    REF_SET,
    REF_UNSET,
    REF_TOGGLE,
    REF_EQUAL, /* of numbers alone, from here on */
    REF_GREATER,
    REF_ASSIGN,
    REF_ADD,
    REF_SUBTRACT
};

enum ref_owner { REF_FLOW, REF_NUMBER, REF_SRC, REF_DST, REF_PAIR, REF_ALL, REF_EITHER };

/* An option on the bits or numbers (REF_NUMBER) of a flow, or the bits of hosts; all are numbered
 * from 0. */
struct ref_option {
    enum ref_act act;
    enum ref_owner owner;
    uint32_t value, seconds;
    uint32_t bit[REF_NAMES_MAX];
    uint32_t n;
};

enum ref_kind { REF_LIMIT, REF_THRESHOLD, REF_BOTH, REF_DETECTION, REF_BACKOFF, REF_SUPPRESS };

enum ref_unique { REF_ALERTS, REF_SRC_PORTS, REF_DST_PORTS };

struct ref_filter {
    enum ref_kind kind;
    enum ref_owner owner;
    uint32_t count, seconds, multiplier;
    enum ref_unique unique; /* REF_DETECTION: the counted unit */
    uint32_t host;          /* REF_SUPPRESS: its number */
};

/* A set of hosts, in the order of adding. */
struct ref_set {
    uint32_t host[REF_SET_MAX];
    uint32_t n, max;
};

/* Sums of a flow with the packet: its age in seconds, its packets and bytes by direction. */
enum ref_sum { REF_AGE, REF_PACKETS, REF_BYTES };

enum ref_side { REF_TO_SERVER, REF_TO_CLIENT, REF_EITHER_SIDE, REF_BOTH_SIDES };

enum ref_ask { REF_IS_IN, REF_IS_NOT_IN, REF_PUT, REF_TAKE };

enum ref_unit { REF_TAG_PACKETS, REF_TAG_BYTES, REF_TAG_SECONDS, REF_N_UNITS };

/* Packets of a flow or host behind an alert, whose own packet counts, up to the first limit. */
struct ref_tag {
    enum ref_owner owner;        /* REF_FLOW, REF_SRC, REF_DST */
    uint32_t limit[REF_N_UNITS]; /* 0: none */
};

/* It is for packets whose payload has the letter. */
struct ref_rule {
    enum ref_action action;
    uint32_t place; /* of its action in the order of actions */
    uint32_t priority;
    char letter;
    struct ref_option option[REF_OPTIONS_MAX];
    uint32_t n_options;
    struct {
        enum ref_ask ask;
        enum ref_owner owner; /* REF_SRC, REF_DST */
        uint32_t set;
    } ask[REF_ASKS_MAX]; /* after the options; changes of one stay where the next fails */
    uint32_t n_asks;
    bool has_sum;
    enum ref_sum sum;
    enum ref_side side;
    uint64_t above; /* the sum is, */
    uint64_t below; /* and is */
    bool noalert;
    struct ref_filter filter[REF_FILTERS_MAX];
    uint32_t n_filters;
    struct ref_tag tag[REF_TAGS_MAX];
    uint32_t n_tags;
};

struct ref_packet {
    int64_t time;            /* nanoseconds */
    uint32_t len;            /* on the wire */
    uint32_t client, server; /* hosts; clients are below 100, and servers are not */
    bool to_server;
    const char *payload;
};

struct state_ref;

/* The sets are the reference's to change. */
struct state_ref *state_ref_create(const struct ref_rule *rules, size_t n_rules,
                                   struct ref_set *sets);

/* Writes whether each rule alerts on the next packet. Returns whether it is tagged. */
bool state_ref_packet(struct state_ref *ref, const struct ref_packet *packet, bool *alerts);

void state_ref_free(struct state_ref *ref);

#endif

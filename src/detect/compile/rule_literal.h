/* SPDX-License-Identifier: MIT */
/* The trigger of a rule: a literal in the payload, or a key in the header, that every matching
 * packet has. */
#ifndef DETECT_RULE_LITERAL_H
#define DETECT_RULE_LITERAL_H

#include "detect/rule.h"

/* The content that stands for the rule in the matcher: the marked one, or the one that should occur
 * least, of a name rather than of the payload. An expression with a literal takes its place where
 * the rule has none. NULL: the rule has neither that must be there in a buffer that the matcher
 * searches; or just one that fills traffic, while its header asks for few packets. A rule about
 * messages takes another content then, where it has one that does not fill traffic. */
const struct rule_payload *rule_literal_choose(const struct rule *rule);

/* The content of the payload that would stand for the rule; NULL: there is none. */
const struct rule_payload *rule_literal_sought(const struct rule *rule);

/* Why a step cannot stand for its rule. NULL: it can. */
const char *rule_literal_unfit(const struct rule *rule, const struct rule_payload *content);

/* How rare a content should be: each byte helps, one that is new in it more, and zeros, ones and
 * blanks, which fill traffic, hardly. Names are few bytes of the traffic. */
uint32_t rule_literal_rarity(const struct rule_payload *content);

/* The part of a content that the matcher searches for. */
struct sl_literal rule_literal_of(const struct rule_payload *content);

/* One byte repeated, or both cases of it where case does not count. */
bool rule_literal_is_run(struct sl_literal literal);

/* Two bytes, a short run of one, or a run of one that fills room: such literals occur in many
 * packets, and a matcher would report hardly anything else. */
bool rule_literal_is_common(struct sl_literal literal);

enum { RULE_KEYS_MAX = 64 }; /* ports or ICMP types of a rule that is found by them */

/* The field of a packet that selects a rule without a literal. */
enum rule_key {
    RULE_BY_PROTOCOL,
    RULE_BY_DST_PORT,    /* rule->to.ports are at most RULE_KEYS_MAX */
    RULE_BY_SRC_PORT,    /* rule->from.ports are */
    RULE_BY_EITHER_PORT, /* rule_either_ports is there */
    RULE_BY_IP_PROTOCOL, /* those of rule_ip_protocols are */
    RULE_BY_ICMP_TYPE,   /* those of rule_icmp_types are */
    RULE_BY_TCP_FLAGS,   /* rule_tcp_flags is there */
    RULE_BY_APP,         /* rule->app is one */
    RULE_BY_SOURCE,      /* rule->from.addresses are few, and not the user's networks */
    RULE_BY_DESTINATION, /* rule->to.addresses are */
    RULE_BY_MESSAGE      /* it is about messages: their side, and what of it is new */
};

enum rule_key rule_key_of(const struct rule *rule);

/* The few ports of an endpoint of a rule both ways; NULL: there are none. */
const struct rule_ranges *rule_either_ports(const struct rule *rule);

/* The check that limits a rule to a few ICMP types, or protocols in the IP header; NULL: there is
 * none. Their numbers are at most 255. */
const struct rule_check *rule_icmp_types(const struct rule *rule);
const struct rule_check *rule_ip_protocols(const struct rule *rule);

/* The check that lets few bytes of flags pass, where the rule is about TCP alone; NULL: there is
 * none. */
const struct rule_check *rule_tcp_flags(const struct rule *rule);

#endif

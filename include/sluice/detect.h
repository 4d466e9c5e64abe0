/* SPDX-License-Identifier: MIT */
/* Signature rules of Suricata, Snort 2 and Snort 3. The matcher gets one literal of each rule, and
 * the rest of the rule is evaluated on the matcher's hits.
 *
 * A well-formed rule with a keyword of Suricata or Snort that is not supported is skipped, and
 * counted under that keyword. A rule that is not well-formed, or has a keyword or protocol that
 * none of them has, is an error of that rule alone. Both can be listed. docs/rules.md has what is
 * understood. */
#ifndef SLUICE_DETECT_H
#define SLUICE_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/app.h"
#include "sluice/batch.h"
#include "sluice/dissect.h"
#include "sluice/engine.h"
#include "sluice/event.h"
#include "sluice/mpm.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of rules. It is filled and compiled by one thread. Other threads help it on the cores of
 * the process, and end before the call returns. Compiled rules are immutable, but for profiles; any
 * number of threads read them. */
struct sl_rules;

/* Creates an empty set with the default variables. HOME_NET is the private networks. EXTERNAL_NET
 * is !$HOME_NET. The usual *_SERVERS and *_PORTS have Suricata's values. The caller frees the set.
 * SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_rules_create(struct sl_rules **rules, struct sl_diag *diag);

/* Sets a variable ("HOME_NET", without '$') for the files that are loaded later. SL_EINVAL: the
 * value is no address list and no port list, or names itself; or the rules are compiled. SL_ENOMEM.
 */
SL_CHECK SL_API enum sl_status sl_rules_set(struct sl_rules *rules, const char *name,
                                            const char *value, struct sl_diag *diag);

/* Sets a variable from "NAME=VALUE". Statuses are those of sl_rules_set. SL_EINVAL also: the text
 * has another form, or NAME has more than 63 bytes. */
SL_CHECK SL_API enum sl_status sl_rules_assign(struct sl_rules *rules, const char *assignment,
                                               struct sl_diag *diag);

/* Sets the order in which the actions of rules take effect, as Suricata's `action-order` has it:
 * the words pass, drop, reject and alert, in any order, with commas between them. This is the
 * default. A pass rule takes the alerts of actions behind it away. SL_EINVAL: the text is another,
 * or the rules are compiled. */
SL_CHECK SL_API enum sl_status sl_rules_order_actions(struct sl_rules *rules, const char *actions,
                                                      struct sl_diag *diag);

/* Reads a file of configuration for the rules that are loaded later: lines `config classification:`
 * and `config reference:`, and filters of alerts (suppress, threshold, event_filter, rate_filter).
 * From then on files beside rule files are not read. Lines of another form are bad lines of the
 * set. SL_EINVAL: the rules are compiled. SL_EIO: the file cannot be read, or has more than 256
 * MiB. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_rules_configure(struct sl_rules *rules, const char *path,
                                                  struct sl_diag *diag);

/* Names the folder of sets of data that rules load and save with `state` or `save`, for the files
 * that are loaded later. Without one `state` begins empty, and nothing is saved. SL_EIO: it is no
 * folder. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_rules_keep_data(struct sl_rules *rules, const char *folder,
                                                  struct sl_diag *diag);

/* Whether compiled rules change a set of data that is to be saved, and no folder was named for it.
 */
SL_API bool sl_rules_lose_data(const struct sl_rules *rules);

/* Reads a rule file, with its lines of configuration. Files classification.config, reference.config
 * and threshold.config beside it are read first, unless sl_rules_configure has read one. A folder
 * stands for its files that end in ".rules". A path that is not there and holds '*', '?' or '['
 * stands for the files that it matches. Both are read in the order of names.
 *
 * Bad and skipped rules do not fail the call while a rule of the file can be used. SL_EFORMAT: a
 * file has no such rule, and has a bad one; the diagnostic is about the first bad one. The set has
 * counted the file, and other files of a folder or pattern are loaded. SL_EINVAL: a folder without
 * such files, or the rules are compiled. SL_EIO: a file cannot be read, or has more than 256 MiB;
 * or a pattern matches none. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_rules_load(struct sl_rules *rules, const char *path,
                                             struct sl_diag *diag);

/* Reads text_len bytes of rules from memory, which are copied. `name` stands for the file in
 * diagnostics. Statuses are those of sl_rules_load, but for SL_EIO. */
SL_CHECK SL_API enum sl_status sl_rules_load_text(struct sl_rules *rules, const char *name,
                                                  const char *text, size_t text_len,
                                                  struct sl_diag *diag);

/* Counts of a set. */
struct sl_rules_count {
    size_t lines;   /* rule lines that were read, disabled ones (behind '#') not counted */
    size_t loaded;  /* understood: they can alert */
    size_t skipped; /* ask for something that is not supported */
    size_t bad;     /* no rule, or a broken one */
    /* Of the loaded: same gid and sid as an earlier one. The higher rev stays, of equal ones the
     * first. The other is counted here, and not under loaded. */
    size_t duplicates;
    size_t without_literal; /* of the loaded: evaluated on every packet of their protocol or port */
    size_t unknown_class;   /* when they were loaded: no configuration named their class */
};

/* Copies the counts of what was loaded so far. */
SL_API void sl_rules_count(const struct sl_rules *rules, struct sl_rules_count *count);

/* Checks that a rule is loaded. SL_EINVAL: none is. The diagnostic has `name` as its file, and
 * counts what was read, bad and skipped. It lists the most frequent keywords of skipped rules. */
SL_CHECK SL_API enum sl_status sl_rules_require(const struct sl_rules *rules, const char *name,
                                                struct sl_diag *diag);

/* A keyword that is not supported. */
struct sl_rules_lack {
    const char *keyword; /* valid as long as the set */
    size_t rules;        /* skipped rules that have it */
    size_t alone;        /* of them, those that have no other: it would unlock them */
};

/* Gives the i-th keyword that rules were skipped for, by their number, largest first. False: i is
 * behind the last. */
SL_API bool sl_rules_skip_reason(const struct sl_rules *rules, size_t i,
                                 struct sl_rules_lack *lack);

/* Returns the i-th bad rule: file, reason, and the line and column of what is wrong. NULL: i is
 * behind the last. The diagnostic is valid until this thread's next call of this function or of the
 * two below. */
SL_API const struct sl_diag *sl_rules_bad_line(const struct sl_rules *rules, size_t i);

/* Returns the i-th skipped rule: file, its first line, and the keywords that it was skipped for,
 * with commas between them. NULL: i is behind the last. */
SL_API const struct sl_diag *sl_rules_skipped_rule(const struct sl_rules *rules, size_t i);

/* Returns the i-th rule that was loaded and whose class no configuration named: file, the class,
 * and its line and column. Such a rule has priority 3. NULL: i is behind the last. */
SL_API const struct sl_diag *sl_rules_unknown_class(const struct sl_rules *rules, size_t i);

/* Returns the loaded signature i, 0 to loaded - 1, in the order of files and lines. It is valid as
 * long as the set. NULL: i is behind the last. */
SL_API const struct sl_signature *sl_rules_signature(const struct sl_rules *rules, size_t i);

/* Whether signature i stores the files that it matches. False also: i is behind the last. */
SL_API bool sl_rules_store_file(const struct sl_rules *rules, size_t i);

/* Writes how a loaded rule is evaluated, in the order of evaluation: its literal or key with the
 * reason, its checks, its buffers with their transforms and contents. State follows, with the rules
 * that set or read it, then the place among rules. Filters of lines of their own are known once the
 * rules are compiled. The text has lines, and a NUL within cap bytes. The part that does not fit is
 * cut. False: no such rule was loaded, or cap is 0. */
SL_API bool sl_rules_explain(const struct sl_rules *rules, uint32_t gid, uint32_t sid, char *text,
                             size_t cap);

/* Ends loading: chooses the literal of each rule. literals[] are the distinct ones, owned by the
 * rules. A literal's index is the id of its hits. SL_EINVAL: the rules are compiled, or are too
 * many (2^32 keys). SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_rules_compile(struct sl_rules *rules,
                                                const struct sl_literal **literals,
                                                size_t *n_literals, struct sl_diag *diag);

/* The buffers that literals of compiled rules are searched for in: SL_BUFFER_* of sluice/app.h.
 * Hits in payloads count for SL_BUFFER_PAYLOAD alone. Hits in the others are those of made items
 * (sl_app_make, sl_hits_resolve_made). */
SL_API uint32_t sl_rules_buffers(const struct sl_rules *rules);

/* Whether some compiled rule needs application protocols (sl_app_find). */
SL_API bool sl_rules_need_app(const struct sl_rules *rules);

/* Whether some compiled rule asks for the protocol that a side of a flow speaks, as
 * app-layer-protocol does. */
SL_API bool sl_rules_need_sides(const struct sl_rules *rules);

/* The values of messages that some compiled rule needs, searched or not: bits of sl_app_value_bit.
 */
SL_API uint64_t sl_rules_need_values(const struct sl_rules *rules);

/* Whether some compiled rule inspects messages of heads and bodies, or matches SL_APP_EVENT. */
SL_API bool sl_rules_need_steps(const struct sl_rules *rules);
SL_API bool sl_rules_need_events(const struct sl_rules *rules);

/* Properties of files that compiled rules need: hashes, as bits 1 << enum sl_file_hash, their kind,
 * and files at all. */
enum { SL_RULES_FILE_MAGIC = 1 << SL_N_FILE_HASHES, SL_RULES_FILES = 2 << SL_N_FILE_HASHES };
SL_API uint32_t sl_rules_need_files(const struct sl_rules *rules);

/* Whether some compiled rule needs totals of flows (sl_batch_reserve_totals). A packet whose batch
 * has none matches no such rule. */
SL_API bool sl_rules_need_totals(const struct sl_rules *rules);

/* Whether some compiled rule depends on packets before: then an evaluator alone cannot determine
 * alerts (struct sl_state). */
SL_API bool sl_rules_have_state(const struct sl_rules *rules);

/* Whether some compiled rule depends on hosts, or on how often it matches, or tags packets
 * (sl_state_decide). */
SL_API bool sl_rules_decide(const struct sl_rules *rules);

/* Whether compiled rules name HOME_NET, and it has its default. */
SL_API bool sl_rules_assume_home(const struct sl_rules *rules);

/* The cost of a rule's evaluation. A check is one packet, by one of its headers, that has the
 * rule's literal or key. A match meets the rule but for its state. Ticks are the processor's
 * time-stamp counter. */
struct sl_rule_profile {
    uint64_t checks, matches;
    uint64_t ticks, max_ticks; /* of all checks, of the longest */
    uint64_t match_ticks;      /* of the checks that matched */
};

/* Turns on measurement: evaluators of these rules, made before or later, measure each rule. No
 * evaluator runs meanwhile. SL_EINVAL: the rules are not compiled. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_rules_profile(struct sl_rules *rules, struct sl_diag *diag);

/* Copies the cost of signature i so far. Any thread. False: i is behind the last, or nothing is
 * measured. */
SL_API bool sl_rules_profiled(const struct sl_rules *rules, size_t i,
                              struct sl_rule_profile *profile);

/* Frees a set, after its evaluators. Accepts NULL. */
SL_API void sl_rules_free(struct sl_rules *rules);

/* An alert: this packet, or a message that it completed, matches this signature. */
struct sl_alert {
    uint32_t item;      /* of a flow that ended: the packet that ended it */
    uint32_t signature; /* index for sl_rules_signature */
    uint32_t message;   /* index of the message that it is of; SL_ALERT_NO_MESSAGE: of none. Behind
                           all messages: of the stream of a flow that ended (struct sl_late) */
};

/* The message of an alert that is of none. */
#define SL_ALERT_NO_MESSAGE UINT32_MAX

/* Bytes that a packet adds to a TCP stream, in their place, without bytes that were sent before.
 * They lie in the packet's payload, or elsewhere where they waited for bytes before them. */
struct sl_stream_part {
    union {
        const uint8_t *bytes;
        const uint8_t *const *piece; /* where in_pieces: of SL_STREAM_PIECE bytes each */
    };
    uint64_t offset; /* of the first in the stream: 0 is the byte behind the SYN, or the first that
                        was seen */
    const struct sl_stream_part *before; /* ends where this part begins; NULL: `known` is 0 */
    const struct sl_stream_part *next;   /* that the packet adds; NULL: this is the last */
    uint32_t len;
    uint32_t known; /* bytes of the stream before this part that are at hand, at most
                       SL_STREAM_KNOWN: those of `before` and of what is before it */
    bool whole;     /* of the packet's first: the stream takes all of the packet's payload */
    bool reversed;  /* they were sent by the receiver of the packet, which made them count */
    bool in_pieces; /* no part that a packet adds is */
    uint8_t skip;   /* bytes of the first piece before the part's */
};

enum { SL_STREAM_PIECE = 256 }; /* bytes */

/* Copies `len` bytes of the part from its byte `from` on. It has as many. Any thread. */
SL_API void sl_stream_part_copy(const struct sl_stream_part *part, uint32_t from, uint8_t *to,
                                uint32_t len);

/* A rule sees the stream in blocks of this many bytes, from its first byte on. Hits in a block are
 * evaluated with the block before it, and with the part's bytes behind it, at most SL_STREAM_AHEAD
 * of them. */
enum { SL_STREAM_BLOCK = 2048, SL_STREAM_KNOWN = 2 * SL_STREAM_BLOCK, SL_STREAM_AHEAD = 16384 };

/* Made items with bytes of a stream belong to SL_BUFFER_STREAM, or SL_BUFFER_STREAM_BACK where they
 * are reversed. An offset in them of SL_STREAM_HIT_BASE, behind the base of the made item, is where
 * the packet's first part of that direction begins. */
enum { SL_STREAM_HIT_BASE = 64 };

/* Bytes of the longest literal of compiled rules, which has the last bytes of a longer content. A
 * literal that lies across the begin of a part is found in so many bytes less one on either side:
 * both sides are 62 bytes, which matchers take in one step. */
enum { SL_RULE_LITERAL_MAX = 32 };

/* Whether some compiled rule inspects streams. */
SL_API bool sl_rules_see_streams(const struct sl_rules *rules);

/* Facts of a packet that its stream has, and its bytes do not. 32 bytes. */
struct sl_stream_facts {
    uint64_t size[2]; /* sequence numbers that its flow's client and server have used, those of
                         SYNs, bytes and gaps in sequence; 0: the side was not seen */
    uint64_t events;  /* set of the packet's anomalies, by their numbers in the module of streams */
    uint8_t app[2];   /* enum sl_app of what client and server send; 0: not known so far, SL_N_APPS:
                         none */
    uint8_t app_before; /* of the flow, before it became a tunnel */
    bool app_found;     /* the packet brings the first bytes that show its sender's protocol, or is
                           the next of the sender */
    uint8_t pad[4];
};

/* Whether some compiled rule needs facts. */
SL_API bool sl_rules_ask_stream_facts(const struct sl_rules *rules);

/* An evaluator evaluates compiled rules on one batch after another, in memory that it keeps. It
 * belongs to one thread at a time. Compiled rules are immutable, outlive it, and serve any number
 * of evaluators. */
struct sl_evaluator;

/* Makes an evaluator. The caller frees it. SL_EINVAL: the rules are not compiled. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_evaluator_create(struct sl_evaluator **evaluator,
                                                   const struct sl_rules *rules,
                                                   struct sl_diag *diag);

/* A packet that matches a rule with state, but for that state: sl_state_settle decides. Its
 * candidates are all rules that it matches, in the order in which they take effect. They lie among
 * the alerts. */
struct sl_candidates {
    uint32_t item;
    uint32_t late; /* 0, or the packet in sl_late that they are of, from 1 on */
    uint32_t n;
    size_t first;         /* index of the first of them */
    bool passed, alerted; /* the result of settling */
};

/* Removes hits that no rule can use: by the buffer that they lie in, and by protocol, ports and
 * flow of their packets. The alerts of a batch are the same with and without them. The batch is as
 * sl_evaluator_run has it; the hits, of the compiled rules' literals, are in any order, and keep
 * it. A list that overflowed stays as it is. Any thread. */
SL_API void sl_rules_sift(const struct sl_rules *rules, const struct sl_batch *batch,
                          struct sl_hits *hits);

/* Evaluates the rules on a dissected, flow-tracked host batch: the rules whose literal is among the
 * hits, and those without one. sl_app_find has found protocols, where rules ask for one.
 * sl_hits_sort has sorted the hits; they are NULL where no rule has a literal. Those inside runs
 * may be left out (sl_limits), but for items made of streams. The result is one alert a packet and
 * signature, and one a message, ordered by item, priority, signature index and message. A packet
 * that a `pass` rule matches has none. Among the alerts are candidates, where rules have state. The
 * *n alerts are the evaluator's, until its next run. No result depends on the batches before.
 * SL_EINVAL: the batch is no host batch of packets, hits are missing, or their list overflowed.
 * SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_evaluator_run(struct sl_evaluator *evaluator,
                                                const struct sl_batch *batch,
                                                const struct sl_hits *hits,
                                                const struct sl_alert **alerts, size_t *n);

/* From now on rules inspect streams, too. of_item[i] is the first part that packet i adds to one.
 * It has no bytes where the stream takes the packet, which adds none. NULL: the packet is in no
 * stream. The array and the parts must be valid while a batch is evaluated. NULL: rules inspect
 * packets. */
SL_API void sl_evaluator_set_streams(struct sl_evaluator *evaluator,
                                     const struct sl_stream_part *const *of_item);

/* Sets the facts of each packet of the batches to come, valid while one is evaluated. NULL: there
 * are none, and rules that need them match nothing. */
SL_API void sl_evaluator_set_stream_facts(struct sl_evaluator *evaluator,
                                          const struct sl_stream_facts *of_item);

/* Sets the messages of the batch that comes next, in the order of their items. They are valid while
 * it is evaluated, and are forgotten then. A rule that names values of messages is evaluated on
 * messages alone. It alerts once for each side of a transaction: on the message that completed it.
 * Hits in values of messages are those of made items. */
SL_API void sl_evaluator_set_messages(struct sl_evaluator *evaluator,
                                      const struct sl_app_message *messages, size_t n);

/* Flows that ended before packets of a batch, and whose ends gave messages or bytes of streams. */
struct sl_late {
    const struct sl_batch *batch;          /* dissected packets that stand for them */
    const uint32_t *before;                /* of each: the packet that ended it; they ascend */
    const struct sl_app_message *messages; /* in the order of the packets that stand for them */
    uint32_t n_messages;
    const struct sl_stream_part *const *streams; /* of each packet: the first part that its sender's
                                                    stream got at the end, or NULL. NULL: none */
    const struct sl_stream_facts *facts;         /* of each packet, behind the end; NULL: none */
};

/* Sets the flows that ended in the batch that comes next, valid until it is decided. NULL: there
 * are none. Rules inspect their streams and their messages, whose indices are behind those of the
 * batch's messages. An alert of packet i's stream has index i behind those. Their alerts come
 * before those of the packet. Hits in their messages and streams have the items of the packets that
 * stand for them, behind those of the batch. The call comes after sl_evaluator_set_messages. */
SL_API void sl_evaluator_set_late(struct sl_evaluator *evaluator, const struct sl_late *late);

/* From now on rules inspect messages and streams alone: the packets of batches stand for flows that
 * ended. */
SL_API void sl_evaluator_see_messages(struct sl_evaluator *evaluator);

/* Returns the *n packets of the last run that have candidates, in their order, until the next run.
 */
SL_API const struct sl_candidates *sl_evaluator_candidates(const struct sl_evaluator *evaluator,
                                                           size_t *n);

/* Whether the state of a candidate was met: it raises an alert, or does so silently. `alert` is the
 * index of an alert of the last run. The call comes after settling and before
 * sl_evaluator_conclude. */
SL_API bool sl_evaluator_is_met(const struct sl_evaluator *evaluator, size_t alert);

/* Removes the candidates that raise no alert, after all were settled. *alerts are the *n alerts of
 * the last run, in their order, until the next run. */
SL_API void sl_evaluator_conclude(struct sl_evaluator *evaluator, const struct sl_alert **alerts,
                                  size_t *n);

/* Returns the *n packets of the last run that rules have tagged by packets before them, in their
 * order, until the next run. They are known once all is decided (sl_state_decide). */
SL_API const uint32_t *sl_evaluator_tagged(const struct sl_evaluator *evaluator, size_t *n);

/* How often the last run cut the evaluation of a rule on a packet, which took more steps than a
 * packet may cost. Expressions and the choice of occurrences take them. A match may be missed
 * there. */
SL_API uint64_t sl_evaluator_stopped(const struct sl_evaluator *evaluator);

/* Whether a packet so far had an address of HOME_NET. It is looked for in packets of SL_FLOW_FIRST
 * or without a flow, and in those that rules are tried on. Known where sl_rules_assume_home alone.
 */
SL_API bool sl_evaluator_saw_home(const struct sl_evaluator *evaluator);

/* Accepts NULL. */
SL_API void sl_evaluator_free(struct sl_evaluator *evaluator);

/* Evaluates one batch with an evaluator of its own. Rules with state see each packet as if it were
 * the first. `alerts` are `cap` entries of the caller, and *n is the number found. Any thread.
 * SL_EOVERFLOW: *n is above cap, and the first cap alerts are there. SL_EINVAL: as
 * sl_evaluator_run, or the rules are not compiled. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_rules_evaluate(const struct sl_rules *rules,
                                                 const struct sl_batch *batch,
                                                 const struct sl_hits *hits,
                                                 struct sl_alert *alerts, size_t cap, size_t *n);

/* ---- state ----------------------------------------------------------------------------------- */

/* State that rules keep between packets: variables of flows, variables of hosts and of pairs of
 * them, and how often a rule has matched. It outlives a set of rules: variables are kept by name,
 * and counts by gid and sid. All times are the packets' own. */
struct sl_state;

/* The configuration of a state. */
enum { SL_STATE_HOSTS_MAX = 1 << 28 };

struct sl_state_config {
    uint32_t max_hosts;   /* variables of hosts, counts of rules and tags, 1 to SL_STATE_HOSTS_MAX;
                             the one that was used longest ago gives way */
    bool keeps_alerted;   /* for sl_state_alerted */
    uint64_t hash_key;    /* keys the table's hash: a random value resists crafted collisions */
    uint64_t reserved[4]; /* 0: room to grow */
};

/* 262,144 hosts; not kept; key 0. */
SL_API void sl_state_config_init(struct sl_state_config *config);

/* Counters of a state. */
struct sl_state_stats {
    uint64_t flow_bits;         /* variables of flows that are set now */
    uint64_t flow_bits_refused; /* not set: the flow had 64, or its shard had no memory for more */
    uint64_t hosts;             /* variables, counts and tags now */
    uint64_t hosts_evicted;     /* that gave way */
    uint64_t data_values;       /* in sets of data that rules change */
    uint64_t data_refused;      /* not set: the set had no memory for more */
};

/* Makes a state, and the slot that the table of its flows needs (struct sl_flow_config). The caller
 * frees it. SL_EINVAL: max_hosts is out of its range. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_state_create(struct sl_state **state, struct sl_flow_slot *slot,
                                               const struct sl_state_config *config,
                                               struct sl_diag *diag);

/* Takes the memory for the flows of this table, once. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status
sl_state_open(struct sl_state *state, const struct sl_flow_table *flows, struct sl_diag *diag);

/* Takes the sets of data that these compiled rules change, as they were loaded. A set whose name is
 * known stays as it is. The call comes before packets of these rules are decided, in their order.
 * SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_state_adopt(struct sl_state *state, const struct sl_rules *rules,
                                              struct sl_diag *diag);

/* Writes the sets that rules save (sl_rules_keep_data), while no packet is decided. SL_EIO,
 * SL_ENOMEM: a file was not written; the others were. */
SL_CHECK SL_API enum sl_status sl_state_save(const struct sl_state *state, struct sl_diag *diag);

/* Whether a rule has passed, or dropped, the rest of the flow of a slot, of a shard as below. */
SL_API bool sl_state_passed(const struct sl_state *state, uint32_t shard, const void *slot);
SL_API bool sl_state_dropped(const struct sl_state *state, uint32_t shard, const void *slot);

/* Settles the candidates of packet i (sl_evaluator_candidates) with the slot of its flow. A shard
 * has the packets of its flows in order, and is one thread's at a time. A packet without a flow has
 * NULL, on any thread. Returns whether the packet certainly has an alert. */
SL_API bool sl_state_settle(struct sl_state *state, struct sl_evaluator *evaluator, size_t i,
                            uint32_t shard, void *slot);

/* Decides rules that depend on more than a flow, for all packets of the evaluator's last run, after
 * they were settled. One batch after another, in order. */
SL_API void sl_state_decide(struct sl_state *state, struct sl_evaluator *evaluator,
                            const struct sl_batch *batch);

/* Whether deciding has found an alert of this flow, which has ended, where settling had found none.
 * One call a flow, in the order of sl_state_decide. */
SL_API bool sl_state_alerted(struct sl_state *state, uint64_t flow);

/* Copies the counters. Any thread. */
SL_API void sl_state_stats(const struct sl_state *state, struct sl_state_stats *stats);

/* Frees a state, after the table of its flows. Accepts NULL. */
SL_API void sl_state_free(struct sl_state *state);

#ifdef __cplusplus
}
#endif
#endif

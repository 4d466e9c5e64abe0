/* SPDX-License-Identifier: MIT */
/* Signature rules: parse Suricata, Snort 2 and Snort 3 syntax, give one literal a rule to the
 * matcher, and evaluate the rest of each rule on the matcher's hits.
 *
 * A rule that asks for something sluice does not know is skipped and counted by the keyword that
 * stopped it; a line that is no rule is an error of that line alone. Both are kept and can be
 * listed. */
#ifndef SLUICE_DETECT_H
#define SLUICE_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/engine.h"
#include "sluice/event.h"
#include "sluice/mpm.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sl_rules;

/* An empty set with the default variables: HOME_NET the private networks, EXTERNAL_NET !$HOME_NET,
 * and the *_SERVERS and *_PORTS that rule sets of Suricata and Snort use. */
SL_CHECK SL_API enum sl_status sl_rules_create(struct sl_rules **rules, struct sl_diag *diag);

/* Sets a variable ("HOME_NET", without '$') for the files that are loaded later. SL_EINVAL: the
 * value is no address list and no port list, or names itself. */
SL_CHECK SL_API enum sl_status sl_rules_set(struct sl_rules *rules, const char *name,
                                            const char *value, struct sl_diag *diag);

/* Reads a rule file. `config classification:` lines are understood, and a file
 * classification.config beside the rule file is read first. SL_EIO: the file cannot be read;
 * SL_ENOMEM. Bad lines and skipped rules do not fail the call. */
SL_CHECK SL_API enum sl_status sl_rules_load(struct sl_rules *rules, const char *path,
                                             struct sl_diag *diag);

/* The same from memory; `name` stands for the file's in diagnostics. */
SL_CHECK SL_API enum sl_status sl_rules_load_text(struct sl_rules *rules, const char *name,
                                                  const char *text, size_t text_len,
                                                  struct sl_diag *diag);

struct sl_rules_count {
    size_t lines;   /* rule lines that were read, disabled ones (behind '#') not counted */
    size_t loaded;  /* understood: they can alert */
    size_t skipped; /* ask for something that is not supported */
    size_t bad;     /* no rule, or a broken one */
    size_t
        duplicates; /* of the loaded: same gid and sid as an earlier one; the higher rev stays (of
                       equal ones the first), the other is counted here and not under loaded */
    size_t without_literal; /* of the loaded: evaluated on every packet of their protocol or port */
};

SL_API void sl_rules_count(const struct sl_rules *rules, struct sl_rules_count *count);

/* Why rules were skipped: the i-th keyword by count, largest first; false behind the last. */
SL_API bool sl_rules_skip_reason(const struct sl_rules *rules, size_t i, const char **keyword,
                                 size_t *count);

/* The i-th bad line: file, line, reason; NULL behind the last. Valid until this thread's next call
 * of one of these two. */
SL_API const struct sl_diag *sl_rules_bad_line(const struct sl_rules *rules, size_t i);

/* The i-th skipped rule: file, line, and the keyword as text; NULL behind the last. */
SL_API const struct sl_diag *sl_rules_skipped_rule(const struct sl_rules *rules, size_t i);

/* The loaded signature i, 0 to loaded - 1, in order of files and lines. */
SL_API const struct sl_signature *sl_rules_signature(const struct sl_rules *rules, size_t i);

/* Ends loading: chooses the literal of each rule and gives the distinct ones (literals[] owned by
 * the rules; a literal's index is the id that hits carry). After this nothing may be loaded.
 * SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_rules_compile(struct sl_rules *rules,
                                                const struct sl_literal **literals,
                                                size_t *n_literals, struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_rules_free(struct sl_rules *rules);

/* An alert: this packet matches this signature. */
struct sl_alert {
    uint32_t item;
    uint32_t signature; /* index for sl_rules_signature */
};

/* Evaluates compiled rules on one batch after another, in memory that it keeps; one thread at a
 * time. Compiled rules are immutable and outlive it: any number of evaluators share them. */
struct sl_evaluator;

/* SL_EINVAL: the rules are not compiled. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_evaluator_create(struct sl_evaluator **evaluator,
                                                   const struct sl_rules *rules,
                                                   struct sl_diag *diag);

/* Evaluates the rules on a dissected, flow-tracked host batch: those whose literal is among the
 * hits (sorted by sl_hits_sort, or NULL where no rule has a literal) and those without one. Gives
 * one alert a packet and signature, ordered by item, then priority, then signature index; a packet
 * that a `pass` rule matches gives none. The *n alerts are the evaluator's, until its next run. No
 * result depends on the batches before. SL_EINVAL: the batch is no host batch of packets, or hits
 * are missing. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_evaluator_run(struct sl_evaluator *evaluator,
                                                const struct sl_batch *batch,
                                                const struct sl_hits *hits,
                                                const struct sl_alert **alerts, size_t *n);

/* Accepts NULL. */
SL_API void sl_evaluator_free(struct sl_evaluator *evaluator);

/* The same for one batch, in an evaluator of the call's own. alerts: `cap` entries of the caller;
 * *n is the number found, SL_EOVERFLOW where it is above cap. SL_EINVAL also: the rules are not
 * compiled. */
SL_CHECK SL_API enum sl_status sl_rules_evaluate(const struct sl_rules *rules,
                                                 const struct sl_batch *batch,
                                                 const struct sl_hits *hits,
                                                 struct sl_alert *alerts, size_t cap, size_t *n);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* The rules of a policy, and the matcher of their literals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "detect/match/class_matcher.h"
#include "detect/match/match_class.h"
#include "engines/seam/seam_table.h"
#include "run_policy.h"
#include "sluice/app.h"
#include "traffic_sample.h"

/* ---- rules ----------------------------------------------------------------------------------- */

static enum sl_status load_files(struct run_policy *policy, const struct sl_run_config *config,
                                 struct sl_diag *diag)
{
    enum sl_status status = sl_rules_create(&policy->rules, diag);

    policy->owns_rules = status == SL_OK;
    if (status == SL_OK && config->data_folder != NULL)
        status = sl_rules_keep_data(policy->rules, config->data_folder, diag);
    for (size_t i = 0; i < config->n_rule_variables && status == SL_OK; i++)
        status = sl_rules_assign(policy->rules, config->rule_variables[i], diag);
    if (status == SL_OK && config->rule_actions != NULL)
        status = sl_rules_order_actions(policy->rules, config->rule_actions, diag);
    for (size_t i = 0; i < config->n_rule_configurations && status == SL_OK; i++)
        status = sl_rules_configure(policy->rules, config->rule_configurations[i], diag);
    for (size_t i = 0; i < config->n_rule_files && status == SL_OK; i++)
        status = sl_rules_load(policy->rules, config->rule_files[i], diag);
    return status;
}

static void send_bad(struct run_notices *notices, const struct sl_rules *rules)
{
    const struct sl_diag *first = sl_rules_bad_line(rules, 0);
    const struct sl_run_notice notice = {.kind = SL_RUN_RULES_BAD, .diag = first, .rules = rules};

    if (first != NULL)
        run_notices_send(notices, &notice);
}

static void send_unsaved(struct run_notices *notices, const struct sl_rules *rules)
{
    struct sl_diag diag = {0};

    if (!sl_rules_lose_data(rules))
        return;
    (void)diag_set(&diag, SL_OK, NULL, 0, "sets of data that rules save are lost at the end");
    run_notices_text(notices, SL_RUN_DATA_UNSAVED, &diag);
}

/* A run without a single rule has nothing to find: the files are other ones than were meant. */
static enum sl_status check_loaded(const struct sl_rules *rules, const struct sl_run_config *config,
                                   struct sl_diag *diag)
{
    char name[sizeof diag->file];

    snprintf(name, sizeof name, "%s%s", config->n_rule_files > 0 ? config->rule_files[0] : "rules",
             config->n_rule_files > 1 ? " and others" : "");
    return sl_rules_require(rules, name, diag);
}

/* ---- the matcher ----------------------------------------------------------------------------- */

/* A table from a file is good for the literals that it was compiled from alone: hits carry their
 * indices. */
static enum sl_status load_matcher(struct run_policy *policy, const char *path,
                                   struct sl_diag *diag)
{
    struct sl_mpm_info info;
    const enum sl_status status = sl_mpm_load(&policy->matcher, path, diag);

    if (status != SL_OK)
        return status;
    sl_mpm_info(policy->matcher, &info);
    if (info.literals_check == sl_mpm_literals_check(policy->literals, policy->n_literals))
        return SL_OK;
    return diag_set(diag, SL_EFORMAT, path, 0,
                    "was compiled from other rules or another version of them (sluice rules "
                    "--compile makes it anew)");
}

/* For the devices that are chosen, as CPUs can use a matcher of a GPU as well. */
static void configure_matcher(struct sl_mpm_config *mpm, const struct run_policy_build *build,
                              const struct sl_batch *sample)
{
    sl_mpm_config_init(mpm);
    if (build->variants->matcher[0] != '\0')
        mpm->algorithm = build->variants->matcher;
    mpm->device = build->pipeline->devices[0].kind;
    mpm->sample = sample;
}

/* Whether the CPU alone runs the matcher. */
static bool is_for_cpu(const struct run_policy *policy, const struct run_policy_build *build)
{
    const struct sl_pipeline_config *const pipeline = build->pipeline;

    return pipeline->n_devices == 1 && pipeline->devices[0].kind == SL_DEVICE_CPU &&
           sl_engine_choose(sl_mpm_engine(policy->matcher), SL_DEVICE_CPU, NULL) != NULL;
}

/* Unless it is loaded already. */
static enum sl_status make_matcher(struct run_policy *policy, const struct run_policy_build *build,
                                   const struct sl_mpm_config *mpm, struct mpm_learned *learned,
                                   struct sl_diag *diag)
{
    if (policy->matcher != NULL)
        return SL_OK;
    if (build->config->compiled != NULL)
        return load_matcher(policy, build->config->compiled, diag);
    return mpm_build_one(&policy->matcher, mpm, policy->literals, policy->n_literals, learned,
                         diag);
}

/* Lists the classes that want each literal. False: no memory. */
static bool list_wanted(struct run_policy *policy)
{
    policy->wanted = malloc(policy->n_literals);
    for (size_t id = 0; id < policy->n_literals && policy->wanted != NULL; id++)
        policy->wanted[id] = match_classes_that_want(&policy->rules->index->wants[id]);
    return policy->wanted != NULL;
}

static void add_matcher(struct run_policy *policy, struct sl_pipeline_config *pipeline)
{
    const bool by_class = policy->classes != NULL;
    const struct sl_engine *engine =
        by_class ? class_matcher_engine(policy->classes) : sl_mpm_engine(policy->matcher);

    policy->matcher_engine =
        run_add_engine(pipeline, engine, by_class ? (void *)policy->classes : policy->matcher);

    struct sl_pipeline_engine *added = &pipeline->engines[policy->matcher_engine];

    added->wanted = policy->wanted;
    added->n_wanted = policy->wanted != NULL ? policy->n_literals : 0;
    added->run_ends = MATCH_RUN_ENDS;
    added->scans_made =
        policy->sees_streams || (policy->buffers & ~(uint32_t)SL_BUFFER_PAYLOAD) != 0;
    if (policy->sees_streams && policy->seams.table != NULL)
        pipeline->engines[run_add_engine(pipeline, seam_engine(), policy->seam_table)].joins =
            (uint32_t)policy->matcher_engine + 1;
}

/* The tables are for the first packets of the captures. */
static enum sl_status build_matcher(struct run_policy *policy, const struct run_policy_build *build,
                                    struct sl_diag *diag)
{
    struct sl_batch *sample = traffic_sample_read(build->config->files, build->config->n_files);
    struct mpm_learned learned = {0};
    struct sl_mpm_config mpm;
    struct sl_mpm_info info;

    configure_matcher(&mpm, build, sample);
    enum sl_status status = make_matcher(policy, build, &mpm, &learned, diag);
    if (status == SL_OK && policy->n_literals != 0 && is_for_cpu(policy, build)) {
        sl_mpm_info(policy->matcher, &info);
        mpm.algorithm = info.algorithm;
        status = class_matcher_build(&policy->classes, policy->rules, policy->matcher, &mpm,
                                     &learned, diag);
    }
    mpm_learned_clear(&learned);
    sl_batch_free(sample);
    if (status != SL_OK || policy->n_literals == 0)
        return status;
    if (policy->classes == NULL && !list_wanted(policy))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %zu literals", policy->n_literals);
    add_matcher(policy, build->pipeline);
    return SL_OK;
}

static uint32_t longest_of(const struct sl_literal *literals, size_t n)
{
    uint32_t longest = 1;

    for (size_t i = 0; i < n; i++)
        longest = literals[i].len > longest ? literals[i].len : longest;
    return longest;
}

/* Of the literals that are wanted in bytes of streams. NULL: no memory. */
static struct seam_table *table_of_seams(const struct rule_index *index)
{
    struct seam_wanted *const wanted = malloc((index->n_literals + 1) * sizeof *wanted);
    struct seam_table *table;
    uint32_t n = 0;

    for (uint32_t id = 0; wanted != NULL && id < index->n_literals; id++) {
        const uint32_t flows = index->wants[id].flows;
        const struct sl_literal *const literal = &index->literal[id];

        if (match_class_wants(MATCH_STREAM, &index->wants[id]))
            wanted[n++] = (struct seam_wanted){
                .bytes = literal->bytes,
                .len = literal->len,
                .nocase = (literal->flags & SL_LITERAL_NOCASE) != 0,
                .to = {(flows & ~RULE_FLOWS_TO_SERVER) != 0, (flows & RULE_FLOWS_TO_SERVER) != 0},
                .id = id | (uint64_t)SL_BUFFER_STREAM << 32};
    }
    table = wanted != NULL ? seam_table_create(wanted, n, SL_STREAM_HIT_BASE) : NULL;
    free(wanted);
    return table;
}

static enum sl_status find_seams(struct run_policy *policy, struct sl_diag *diag)
{
    policy->seams.len = longest_of(policy->literals, policy->n_literals) - 1;
    policy->seams.table = policy->seam_table = table_of_seams(policy->rules->index);
    return policy->seam_table != NULL
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for literals that segments cut");
}

enum sl_status run_policy_load_rules(struct run_policy *policy,
                                     const struct run_policy_build *build, struct sl_diag *diag)
{
    const struct sl_run_config *config = build->config;
    enum sl_status status = SL_OK;

    if (config->rules == NULL && config->n_rule_files == 0)
        return SL_OK;
    policy->rules = config->rules;
    if (config->rules == NULL)
        status = load_files(policy, config, diag);
    if (status != SL_OK)
        return status;
    send_bad(build->notices, policy->rules);
    status = check_loaded(policy->rules, config, diag);
    if (status == SL_OK)
        status = sl_rules_compile(policy->rules, &policy->literals, &policy->n_literals, diag);
    if (status == SL_OK && config->profile_rules)
        status = sl_rules_profile(policy->rules, diag);
    if (status != SL_OK)
        return status;
    send_unsaved(build->notices, policy->rules);
    status = find_seams(policy, diag);
    policy->buffers = sl_rules_buffers(policy->rules);
    policy->asks_stream_facts = sl_rules_ask_stream_facts(policy->rules);
    policy->sees_streams = config->stream_memory != 0 &&
                           (policy->asks_stream_facts || sl_rules_see_streams(policy->rules));
    policy->finds_app |= sl_rules_need_app(policy->rules);
    return status;
}

enum sl_status run_policy_build_matcher(struct run_policy *policy,
                                        const struct run_policy_build *build, struct sl_diag *diag)
{
    return policy->rules != NULL ? build_matcher(policy, build, diag) : SL_OK;
}

enum sl_status run_policy_match_on_cpu(struct run_policy *policy,
                                       const struct run_policy_build *build, struct sl_diag *diag)
{
    if (policy->rules == NULL)
        return SL_OK;
    if (policy->matcher_engine >= 0)
        build->pipeline->n_engines = (uint32_t)policy->matcher_engine;
    policy->matcher_engine = -1;
    class_matcher_free(policy->classes);
    policy->classes = NULL;
    free(policy->wanted);
    policy->wanted = NULL;
    if (build->config->compiled == NULL) {
        sl_mpm_free(policy->matcher);
        policy->matcher = NULL;
    }
    return build_matcher(policy, build, diag);
}

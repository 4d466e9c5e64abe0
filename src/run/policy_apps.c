/* SPDX-License-Identifier: MIT */
/* The values that flows are asked for: by events, and by rules. */
#include "base/diag.h"
#include "run_policy.h"

#define BIT(id) (UINT64_C(1) << (id)) /* sl_app_value_bit, of those with a bit of their own */

static uint64_t bits(enum sl_app_value_id first, enum sl_app_value_id last)
{
    uint64_t sum = 0;

    for (int id = (int)first; id <= (int)last; id++)
        sum |= sl_app_value_bit((enum sl_app_value_id)id);
    return sum;
}

/* The values that alerts show of messages. */
static const uint64_t of_alerts =
    BIT(SL_HTTP_METHOD) | BIT(SL_HTTP_URI_RAW) | BIT(SL_HTTP_HOST) | BIT(SL_HTTP_PROTOCOL) |
    BIT(SL_HTTP_STAT_CODE) | BIT(SL_HTTP_USER_AGENT) | BIT(SL_HTTP_REFERER) |
    BIT(SL_HTTP_CONTENT_TYPE) | BIT(SL_HTTP_LOCATION) | BIT(SL_TLS_SNI) | BIT(SL_TLS_VERSION) |
    BIT(SL_TLS_CERT_SUBJECT) | BIT(SL_TLS_CERT_ISSUER) | BIT(SL_TLS_CERT_SERIAL) |
    BIT(SL_TLS_CERT_FINGERPRINT) | BIT(SL_TLS_CERT_NOT_BEFORE) | BIT(SL_TLS_CERT_NOT_AFTER) |
    BIT(SL_TLS_JA3_HASH) | BIT(SL_TLS_JA3) | BIT(SL_TLS_JA3S_HASH) | BIT(SL_TLS_JA3S) |
    BIT(SL_TLS_JA4) | BIT(SL_TLS_ALPN) | BIT(SL_SMTP_HELO);

static void ask_for_rules(struct run_policy *policy, bool has_sink)
{
    const struct sl_rules *rules = policy->rules;
    const uint32_t files = sl_rules_need_files(rules);
    struct app_config *apps = &policy->apps;

    apps->values = sl_rules_need_values(rules);
    apps->has_steps = sl_rules_need_steps(rules);
    apps->has_events = sl_rules_need_events(rules);
    apps->has_sides = sl_rules_need_sides(rules);
    apps->has_files = (files & SL_RULES_FILES) != 0;
    apps->files.hashes = (uint8_t)(files & ((1u << SL_N_FILE_HASHES) - 1));
    apps->files.magic = (files & SL_RULES_FILE_MAGIC) != 0;
    policy->hears = apps->has_steps || apps->has_events || apps->has_files;
    if (has_sink && policy->hears)
        apps->values |= of_alerts;
}

static void ask_for_events(struct app_config *apps, const struct sl_run_config *config)
{
    static const struct {
        enum sl_event_kind kind;
        enum sl_app app;
        enum sl_app_value_id first, last; /* the values that its event shows */
    } events[] = {{SL_EVENT_DNS_MESSAGE, SL_APP_DNS, SL_DNS_MESSAGE, SL_DNS_MESSAGE},
                  {SL_EVENT_HTTP_MESSAGE, SL_APP_HTTP, SL_HTTP_METHOD, SL_HTTP_LOCATION},
                  {SL_EVENT_FILE, SL_APP_HTTP, SL_HTTP_METHOD, SL_HTTP_LOCATION},
                  {SL_EVENT_FILE, SL_APP_SMTP, SL_SMTP_HELO, SL_EMAIL_ATTACHMENT},
                  {SL_EVENT_SMTP_MESSAGE, SL_APP_SMTP, SL_SMTP_HELO, SL_EMAIL_ATTACHMENT},
                  {SL_EVENT_SSH_MESSAGE, SL_APP_SSH, SL_SSH_PROTO, SL_SSH_HASSH_STRING},
                  {SL_EVENT_FTP_MESSAGE, SL_APP_FTP, SL_FTP_COMMAND, SL_FTP_REPLY},
                  {SL_EVENT_TLS_MESSAGE, SL_APP_TLS, SL_TLS_SNI, SL_TLS_JA4},
                  {SL_EVENT_TLS_MESSAGE, SL_APP_TLS, SL_TLS_CERT, SL_TLS_ALPN},
                  {SL_EVENT_QUIC_MESSAGE, SL_APP_QUIC, SL_TLS_SNI, SL_TLS_JA4},
                  {SL_EVENT_QUIC_MESSAGE, SL_APP_QUIC, SL_TLS_ALPN, SL_TLS_ALPN}};

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if ((config->events >> events[i].kind & 1) == 0)
            continue;
        if (events[i].kind != SL_EVENT_FILE)
            apps->is_done |= 1u << events[i].app;
        apps->values |= bits(events[i].first, events[i].last);
    }
    if ((config->events >> SL_EVENT_ANOMALY & 1) != 0 && apps->is_done != 0)
        apps->has_events = true;
    if ((config->events >> SL_EVENT_FILE & 1) != 0) {
        apps->has_files = true;
        apps->files.hashes |= (uint8_t)(config->file_hashes | 1u << SL_FILE_SHA256);
        apps->files.magic |= config->file_magic;
    }
}

void run_policy_choose_apps(struct run_policy *policy, const struct sl_run_config *config,
                            bool reports_flows)
{
    struct app_config *apps = &policy->apps;
    const bool has_sink = config->n_sinks != 0 || config->event != NULL;

    if (config->stream_memory == 0)
        return;
    if (policy->rules != NULL)
        ask_for_rules(policy, has_sink);
    if (has_sink)
        ask_for_events(apps, config);
    policy->file_database = policy->database;
    apps->keeps_files = policy->database != NULL || config->filestore_folder != NULL;
    if (apps->keeps_files) {
        apps->has_files = true;
        apps->files.hashes |= 1u << SL_FILE_SHA256;
        apps->values |= has_sink ? of_alerts : 0;
    }
    apps->memory = config->stream_memory;
    policy->reads_apps = apps->has_steps || apps->has_events || apps->has_files ||
                         apps->is_done != 0 || reports_flows ||
                         (policy->rules != NULL && sl_rules_need_app(policy->rules));
}

enum sl_status run_policy_check_files(const struct run_policy *policy, struct sl_diag *diag)
{
    struct app_file_tools *tools = app_file_tools_create(&policy->apps.files);
    const char *fault = tools != NULL ? app_file_tools_fault(tools) : "";

    app_file_tools_free(tools);
    if (tools == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for files of flows");
    return fault == NULL ? SL_OK : diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "files: %s", fault);
}

/* SPDX-License-Identifier: MIT */
#include "classification.h"

#include <string.h>

#include "base/diag.h"

const struct rule_class *rule_class_find(const struct sl_rules *rules, struct rule_text name)
{
    return rule_map_get(&rules->classes, name.at, name.len);
}

static enum sl_status add(struct sl_rules *rules, struct rule_text name,
                          struct rule_text description, uint32_t priority, struct sl_diag *diag)
{
    const char *key = rule_arena_text(&rules->shared, name.at, name.len);
    const char *text = rule_arena_text(&rules->shared, description.at, description.len);
    struct rule_class *class = rule_arena_alloc(&rules->shared, sizeof *class);

    if (key == NULL || text == NULL || class == NULL ||
        !rule_map_put(&rules->classes, key, name.len, class))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    *class = (struct rule_class){text, priority};
    return SL_OK;
}

enum sl_status rule_class_defaults(struct sl_rules *rules, struct sl_diag *diag)
{
    static const struct {
        const char *name;
        const char *description;
        uint32_t priority;
    } classes[] = {
        {"attempted-admin", "Attempt to gain administrator rights", 1},
        {"attempted-user", "Attempt to gain user rights", 1},
        {"client-side-exploit", "Attempt to exploit a client", 1},
        {"command-and-control", "Command and control traffic of malware", 1},
        {"credential-theft", "Credentials were stolen", 1},
        {"domain-c2", "Domain that serves command and control", 1},
        {"exploit-kit", "Exploit kit", 1},
        {"file-format", "File that exploits its reader", 1},
        {"inappropriate-content", "Inappropriate content", 1},
        {"malware-cnc", "Command and control traffic of malware", 1},
        {"policy-violation", "Violation of policy", 1},
        {"shellcode-detect", "Executable code in traffic", 1},
        {"successful-admin", "Administrator rights were gained", 1},
        {"successful-user", "User rights were gained", 1},
        {"targeted-activity", "Targeted malicious activity", 1},
        {"trojan-activity", "Traffic of a trojan", 1},
        {"unsuccessful-user", "Failed attempt to gain user rights", 1},
        {"web-application-attack", "Attack on a web application", 1},
        {"attempted-dos", "Attempt to deny a service", 2},
        {"attempted-recon", "Attempt to gather information", 2},
        {"bad-unknown", "Traffic that may be bad", 2},
        {"coin-mining", "Mining of a cryptocurrency", 2},
        {"default-login-attempt", "Login with a default name and password", 2},
        {"denial-of-service", "Denial of a service", 2},
        {"external-ip-check", "Look-up of one's own external address", 2},
        {"misc-attack", "Attack of another kind", 2},
        {"non-standard-protocol", "Protocol or event that is not standard", 2},
        {"pup-activity", "Traffic of a program that may be unwanted", 2},
        {"rpc-portmap-decode", "RPC portmap query", 2},
        {"sdf", "Sensitive data", 2},
        {"social-engineering", "Attempt at social engineering", 2},
        {"successful-dos", "A service was denied", 2},
        {"successful-recon-largescale", "Much information was gathered", 2},
        {"successful-recon-limited", "Information was gathered", 2},
        {"suspicious-filename-detect", "Suspicious file name", 2},
        {"suspicious-login", "Login with a suspicious name", 2},
        {"system-call-detect", "System call in traffic", 2},
        {"unusual-client-port-connection", "Client on an unusual port", 2},
        {"web-application-activity", "Access to a web application that may be vulnerable", 2},
        {"icmp-event", "ICMP event", 3},
        {"misc-activity", "Activity of another kind", 3},
        {"network-scan", "Network scan", 3},
        {"not-suspicious", "Traffic that is not suspicious", 3},
        {"protocol-command-decode", "Command of a protocol", 3},
        {"string-detect", "Suspicious text", 3},
        {"unknown", "Unknown traffic", 3},
        {"tcp-connection", "TCP connection", 4},
    };

    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        const struct rule_text name = {classes[i].name, strlen(classes[i].name)};
        const struct rule_text description = {classes[i].description,
                                              strlen(classes[i].description)};
        const enum sl_status status = add(rules, name, description, classes[i].priority, diag);

        if (status != SL_OK)
            return status;
    }
    return SL_OK;
}

enum sl_status rule_class_read(struct sl_rules *rules, struct rule_text value, struct sl_diag *diag)
{
    struct rule_text name, description;
    int64_t priority;

    if (!rule_text_split(&value, ',', &name) || name.len == 0 ||
        !rule_text_split(&value, ',', &description) ||
        !rule_text_number(rule_trim(value), 1, UINT32_MAX, &priority))
        return diag_set(diag, SL_EFORMAT, NULL, 0,
                        "a classification has a name, a description and a priority from 1");
    return add(rules, name, description, (uint32_t)priority, diag);
}

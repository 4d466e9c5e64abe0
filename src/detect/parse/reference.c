/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <ctype.h>
#include <string.h>

#include "base/diag.h"

enum { SYSTEM_MAX = 64 }; /* bytes of a name */

/* Writes the name in lower case. False: it is none. */
static bool fold(char folded[SYSTEM_MAX], struct rule_text system)
{
    if (system.len == 0 || system.len > SYSTEM_MAX)
        return false;
    for (size_t i = 0; i < system.len; i++) {
        const unsigned char c = (unsigned char)system.at[i];

        if (!isalnum(c) && c != '-' && c != '_' && c != '.')
            return false;
        folded[i] = (char)tolower(c);
    }
    return true;
}

static enum sl_status add(struct sl_rules *rules, struct rule_text system, struct rule_text address,
                          struct sl_diag *diag)
{
    char folded[SYSTEM_MAX];

    if (!fold(folded, system) || address.len == 0)
        return diag_set(diag, SL_EFORMAT, NULL, 0, "a reference has a system and an address");

    const char *key = rule_arena_text(&rules->shared, folded, system.len);
    char *copy = rule_arena_text(&rules->shared, address.at, address.len);

    if (key == NULL || copy == NULL || !rule_map_put(&rules->references, key, system.len, copy))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    return SL_OK;
}

enum sl_status rule_reference_defaults(struct sl_rules *rules, struct sl_diag *diag)
{
    const struct rule_text url = {"url", 3}, cve = {"cve", 3};
    const struct rule_text https = {"https://", 8};
    static const char cves[] = "https://cve.mitre.org/cgi-bin/cvename.cgi?name=";
    const enum sl_status status = add(rules, url, https, diag);

    return status != SL_OK ? status
                           : add(rules, cve, (struct rule_text){cves, sizeof cves - 1}, diag);
}

enum sl_status rule_reference_read(struct sl_rules *rules, struct rule_text value,
                                   struct sl_diag *diag)
{
    size_t len = 0;

    while (len < value.len && !rule_blank(value.at[len]))
        len++;
    return add(rules, (struct rule_text){value.at, len},
               rule_trim((struct rule_text){value.at + len, value.len - len}), diag);
}

const char *rule_reference_find(const struct sl_rules *rules, struct rule_text system)
{
    char folded[SYSTEM_MAX];

    return fold(folded, system) ? rule_map_get(&rules->references, folded, system.len) : NULL;
}

/* SPDX-License-Identifier: MIT */
/* Settings for rules in a configuration of Suricata (suricata.yaml) or Snort 3 (snort.lua):
 * variables, rule files, and files of classes, references and filters. The rest is listed, so that
 * nothing is dropped silently.
 *
 * Of YAML these keys are taken: vars.address-groups, vars.port-groups, default-rule-path,
 * rule-files, classification-file, reference-config-file, threshold-file, action-order, include. No
 * Lua is run. Of snort.lua these are taken: assignments of texts to names in capitals, include
 * 'FILE', and the texts `include` and `rules` of ips. */
#ifndef SLUICE_SETTINGS_H
#define SLUICE_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The use of a setting. */
enum sl_setting_kind {
    SL_SETTING_VARIABLE,  /* "NAME=VALUE", for sl_rules_assign; after those that it names */
    SL_SETTING_ACTIONS,   /* actions with commas between them, for sl_rules_order_actions */
    SL_SETTING_CONFIGURE, /* a path, for sl_rules_configure */
    SL_SETTING_RULES,     /* a path or pattern, for sl_rules_load */
    SL_SETTING_LEFT_OUT,  /* a key that was not taken, and may change what alerts */
    SL_SETTING_OTHER,     /* one that steers output, capture or threads */
    SL_N_SETTING_KINDS
};

/* A setting and its place. Texts are valid until the settings are closed. */
struct sl_setting {
    enum sl_setting_kind kind;
    const char *value;
    const char *file;
    uint32_t line; /* from 1 */
};

/* Settings that were read. They do not change; any number of threads read them. */
struct sl_settings;

/* Reads a configuration and the files that it includes: up to 256, and 4,096 settings. A path that
 * ends in ".lua" is Snort's, any other Suricata's. Paths are relative to the folder of this file.
 * The caller closes *settings, also after a failure. SL_EFORMAT: a file is no YAML, a key has a
 * value of another form, or there are too many. SL_EIO: a file cannot be read, or has more than 16
 * MiB. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_settings_open(struct sl_settings **settings, const char *path,
                                                struct sl_diag *diag);

/* Returns setting i, from 0 on: by kinds, then in the order of the text. A variable comes before
 * those that name it. NULL: i is behind the last. Any thread. */
SL_API const struct sl_setting *sl_settings_at(const struct sl_settings *settings, size_t i);

/* Accepts NULL. */
SL_API void sl_settings_close(struct sl_settings *settings);

#ifdef __cplusplus
}
#endif
#endif

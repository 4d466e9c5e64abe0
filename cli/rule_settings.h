/* SPDX-License-Identifier: MIT */
/* Settings that a configuration of Suricata or Snort has given, and those without effect. */
#ifndef CLI_RULE_SETTINGS_H
#define CLI_RULE_SETTINGS_H

#include <jansson.h>

#include "rule_files.h"

/* Two lines: the settings that were taken, and the keys that may change alerts and were not. With
 * `list` each key that was not taken has a line with its place. `prefix` begins each line. Nothing
 * is printed where no configuration was named. */
void rule_settings_print(const struct rule_files *files, const char *prefix, bool list, FILE *out);

/* The same as an object. */
json_t *rule_settings_json(const struct rule_files *files);

#endif

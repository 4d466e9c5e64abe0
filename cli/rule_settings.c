/* SPDX-License-Identifier: MIT */
#include "rule_settings.h"

#include <stdio.h>
#include <string.h>

#include "console.h"
#include "json_text.h"

enum { NAMED = 12 }; /* keys that a line names */

struct counts {
    size_t of[SL_N_SETTING_KINDS];
};

static struct counts count(const struct sl_settings *settings)
{
    struct counts counts = {0};
    const struct sl_setting *setting;

    for (size_t i = 0; (setting = sl_settings_at(settings, i)) != NULL; i++)
        counts.of[setting->kind]++;
    return counts;
}

/* The first keys that may change alerts. */
static void print_keys(const struct sl_settings *settings, FILE *out)
{
    const struct sl_setting *setting;
    char safe[128];
    size_t n = 0;

    for (size_t i = 0; (setting = sl_settings_at(settings, i)) != NULL; i++) {
        if (setting->kind != SL_SETTING_LEFT_OUT || n++ >= NAMED)
            continue;
        fprintf(out, "%s%s", n == 1 ? ": " : ", ",
                cli_printable(setting->value, safe, sizeof safe));
    }
    fputs(n > NAMED ? ", ...\n" : "\n", out);
}

static void print_list(const struct sl_settings *settings, const char *prefix, FILE *out)
{
    const struct sl_setting *setting;
    char file[512], key[512];

    for (size_t i = 0; (setting = sl_settings_at(settings, i)) != NULL; i++)
        if (setting->kind == SL_SETTING_LEFT_OUT || setting->kind == SL_SETTING_OTHER)
            fprintf(out, "%s%s:%u: %s has no effect here%s\n", prefix,
                    cli_printable(setting->file, file, sizeof file), setting->line,
                    cli_printable(setting->value, key, sizeof key),
                    setting->kind == SL_SETTING_OTHER ? " (output, capture or threads)" : "");
}

void rule_settings_print(const struct rule_files *files, const char *prefix, bool list, FILE *out)
{
    char safe[512];

    if (files->settings == NULL)
        return;

    const struct counts counts = count(files->settings);

    fprintf(out, "%s%s: %zu variables, %zu rule files, %zu files of configuration\n", prefix,
            cli_printable(files->from_config, safe, sizeof safe), counts.of[SL_SETTING_VARIABLE],
            counts.of[SL_SETTING_RULES], counts.of[SL_SETTING_CONFIGURE]);
    if (counts.of[SL_SETTING_OTHER] + counts.of[SL_SETTING_LEFT_OUT] == 0)
        return;
    fprintf(out,
            "%swithout effect here: %zu keys of output, capture or threads, and %zu that may "
            "change alerts",
            prefix, counts.of[SL_SETTING_OTHER], counts.of[SL_SETTING_LEFT_OUT]);
    print_keys(files->settings, out);
    if (list)
        print_list(files->settings, prefix, out);
}

static json_t *values(const struct sl_settings *settings, enum sl_setting_kind kind)
{
    const bool placed = kind == SL_SETTING_LEFT_OUT || kind == SL_SETTING_OTHER;
    json_t *array = json_array();
    const struct sl_setting *setting;

    for (size_t i = 0; (setting = sl_settings_at(settings, i)) != NULL; i++) {
        if (setting->kind != kind)
            continue;

        json_t *text = cli_json_text(setting->value, strlen(setting->value));

        json_array_append_new(
            array, placed ? json_pack("{s:o, s:I, s:o}", "file",
                                      cli_json_text(setting->file, strlen(setting->file)), "line",
                                      (json_int_t)setting->line, "key", text)
                          : text);
    }
    return array;
}

json_t *rule_settings_json(const struct rule_files *files)
{
    const struct sl_settings *settings = files->settings;

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "file",
                     cli_json_text(files->from_config, strlen(files->from_config)), "variables",
                     values(settings, SL_SETTING_VARIABLE), "configurations",
                     values(settings, SL_SETTING_CONFIGURE), "rule_files",
                     values(settings, SL_SETTING_RULES), "left_out",
                     values(settings, SL_SETTING_LEFT_OUT), "other",
                     values(settings, SL_SETTING_OTHER));
}

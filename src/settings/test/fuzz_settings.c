/* SPDX-License-Identifier: MIT */
/* Any text as a configuration of both formats. Files that it includes are not there. */
#include <stdlib.h>
#include <string.h>

#include "settings/settings_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const struct sl_settings *settings)
{
    const struct sl_setting *setting, *before = NULL;

    for (size_t i = 0; (setting = sl_settings_at(settings, i)) != NULL; before = setting, i++)
        if (before != NULL && before->kind > setting->kind)
            abort();
}

static void read_one(const char *text, size_t size, bool lua)
{
    struct sl_diag diag;
    struct settings_reader reader = {.settings = calloc(1, sizeof(struct sl_settings)),
                                     .folder = strdup("/nowhere/"),
                                     .diag = &diag};

    if (reader.settings == NULL || reader.folder == NULL)
        abort();
    if ((lua ? settings_read_lua : settings_read_yaml)(&reader, "fuzz", text, size) == SL_OK) {
        if (settings_finish(&reader) != SL_OK)
            abort();
        check_order(reader.settings);
    }
    free(reader.folder);
    free(reader.rule_path);
    sl_settings_close(reader.settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    read_one(text, size, false);
    read_one(text, size, true);
    free(text);
    return 0;
}

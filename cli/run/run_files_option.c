/* SPDX-License-Identifier: MIT */
#include "run_files_option.h"

#include <string.h>

#include "cli/cli.h"

static bool is_word(const char *word, size_t len, const char *other)
{
    return strlen(other) == len && memcmp(word, other, len) == 0;
}

bool run_files_option_parse(const char *list, struct sl_run_config *config)
{
    static const char *const hashes[SL_N_FILE_HASHES] = {"md5", "sha1", "sha256"};

    if (list == NULL)
        return true;
    if ((config->events >> SL_EVENT_FILE & 1) == 0) {
        cli_error("--file-info '%s' needs --events fileinfo: they show it", list);
        return false;
    }
    for (;; list++) {
        const size_t len = strcspn(list, ",");
        bool known = is_word(list, len, "magic");

        config->file_magic |= known;
        for (int h = 0; h < SL_N_FILE_HASHES; h++)
            if (is_word(list, len, hashes[h])) {
                config->file_hashes |= 1u << h;
                known = true;
            }
        if (!known) {
            cli_error("--file-info '%.*s' is nothing of files (expected some of: md5, sha1, "
                      "sha256, magic)",
                      (int)len, list);
            return false;
        }
        list += len;
        if (*list == '\0')
            return true;
    }
}

/* SPDX-License-Identifier: MIT */
/* A configuration while it is read: the state that both formats share. */
#ifndef SETTINGS_READER_H
#define SETTINGS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/settings.h"

enum {
    SETTINGS_FILES_MAX = 256,
    SETTINGS_DEPTH_MAX = 16,       /* of files that include files */
    SETTINGS_BYTES_MAX = 16 << 20, /* of a file */
    SETTINGS_MAX = 4096,           /* settings of a configuration */
};

struct sl_settings {
    struct sl_setting *setting; /* all texts are malloc'ed, but for the files' names */
    size_t n, cap;
    char **file; /* names of files that were read */
    size_t n_files;
};

/* Where a value stands. */
struct settings_place {
    const char *file; /* of the settings */
    uint32_t line;    /* from 1 on */
};

struct settings_reader {
    struct sl_settings *settings;
    char *folder;    /* of the first file, with a '/' behind it; "" */
    char *rule_path; /* default-rule-path, or NULL */
    unsigned depth;  /* of files */
    struct sl_diag *diag;
};

/* Keeps a setting. SL_ENOMEM. */
enum sl_status settings_add(struct settings_reader *reader, enum sl_setting_kind kind,
                            struct settings_place place, const char *value);

/* Keeps "NAME=VALUE", in the place of an earlier value of this name. SL_ENOMEM. */
enum sl_status settings_add_variable(struct settings_reader *reader, struct settings_place place,
                                     const char *name, const char *value);

/* Keeps the path of a file, relative to the configuration. SL_ENOMEM. */
enum sl_status settings_add_path(struct settings_reader *reader, enum sl_setting_kind kind,
                                 struct settings_place place, const char *path);

/* Forgets settings of a kind. */
void settings_forget(struct sl_settings *settings, enum sl_setting_kind kind);

/* The text of a file; *text is malloc'ed, with a NUL behind it. *name is the settings' copy of the
 * path, which is relative to the configuration. SL_EFORMAT: too many files, or files that include
 * one another; `place` names the first. SL_EIO, SL_ENOMEM. */
enum sl_status settings_read_file(struct settings_reader *reader, struct settings_place place,
                                  const char *path, const char **name, char **text, size_t *len);

/* A path relative to the configuration, malloc'ed. NULL: no memory. */
char *settings_path(const struct settings_reader *reader, const char *path);

enum sl_status settings_fail(struct settings_reader *reader, struct settings_place place,
                             const char *format, ...) __attribute__((format(printf, 3, 4)));

enum sl_status settings_no_memory(struct settings_reader *reader);

/* Reads a text of each format. Statuses as of sl_settings_open. */
enum sl_status settings_read_yaml(struct settings_reader *reader, const char *name,
                                  const char *text, size_t len);
enum sl_status settings_read_lua(struct settings_reader *reader, const char *name, const char *text,
                                 size_t len);

/* Ends the reading of a configuration: rule files get their folder, and variables their order.
 * SL_ENOMEM. */
enum sl_status settings_finish(struct settings_reader *reader);

#endif

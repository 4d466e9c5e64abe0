/* SPDX-License-Identifier: MIT */
#include "settings_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum sl_status settings_fail(struct settings_reader *reader, struct settings_place place,
                             const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return diag_set(reader->diag, SL_EFORMAT, place.file, place.line, "%s", text);
}

enum sl_status settings_no_memory(struct settings_reader *reader)
{
    return diag_set(reader->diag, SL_ENOMEM, NULL, 0, "out of memory");
}

/* ---- settings -------------------------------------------------------------------------------- */

static enum sl_status keep(struct settings_reader *reader, enum sl_setting_kind kind,
                           struct settings_place place, char *value)
{
    struct sl_settings *settings = reader->settings;

    if (value != NULL && settings->n == SETTINGS_MAX) {
        free(value);
        return settings_fail(reader, place, "more than %d settings", SETTINGS_MAX);
    }
    if (value != NULL && settings->n == settings->cap) {
        const size_t cap = settings->cap * 2 + 16;
        struct sl_setting *grown = reallocarray(settings->setting, cap, sizeof *grown);

        if (grown != NULL) {
            settings->setting = grown;
            settings->cap = cap;
        }
    }
    if (value == NULL || settings->n == settings->cap) {
        free(value);
        return settings_no_memory(reader);
    }
    settings->setting[settings->n++] = (struct sl_setting){kind, value, place.file, place.line};
    return SL_OK;
}

enum sl_status settings_add(struct settings_reader *reader, enum sl_setting_kind kind,
                            struct settings_place place, const char *value)
{
    return keep(reader, kind, place, strdup(value));
}

/* Takes setting i out. */
static void drop(struct sl_settings *settings, size_t i)
{
    free((char *)settings->setting[i].value);
    settings->n--;
    memmove(settings->setting + i, settings->setting + i + 1,
            (settings->n - i) * sizeof *settings->setting);
}

void settings_forget(struct sl_settings *settings, enum sl_setting_kind kind)
{
    for (size_t i = settings->n; i-- > 0;)
        if (settings->setting[i].kind == kind)
            drop(settings, i);
}

enum sl_status settings_add_variable(struct settings_reader *reader, struct settings_place place,
                                     const char *name, const char *value)
{
    struct sl_settings *settings = reader->settings;
    const size_t name_len = strlen(name);
    char *text;

    for (size_t i = settings->n; i-- > 0;) {
        const struct sl_setting *setting = &settings->setting[i];

        if (setting->kind == SL_SETTING_VARIABLE && strncmp(setting->value, name, name_len) == 0 &&
            setting->value[name_len] == '=')
            drop(settings, i);
    }
    if (asprintf(&text, "%s=%s", name, value) < 0)
        text = NULL;
    return keep(reader, SL_SETTING_VARIABLE, place, text);
}

char *settings_path(const struct settings_reader *reader, const char *path)
{
    char *joined;

    if (asprintf(&joined, "%s%s", path[0] == '/' ? "" : reader->folder, path) < 0)
        return NULL;
    return joined;
}

enum sl_status settings_add_path(struct settings_reader *reader, enum sl_setting_kind kind,
                                 struct settings_place place, const char *path)
{
    return keep(reader, kind, place, settings_path(reader, path));
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *add_file(struct sl_settings *settings, const char *path)
{
    char **grown = reallocarray(settings->file, settings->n_files + 1, sizeof *grown);
    char *copy = strdup(path);

    if (grown != NULL)
        settings->file = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        return NULL;
    }
    settings->file[settings->n_files++] = copy;
    return copy;
}

/* Reads a stream to its end. */
static enum sl_status read_stream(struct settings_reader *reader, FILE *file, const char *path,
                                  char **text, size_t *len)
{
    char *bytes = NULL;
    size_t cap = 0;

    *len = 0;
    for (size_t n = 1; n != 0;) {
        if (cap - *len < 2) {
            char *grown = realloc(bytes, cap = cap * 2 + 8192);

            if (grown == NULL) {
                free(bytes);
                return settings_no_memory(reader);
            }
            bytes = grown;
        }
        n = fread(bytes + *len, 1, cap - *len - 1, file);
        *len += n;
        if (*len > SETTINGS_BYTES_MAX || (n == 0 && ferror(file))) {
            free(bytes);
            return diag_set(reader->diag, SL_EIO, path, 0,
                            ferror(file) ? "cannot be read" : "is longer than 16 MiB");
        }
    }
    bytes[*len] = '\0';
    *text = bytes;
    return SL_OK;
}

enum sl_status settings_read_file(struct settings_reader *reader, struct settings_place place,
                                  const char *path, const char **name, char **text, size_t *len)
{
    char *joined;

    if (reader->depth >= SETTINGS_DEPTH_MAX || reader->settings->n_files == SETTINGS_FILES_MAX)
        return settings_fail(reader, place, "more than %d files, or %d that include one another",
                             SETTINGS_FILES_MAX, SETTINGS_DEPTH_MAX);
    joined = settings_path(reader, path);
    *name = joined != NULL ? add_file(reader->settings, joined) : NULL;
    free(joined);
    if (*name == NULL)
        return settings_no_memory(reader);

    FILE *file = fopen(*name, "rb");

    if (file == NULL)
        return diag_set(reader->diag, SL_EIO, *name, 0, "cannot be opened: %s", strerror(errno));
    const enum sl_status status = read_stream(reader, file, *name, text, len);
    fclose(file);
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Puts the folder in front of rule files. */
static enum sl_status place_rules(struct settings_reader *reader)
{
    struct sl_settings *settings = reader->settings;
    char *folder = NULL;

    if (reader->rule_path != NULL && asprintf(&folder, "%s/", reader->rule_path) < 0)
        return settings_no_memory(reader);
    if (folder != NULL) {
        free(reader->folder);
        reader->folder = folder;
    }
    for (size_t i = 0; i < settings->n; i++) {
        struct sl_setting *setting = &settings->setting[i];

        if (setting->kind != SL_SETTING_RULES)
            continue;

        char *path = settings_path(reader, setting->value);

        if (path == NULL)
            return settings_no_memory(reader);
        free((char *)setting->value);
        setting->value = path;
    }
    return SL_OK;
}

/* An order that is being made. */
struct order {
    struct sl_settings *settings;
    struct sl_setting *ordered;
    size_t n;
    bool *placed;
};

static void place(struct order *order, size_t i);

/* Places the variable of this name. */
static void place_named(struct order *order, const char *name, size_t name_len)
{
    for (size_t i = 0; i < order->settings->n; i++) {
        const struct sl_setting *setting = &order->settings->setting[i];

        if (setting->kind == SL_SETTING_VARIABLE && strncmp(setting->value, name, name_len) == 0 &&
            setting->value[name_len] == '=')
            place(order, i);
    }
}

/* Places a setting, and in front of it the variables that it names. The rules refuse those that
 * name one another. SETTINGS_MAX bounds the recursion. */
static void place(struct order *order, size_t i)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const struct sl_setting *setting = &order->settings->setting[i];

    if (order->placed[i])
        return;
    order->placed[i] = true;
    if (setting->kind == SL_SETTING_VARIABLE)
        for (const char *at = setting->value; (at = strchr(at, '$')) != NULL;) {
            const size_t len = strspn(++at, letters);

            place_named(order, at, len);
        }
    order->ordered[order->n++] = *setting;
}

/* Orders settings by kind, and variables behind those that they name. */
static enum sl_status order_all(struct settings_reader *reader)
{
    struct sl_settings *settings = reader->settings;
    struct order order = {.settings = settings,
                          .ordered = calloc(settings->n + 1, sizeof *order.ordered),
                          .placed = calloc(settings->n + 1, sizeof *order.placed)};

    if (order.ordered == NULL || order.placed == NULL) {
        free(order.ordered);
        free(order.placed);
        return settings_no_memory(reader);
    }
    for (int kind = 0; kind < SL_N_SETTING_KINDS; kind++)
        for (size_t i = 0; i < settings->n; i++)
            if ((int)settings->setting[i].kind == kind)
                place(&order, i);
    free(order.placed);
    free(settings->setting);
    settings->setting = order.ordered;
    settings->cap = settings->n + 1;
    return SL_OK;
}

enum sl_status settings_finish(struct settings_reader *reader)
{
    const enum sl_status status = place_rules(reader);

    return status == SL_OK ? order_all(reader) : status;
}

static bool is_lua(const char *path)
{
    const size_t len = strlen(path);

    return len >= 4 && strcmp(path + len - 4, ".lua") == 0;
}

/* The folder of a path, with the '/' behind it; malloc'ed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strndup(path, slash != NULL ? (size_t)(slash + 1 - path) : 0);
}

static enum sl_status read_first(struct settings_reader *reader, const char *path)
{
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    char *text = NULL;
    size_t len = 0;

    reader->folder = folder_of(path);
    if (reader->folder == NULL)
        return settings_no_memory(reader);
    enum sl_status status =
        settings_read_file(reader, (struct settings_place){0}, name, &name, &text, &len);
    if (status != SL_OK)
        return status;
    status = (is_lua(path) ? settings_read_lua : settings_read_yaml)(reader, name, text, len);
    free(text);
    return status == SL_OK ? settings_finish(reader) : status;
}

enum sl_status sl_settings_open(struct sl_settings **settings, const char *path,
                                struct sl_diag *diag)
{
    struct settings_reader reader = {.settings = calloc(1, sizeof **settings), .diag = diag};

    *settings = reader.settings;
    if (reader.settings == NULL)
        return settings_no_memory(&reader);

    const enum sl_status status = read_first(&reader, path);

    free(reader.folder);
    free(reader.rule_path);
    return status;
}

const struct sl_setting *sl_settings_at(const struct sl_settings *settings, size_t i)
{
    return i < settings->n ? &settings->setting[i] : NULL;
}

void sl_settings_close(struct sl_settings *settings)
{
    if (settings == NULL)
        return;
    for (size_t i = 0; i < settings->n; i++)
        free((char *)settings->setting[i].value);
    for (size_t i = 0; i < settings->n_files; i++)
        free(settings->file[i]);
    free(settings->setting);
    free(settings->file);
    free(settings);
}

/* SPDX-License-Identifier: MIT */
/* A table ready for look-ups, from the files that a configuration names. */
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/reserved.h"
#include "names_internal.h"

void sl_names_config_init(struct sl_names_config *config)
{
    *config = (struct sl_names_config){.plane = "auto"};
}

/* The first file that is a saved table; NULL: there is none. */
static const struct sl_names_file *find_saved(const struct sl_names_config *config)
{
    for (size_t i = 0; i < config->n_files; i++)
        if (sl_names_is_saved(config->files[i].path))
            return &config->files[i];
    return NULL;
}

static enum sl_status load_all(struct sl_names *names, const struct sl_names_config *config,
                               struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (size_t i = 0; i < config->n_files && status == SL_OK; i++)
        status = sl_names_load(names, config->files[i].path, config->files[i].format, diag);
    return status;
}

static enum sl_status open_lists(struct sl_names **out, const struct sl_names_config *config,
                                 struct sl_diag *diag)
{
    const uint64_t begin = clock_ns();
    struct sl_names *names;
    enum sl_status status = sl_names_create(&names, diag);

    if (status != SL_OK)
        return status;
    status = load_all(names, config, diag);
    const uint64_t loaded = clock_ns();
    if (status == SL_OK)
        status = sl_names_build(names, config->plane, diag);
    if (status != SL_OK) {
        sl_names_free(names);
        return status;
    }
    names->load_ns = loaded - begin;
    names->build_ns = clock_ns() - loaded;
    *out = names;
    return SL_OK;
}

/* Nothing that is asked of a saved table may be without effect. */
static enum sl_status check_saved(const struct sl_names *names,
                                  const struct sl_names_config *config, struct sl_diag *diag)
{
    const struct sl_names_file *file = &config->files[0];
    struct sl_names_count count;

    sl_names_count(names, &count);
    if (file->format != NULL)
        return diag_set(diag, SL_EINVAL, file->path, 0,
                        "is a built table, and takes no format (here '%.64s')", file->format);
    if (config->plane != NULL && strcmp(config->plane, "auto") != 0 &&
        strcmp(config->plane, count.plane) != 0)
        return diag_set(diag, SL_EINVAL, file->path, 0,
                        "was built with the plane '%s', not '%.64s'", count.plane, config->plane);
    return SL_OK;
}

enum sl_status sl_names_open_files(struct sl_names **names, const struct sl_names_config *config,
                                   struct sl_diag *diag)
{
    const uint64_t begin = clock_ns();
    enum sl_status status = reserved_check(config->reserved, diag);

    *names = NULL;
    if (status != SL_OK)
        return status;
    const struct sl_names_file *saved = find_saved(config);
    if (saved == NULL)
        return open_lists(names, config, diag);
    if (config->n_files > 1)
        return diag_set(diag, SL_EINVAL, saved->path, 0,
                        "is a built table, which cannot be put together with others");
    status = sl_names_open(names, saved->path, config->updates, diag);
    if (status != SL_OK)
        return status;
    (*names)->load_ns = clock_ns() - begin;
    status = check_saved(*names, config, diag);
    if (status != SL_OK) {
        sl_names_free(*names);
        *names = NULL;
    }
    return status;
}

/* SPDX-License-Identifier: MIT */
/* The index of a table, which leads from names to nodes: building, writing and opening it. */
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "names/fib/fib_table.h"
#include "names_internal.h"

/* ---- building -------------------------------------------------------------------------------- */

/* Bytes a name at the peak of building, measured at 1 to 3 million names, with some to spare. They
 * are the plane, memory of updates beside it, and memory of the build alone. */
static const struct {
    const char *plane;
    uint32_t name_len;
} estimates[] = {{"hash", 185}, {"mata", 270}, {"ata", 235}, {"stt", 21000}};

enum { N_ESTIMATES = sizeof estimates / sizeof *estimates, ESTIMATE_FIXED = 1 << 20 };

/* The first one is what "auto" takes. */
static uint64_t estimate(const char *plane, size_t n)
{
    size_t i = N_ESTIMATES - 1;

    while (i > 0 && (plane == NULL || strcmp(plane, estimates[i].plane) != 0))
        i--;
    return ESTIMATE_FIXED + (uint64_t)n * estimates[i].name_len;
}

uint64_t sl_names_estimate(const struct sl_names *names, const char *plane)
{
    size_t n;

    if (names->map == NULL)
        return 0;
    (void)names_map_entries(names->map, &n);
    return estimate(plane, n);
}

enum sl_status names_fib_make(struct sl_names *names, const char *plane,
                              const struct sl_fib_entry *entries, size_t n, struct sl_diag *diag)
{
    const uint64_t needed = estimate(plane, n), there = names_memory_available();
    struct sl_fib_config config;

    if (needed > there)
        return diag_set(diag, SL_ENOMEM, NULL, 0,
                        "a table of %zu names needs about %" PRIu64 " MB of memory more, and "
                        "there are %" PRIu64 " MB",
                        n, needed / 1000000, there / 1000000);
    sl_fib_config_init(&config);
    if (plane != NULL)
        config.plane = plane;
    const enum sl_status status = sl_fib_build(&names->fib, &config, entries, n, diag);
    if (status != SL_OK) {
        names->fib = NULL;
        return status;
    }
    names->table = sl_fib_table(names->fib);
    return SL_OK;
}

enum sl_status sl_names_build(struct sl_names *names, const char *plane, struct sl_diag *diag)
{
    size_t n;

    if (names->map == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is built already");
    const struct sl_fib_entry *entries = names_map_entries(names->map, &n);
    const enum sl_status status = names_fib_make(names, plane, entries, n, diag);
    if (status != SL_OK)
        return status;
    names_map_free(names->map);
    names->map = NULL;
    return SL_OK;
}

uint64_t names_fib_write(struct sl_names *names, struct new_file *file)
{
    return fib_table_write(names->fib, file);
}

enum sl_status names_fib_lend(struct sl_names *names, const void *block, uint64_t len,
                              const char *path, uint64_t n_rules, struct sl_diag *diag)
{
    const enum sl_status status = fib_table_lend(&names->table, block, len, path, n_rules, diag);

    names->lent = status == SL_OK;
    if (status != SL_OK)
        names->table = NULL;
    return status;
}

void names_fib_each(struct sl_names *names,
                    bool (*each)(void *user, const struct sl_fib_entry *entry, uint32_t n_holders),
                    void *user)
{
    sl_fib_each(names->fib, each, user);
}

void names_fib_free(struct sl_names *names)
{
    if (names->lent)
        sl_fib_unload(names->table);
    sl_fib_free(names->fib);
}

void sl_names_count(const struct sl_names *names, struct sl_names_count *count)
{
    size_t n = 0;

    *count = (struct sl_names_count){.lines = names->n_lines,
                                     .rules = names->n_rules,
                                     .skipped = names->n_skipped_all,
                                     .ignored = names->n_ignored_all,
                                     .repeated = names->n_repeated,
                                     .lists = names->n_lists,
                                     .load_ns = names->load_ns,
                                     .build_ns = names->build_ns};
    if (names->map != NULL) {
        (void)names_map_entries(names->map, &n);
        count->names = n;
        return;
    }
    if (names->fib != NULL) {
        struct sl_fib_info info;

        sl_fib_info(names->fib, &info);
        count->names = info.n_entries;
        count->plane = info.plane;
        count->table_len = info.plane_len;
    } else {
        struct sl_fib_table_info info;

        sl_fib_table_info(names->table, &info);
        count->names = info.n_entries;
        count->plane = info.plane;
        count->table_len = info.table_len;
    }
    count->table_len += names->rules.n * sizeof(struct names_rule);
}

/* SPDX-License-Identifier: MIT */
/* A table of names: making it, freeing it, its lists and its values. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "names_internal.h"

const char *sl_names_action_name(enum sl_names_action action)
{
    static const char *const texts[] = {"none",     "forward", "block",   "allow",    "nxdomain",
                                        "nodata",   "refuse",  "drop",    "truncate", "address",
                                        "redirect", "server",  "category"};

    return (uint32_t)action < SL_N_NAMES_ACTIONS ? texts[action] : "?";
}

/* ---- making ---------------------------------------------------------------------------------- */

enum sl_status sl_names_create(struct sl_names **out, struct sl_diag *diag)
{
    struct sl_names *names = calloc(1, sizeof *names);

    *out = NULL;
    if (names == NULL)
        goto no_memory;
    pthread_mutex_init(&names->readers_lock, NULL);
    pthread_mutex_init(&names->update_lock, NULL);
    atomic_init(&names->epoch, 1);
    for (uint32_t i = 0; i <= NODE_RULES_MAX; i++)
        names->free_nodes[i] = NODE_NONE;
    names->map = names_map_create();
    if (!pool_init(&names->rules, sizeof(struct names_rule)) ||
        !pool_init(&names->values, sizeof(struct names_values)) ||
        !pool_init(&names->lists, sizeof(struct names_list)) || !names_values_init(names) ||
        names->map == NULL)
        goto no_memory;
    *out = names;
    return SL_OK;

no_memory:
    sl_names_free(names);
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a table of names");
}

void sl_names_free(struct sl_names *names)
{
    if (names == NULL)
        return;
    names_fib_free(names);
    names_map_free(names->map);
    for (uint32_t i = 0; i < names->n_lists; i++) {
        struct names_list *list = pool_at(&names->lists, i);
        free(list->label);
        free(list->parse);
    }
    names_values_free(names);
    pool_free(&names->rules);
    pool_free(&names->values);
    pool_free(&names->lists);
    free(names->retired);
    free(names->ignored);
    free(names->reasons);
    file_bytes_close(&names->file);
    pthread_mutex_destroy(&names->readers_lock);
    pthread_mutex_destroy(&names->update_lock);
    free(names);
}

enum sl_status names_list_add(struct sl_names *names, const char *label, const char *format,
                              uint32_t *index, struct sl_diag *diag)
{
    if (atomic_load(&names->n_lists) == LISTS_MAX)
        return diag_set(diag, SL_EINVAL, label, 0, "a table has %d lists at most", LISTS_MAX);

    char *copy = strdup(label);
    if (copy == NULL || !pool_take(&names->lists, 1, index)) {
        free(copy);
        return diag_set(diag, SL_ENOMEM, label, 0, "no memory for one more list");
    }
    *(struct names_list *)pool_at(&names->lists, *index) =
        (struct names_list){.label = copy, .format = format};
    atomic_store(&names->n_lists, *index + 1);
    return SL_OK;
}
const char *sl_names_list(const struct sl_names *names, uint32_t list, const char **format)
{
    if (list >= atomic_load(&names->n_lists))
        return NULL;
    const struct names_list *entry = pool_at(&names->lists, list);
    if (format != NULL)
        *format = entry->format;
    return entry->label;
}

const char *sl_names_value(const struct sl_names *names, const struct sl_names_answer *answer,
                           uint32_t i, size_t *len)
{
    if (answer->action == SL_NAMES_NONE)
        return NULL;
    const struct names_values *values = pool_at(&names->values, answer->values);
    const char *at = values->text, *end = at + values->len;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (i-- == 0) {
            *len = (size_t)(stop - at);
            return at;
        }
        at = stop + 1;
    }
    return NULL;
}

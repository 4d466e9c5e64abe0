/* SPDX-License-Identifier: MIT */
/* Ignored lines: the reasons with their counts, and the first lines themselves. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "names_internal.h"

static bool count_reason(struct sl_names *names, const char *why)
{
    for (size_t i = 0; i < names->n_reasons; i++) {
        if (names->reasons[i].why == why || strcmp(names->reasons[i].why, why) == 0) {
            names->reasons[i].n++;
            /* Kept by count: what is met often is found soon. */
            for (; i > 0 && names->reasons[i].n > names->reasons[i - 1].n; i--) {
                const struct names_reason swap = names->reasons[i];
                names->reasons[i] = names->reasons[i - 1];
                names->reasons[i - 1] = swap;
            }
            return true;
        }
    }
    if (names->n_reasons == names->max_reasons) {
        const size_t max = names->max_reasons + 32;
        struct names_reason *reasons = realloc(names->reasons, max * sizeof *reasons);
        if (reasons == NULL)
            return false;
        names->reasons = reasons;
        names->max_reasons = max;
    }
    names->reasons[names->n_reasons++] = (struct names_reason){why, 1};
    return true;
}

bool names_ignore(struct sl_names *names, uint32_t list, uint32_t line, const char *why)
{
    names->n_ignored_all++;
    if (!count_reason(names, why))
        return false;
    if (names->n_ignored == SL_NAMES_IGNORED_MAX)
        return true;
    if (names->n_ignored == names->max_ignored) {
        const size_t max = names->max_ignored == 0 ? 64 : names->max_ignored * 2;
        struct names_ignored *ignored = realloc(names->ignored, max * sizeof *ignored);
        if (ignored == NULL)
            return false;
        names->ignored = ignored;
        names->max_ignored = max;
    }
    names->ignored[names->n_ignored++] = (struct names_ignored){why, line, list};
    return true;
}

bool sl_names_ignore_reason(const struct sl_names *names, size_t i, const char **reason,
                            uint64_t *count)
{
    if (i >= names->n_reasons)
        return false;
    *reason = names->reasons[i].why;
    *count = names->reasons[i].n;
    return true;
}

bool sl_names_ignored(const struct sl_names *names, size_t i, struct sl_diag *diag)
{
    if (i >= names->n_ignored)
        return false;
    const struct names_ignored *ignored = &names->ignored[i];
    (void)diag_set(diag, SL_EFORMAT, sl_names_list(names, ignored->list, NULL), ignored->line, "%s",
                   ignored->why);
    return true;
}

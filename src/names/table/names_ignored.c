/* SPDX-License-Identifier: MIT */
/* Lines that gave no rule: the reasons with their counts, and the first lines themselves. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "names_internal.h"

const char names_too_many_rules[] = "more than 255 rules for one name";

static bool is_reason(const struct sl_names_reason *reason, const char *why, bool skipped)
{
    return reason->skipped == skipped && (reason->text == why || strcmp(reason->text, why) == 0);
}

static bool count_reason(struct sl_names *names, const char *why, bool skipped)
{
    for (size_t i = 0; i < names->n_reasons; i++) {
        if (is_reason(&names->reasons[i], why, skipped)) {
            names->reasons[i].n_lines++;
            /* Kept by count, so that a frequent reason is found soon. */
            for (; i > 0 && names->reasons[i].n_lines > names->reasons[i - 1].n_lines; i--) {
                const struct sl_names_reason swap = names->reasons[i];
                names->reasons[i] = names->reasons[i - 1];
                names->reasons[i - 1] = swap;
            }
            return true;
        }
    }
    if (names->n_reasons == names->max_reasons) {
        const size_t max = names->max_reasons + 32;
        struct sl_names_reason *reasons = realloc(names->reasons, max * sizeof *reasons);
        if (reasons == NULL)
            return false;
        names->reasons = reasons;
        names->max_reasons = max;
    }
    names->reasons[names->n_reasons++] = (struct sl_names_reason){why, skipped, 1};
    return true;
}

bool names_ignore(struct sl_names *names, uint32_t list, uint32_t line, const char *why,
                  bool skipped)
{
    ++*(skipped ? &names->n_skipped_all : &names->n_ignored_all);
    if (!count_reason(names, why, skipped))
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
    names->ignored[names->n_ignored++] = (struct names_ignored){why, line, (uint16_t)list, skipped};
    return true;
}

bool sl_names_ignore_reason(const struct sl_names *names, size_t i, struct sl_names_reason *reason)
{
    if (i >= names->n_reasons)
        return false;
    *reason = names->reasons[i];
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

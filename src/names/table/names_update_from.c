/* SPDX-License-Identifier: MIT */
/* Updates as a file descriptor gives them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "names/stream/names_input.h"
#include "names_internal.h"

struct updates {
    struct sl_names *names;
    const char *label, *format;
    uint32_t line; /* the number of the first line that waits */
    struct sl_names_updated *updated;
};

/* Applies the whole lines that wait, and at the end the last one too. */
static enum sl_status apply(struct updates *updates, struct names_input *input,
                            struct sl_diag *diag)
{
    const char *newline = memrchr(input->text, '\n', input->len);
    const size_t used = input->ended      ? input->len
                        : newline != NULL ? (size_t)(newline + 1 - input->text)
                                          : 0;
    enum sl_status status = SL_OK;

    if (used != 0)
        status = sl_names_update(updates->names, updates->label, updates->format, input->text, used,
                                 updates->line, updates->updated, diag);
    for (size_t i = 0; i < used; i++)
        updates->line += input->text[i] == '\n';
    if (status == SL_OK && used == 0 && input->len == NAMES_INPUT_LEN)
        status = diag_set(diag, SL_EFORMAT, updates->label, updates->line,
                          "the line is longer than %d bytes", SL_NAMES_LINE_MAX);
    names_input_drop(input, used);
    return status;
}

/* Fails where no line was an update and some line is wrong. `before`: the counts before; of the
 * table's ignored lines n_kept. */
static enum sl_status check_any(const struct updates *updates,
                                const struct sl_names_updated *before, size_t n_kept,
                                struct sl_diag *diag)
{
    const struct sl_names *names = updates->names;
    const uint64_t n_wrong = updates->updated->ignored - before->ignored;
    size_t i = n_kept;

    if (updates->updated->rules != before->rules || n_wrong == 0)
        return SL_OK;
    while (i < names->n_ignored && names->ignored[i].skipped)
        i++;
    const bool kept = i < names->n_ignored;
    return diag_set(diag, SL_EFORMAT, updates->label, kept ? names->ignored[i].line : 0,
                    "%s; no line is an update of the format '%s', and %" PRIu64 " are wrong",
                    kept ? names->ignored[i].why : "a wrong line", updates->format, n_wrong);
}

enum sl_status sl_names_update_from(struct sl_names *names, const char *label, const char *format,
                                    int fd, int stop_fd, struct sl_names_updated *updated,
                                    struct sl_diag *diag)
{
    struct updates updates = {names, label, format, 1, updated};
    const struct sl_names_updated before = *updated;
    const size_t n_kept = names->n_ignored;
    struct names_input input;
    enum sl_status status = SL_OK;

    if (!names_input_open(&input, fd))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for updates");
    input.stop_fd = stop_fd;
    input.name = label;
    while (status == SL_OK && !input.ended) {
        status = names_input_read(&input, diag);
        if (input.stopped)
            break;
        if (status == SL_OK)
            status = apply(&updates, &input, diag);
    }
    if (status == SL_OK && !input.stopped)
        status = check_any(&updates, &before, n_kept, diag);
    names_input_close(&input);
    return status;
}

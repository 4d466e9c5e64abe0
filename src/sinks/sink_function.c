/* SPDX-License-Identifier: MIT */
/* Each event is an argument of the caller's function. */
#include <stdlib.h>

#include "base/diag.h"
#include "sink_kind.h"

struct function_sink {
    struct sl_sink base;
    enum sl_status (*take)(void *user, const struct sl_event *event, struct sl_diag *diag);
    void *user;
    uint64_t n_taken;
};

static enum sl_status function_write(struct sl_sink *sink, const struct sl_event *event,
                                     struct sl_diag *diag)
{
    struct function_sink *function = (struct function_sink *)sink;

    const enum sl_status status = function->take(function->user, event, diag);

    function->n_taken += status == SL_OK;
    if (status != SL_OK && diag->text[0] == '\0')
        return diag_set(diag, status, NULL, 0, "a sink's function: %s", sl_status_text(status));
    return status;
}

static enum sl_status function_flush(struct sl_sink *sink, struct sl_diag *diag)
{
    (void)sink;
    (void)diag;
    return SL_OK;
}

static uint64_t function_written(const struct sl_sink *sink)
{
    return ((const struct function_sink *)sink)->n_taken;
}

static enum sl_status function_close(struct sl_sink *sink, struct sl_diag *diag)
{
    (void)diag;
    free(sink);
    return SL_OK;
}

static const struct sink_kind sink_function = {
    .name = "function",
    .usage = "a function",
    .shows_community_id = true,
    .write = function_write,
    .flush = function_flush,
    .written = function_written,
    .close = function_close,
};

enum sl_status sl_sink_open_function(struct sl_sink **sink,
                                     enum sl_status (*take)(void *user,
                                                            const struct sl_event *event,
                                                            struct sl_diag *diag),
                                     void *user, struct sl_diag *diag)
{
    struct function_sink *function = malloc(sizeof *function);

    *sink = NULL;
    if (function == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a sink");
    *function = (struct function_sink){
        .base = {.kind = &sink_function, .failure = SL_OK}, .take = take, .user = user};
    *sink = &function->base;
    return SL_OK;
}

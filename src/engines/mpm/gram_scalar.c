/* SPDX-License-Identifier: MIT */
/* The gram matcher's filters without vectors. */
#include "gram_cpu.h"

static uint32_t windows(const struct gram_view *view, const uint8_t *text, uint32_t from,
                        uint32_t to, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += view->stride) {
        const uint64_t bytes = gram_fold8(gram_load8(text + at));

        out[n] = at;
        n += gram_probe(view->words, view->words_log, (uint32_t)bytes, (uint32_t)(bytes >> 32));
    }
    return n;
}

static uint32_t runs(const uint8_t *text, uint32_t from, uint32_t to, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at++) {
        const uint32_t bytes = gram_fold4((uint32_t)text[at] | (uint32_t)text[at + 1] << 8 |
                                          (uint32_t)text[at + 2] << 16 |
                                          (uint32_t)text[at + 3] << 24);

        out[n] = at;
        n += bytes == (bytes << 8 | bytes >> 24) &&
             (at == 0 || gram_fold4(text[at - 1]) != (bytes & 0xFF));
    }
    return n;
}

static uint32_t tiny(const struct gram_table *body, const uint8_t *text, uint32_t from, uint32_t to,
                     uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at++) {
        out[n] = at;
        n += (body->tiny_first[text[at]] & body->tiny_second[text[at + 1]]) != 0;
    }
    return n;
}

const struct gram_filters gram_filters_scalar = {windows, runs, tiny};

static enum sl_status open_scalar(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    return gram_open(context, table, limits, &gram_filters_scalar, diag);
}

extern const struct sl_backend mpm_gram_scalar;
const struct sl_backend mpm_gram_scalar = {.name = "scalar",
                                           .device = SL_DEVICE_CPU,
                                           .usable = mpm_cpu_usable,
                                           .open = open_scalar,
                                           .submit = gram_submit,
                                           .wait = mpm_cpu_wait,
                                           .close = mpm_cpu_close};

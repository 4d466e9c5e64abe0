/* SPDX-License-Identifier: MIT */
/* The CPU's part of the chapter's division of work, which all backends of `tag` share. */
#ifndef TAG_HOST_H
#define TAG_HOST_H

#include "engines/mpm/mpm_table.h"
#include "sluice/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the matches of each candidate: (item, window's end, entry). */
void tag_verify_all(const struct sl_mpm_table *table, const struct sl_batch *batch,
                    const struct sl_hit *candidates, size_t n, struct sl_hits *hits);

/* Appends all matches of a host batch without anyone's candidates. */
void tag_scan_all(const struct sl_mpm_table *table, const struct sl_batch *batch,
                  struct sl_hits *hits);

#ifdef __cplusplus
}
#endif
#endif

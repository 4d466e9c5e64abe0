/* SPDX-License-Identifier: MIT */
/* Parts that samplebyte and dynabyte share: scans by a state. */
#ifndef SAMPLEBYTE_H
#define SAMPLEBYTE_H

#include "engines/sampling/sampling_internal.h"
#include "samplebyte_core.h"

/* A state, and its markers in the forms that vector and scalar code read. */
struct samplebyte_marks {
    struct sl_dynabyte_state state;
    bool marks[256];
    /* By a byte's low four bits: one bit for each of its high four, 0 to 7 and 8 to 15. */
    uint8_t low_half[16];
    uint8_t high_half[16];
};

/* The begin of each context of dynabyte, on CPUs and GPUs. */
struct dynabyte_head {
    uint64_t magic; /* DYNABYTE_MAGIC: contexts of other engines have another word there */
    struct samplebyte_marks marks;
};

#define DYNABYTE_MAGIC UINT64_C(0x5359424E59444C53) /* "SLDYNBYS" */

void samplebyte_marks_set(struct samplebyte_marks *marks, const struct sl_dynabyte_state *state);

/* The state that a configuration begins with: its markers, half a period skipped. */
struct sl_dynabyte_state samplebyte_first_state(const bool marker[256], uint32_t period);

/* The table of samplebyte and of dynabyte. SL_EINVAL: no byte is a marker. */
enum sl_status samplebyte_build(struct sl_sampling_table **table,
                                const struct sl_sampling_config *config, struct sl_diag *diag);

/* The table of both samplers. */
struct samplebyte_table {
    struct sl_sampling_table head;
    struct samplebyte_marks marks;
};

/* Appends the hits of a batch. */
typedef void samplebyte_scan(const struct sl_sampling_table *head,
                             const struct samplebyte_marks *marks, const struct sl_batch *batch,
                             struct sl_hits *hits);

samplebyte_scan samplebyte_scan_scalar, samplebyte_scan_avx2, samplebyte_scan_avx512,
    samplebyte_scan_tiled;

bool samplebyte_avx2_usable(char why[SL_WHY_LEN]);
bool samplebyte_avx512_usable(char why[SL_WHY_LEN]);

#endif

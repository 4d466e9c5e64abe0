/* SPDX-License-Identifier: MIT */
/* What the studies of the papers share: a table whose columns they choose. */
#ifndef CLI_BENCH_STUDY_H
#define CLI_BENCH_STUDY_H

#include <jansson.h>

#include "bench/engines/bench_mpm.h"

enum { STUDY_COLUMNS_MAX = 16, STUDY_PANELS_MAX = 3 };

/* How a study's table is drawn: a panel for each word, with the columns that have it in their names
 * over the axis' column; a line for each of them and each text of the first column of texts. */
struct study_picture {
    const char *axis; /* NULL: it is not */
    const char *panels[STUDY_PANELS_MAX];
};

struct study {
    const struct bench *bench;
    const char *name;
    json_t *rows; /* what was printed, where it is to be drawn; else NULL */
    struct bench_literals literals;
    struct bench_data scan; /* payloads in batches of 1 MiB, where the study needs them */
    bool has_heading;       /* of the table for people */
};

/* A row under way. What has no value is left open in the table and null in JSON. */
struct study_row {
    struct {
        const char *name;
        enum { STUDY_NONE, STUDY_NUMBER, STUDY_TEXT } kind;
        double number;
        int decimals;
        const char *text;
    } cells[STUDY_COLUMNS_MAX];
    unsigned n_cells;
    char note[320]; /* at the end of the row: what could not be run, and why */
};

/* Numbers below 0 have no value. */
void study_number(struct study_row *row, const char *name, double number, int decimals);
void study_text(struct study_row *row, const char *name, const char *text);
void study_print(struct study *study, const struct study_row *row);

/* A line above the table: what the paper did, and what is done here. */
void study_say(const struct study *study, const char *text);

/* study_draw.c. False: said. */
bool study_draw(const struct study *study, const struct study_picture *picture, const char *path);

/* Builds; NULL: the row's note says why. */
struct sl_mpm_table *study_build(struct study_row *row, const char *algorithm,
                                 enum sl_device_kind kind, const struct sl_literal *literals,
                                 size_t n_literals);

/* Measures: the units a second, or -1 with the row's note where it could not be run. The hits must
 * be the judge's. False: failed, said. */
bool study_measure(const struct study *study, const struct bench_work *work,
                   struct mpm_judge *judge, struct study_row *row, double *rate);

/* The studies: of matching, */
bool study_packet_size(struct study *study);
bool study_literals(struct study *study);
bool study_match_rate(struct study *study);
bool study_hostile(struct study *study);

/* and of sampling: Rabin's fingerprints on GPUs, and DYNABYTE. */
bool study_machines(struct study *study);
bool study_optimisations(struct study *study);
bool study_buffers(struct study *study);
bool study_word_size(struct study *study);
bool study_shared_memory(struct study *study);
bool study_divergence(struct study *study);
bool study_sorting(struct study *study);
bool study_closeness(struct study *study);
bool study_streams(struct study *study);
bool study_markers(struct study *study);
bool study_periods(struct study *study);
bool study_period_change(struct study *study);

#endif

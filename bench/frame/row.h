/* SPDX-License-Identifier: MIT */
/* Rows: JSON objects, which are printed, saved and compared. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include "bench_frame.h"
#include "rate.h"

/* The role of a row of the whole machine, which decides how it is drawn. */
enum bench_role { BENCH_ALONE, BENCH_CEILING, BENCH_ENGINE, BENCH_TOGETHER, BENCH_PEER };

/* A stage of a run, and the time of all cores in it, a packet. */
enum { BENCH_STAGES = 6 };

struct bench_stage {
    const char *name;
    double ns;
};

struct bench_row {
    const char *what, *variant, *data;
    struct bench_rate rate;
    double unit; /* of the rate and the ceilings as they are printed */
    const char *unit_name;
    double ceiling, best_ceiling; /* 0: none; the link with such blocks, and with its best ones */
    const uint64_t *hits;         /* NULL: not counted */

    /* Of a row of the whole machine; all may be 0 or NULL. */
    enum bench_role role;
    const char *ceiling_of; /* the name of the ceiling */
    const char *series;     /* equal in rows that differ in cores alone */
    unsigned cores; /* cores that it ran on; 0: another device, or as the variant names it */
    double scaling; /* times the rate of one core; 0: none is printed */
    double items;   /* a second, beside bytes */
    double peer;    /* its rate; 0: none is printed */
    const char *peer_name;
    double p50_us, p99_us;            /* from a batch's arrival to its results */
    const struct bench_stage *stages; /* BENCH_STAGES, or up to one without a name; NULL: none */
};

/* Prints a row and puts it into the results. */
void bench_print(const struct bench_frame *frame, const struct bench_row *row);

/* The same for a row that was not run, with the reason. */
void bench_print_why(const struct bench_frame *frame, const char *what, const char *variant,
                     const char *why);

/* Prints a row as it is in the results. */
void bench_print_line(const struct bench_frame *frame, const struct json_t *line);

#endif

/* SPDX-License-Identifier: MIT */
/* What the parts of sluice lookup share: names on their way through a table to standard output. */
#ifndef CLI_LOOKUP_H
#define CLI_LOOKUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sinks/line_sink.h"
#include "sluice/names.h"

enum { LOOKUP_BYTES = 4 << 20 }; /* of the names of a batch */

/* A batch of names, looked up and answered together. Texts are lent until then. */
struct lookup {
    struct sl_names *names;
    struct sl_names_reader *reader;
    enum sl_name_syntax syntax;
    bool json, explain;
    struct line_sink *out; /* its own block, freed by closing it */

    struct {
        const char *text;
        size_t len;
        const char *why;   /* it is no name: the reason */
        uint32_t answered; /* else: index of its name and answer */
    } asked[SL_NAMES_BATCH_MAX];
    uint32_t n_asked;
    struct sl_name name[SL_NAMES_BATCH_MAX];
    struct sl_names_answer answer[SL_NAMES_BATCH_MAX];
    uint32_t n_names;
    uint8_t bytes[LOOKUP_BYTES];
    uint32_t bytes_len;
};

/* Takes one more name; a full batch is answered first. */
enum sl_status lookup_add(struct lookup *lookup, const char *text, size_t len);

/* Looks the batch up and writes the answers. */
enum sl_status lookup_flush(struct lookup *lookup);

/* Writes the answers of the batch (lookup_write.c). */
void lookup_write(struct lookup *lookup);

/* Waits until fd can be read. False: stop_fd can, which is to end. */
bool lookup_wait(int fd, int stop_fd);

/* Names from standard input, one a line, until it ends or is to. False: why was said. */
bool lookup_stream(struct lookup *lookup, int stop_fd);

/* Times look-ups of these names, one a line. False: why was said. */
bool lookup_bench(struct lookup *lookup, const char *text, size_t text_len);

/* All of standard input until it ends or is to; NULL: why was said. */
char *lookup_read_all(size_t *len, int stop_fd);

/* ---- what of the table is told (lookup_report.c) ----------------------------------------------
 */

struct lookup_report {
    const struct sl_names *names;
    const char *saved; /* --build, or NULL */
    bool updates;      /* --update */
    struct sl_names_updated updated;
};

void lookup_report_text(const struct lookup_report *report, FILE *out);
void lookup_report_json(const struct lookup_report *report, FILE *out);

/* ---- updates while look-ups go on (lookup_update.c) -------------------------------------------
 */

struct lookup_update {
    struct sl_names *names;
    const char *path; /* "-": standard input */
    const char *format;
    int stop_fd;
    struct sl_names_updated updated;
    bool failed; /* and why was said */
    bool running;
    pthread_t thread;
};

bool lookup_update_start(struct lookup_update *update);

/* Waits for its end. False: it failed. */
bool lookup_update_end(struct lookup_update *update);

#endif

/* SPDX-License-Identifier: MIT */
/* Text that a file descriptor gives as it comes, until it ends or the caller is to stop. */
#ifndef NAMES_NAMES_INPUT_H
#define NAMES_NAMES_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/names.h"

struct names_input {
    int fd, stop_fd;  /* stop_fd -1: nothing stops it */
    const char *name; /* for diagnostics; NULL: none */
    bool ended;       /* the descriptor has no more */
    bool stopped;     /* stop_fd could be read */
    bool in_tail;     /* the next bytes belong to an over-long line, whose begin was used */
    size_t len;       /* bytes that wait in `text` */
    char text[SL_NAMES_LINE_MAX + 1]; /* the longest line and its end */
};

/* Waits and reads once, behind the text that waits. SL_EIO. */
enum sl_status names_input_read(struct names_input *input, struct sl_diag *diag);

/* The bytes that wait of the over-long line, its end included. Where that waits too, in_tail
 * becomes false. */
size_t names_input_tail_len(struct names_input *input);

/* Drops the first `used` bytes of the text that waits. */
void names_input_drop(struct names_input *input, size_t used);

#endif

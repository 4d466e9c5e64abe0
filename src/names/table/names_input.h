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
    size_t len;       /* bytes that wait in `text` */
    char text[SL_NAMES_UPDATE_LINE_MAX];
};

/* Waits and reads once, behind the text that waits. SL_EIO. */
enum sl_status names_input_read(struct names_input *input, struct sl_diag *diag);

/* Drops the first `used` bytes of the text that waits. */
void names_input_drop(struct names_input *input, size_t used);

#endif

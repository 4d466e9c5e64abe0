/* SPDX-License-Identifier: MIT */
/* Text that a file descriptor gives as it comes, until it ends or the caller is to stop. */
#ifndef NAMES_NAMES_INPUT_H
#define NAMES_NAMES_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "names/syntax/name_plain.h"
#include "sluice/names.h"

enum {
    NAMES_INPUT_LEN = SL_NAMES_LINE_MAX + 1, /* the longest line and its end */
    NAMES_INPUT_ROOM = NAMES_INPUT_LEN + NAME_PLAIN_SLACK,
    NAMES_READ_LEN = 128 << 10 /* bytes of a read at most */
};

struct names_input {
    int fd, stop_fd;  /* stop_fd -1: nothing stops it */
    int other_fd;     /* as stop_fd */
    const char *name; /* for diagnostics; NULL: none */
    bool ended;       /* the descriptor has no more */
    bool stopped;     /* stop_fd or other_fd could be read */
    bool in_tail;     /* the next bytes belong to an over-long line, whose begin was
                         used */
    size_t len;       /* bytes that wait in `text` */
    char *text;       /* NAMES_INPUT_ROOM bytes, the input's own */
};

/* Nothing stops it, and it has no name. False: no memory. */
bool names_input_open(struct names_input *input, int fd);
void names_input_close(struct names_input *input);

/* Waits and reads once, behind the text that waits. SL_EIO. */
enum sl_status names_input_read(struct names_input *input, struct sl_diag *diag);

/* Drops the first `used` bytes of the text that waits. */
void names_input_drop(struct names_input *input, size_t used);

/* Whole lines, and at the end of the input what has no end. */
struct names_block {
    char *text; /* NAMES_INPUT_ROOM bytes, the block's own */
    size_t len;
    bool too_long; /* the last line is longer than a line may be, and goes on */
};

/* Takes the lines that wait: the block and the input exchange their memory. The rest of a line that
 * was too long is dropped. False: no whole line waits. */
bool names_input_take(struct names_input *input, struct names_block *block);

#endif

/* SPDX-License-Identifier: MIT */
/* Whether a command writes over a file that is there: as zstd does, in all commands alike. */
#ifndef CLI_OVERWRITE_H
#define CLI_OVERWRITE_H

#include <stdbool.h>

/* Whether the command may write a file at this path. It may where none is there, with `force`, and
 * where the user at the terminal agrees. `may_prompt`: standard input is free for the answer. An
 * output that is no regular file, such as a device, is never overwritten. False: the reason was
 * printed.
 */
bool cli_may_write(const char *path, bool force, bool may_prompt);

#endif

/* SPDX-License-Identifier: MIT */
/* The argument of --file-info. */
#ifndef CLI_RUN_FILES_OPTION_H
#define CLI_RUN_FILES_OPTION_H

#include "sluice/run.h"

/* Sets what events of files have from a list such as "md5,magic"; NULL: nothing is set. False: an
 * error was printed. */
bool run_files_option_parse(const char *list, struct sl_run_config *config);

#endif

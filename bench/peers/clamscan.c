/* SPDX-License-Identifier: MIT */
#include "clamscan.h"

#include <stddef.h>

#include "process.h"

static char no_summary[] = "--no-summary", max_file[] = "--max-filesize=1000M",
            max_scan[] = "--max-scansize=1000M", clamscan[] = "clamscan", database_option[] = "-d";

double clamscan_run(char *database, char *path)
{
    char *const arguments[] = {clamscan, database_option, database, no_summary,
                               max_file, max_scan,        path,     NULL};
    struct process_cost cost;

    return process_run(arguments, NULL, &cost) ? cost.seconds : -1;
}

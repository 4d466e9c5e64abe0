/* SPDX-License-Identifier: MIT */
/* The options of sluice scan: clamscan's, and its own. */
#ifndef CLI_SCAN_OPTIONS_H
#define CLI_SCAN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "scan_report.h"
#include "sluice/scan.h"

struct scan_options {
    const char **databases;
    size_t n_databases;
    const char *compile; /* write the compiled database here and end */
    bool force;          /* a file there is overwritten */
    const char *of_scan; /* an option that a scan alone has; NULL: none was given */
    const char *device;
    bool debug;
    bool detect_pua;
    struct sl_clamav_pua pua;
    struct sl_scan_config config; /* its paths are the arguments */
    struct scan_report report;
};

/* The request of a command line. */
enum scan_wish { SCAN_WISH_SCAN, SCAN_WISH_DONE, SCAN_WISH_FAILED };

/* Reads the options up to optind; help is printed at once, and so is an error. To be freed in any
 * case. */
enum scan_wish scan_options_read(struct scan_options *options, int argc, char **argv);

/* Standard input can be neither moved nor removed. False: it is among the paths, with an error
 * printed. */
bool scan_options_check_paths(const struct scan_options *options, char **paths, int n_paths);

/* NULL: signatures of unwanted programs are not asked for. */
const struct sl_clamav_pua *scan_options_pua(const struct scan_options *options);

void scan_options_free(struct scan_options *options);

#endif

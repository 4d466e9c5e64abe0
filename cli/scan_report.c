/* SPDX-License-Identifier: MIT */
/* The databases that options name, and what is told of them. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli.h"
#include "scan.h"

static void list_notes(const struct sl_clamav_set *set,
                       const struct sl_diag *(*at)(const struct sl_clamav_set *, size_t))
{
    const struct sl_diag *diag;

    for (size_t i = 0; (diag = at(set, i)) != NULL; i++) {
        char line[1100], safe[1100];

        sl_diag_format(diag, line, sizeof line);
        fprintf(stderr, "%s\n", cli_printable(line, safe, sizeof safe));
    }
}

static void print_report(const struct sl_clamav_set *set, const struct sl_clamav_db *db,
                         double seconds)
{
    struct sl_clamav_count count;
    struct sl_clamav_info info;
    const char *reason;
    char text[32];
    size_t n;

    sl_clamav_set_count(set, &count);
    sl_clamav_info(db, &info);
    printf("%12s signatures understood", cli_count(count.signatures, text));
    printf(", of which %s are hashes\n", cli_count(count.hashes, text));
    printf("%12s hashes of allowed files\n", cli_count(count.allowed, text));
    printf("%12s wrong lines\n", cli_count(count.bad, text));
    printf("%12s skipped\n", cli_count(count.skipped, text));
    for (size_t i = 0; sl_clamav_skip_reason(set, i, &reason, &n); i++)
        printf("%14s%10s  %s\n", "", cli_count(n, text), reason);
    if (count.unchecked > 0)
        printf("%12s containers: MD5 checked, RSA signature not checked\n",
               cli_count(count.unchecked, text));
    printf("%12s signatures found by anchors", cli_count(info.anchored, text));
    printf(", %s at fixed positions", cli_count(info.fixed, text));
    printf(", %s searched for in each file of their type\n", cli_count(info.searched, text));
    printf("%12s literals for %s\n", cli_count(info.literals, text), info.algorithm);
    printf("%12s compiled in %.3f s\n", cli_bytes((double)info.block_len, text), seconds);
}

static enum sl_status compile_database(const struct scan_options *options,
                                       const struct sl_device *device, struct sl_clamav_db **db,
                                       struct sl_diag *diag)
{
    struct sl_clamav_set *set;
    const uint64_t begin = clock_ns();
    struct sl_clamav_count count;
    enum sl_status status = sl_clamav_set_create(&set, diag);

    if (status != SL_OK)
        return status;
    for (size_t i = 0; i < options->n_databases && status == SL_OK; i++)
        status = sl_clamav_set_read(set, options->databases[i], diag);
    if (status == SL_OK)
        status = sl_clamav_compile(db, set, device->kind, diag);
    if (options->debug) {
        list_notes(set, sl_clamav_bad_line);
        list_notes(set, sl_clamav_skipped);
    }
    if (status == SL_OK && options->compile != NULL)
        print_report(set, *db, (double)(clock_ns() - begin) / 1e9);
    sl_clamav_set_count(set, &count);
    if (status == SL_OK && options->compile == NULL && !options->debug && !options->quiet &&
        count.bad + count.skipped > 0)
        fprintf(stderr,
                "sluice: %zu wrong lines and %zu signatures that are not supported are left out "
                "(--debug lists them)\n",
                count.bad, count.skipped);
    sl_clamav_set_free(set);
    return status;
}

enum sl_status scan_open_database(const struct scan_options *options,
                                  const struct sl_device *device, struct sl_clamav_db **db,
                                  struct sl_diag *diag)
{
    if (options->n_databases == 1 && options->compile == NULL &&
        sl_clamav_is_saved(options->databases[0]))
        return sl_clamav_load(db, options->databases[0], diag);
    return compile_database(options, device, db, diag);
}

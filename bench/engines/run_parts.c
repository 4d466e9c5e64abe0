/* SPDX-License-Identifier: MIT */
#include "run_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/data/name_sets.h"
#include "bench/data/temporary.h"
#include "cli/console.h"

/* ---- files ----------------------------------------------------------------------------------- */

/* The files of a pattern in the folder of test data; none where there is no such folder. */
static void find(glob_t *found, const char *pattern)
{
    const char *folder = getenv("SLUICE_TEST_DATA");
    char path[1024];

    if (folder == NULL)
        return;
    snprintf(path, sizeof path, "%s/%s", folder, pattern);
    (void)glob(path, GLOB_BRACE, NULL, found);
}

static bool write_name(FILE *file, const struct sl_fib_entry *entry)
{
    const struct sl_name name = {entry->name, entry->name_len, entry->name_len, SL_NAME_NDN};
    static char text[4 * SL_NAME_LEN_MAX + 64];

    (void)sl_name_write(&name, text, sizeof text);
    return fprintf(file, "%s\t%u\n", text, entry->next_hop) > 0;
}

/* Writes a list of names. False: an error was printed. */
static bool generate_names(struct run_parts *parts, const struct bench *bench)
{
    struct bench_names names = {0};
    bool good = bench_names_load(&names, &bench->input, bench->entries[0]);
    FILE *file = good ? bench_temporary(parts->generated_names) : NULL;

    good = file != NULL;
    for (size_t i = 0; i < names.n && good; i++)
        good = write_name(file, &names.entries[i]);
    if (file != NULL && (fclose(file) != 0 || !good)) {
        cli_error("%s: cannot be written", parts->generated_names);
        good = false;
    }
    bench_names_free(&names);
    parts->names = (struct sl_names_file){parts->generated_names, "prefix"};
    return good;
}

bool run_parts_open(struct run_parts *parts, const struct bench *bench)
{
    *parts = (struct run_parts){.input = bench->input,
                                .rules = bench->input.rule_files.paths,
                                .n_rules = bench->input.rule_files.n_paths,
                                .databases = bench->database_paths,
                                .n_databases = bench->n_database_paths};
    if (parts->input.n_paths == 0) {
        find(&parts->captures, "pcap/*.pcap");
        parts->input.paths = (const char **)parts->captures.gl_pathv;
        parts->input.n_paths = parts->captures.gl_pathc;
    }
    if (parts->n_rules == 0) {
        find(&parts->rule_files, "rules/*/*.rules");
        parts->rules = (const char *const *)parts->rule_files.gl_pathv;
        parts->n_rules = parts->rule_files.gl_pathc;
    }
    if (parts->n_databases == 0) {
        find(&parts->database_files, "clamav/{main.ldb,daily.ndb,rfxn.ndb}");
        parts->databases = (const char *const *)parts->database_files.gl_pathv;
        parts->n_databases = parts->database_files.gl_pathc;
    }
    return generate_names(parts, bench);
}

void run_parts_close(struct run_parts *parts)
{
    globfree(&parts->captures);
    globfree(&parts->rule_files);
    globfree(&parts->database_files);
    if (parts->generated_names[0] != '\0')
        (void)unlink(parts->generated_names);
}

bool run_parts_have(const struct run_parts *parts, unsigned asked, char why[64])
{
    const bool rules = (asked & RUN_RULES) == 0 || parts->n_rules != 0;
    const bool viruses = (asked & RUN_VIRUSES) == 0 || parts->n_databases != 0;

    snprintf(why, 64, "needs %s%s%s", rules ? "" : "--rules", rules || viruses ? "" : " and ",
             viruses ? "" : "--database");
    return rules && viruses;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static struct sl_run_config config_of(const struct run_parts *parts, const struct run_asked *asked)
{
    static const char *const nowhere[] = {"eve:/dev/null"};
    struct sl_run_config config;

    sl_run_config_init(&config);
    config.files = &asked->path;
    config.n_files = 1;
    config.devices = asked->devices;
    config.sinks = nowhere;
    config.n_sinks = 1;
    config.check_headers = (asked->parts & RUN_HEADERS) != 0;
    config.redundancy.on = (asked->parts & RUN_REDUNDANCY) != 0;
    if ((asked->parts & RUN_RULES) != 0) {
        config.rule_files = parts->rules;
        config.n_rule_files = parts->n_rules;
        config.rule_variables = parts->variables;
        config.n_rule_variables = parts->n_variables;
    }
    if ((asked->parts & RUN_HTTP) != 0)
        config.events |= 1u << SL_EVENT_HTTP_MESSAGE;
    if ((asked->parts & RUN_VIRUSES) != 0) {
        config.databases = parts->databases;
        config.n_databases = parts->n_databases;
    }
    if ((asked->parts & RUN_NAMES) != 0) {
        config.names.files = &parts->names;
        config.names.n_files = 1;
    }
    return config;
}

/* Of all threads of this process. */
static uint64_t core_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool run_parts_execute(const struct run_parts *parts, const struct run_asked *asked,
                       struct run_done *done)
{
    const struct sl_run_config config = config_of(parts, asked);
    struct sl_diag diag = {0};
    struct sl_run_result result;
    struct sl_run *run;
    bool good = sl_run_create(&run, &config, &diag) == SL_OK && sl_run_open(run, &diag) == SL_OK;
    const uint64_t begin = core_ns();

    good = good && sl_run_execute(run, &diag) == SL_OK;
    done->core_ns = core_ns() - begin;

    if (good) {
        sl_run_result(run, &result);
        done->stats = *result.pipeline;
        done->packets = result.captured.packets;
        done->bytes = result.captured.bytes;
    } else {
        cli_diag(&diag);
    }
    sl_run_close(run);
    return good;
}

/* SPDX-License-Identifier: MIT */
/* Tables in an SQLite database, rows in transactions. The journal is a write-ahead log while the
 * sink is open, so people can query during a run. A killed run leaves whole transactions in FILE
 * and FILE-wal, which SQLite puts together. A closed sink leaves FILE alone. */
#include "sink_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "sqlite_row.h"

enum {
    CLOCK_ROWS = 128,                   /* from one reading of the clock to the next */
    TRANSACTION_ROWS = 80 * CLOCK_ROWS, /* at most, between two commits */
    TRANSACTION_MS = 100,               /* as well, as long as rows come */
    BUSY_MS = 10000                     /* wait for another program's lock */
};

struct sqlite_sink {
    struct sl_sink base;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *insert[N_TABLES];
    char *path;         /* as SQLite is given it */
    const char *name;   /* as the user gave it, inside path */
    uint64_t committed; /* rows */
    uint64_t pending;   /* rows of the open transaction; 0: none is open */
    uint64_t begin_ns;  /* of the open transaction */
};

/* SQLite's last failure as a status. */
static enum sl_status failure(const struct sqlite_sink *sqlite, struct sl_diag *diag)
{
    const int code = sqlite3_errcode(sqlite->db) & 0xFF;
    const char *text = sqlite3_errmsg(sqlite->db);

    if (code == SQLITE_NOMEM)
        return diag_set(diag, SL_ENOMEM, sqlite->name, 0, "%s", text);
    if (code == SQLITE_NOTADB)
        return diag_set(diag, SL_EIO, sqlite->name, 0,
                        "not a database (expected one made by sluice, or none)");
    if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && sqlite3_system_errno(sqlite->db) != 0)
        return diag_set(diag, SL_EIO, sqlite->name, 0, "%s: %s", text,
                        strerror(sqlite3_system_errno(sqlite->db)));
    return diag_set(diag, SL_EIO, sqlite->name, 0, "%s", text);
}

static enum sl_status run(const struct sqlite_sink *sqlite, const char *sql, struct sl_diag *diag)
{
    if (sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return failure(sqlite, diag);
    return SL_OK;
}

static enum sl_status prepare(const struct sqlite_sink *sqlite, sqlite3_stmt **statement,
                              const char *sql, struct sl_diag *diag)
{
    if (sqlite3_prepare_v2(sqlite->db, sql, -1, statement, NULL) != SQLITE_OK)
        return failure(sqlite, diag);
    return SL_OK;
}

static enum sl_status query(const struct sqlite_sink *sqlite, const char *sql, int64_t *value,
                            struct sl_diag *diag)
{
    sqlite3_stmt *statement = NULL;
    enum sl_status status = prepare(sqlite, &statement, sql, diag);

    if (status != SL_OK)
        return status;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    else
        status = failure(sqlite, diag);
    sqlite3_finalize(statement);
    return status;
}

/* Makes the tables of an empty database, and those that an older one lacks. Refuses a database of
 * another program. */
static enum sl_status set_up(const struct sqlite_sink *sqlite, struct sl_diag *diag)
{
    int64_t application = 0, version = 0, n_objects = 0;
    enum sl_status status = query(sqlite, "PRAGMA application_id", &application, diag);

    if (status == SL_OK)
        status = query(sqlite, "PRAGMA user_version", &version, diag);
    if (status == SL_OK)
        status = query(sqlite, "SELECT count(*) FROM sqlite_master", &n_objects, diag);
    if (status != SL_OK)
        return status;

    const bool is_empty = application == 0 && version == 0 && n_objects == 0;
    if (!is_empty && application != DATABASE_APPLICATION_ID)
        return diag_set(diag, SL_EIO, sqlite->name, 0,
                        "a database of another program (expected one made by sluice, or none)");
    if (!is_empty && (version < 1 || version > DATABASE_VERSION))
        return diag_set(diag, SL_EIO, sqlite->name, 0,
                        "a database of another version of sluice (tables of version %lld, "
                        "expected " DATABASE_VERSION_TEXT ")",
                        (long long)version);
    for (; status == SL_OK && version < DATABASE_VERSION; version++)
        status = run(sqlite, table_schemas[version], diag);
    return status;
}

static enum sl_status open_database(struct sqlite_sink *sqlite, struct sl_diag *diag)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

    if (sqlite3_open_v2(sqlite->path, &sqlite->db, flags, NULL) != SQLITE_OK)
        return failure(sqlite, diag);
    sqlite3_busy_timeout(sqlite->db, BUSY_MS);

    /* In one transaction, so that two runs that begin together do not both make the tables. */
    enum sl_status status = run(sqlite, "BEGIN IMMEDIATE", diag);
    if (status == SL_OK)
        status = set_up(sqlite, diag);
    if (status == SL_OK)
        status = run(sqlite, "COMMIT", diag);
    /* File systems without shared memory keep a rollback journal. */
    if (status == SL_OK)
        status = run(
            sqlite,
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384",
            diag);
    return status;
}

static enum sl_status prepare_all(struct sqlite_sink *sqlite, struct sl_diag *diag)
{
    enum sl_status status = prepare(sqlite, &sqlite->begin, "BEGIN IMMEDIATE", diag);

    if (status == SL_OK)
        status = prepare(sqlite, &sqlite->commit, "COMMIT", diag);
    for (int t = 0; t < N_TABLES && status == SL_OK; t++)
        status = prepare(sqlite, &sqlite->insert[t], table_inserts[t].sql, diag);
    return status;
}

/* Rolls back the rows that are not committed. */
static void free_sink(struct sqlite_sink *sqlite)
{
    sqlite3_finalize(sqlite->begin);
    sqlite3_finalize(sqlite->commit);
    for (int t = 0; t < N_TABLES; t++)
        sqlite3_finalize(sqlite->insert[t]);
    sqlite3_close(sqlite->db);
    free(sqlite->path);
    free(sqlite);
}

static enum sl_status sqlite_open(struct sl_sink **sink, const char *path, struct sl_diag *diag)
{
    /* SQLite takes "file:..." for an address and ":memory:" for no file at all; "./" makes them
     * paths. */
    const char *prefix = path[0] == '/' ? "" : "./";

    if (strcmp(path, "-") == 0)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a database cannot go to standard output");

    struct sqlite_sink *sqlite = calloc(1, sizeof *sqlite);
    if (sqlite == NULL || asprintf(&sqlite->path, "%s%s", prefix, path) < 0) {
        free(sqlite);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a sink");
    }
    sqlite->name = sqlite->path + strlen(prefix);

    enum sl_status status = open_database(sqlite, diag);
    if (status == SL_OK)
        status = prepare_all(sqlite, diag);
    if (status != SL_OK) {
        free_sink(sqlite);
        return status;
    }
    *sink = &sqlite->base;
    return SL_OK;
}

/* Runs a prepared statement that gives no rows. */
static enum sl_status step(const struct sqlite_sink *sqlite, sqlite3_stmt *statement,
                           struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    if (sqlite3_step(statement) != SQLITE_DONE)
        status = failure(sqlite, diag);
    sqlite3_reset(statement);
    return status;
}

static enum sl_status sqlite_flush(struct sl_sink *sink, struct sl_diag *diag)
{
    struct sqlite_sink *sqlite = (struct sqlite_sink *)sink;

    if (sqlite->pending == 0)
        return SL_OK;

    const enum sl_status status = step(sqlite, sqlite->commit, diag);
    if (status == SL_OK) {
        sqlite->committed += sqlite->pending;
        sqlite->pending = 0;
    }
    return status;
}

static enum sl_status begin(struct sqlite_sink *sqlite, struct sl_diag *diag)
{
    sqlite->begin_ns = clock_ns();
    return step(sqlite, sqlite->begin, diag);
}

/* Whether the open transaction is to be committed: a kill then loses no more than it has. */
static bool is_due(const struct sqlite_sink *sqlite)
{
    return sqlite->pending == TRANSACTION_ROWS ||
           (sqlite->pending % CLOCK_ROWS == 0 &&
            clock_ns() - sqlite->begin_ns > TRANSACTION_MS * UINT64_C(1000000));
}

static enum sl_status sqlite_write(struct sl_sink *sink, const struct sl_event *event,
                                   struct sl_diag *diag)
{
    struct sqlite_sink *sqlite = (struct sqlite_sink *)sink;
    sqlite3_stmt *insert = sqlite->insert[table_of(event->kind)];
    struct sqlite_row row;
    enum sl_status status = SL_OK;

    const int error = sqlite_row_bind(&row, insert, event);
    if (error != SQLITE_OK)
        status = diag_set(diag, error == SQLITE_NOMEM ? SL_ENOMEM : SL_EIO, sqlite->name, 0, "%s",
                          sqlite3_errstr(error));
    if (status == SL_OK && sqlite->pending == 0)
        status = begin(sqlite, diag);
    if (status == SL_OK)
        status = step(sqlite, insert, diag);
    if (status != SL_OK)
        return status;
    sqlite->pending++;
    return is_due(sqlite) ? sqlite_flush(sink, diag) : SL_OK;
}

static uint64_t sqlite_written(const struct sl_sink *sink)
{
    return ((const struct sqlite_sink *)sink)->committed;
}

static enum sl_status sqlite_close(struct sl_sink *sink, struct sl_diag *diag)
{
    struct sqlite_sink *sqlite = (struct sqlite_sink *)sink;

    (void)diag;
    /* Brings the log into the file. Where a reader or a full disk prevents that, the log
     * stays and nothing is lost. */
    sqlite3_busy_timeout(sqlite->db, 0);
    (void)run(sqlite, "ROLLBACK", NULL);
    (void)run(sqlite, "PRAGMA journal_mode = DELETE", NULL);
    free_sink(sqlite);
    return SL_OK;
}

const struct sink_kind sink_sqlite = {
    .name = "sqlite",
    .usage = "sqlite:FILE",
    .has_path = true,
    .shows_community_id = true,
    .open = sqlite_open,
    .write = sqlite_write,
    .flush = sqlite_flush,
    .written = sqlite_written,
    .close = sqlite_close,
};

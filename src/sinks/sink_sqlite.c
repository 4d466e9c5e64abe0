/* SPDX-License-Identifier: MIT */
/* Three tables in an SQLite database, rows in transactions. The journal is a write-ahead log while
 * the sink is open: people can query during a run, and a killed run leaves whole transactions (in
 * FILE and FILE-wal, which SQLite puts together). A closed sink leaves FILE alone. */
#include "base/utf8.h"
#include "sinks/sink_kind.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sinks/event_names.h"
#include "sinks/event_text.h"

enum {
    TRANSACTION_ROWS = 10000, /* at most, between two commits */
    BUSY_MS = 10000           /* wait for another program's lock */
};

#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number
#define APPLICATION_ID 1936487779 /* "sluc" */
#define APPLICATION_ID_TEXT TEXT_OF(APPLICATION_ID)
#define SCHEMA_VERSION 2
#define SCHEMA_VERSION_TEXT TEXT_OF(SCHEMA_VERSION)

/* Columns that all tables begin with. Unknown is NULL. */
#define EVENT_COLUMNS                                                   \
    "  id INTEGER PRIMARY KEY,\n"                                       \
    "  time TEXT NOT NULL,       -- UTC, microseconds\n"                \
    "  time_ns INTEGER NOT NULL, -- nanoseconds since 1970-01-01 UTC\n" \
    "  source TEXT NOT NULL,     -- capture file or interface\n"        \
    "  packet INTEGER,           -- number in the source, from 1\n"     \
    "  flow_id INTEGER,\n"                                              \
    "  direction TEXT,           -- to_server, to_client\n"             \
    "  vlan INTEGER,\n"                                                 \
    "  vlan_inner INTEGER,\n"                                           \
    "  proto TEXT,               -- TCP, UDP, ICMP, ...\n"              \
    "  src_ip TEXT,\n"                                                  \
    "  src_port INTEGER,\n"                                             \
    "  dest_ip TEXT,\n"                                                 \
    "  dest_port INTEGER,\n"                                            \
    "  icmp_type INTEGER,\n"                                            \
    "  icmp_code INTEGER,\n"

#define EVENT_VALUES "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"

static const char schema[] =
    "CREATE TABLE alerts(\n" EVENT_COLUMNS "  gid INTEGER NOT NULL,\n"
    "  sid INTEGER NOT NULL,\n"
    "  rev INTEGER NOT NULL,\n"
    "  signature TEXT NOT NULL,  -- the rule's message\n"
    "  classtype TEXT NOT NULL,\n"
    "  category TEXT NOT NULL,   -- the class in words\n"
    "  priority INTEGER NOT NULL, -- 1 is the highest\n"
    "  payload BLOB              -- the first 4,096 bytes\n"
    ");\n"
    "CREATE TABLE anomalies(\n" EVENT_COLUMNS
    "  event TEXT NOT NULL       -- the header check's name\n"
    ");\n"
    /* Indexes on addresses would cut the insert rate to a third, and more as a database grows. */
    "CREATE INDEX alerts_by_sid ON alerts(sid);\n"
    "CREATE INDEX alerts_by_time ON alerts(time);\n"
    "CREATE INDEX anomalies_by_event ON anomalies(event);\n"
    "CREATE INDEX anomalies_by_time ON anomalies(time);\n"
    "PRAGMA application_id = " APPLICATION_ID_TEXT ";\n";

/* What version 1 did not have. */
static const char schema_names[] =
    "CREATE TABLE names(\n" EVENT_COLUMNS "  protocol TEXT NOT NULL,   -- dns, http, tls, ndn\n"
    "  kind TEXT,                -- query, answer; a method; interest, data\n"
    "  name TEXT NOT NULL,       -- domain, URL or NDN name\n"
    "  prefix TEXT NOT NULL,     -- the rule's name\n"
    "  action TEXT NOT NULL,     -- block, forward, category, ...\n"
    "  verdict TEXT,             -- blocked, allowed\n"
    "  value TEXT,               -- next hops, addresses, categories, comma separated\n"
    "  list TEXT NOT NULL,\n"
    "  line INTEGER NOT NULL\n"
    ");\n"
    "CREATE INDEX names_by_prefix ON names(prefix);\n"
    "CREATE INDEX names_by_time ON names(time);\n"
    "PRAGMA user_version = " SCHEMA_VERSION_TEXT ";\n";

struct sqlite_sink {
    struct sl_sink base;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *insert_alert, *insert_anomaly, *insert_name;
    char *path;         /* as SQLite is given it */
    const char *name;   /* as the user gave it, inside path */
    uint64_t committed; /* rows */
    uint64_t pending;   /* rows of the open transaction; 0: none is open */
};

/* Reports what SQLite says of its last failure. */
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

/* Makes the tables in an empty database; refuses one of another program. */
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

    if (application == 0 && version == 0 && n_objects == 0) {
        status = run(sqlite, schema, diag);
        return status == SL_OK ? run(sqlite, schema_names, diag) : status;
    }
    if (application != APPLICATION_ID)
        return diag_set(diag, SL_EIO, sqlite->name, 0,
                        "a database of another program (expected one made by sluice, or none)");
    if (version == 1)
        return run(sqlite, schema_names, diag);
    if (version != SCHEMA_VERSION)
        return diag_set(diag, SL_EIO, sqlite->name, 0,
                        "a database of another version of sluice (tables of version %lld, "
                        "expected " SCHEMA_VERSION_TEXT ")",
                        (long long)version);
    return SL_OK;
}

static enum sl_status open_database(struct sqlite_sink *sqlite, struct sl_diag *diag)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

    if (sqlite3_open_v2(sqlite->path, &sqlite->db, flags, NULL) != SQLITE_OK)
        return failure(sqlite, diag);
    sqlite3_busy_timeout(sqlite->db, BUSY_MS);

    /* In one transaction, so that two that begin together do not both make the tables. */
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
    if (status == SL_OK)
        status = prepare(sqlite, &sqlite->insert_alert,
                         "INSERT INTO alerts VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?,?,?)", diag);
    if (status == SL_OK)
        status = prepare(sqlite, &sqlite->insert_anomaly,
                         "INSERT INTO anomalies VALUES(NULL," EVENT_VALUES ",?)", diag);
    if (status == SL_OK)
        status = prepare(sqlite, &sqlite->insert_name,
                         "INSERT INTO names VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?,?,?,?)", diag);
    return status;
}

/* Rolls back what is not committed. */
static void free_sink(struct sqlite_sink *sqlite)
{
    sqlite3_finalize(sqlite->begin);
    sqlite3_finalize(sqlite->commit);
    sqlite3_finalize(sqlite->insert_alert);
    sqlite3_finalize(sqlite->insert_anomaly);
    sqlite3_finalize(sqlite->insert_name);
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

/* The values of a row, in the order of its columns. */
struct row {
    sqlite3_stmt *insert;
    int column; /* of the value before, from 1 */
    int error;  /* the first, an SQLITE_ code */
};

static void row_bound(struct row *row, int code)
{
    if (row->error == SQLITE_OK)
        row->error = code;
}

static void row_int(struct row *row, bool known, uint64_t value)
{
    const int column = ++row->column;

    row_bound(row, known ? sqlite3_bind_int64(row->insert, column, (sqlite3_int64)value)
                         : sqlite3_bind_null(row->insert, column));
}

static size_t well_formed_len(const char *text, size_t len)
{
    const uint8_t *const end = (const uint8_t *)text + len;
    const uint8_t *at = (const uint8_t *)text;

    while (at < end) {
        const size_t n = utf8_len(at, end);

        if (n == 0)
            break;
        at += n;
    }
    return (size_t)(at - (const uint8_t *)text);
}

/* A copy in UTF-8, len bytes of it in *out_len; NULL: no memory. */
static char *escaped_copy(const char *text, size_t len, size_t *out_len)
{
    char *copy = reallocarray(NULL, len, UTF8_ESCAPE_LEN);
    char *out = copy;

    if (copy == NULL)
        return NULL;
    while (len > 0) {
        const size_t good = well_formed_len(text, len);

        memcpy(out, text, good);
        out += good;
        if (good == len)
            break;
        utf8_escape(out, (uint8_t)text[good]);
        out += UTF8_ESCAPE_LEN;
        text += good + 1;
        len -= good + 1;
    }
    *out_len = (size_t)(out - copy);
    return copy;
}

/* The bytes must live until the row is inserted. NULL is unknown. */
static void row_bytes(struct row *row, const char *text, size_t len)
{
    const int column = ++row->column;

    if (text == NULL) {
        row_bound(row, sqlite3_bind_null(row->insert, column));
        return;
    }
    if (well_formed_len(text, len) == len) {
        row_bound(row,
                  sqlite3_bind_text64(row->insert, column, text, len, SQLITE_STATIC, SQLITE_UTF8));
        return;
    }

    char *copy = escaped_copy(text, len, &len);
    if (copy == NULL)
        row_bound(row, SQLITE_NOMEM);
    else
        row_bound(row, sqlite3_bind_text64(row->insert, column, copy, len, free, SQLITE_UTF8));
}

static void row_text(struct row *row, const char *text)
{
    row_bytes(row, text, text != NULL ? strlen(text) : 0);
}

/* Texts of a row that are made for it. */
struct row_texts {
    char time[EVENT_TIME_LEN + 1];
    char number[4];
    char src[SL_ADDR_TEXT_LEN], dst[SL_ADDR_TEXT_LEN];
};

static void row_event(struct row *row, struct row_texts *texts, const struct sl_event *event)
{
    const struct sl_origin *origin = &event->origin;
    const struct sl_tuple *tuple = &event->tuple;
    const bool has_transport = event->has_tuple && event_has_transport(event);
    const bool has_ports = has_transport && event_has_ports(event);
    const bool is_icmp = has_transport && event_is_icmp(event);

    event_time(texts->time, origin->time_ns, ' ');
    texts->time[EVENT_TIME_LEN] = '\0';
    row_text(row, texts->time);
    row_int(row, true, (uint64_t)origin->time_ns);
    row_text(row, event->source);
    row_int(row, origin->position != 0, origin->position);
    row_int(row, origin->flow != 0, origin->flow);
    row_text(row, origin->flow != 0 ? event_direction(event) : NULL);
    row_int(row, origin->vlan[0] != SL_NO_VLAN, origin->vlan[0]);
    row_int(row, origin->vlan[1] != SL_NO_VLAN, origin->vlan[1]);
    row_text(row, event->has_tuple ? event_protocol(tuple->protocol, texts->number) : NULL);
    row_text(row, event->has_tuple ? sl_addr_format(&tuple->src, texts->src) : NULL);
    row_int(row, has_ports, tuple->src_port);
    row_text(row, event->has_tuple ? sl_addr_format(&tuple->dst, texts->dst) : NULL);
    row_int(row, has_ports, tuple->dst_port);
    row_int(row, is_icmp, tuple->src_port);
    row_int(row, is_icmp, tuple->dst_port);
}

static void row_alert(struct row *row, const struct sl_event *event)
{
    const struct sl_signature *signature = event->signature;

    row_int(row, true, signature->gid);
    row_int(row, true, signature->sid);
    row_int(row, true, signature->rev);
    row_text(row, signature->msg);
    row_text(row, signature->classtype);
    row_text(row, signature->category);
    row_int(row, true, signature->priority);
    /* SQLite takes no pointer, which is what no payload has, for NULL. */
    row_bound(row, sqlite3_bind_blob64(row->insert, ++row->column, event->payload,
                                       event_payload_len(event), SQLITE_STATIC));
}

/* The values with commas between them, freed by the caller; NULL: no memory. */
static char *join_values(const char *const *values)
{
    size_t len = 1;

    for (size_t i = 0; values[i] != NULL; i++)
        len += strlen(values[i]) + 1;
    char *joined = malloc(len), *at = joined;
    for (size_t i = 0; joined != NULL && values[i] != NULL; i++) {
        if (i > 0)
            *at++ = ',';
        at = stpcpy(at, values[i]);
    }
    if (joined != NULL)
        *at = '\0';
    return joined;
}

/* *joined lives until the row is inserted; the caller frees it. */
static void row_name(struct row *row, const struct sl_event *event, char **joined)
{
    const struct sl_name_match *match = event->match;
    size_t len = 0;
    const char *kind = event_name_kind(event, &len);

    *joined = join_values(match->values);
    if (*joined == NULL)
        row_bound(row, SQLITE_NOMEM);
    row_text(row, sl_names_protocol_text(match->found->protocol));
    row_bytes(row, kind, len);
    row_text(row, match->name);
    row_text(row, match->prefix);
    row_text(row, sl_names_action_text(match->action));
    row_text(row, event_verdict(match->action));
    row_text(row, match->values[0] != NULL ? *joined : NULL);
    row_text(row, match->list);
    row_int(row, true, match->line);
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

static enum sl_status sqlite_write(struct sl_sink *sink, const struct sl_event *event,
                                   struct sl_diag *diag)
{
    struct sqlite_sink *sqlite = (struct sqlite_sink *)sink;
    sqlite3_stmt *const inserts[] = {[SL_EVENT_ALERT] = sqlite->insert_alert,
                                     [SL_EVENT_ANOMALY] = sqlite->insert_anomaly,
                                     [SL_EVENT_NAME] = sqlite->insert_name};
    struct row row = {.insert = inserts[event->kind]};
    struct row_texts texts;
    enum sl_status status = SL_OK;
    char *joined = NULL;

    row_event(&row, &texts, event);
    if (event->kind == SL_EVENT_ALERT)
        row_alert(&row, event);
    else if (event->kind == SL_EVENT_NAME)
        row_name(&row, event, &joined);
    else
        row_text(&row, sl_header_check_name(event->check));
    if (row.error != SQLITE_OK)
        status = diag_set(diag, row.error == SQLITE_NOMEM ? SL_ENOMEM : SL_EIO, sqlite->name, 0,
                          "%s", sqlite3_errstr(row.error));
    if (status == SL_OK && sqlite->pending == 0)
        status = step(sqlite, sqlite->begin, diag);
    if (status == SL_OK)
        status = step(sqlite, row.insert, diag);
    free(joined);
    if (status != SL_OK)
        return status;
    return ++sqlite->pending < TRANSACTION_ROWS ? SL_OK : sqlite_flush(sink, diag);
}

static uint64_t sqlite_written(const struct sl_sink *sink)
{
    return ((const struct sqlite_sink *)sink)->committed;
}

static enum sl_status sqlite_close(struct sl_sink *sink, struct sl_diag *diag)
{
    struct sqlite_sink *sqlite = (struct sqlite_sink *)sink;

    (void)diag;
    /* Brings the log into the file. Where that cannot be, for a reader or a full disk, the log
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
    .open = sqlite_open,
    .write = sqlite_write,
    .flush = sqlite_flush,
    .written = sqlite_written,
    .close = sqlite_close,
};

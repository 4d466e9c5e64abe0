/* SPDX-License-Identifier: MIT */
/* The tables of the database sink, and the field of each column. */
#ifndef SINKS_SQLITE_TABLES_H
#define SINKS_SQLITE_TABLES_H

#include "event_ids.h"

#define DATABASE_TEXT_OF(number) DATABASE_TEXT(number)
#define DATABASE_TEXT(number) #number
#define DATABASE_APPLICATION_ID 1936487779 /* "sluc" */
#define DATABASE_VERSION 6
#define DATABASE_VERSION_TEXT DATABASE_TEXT_OF(DATABASE_VERSION)

/* The statements that make the tables: each version's part, behind those of the versions before it.
 */
extern const char *const table_schemas[DATABASE_VERSION];

enum { TABLE_FIELDS_MAX = 3 };

/* A column holds the first of its fields that is present, else NULL. */
struct table_column {
    enum event_field fields[TABLE_FIELDS_MAX]; /* FIELD_END: no more */
    bool as_text;                              /* a time as text, not as nanoseconds */
    uint32_t nth;                              /* of a list of numbers */
};

enum table {
    TABLE_ALERTS,
    TABLE_ANOMALIES,
    TABLE_NAMES,
    TABLE_FLOWS,
    TABLE_DNS,
    TABLE_HTTP,
    TABLE_TLS,
    TABLE_FILES,
    TABLE_PACKETS,
    TABLE_SMTP,
    TABLE_SSH,
    TABLE_FTP,
    N_TABLES
};

struct table_insert {
    const char *sql; /* of a row whose values are bound in the order of the columns */
    const struct table_column *columns; /* between the first and the last of all tables */
    uint32_t n_columns;
};

enum { TABLE_N_EVENT_COLUMNS = 15 };

extern const struct table_column table_event_columns[TABLE_N_EVENT_COLUMNS];
extern const struct table_column table_last_column;
extern const struct table_insert table_inserts[N_TABLES];

enum table table_of(enum sl_event_kind kind);

#endif

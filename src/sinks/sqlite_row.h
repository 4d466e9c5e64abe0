/* SPDX-License-Identifier: MIT */
/* An event as the values of a row. */
#ifndef SINKS_SQLITE_ROW_H
#define SINKS_SQLITE_ROW_H

#include <sqlite3.h>

#include "event_text.h"
#include "sqlite_tables.h"

/* The row's picks and texts, which bound values point into: it lives until the row is inserted. */
struct sqlite_row {
    sqlite3_stmt *insert;
    int column; /* that was bound last, from 1 */
    int error;  /* the first, an SQLITE_ code */
    struct event_picks picks;
    char time[3][EVENT_TIME_LEN]; /* of the event, a flow's begin and end */
    uint32_t n_times;
    char addr[2][SL_ADDR_TEXT_LEN];
    uint32_t n_addrs;
};

/* Binds the values of an event to the prepared statement of its table. Returns an SQLITE_ code. */
int sqlite_row_bind(struct sqlite_row *row, sqlite3_stmt *insert, const struct sl_event *event);

#endif

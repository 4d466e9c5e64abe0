/* SPDX-License-Identifier: MIT */
#include "sqlite_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#define EVENT_TAKE event_pick_field
#include "event_fields.h"

static void bound(struct sqlite_row *row, int code)
{
    if (row->error == SQLITE_OK)
        row->error = code;
}

static void bind_number(struct sqlite_row *row, uint64_t value)
{
    bound(row, sqlite3_bind_int64(row->insert, row->column, (sqlite3_int64)value));
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

/* Takes the text with `release`, SQLITE_STATIC where it lives as long as the row. */
static void bind_text(struct sqlite_row *row, const char *text, size_t len, void (*release)(void *))
{
    if (len == 0 && release == SQLITE_STATIC)
        text = ""; /* an empty text may have no bytes, and is no NULL */
    if (well_formed_len(text, len) == len) {
        bound(row, sqlite3_bind_text64(row->insert, row->column, text, len, release, SQLITE_UTF8));
        return;
    }

    char *copy = escaped_copy(text, len, &len);
    if (copy == NULL)
        bound(row, SQLITE_NOMEM);
    else
        bound(row, sqlite3_bind_text64(row->insert, row->column, copy, len, free, SQLITE_UTF8));
    if (release == free)
        free((void *)(uintptr_t)text);
}

/* The texts with commas between them, to be freed. NULL: no memory. */
static char *join_texts(const char *const *texts)
{
    size_t len = 1;

    for (size_t i = 0; texts[i] != NULL; i++)
        len += strlen(texts[i]) + 1;
    char *joined = malloc(len), *at = joined;
    for (size_t i = 0; joined != NULL && texts[i] != NULL; i++) {
        if (i > 0)
            *at++ = ',';
        at = stpcpy(at, texts[i]);
    }
    if (joined != NULL)
        *at = '\0';
    return joined;
}
static void bind_texts(struct sqlite_row *row, const char *const *texts)
{
    char *joined = join_texts(texts);

    if (joined == NULL)
        bound(row, SQLITE_NOMEM);
    else
        bind_text(row, joined, strlen(joined), free);
}

/* The values with commas between them. */
static void bind_values(struct sqlite_row *row, const struct sl_field *field)
{
    size_t len = 1;

    for (uint32_t i = 0; i < field->n; i++)
        len += field->values[i].len + 1;
    char *joined = malloc(len), *at = joined;
    for (uint32_t i = 0; joined != NULL && i < field->n; i++) {
        if (i > 0)
            *at++ = ',';
        at = mempcpy(at, field->values[i].bytes, field->values[i].len);
    }
    if (joined == NULL)
        bound(row, SQLITE_NOMEM);
    else
        bind_text(row, joined, (size_t)(at - joined), free);
}

static void bind_time(struct sqlite_row *row, int64_t time_ns, bool as_text)
{
    if (!as_text) {
        bind_number(row, (uint64_t)time_ns);
        return;
    }
    char *text = row->time[row->n_times++];
    event_time(text, time_ns, ' ');
    bind_text(row, text, EVENT_TIME_LEN, SQLITE_STATIC);
}

static void bind_addr(struct sqlite_row *row, const struct sl_addr *addr)
{
    const char *text = sl_addr_format(addr, row->addr[row->n_addrs++]);

    bind_text(row, text, strlen(text), SQLITE_STATIC);
}

static void bind_null(struct sqlite_row *row)
{
    bound(row, sqlite3_bind_null(row->insert, row->column));
}

static void bind_nth(struct sqlite_row *row, const struct sl_field *field, uint32_t nth)
{
    if (nth < field->n)
        bind_number(row, field->numbers[nth]);
    else
        bind_null(row);
}

static void bind_field(struct sqlite_row *row, const struct table_column *column,
                       const struct sl_field *field)
{
    switch (field->type) {
    case SL_FIELD_NUMBER:
        bind_number(row, field->number);
        break;
    case SL_FIELD_TRUE:
    case SL_FIELD_FALSE:
        bind_number(row, field->type == SL_FIELD_TRUE);
        break;
    case SL_FIELD_TEXT:
        bind_text(row, field->text, field->n, SQLITE_STATIC);
        break;
    case SL_FIELD_TEXTS:
        bind_texts(row, field->texts);
        break;
    case SL_FIELD_VALUES:
        bind_values(row, field);
        break;
    case SL_FIELD_NUMBERS:
        bind_nth(row, field, column->nth);
        break;
    case SL_FIELD_BYTES:
        bound(row,
              sqlite3_bind_blob64(row->insert, row->column, field->bytes, field->n, SQLITE_STATIC));
        break;
    case SL_FIELD_TIME:
        bind_time(row, field->time_ns, column->as_text);
        break;
    case SL_FIELD_ADDR:
        bind_addr(row, field->addr);
        break;
    default: /* unknown */
        bind_null(row);
    }
}

/* The first of a column's fields that is present, or NULL. */
static const struct sl_field *field_of(const struct event_picks *picks,
                                       const struct table_column *column)
{
    for (uint32_t i = 0; i < TABLE_FIELDS_MAX && column->fields[i] != FIELD_END; i++)
        if (picks->has[column->fields[i]])
            return &picks->field[column->fields[i]];
    return NULL;
}

static void bind_columns(struct sqlite_row *row, const struct table_column *columns, uint32_t n)
{
    for (uint32_t c = 0; c < n; c++) {
        row->column++;

        const struct sl_field *field = field_of(&row->picks, &columns[c]);
        if (field != NULL)
            bind_field(row, &columns[c], field);
        else
            bind_null(row);
    }
}

int sqlite_row_bind(struct sqlite_row *row, sqlite3_stmt *insert, const struct sl_event *event)
{
    const struct table_insert *table = &table_inserts[table_of(event->kind)];

    row->insert = insert;
    row->column = 0;
    row->error = SQLITE_OK;
    row->n_addrs = row->n_times = 0;
    event_pick(&row->picks, event);
    bind_columns(row, table_event_columns, TABLE_N_EVENT_COLUMNS);
    bind_columns(row, table->columns, table->n_columns);
    bind_columns(row, &table_last_column, 1);
    return row->error;
}

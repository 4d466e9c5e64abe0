/* SPDX-License-Identifier: MIT */
/* Filling a table with a list whose text comes in pieces. */
#ifndef NAMES_NAMES_LOAD_H
#define NAMES_NAMES_LOAD_H

#include "names_internal.h"

/* A list that is being read. */
struct names_load {
    struct sl_names *names;
    const char *label, *format;
    struct list_parse *parse;
    uint32_t list;
    uint32_t line;             /* the number of the last line that was read */
    uint64_t n_lines, n_rules; /* neither empty nor comments; understood */
    const char *wrong;         /* why the first wrong line is wrong; NULL: none is */
    uint32_t wrong_line;
};

/* Starts a list. The format is chosen by the first lines, which `text` holds, where `format` is
 * NULL. SL_EINVAL, SL_EFORMAT, SL_ENOMEM as sl_names_load. names_load_end must follow. */
enum sl_status names_load_begin(struct names_load *load, struct sl_names *names, const char *label,
                                const char *format, const char *text, size_t text_len,
                                struct sl_diag *diag);

/* Adds whole lines; the last line of a list may lack its end. SL_ENOMEM. */
enum sl_status names_load_add(struct names_load *load, const char *text, size_t text_len,
                              struct sl_diag *diag);

/* Ends a list. Returns `status`, or SL_EFORMAT where that is SL_OK and no line can be used. */
enum sl_status names_load_end(struct names_load *load, enum sl_status status, struct sl_diag *diag);

/* The bytes of the byte order mark that the text begins with. */
size_t names_load_mark_len(const char *text, size_t text_len);

extern const char names_no_memory_reading[];

#endif

/* SPDX-License-Identifier: MIT */
/* The files of sets of data, as Suricata has them: a value a line, and behind it, in sets of
 * reputations, a comma and a number. Strings are base64, digests hexadecimal, addresses as usual.
 * Or values are members of objects in JSON, where strings are as they are. */
#ifndef DETECT_DATA_FILE_H
#define DETECT_DATA_FILE_H

#include "data_set.h"
#include "sluice/status.h"

enum data_format {
    DATA_LINES,
    DATA_JSON,      /* an array of objects */
    DATA_JSON_LINES /* an object a line */
};

/* Keys lead into objects, with dots between their parts; NULL in lines. `array` may be NULL. */
struct data_form {
    enum data_format format;
    const char *value; /* to the value in its object */
    const char *array; /* to the array in the object that DATA_JSON is then */
};

/* Adds the values of a text; `name` stands for its file. Empty lines are passed over, and so are
 * objects without the key. SL_EFORMAT: a line is no value, has a reputation where those before have
 * none, or the other way; the text is no such JSON, or no object has the key; the memory of the set
 * is used up. The diagnostic has the line, which is 0 where several values share one. */
enum sl_status data_text_read(struct data_set *set, const struct data_form *form, const char *name,
                              const char *text, size_t len, struct sl_diag *diag);

/* The same for a file. `optional`: a file that is not there has no values. SL_EIO, SL_ENOMEM. */
enum sl_status data_file_read(struct data_set *set, const struct data_form *form, const char *path,
                              bool optional, struct sl_diag *diag);

/* Writes all values, so that reading gives the same set. The file appears whole or not at all.
 * SL_EIO, SL_ENOMEM. */
enum sl_status data_file_write(const struct data_set *set, const char *path, struct sl_diag *diag);

#endif

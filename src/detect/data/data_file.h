/* SPDX-License-Identifier: MIT */
/* The files of sets of data, as Suricata has them: a value a line, and behind it, in sets of
 * reputations, a comma and a number. Strings are base64, digests hexadecimal, addresses as usual.
 */
#ifndef DETECT_DATA_FILE_H
#define DETECT_DATA_FILE_H

#include "data_set.h"
#include "sluice/status.h"

/* Adds the values of a text; `name` stands for its file. Empty lines are passed over. SL_EFORMAT: a
 * line is no value, has a reputation where those before have none, or the other way; the memory of
 * the set is used up. The diagnostic has the line. */
enum sl_status data_text_read(struct data_set *set, const char *name, const char *text, size_t len,
                              struct sl_diag *diag);

/* The same for a file. `optional`: a file that is not there has no values. SL_EIO, SL_ENOMEM. */
enum sl_status data_file_read(struct data_set *set, const char *path, bool optional,
                              struct sl_diag *diag);

/* Writes all values, so that reading gives the same set. The file appears whole or not at all.
 * SL_EIO, SL_ENOMEM. */
enum sl_status data_file_write(const struct data_set *set, const char *path, struct sl_diag *diag);

#endif

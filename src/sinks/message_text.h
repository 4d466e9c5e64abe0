/* SPDX-License-Identifier: MIT */
/* Parts of messages of flows as texts. */
#ifndef SINKS_MESSAGE_TEXT_H
#define SINKS_MESSAGE_TEXT_H

#include "sluice/app.h"

enum {
    MESSAGE_VERSION_LEN = 24,
    MESSAGE_EVENT_LEN = 64,
    MESSAGE_HASH_LEN = 2 * SL_FILE_HASH_MAX + 1 /* of a file, in hexadecimal, with a NUL */
};

/* The first of the half's values with this id, and how many there are. NULL: none. */
const struct sl_app_value *message_values(const struct sl_app_half *half, enum sl_app_value_id id,
                                          uint32_t *n);

/* The value of the first field of this name, in lower case, among the normalised ones. False: none.
 */
bool message_http_field(const struct sl_app_half *half, const char *name, struct sl_app_value *out);

/* The parts of a Content-Range "bytes 1-2/3"; -1: unknown. False: it has another form. */
struct message_range {
    int64_t start, end, size;
};

bool message_read_range(const struct sl_app_value *value, struct message_range *range);

/* "1", "2", "draft-29", or a number in hexadecimal. */
const char *message_quic_version(uint32_t version, char text[MESSAGE_VERSION_LEN]);

/* The name of the message's event, in capitals. */
const char *message_event(const struct sl_app_message *message, char text[MESSAGE_EVENT_LEN]);

/* The file's hash; it must have been made. */
const char *message_hash(const struct sl_app_file *file, enum sl_file_hash hash,
                         char text[MESSAGE_HASH_LEN]);

#endif

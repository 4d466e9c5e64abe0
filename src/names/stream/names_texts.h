/* SPDX-License-Identifier: MIT */
/* Texts of one thread, read as names and looked up in batches. */
#ifndef NAMES_NAMES_TEXTS_H
#define NAMES_NAMES_TEXTS_H

#include <stddef.h>

#include "names/syntax/name_plain.h"
#include "sluice/names.h"

struct names_texts;

/* `take` gets the results of each batch. Other statuses: as sl_names_reader_open. */
enum sl_status names_texts_open(struct names_texts **opened,
                                const struct sl_names_stream_config *config, sl_names_take *take,
                                void *user, struct sl_diag *diag);
void names_texts_close(struct names_texts *texts); /* accepts NULL */

/* Adds a text, which is lent until its batch was taken. `why` says that it is no name, whatever it
 * holds; NULL: it is to be read. SL_EDEVICE, or the taker's status. */
enum sl_status names_texts_add(struct names_texts *texts, const char *text, size_t len,
                               const char *why, struct sl_diag *diag);

/* Adds a plain name, behind which NAME_PLAIN_SLACK bytes can be read. The syntax is that of NDN
 * names, or found out. */
enum sl_status names_texts_add_plain(struct names_texts *texts, const char *text,
                                     const struct name_plain *plain, struct sl_diag *diag);

/* Of each result that `take` has: what name_plain_read returned, or 0. */
const uint64_t *names_texts_heads(const struct names_texts *texts);

/* Looks up what was added. */
enum sl_status names_texts_flush(struct names_texts *texts, struct sl_diag *diag);

#endif

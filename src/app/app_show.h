/* SPDX-License-Identifier: MIT */
/* Values of a side of a transaction, as its parser shows them: in the order of their ids, in memory
 * of an arena. */
#ifndef APP_SHOW_H
#define APP_SHOW_H

#include "app_arena.h"
#include "app_text.h"
#include "sluice/app.h"

struct app_show {
    struct app_arena *arena;    /* of the bytes */
    struct sl_app_value *value; /* kept from use to use */
    uint32_t n, max;
    uint64_t wanted;      /* bits of sl_app_value_bit */
    struct app_span from; /* bytes that are copied once, */
    const uint8_t *copy;  /* and where they are then; NULL: not yet */
    struct app_text text; /* for parsers; kept from use to use */
    bool no_memory;
};

static inline bool app_show_wants(const struct app_show *show, enum sl_app_value_id id)
{
    return (show->wanted & sl_app_value_bit(id)) != 0;
}

/* Copies a value's bytes. */
void app_show_add(struct app_show *show, enum sl_app_value_id id, struct app_span bytes);

/* Copies the first texts, `most` of them, that have a NUL behind each, where the value is wanted.
 */
void app_show_texts(struct app_show *show, enum sl_app_value_id id, const struct app_text *texts,
                    uint32_t most);

/* Ends the list: gives it in memory of the arena, with room for one more. NULL: no memory. */
struct sl_app_value *app_show_end(struct app_show *show, uint32_t *n);

void app_show_free(struct app_show *show);

#endif

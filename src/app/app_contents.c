/* SPDX-License-Identifier: MIT */
#include "app_contents.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

enum { FIRST_ROOM = 4096, SPILL_ROOM = 64 << 10 };

void app_contents_call(struct app_contents_budget *budget, uint32_t len)
{
    app_credit_add(&budget->credit, len);
    budget->share = app_credit_of(len);
    budget->call++;
}

struct app_contents *app_contents_create(void)
{
    return calloc(1, sizeof(struct app_contents));
}

static void drop(struct app_contents *contents)
{
    free(contents->bytes);
    if (contents->spilled != NULL)
        (void)fclose(contents->spilled);
    contents->bytes = NULL;
    contents->spilled = NULL;
    contents->max = contents->held = 0;
}

static bool reserve(struct app_contents *contents, uint64_t len)
{
    uint32_t max = contents->max != 0 ? contents->max : FIRST_ROOM;

    while (max < len)
        max *= 2;
    if (max == contents->max)
        return true;
    uint8_t *bytes = realloc(contents->bytes, max);
    if (bytes == NULL)
        return false;
    contents->bytes = bytes;
    contents->max = max;
    return true;
}

/* Writes the bytes that memory holds. */
static bool flush(struct app_contents *contents)
{
    const uint32_t held = contents->held;

    contents->held = 0;
    return fd_write(fileno(contents->spilled), contents->bytes, held);
}

/* Moves the bytes out of memory, which keeps room for some of the next ones. */
static bool spill(struct app_contents *contents, struct app_contents_budget *budget)
{
    const bool has_brought = contents->brought >= APP_CONTENTS_SPILL_PRICE;

    if (budget->n_spilled == APP_CONTENTS_SPILLED_MAX || (!has_brought && budget->credit.pool <= 0))
        return false;
    contents->spilled = tmpfile();
    if (contents->spilled == NULL)
        return false;
    budget->n_spilled++;
    budget->credit.pool -= has_brought ? 0 : APP_CONTENTS_SPILL_PRICE;
    if (!flush(contents))
        return false;
    free(contents->bytes);
    contents->bytes = malloc(SPILL_ROOM);
    contents->max = contents->bytes != NULL ? SPILL_ROOM : 0;
    return contents->bytes != NULL;
}

/* Pieces are small, and a write costs as much as a thousand bytes. */
static bool add_spilled(struct app_contents *contents, const uint8_t *bytes, uint32_t len)
{
    if (len > SPILL_ROOM - contents->held && !flush(contents))
        return false;
    if (len > SPILL_ROOM)
        return fd_write(fileno(contents->spilled), bytes, len);
    memcpy(contents->bytes + contents->held, bytes, len);
    contents->held += len;
    return true;
}

static bool add(struct app_contents *contents, struct app_contents_budget *budget,
                const uint8_t *bytes, uint32_t len)
{
    const uint64_t end = contents->len + len;

    if (contents->call != budget->call)
        contents->brought += budget->share;
    contents->call = budget->call;
    if (end > APP_CONTENTS_MAX || !app_credit_pay(&budget->credit, len))
        return false;
    if (contents->spilled == NULL && end > APP_CONTENTS_MEMORY && !spill(contents, budget))
        return false;
    if (contents->spilled != NULL)
        return add_spilled(contents, bytes, len);
    if (!reserve(contents, end))
        return false;
    memcpy(contents->bytes + contents->len, bytes, len);
    contents->held += len;
    return true;
}

void app_contents_add(struct app_contents *contents, struct app_contents_budget *budget,
                      const uint8_t *bytes, uint32_t len)
{
    if (contents->is_lost)
        return;
    contents->is_lost = !add(contents, budget, bytes, len);
    contents->len += len;
    if (!contents->is_lost)
        return;
    app_contents_end(contents, budget);
    drop(contents);
}

void app_contents_end(const struct app_contents *contents, struct app_contents_budget *budget)
{
    budget->n_spilled -= contents->spilled != NULL;
}

void app_contents_complete(struct app_contents *contents)
{
    if (contents->spilled == NULL)
        return;
    contents->is_lost = !flush(contents);
    free(contents->bytes);
    contents->bytes = NULL;
    contents->max = 0;
}

void app_contents_free(struct app_contents *contents)
{
    while (contents != NULL) {
        struct app_contents *const next = contents->next;

        drop(contents);
        free(contents);
        contents = next;
    }
}

/* SPDX-License-Identifier: MIT */
#include "app_show.h"

static bool reserve(struct app_show *show)
{
    if (show->n < show->max)
        return true;
    const uint32_t max = show->max != 0 ? 2 * show->max : 64;
    struct sl_app_value *value = realloc(show->value, max * sizeof *value);

    if (value == NULL)
        return false;
    show->value = value;
    show->max = max;
    return true;
}

static const uint8_t *copy(struct app_show *show, struct app_span bytes)
{
    uint8_t *to = app_arena_take(show->arena, bytes.len);

    return to == NULL || bytes.len == 0 ? to : memcpy(to, bytes.bytes, bytes.len);
}

/* Where a part of the bytes that are copied once is. NULL: it is no part of them. */
static const uint8_t *find_copied(struct app_show *show, struct app_span bytes)
{
    const uintptr_t at = (uintptr_t)bytes.bytes - (uintptr_t)show->from.bytes;

    if (at > show->from.len || bytes.len > show->from.len - at)
        return NULL;
    if (show->copy == NULL)
        show->copy = copy(show, show->from);
    return show->copy != NULL ? show->copy + at : NULL;
}

void app_show_add(struct app_show *show, enum sl_app_value_id id, struct app_span bytes)
{
    const uint8_t *to = find_copied(show, bytes);

    if (to == NULL)
        to = copy(show, bytes);
    if (to == NULL || !reserve(show)) {
        show->no_memory = true;
        return;
    }
    show->value[show->n++] = (struct sl_app_value){to, bytes.len, id};
}

void app_show_texts(struct app_show *show, enum sl_app_value_id id, const struct app_text *texts,
                    uint32_t most)
{
    struct app_span text;
    uint32_t at = 0;

    for (; app_show_wants(show, id) && most != 0 && app_texts_next(&text, texts, &at); most--)
        app_show_add(show, id, text);
}

struct sl_app_value *app_show_end(struct app_show *show, uint32_t *n)
{
    struct sl_app_value *value = app_arena_take(show->arena, ((size_t)show->n + 1) * sizeof *value);

    const bool is_whole = !show->no_memory;

    *n = show->n;
    show->from = (struct app_span){0};
    show->copy = NULL;
    if (value != NULL && show->n != 0)
        memcpy(value, show->value, show->n * sizeof *value);
    show->n = 0;
    show->no_memory = show->text.no_memory = false;
    return is_whole ? value : NULL;
}

void app_show_free(struct app_show *show)
{
    free(show->value);
    app_text_free(&show->text);
}

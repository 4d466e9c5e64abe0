/* SPDX-License-Identifier: MIT */
/* The calls that pass a field to a visit. The file that includes this has defined EVENT_TAKE as the
 * name of its function. */
#ifndef SINKS_EVENT_VISIT_H
#define SINKS_EVENT_VISIT_H

#include <string.h>

#include "event_ids.h"

/* A sink's visit is code of its own. Compilers that instrument it take ten times as long. */
#ifdef SLUICE_SANITIZED
#define EVENT_INLINE static inline
#else
#define EVENT_INLINE static inline __attribute__((always_inline))
#endif

/* A visit's parts are functions of their own: gcc takes twenty times as long for all in one. */
#define EVENT_PART static __attribute__((noinline))

/* Where the fields go. Compilers inline it here; a pointer to it would wait for all fields. */
EVENT_INLINE void EVENT_TAKE(void *to, enum event_field id, const struct sl_field *field);

EVENT_INLINE void event_take(void *to, enum event_field id, struct sl_field field)
{
    static const char *const names[] = {EVENT_FIELDS(EVENT_FIELD_NAME)};

    field.name = names[id];
    EVENT_TAKE(to, id, &field);
}

EVENT_INLINE void event_object(void *to, enum event_field id)
{
    event_take(to, id, (struct sl_field){.type = SL_FIELD_OBJECT});
}

EVENT_INLINE void event_end(void *to)
{
    event_take(to, FIELD_END, (struct sl_field){.type = SL_FIELD_END});
}

EVENT_INLINE void event_number(void *to, enum event_field id, uint64_t value)
{
    event_take(to, id, (struct sl_field){.type = SL_FIELD_NUMBER, .number = value});
}

EVENT_INLINE void event_flag(void *to, enum event_field id, bool flag)
{
    event_take(to, id, (struct sl_field){.type = flag ? SL_FIELD_TRUE : SL_FIELD_FALSE});
}

EVENT_INLINE void event_time_of(void *to, enum event_field id, int64_t time_ns)
{
    event_take(to, id, (struct sl_field){.type = SL_FIELD_TIME, .time_ns = time_ns});
}

EVENT_INLINE void event_bytes(void *to, enum event_field id, enum sl_field_type type,
                              const void *bytes, size_t n)
{
    event_take(to, id, (struct sl_field){.type = type, .n = (uint32_t)n, .bytes = bytes});
}

EVENT_INLINE void event_text(void *to, enum event_field id, const char *text)
{
    event_bytes(to, id, SL_FIELD_TEXT, text, strlen(text));
}

EVENT_INLINE void event_list(void *to, enum event_field id, const char *const *list)
{
    if (*list != NULL)
        event_take(to, id, (struct sl_field){.type = SL_FIELD_TEXTS, .texts = list});
}

#endif

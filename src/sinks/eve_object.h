/* SPDX-License-Identifier: MIT */
/* Objects of protocols as EVE JSON. */
#ifndef SINKS_EVE_OBJECT_H
#define SINKS_EVE_OBJECT_H

#include "app/app_visit.h"
#include "line_sink.h"

/* A visit that writes members into a line. */
struct eve_object {
    struct app_visit visit;
    struct line_sink *out;
    bool first; /* the next member is the first of its object or list */
};

/* Begins behind members that the line has. The struct must not move during the visit. */
void eve_object_begin(struct eve_object *object, struct line_sink *out);

#endif

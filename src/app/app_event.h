/* SPDX-License-Identifier: MIT */
#ifndef APP_APP_EVENT_H
#define APP_APP_EVENT_H

#include "sluice/app.h"

/* The number of an event that a parser reports; see sl_app_event_find. */
uint32_t app_event_of(enum sl_app app, const char *name);

/* Its name, in lower case. */
const char *app_event_name(uint32_t event);

#endif

/* SPDX-License-Identifier: MIT */
/* Events for the tests of sinks, and a folder to write into. */
#ifndef SINKS_TEST_SINK_EVENTS_H
#define SINKS_TEST_SINK_EVENTS_H

#include "sluice/sink.h"
#include "test.h"

enum { MADE_TEXT_LEN = 96, MADE_LIST_LEN = 8, MADE_PAYLOAD_LEN = 6000 };

/* An event with all that it points to. */
struct made_event {
    struct sl_event event;
    struct sl_signature signature;
    char msg[MADE_TEXT_LEN], classtype[MADE_TEXT_LEN], category[MADE_TEXT_LEN];
    char source[MADE_TEXT_LEN];
    char reference[MADE_LIST_LEN][MADE_TEXT_LEN], metadata[MADE_LIST_LEN][MADE_TEXT_LEN];
    const char *references[MADE_LIST_LEN + 1], *metadata_entries[MADE_LIST_LEN + 1];
    uint8_t payload[MADE_PAYLOAD_LEN];
};

/* A plain alert of a TCP packet with a payload of 32 bytes; number differs between alerts. */
void make_plain(struct made_event *made, uint32_t number);

/* Whatever events may hold, with strings and payloads that break careless writers. */
void make_hostile(struct made_event *made, uint64_t *random);

/* The event of packet 10 of a.pcap, of flow 45, from 10.0.0.1 port 40000 to 10.0.0.2, one
 * microsecond after the epoch. */
struct sl_event golden_event(enum sl_event_kind kind, uint8_t protocol, uint16_t dst_port);

/* Parses an address as sl_net_parse does. */
struct sl_addr make_addr(const char *text);

/* Group fixtures: a folder of this run's own, and its removal. */
int scratch_create(void **state);
int scratch_remove(void **state);

/* A path in that folder, and a spec for it; kept for eight calls. */
const char *scratch_path(const char *name);
const char *scratch_spec(const char *kind, const char *name);

/* Sends standard output to fd, which is closed; returns what takes it back. */
int stdout_to(int fd);
void stdout_back(int saved);

/* Opens a sink that must open. */
struct sl_sink *open_sink(const char *spec);

/* A file must hold exactly these lines. */
void check_lines(const char *path, const char *const *lines, int n);

/* Closes a sink that must have written `expected` events without failure. */
void close_sink(struct sl_sink *sink, uint64_t expected);

/* Writes events 0 to n - 1 to a sink of their own. Each is valid until the next is made. */
void write_events(const char *spec, struct sl_event (*make)(int i), int n);

/* The lines that the console and EVE must have of them. */
void check_console(struct sl_event (*make)(int i), const char *const *lines, int n);
void check_eve(struct sl_event (*make)(int i), const char *const *lines, int n);

#endif

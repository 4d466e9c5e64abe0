/* SPDX-License-Identifier: MIT */
/* A scan's side of an unpacker: a process without privileges that opens one file after another. */
#ifndef UNPACK_CLIENT_H
#define UNPACK_CLIENT_H

#include "sluice/status.h"
#include "unpack/message.h"

/* Belongs to one thread. */
struct unpack_client;

/* Finds the program; it is started where it is first needed. `program`: NULL, the one beside the
 * running program, or else the one that was installed. The passwords are lent, each behind its
 * length in one byte; at most UNPACK_PASSWORDS_LEN_MAX bytes. NULL: no memory. */
struct unpack_client *unpack_client_create(const char *program, const uint8_t *passwords,
                                           size_t passwords_len);

/* Ends the process. Accepts NULL. */
void unpack_client_free(struct unpack_client *client);

/* Begins a file. False: there is no unpacker, and *why says why. */
bool unpack_client_begin(struct unpack_client *client, int fd, const struct unpack_request *request,
                         const char **why);

/* The next event of the file, up to UNPACK_END. *bytes: an object's in memory, valid until the next
 * call; or NULL, and *fd is a descriptor of the caller's. deadline_ns: of the monotonic clock; 0:
 * none. Where the process dies, or is killed at the deadline, the event is an UNPACK_END. */
void unpack_client_next(struct unpack_client *client, uint64_t deadline_ns,
                        struct unpack_event *event, const uint8_t **bytes, int *fd);

/* Has the unpacker end the file soon. */
void unpack_client_cancel(struct unpack_client *client);

#endif

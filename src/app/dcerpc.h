/* SPDX-License-Identifier: MIT */
/* DCE/RPC over connections (The Open Group, C706, chapter 12), in TCP. A call is a transaction: its
 * request, and its response or fault. News of a side are APP_HEAD with its first fragment, APP_BODY
 * with the data of the stub, and APP_END with its last fragment.
 *
 * A flow holds one fragment a side, of at most 64 KiB, the interfaces that its client offered, and
 * the calls that are open. Of more calls the oldest is done without its response, and of more
 * interfaces the last are left out. Behind a gap, or what is no fragment, a side is given up. */
#ifndef APP_DCERPC_H
#define APP_DCERPC_H

#include "app_parser.h"

enum {
    DCERPC_HEAD_LEN = 16,       /* bytes that all fragments begin with */
    DCERPC_INTERFACES_MAX = 64, /* of a flow */
    DCERPC_CALLS_MAX = 16,      /* that are open at a time */
    DCERPC_UUID_LEN = 36        /* characters */
};

extern const struct app_parser dcerpc_parser;

enum app_likeness dcerpc_probe(enum app_side side, const uint8_t *bytes, uint32_t len);

#endif

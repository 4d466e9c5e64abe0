/* SPDX-License-Identifier: MIT */
/* Flags of the TCP header. */
#ifndef STREAM_STREAM_TCP_H
#define STREAM_STREAM_TCP_H

enum { TCP_FIN = 0x01, TCP_SYN = 0x02, TCP_RST = 0x04, TCP_ACK = 0x10, TCP_URG = 0x20 };

#endif

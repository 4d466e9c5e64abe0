/* SPDX-License-Identifier: MIT */
/* The control connections of FTP (RFC 959, 2428). A transaction is a command with its replies up to
 * the one that ends it, or a reply to no command, as the greeting. Its news are APP_HEAD for the
 * command, APP_HEAD for the replies when they are whole, then APP_DONE. Behind AUTH TLS a side is a
 * tunnel.
 *
 * A flow holds at most FTP_OPEN_MAX transactions without their last reply; of more the oldest is
 * done. A transaction has a command of FTP_LINE_MAX bytes, and as many bytes of codes and of
 * replies. */
#ifndef APP_FTP_H
#define APP_FTP_H

#include "app_parser.h"

enum { FTP_LINE_MAX = 4096, FTP_OPEN_MAX = 64 };

extern const struct app_parser ftp_parser;

#endif

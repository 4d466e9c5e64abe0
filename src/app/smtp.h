/* SPDX-License-Identifier: MIT */
/* SMTP (RFC 5321, 3030) and its mails (mime.h). A transaction is a mail with its envelope, or the
 * greeting of a client that sends none. It is over with the command behind the mail. Its news are
 * APP_HEAD for the envelope, APP_FILE, APP_BODY and APP_END for each attachment, APP_HEAD for the
 * mail when it is whole, then APP_DONE. Behind STARTTLS a side is a tunnel.
 *
 * A flow holds a line a side, a piece of a mail's line, a greeting, and one transaction with
 * SMTP_ENVELOPE_MAX bytes of recipients and what mime.h bounds. */
#ifndef APP_SMTP_H
#define APP_SMTP_H

#include "app_parser.h"

enum { SMTP_LINE_MAX = 4096, SMTP_ENVELOPE_MAX = 16384 };

extern const struct app_parser smtp_parser;

#endif

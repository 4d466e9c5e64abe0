/* SPDX-License-Identifier: MIT */
/* Texts of lines that may go on as TLS: SMTP, FTP, IMAP and POP3. The server's greeting identifies
 * them, or the client's first command. SMTP and FTP have parsers of their own. The lines of the
 * others say nothing here. A side whose line begins as a record of TLS does is a tunnel from there
 * on, and one of more than STARTTLS_MAX bytes of lines is given up. */
#ifndef APP_STARTTLS_H
#define APP_STARTTLS_H

#include "app_parser.h"

enum { STARTTLS_MAX = 16384 };

/* As known_find. */
const struct app_parser *starttls_find(enum app_side side, const uint8_t *bytes, uint32_t len,
                                       bool *too_short);

#endif

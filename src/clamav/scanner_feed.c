/* SPDX-License-Identifier: MIT */
/* Objects that come in pieces of any length: in memory, or in a temporary file. */
#include <stdlib.h>
#include <string.h>

#include "clamav/scanner_internal.h"

enum { FEED_IN_MEMORY = 16 << 20 /* bytes; above, a temporary file */ };

void scanner_drop_fed(struct sl_clamav_scanner *scanner)
{
    if (scanner->fed_file != NULL)
        (void)fclose(scanner->fed_file);
    scanner->fed_file = NULL;
    scanner->fed_len = 0;
    scanner->fed_total = 0;
}

static bool keep_in_memory(struct sl_clamav_scanner *scanner, const void *bytes, size_t len)
{
    if (scanner->fed_len + len > scanner->fed_cap) {
        const size_t cap = 2 * (scanner->fed_len + len);
        uint8_t *more = realloc(scanner->fed, cap);

        if (more == NULL)
            return false;
        scanner->fed = more;
        scanner->fed_cap = cap;
    }
    memcpy(scanner->fed + scanner->fed_len, bytes, len);
    scanner->fed_len += len;
    return true;
}

enum sl_status sl_clamav_feed(struct sl_clamav_scanner *scanner, const void *bytes, size_t len)
{
    if (len == 0)
        return SL_OK;
    scanner->fed_total += len;
    if (scanner->fed_file == NULL && scanner->fed_total <= FEED_IN_MEMORY) {
        if (keep_in_memory(scanner, bytes, len))
            return SL_OK;
        scanner_drop_fed(scanner);
        return SL_ENOMEM;
    }
    if (scanner->fed_file == NULL) {
        scanner->fed_file = tmpfile();
        if (scanner->fed_file == NULL ||
            fwrite(scanner->fed, 1, scanner->fed_len, scanner->fed_file) != scanner->fed_len) {
            scanner_drop_fed(scanner);
            return SL_EIO;
        }
    }
    if (fwrite(bytes, 1, len, scanner->fed_file) != len) {
        scanner_drop_fed(scanner);
        return SL_EIO;
    }
    return SL_OK;
}

enum sl_status sl_clamav_feed_end(struct sl_clamav_scanner *scanner, void *token)
{
    enum sl_status status;

    if (scanner->fed_file == NULL)
        status = sl_clamav_scan_buffer(scanner, scanner->fed, scanner->fed_len, token);
    else if (fflush(scanner->fed_file) != 0)
        status = SL_EIO;
    else
        status = sl_clamav_scan_fd(scanner, fileno(scanner->fed_file), token);
    if (status == SL_OK) /* the pieces are lent until then */
        status = sl_clamav_flush(scanner);
    scanner_drop_fed(scanner);
    return status;
}

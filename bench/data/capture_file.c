/* SPDX-License-Identifier: MIT */
#include "capture_file.h"

#include "base/bytes.h"

enum { SECOND_US = 1000000 };

bool capture_file_begin(FILE *file)
{
    static const uint8_t header[24] = {0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0,
                                       0,    0,    0,    0,    0, 0, 4, 0, 1, 0, 0, 0};

    return fwrite(header, sizeof header, 1, file) == 1;
}

bool capture_file_put(FILE *file, uint64_t time_us, const uint8_t *bytes, uint32_t len,
                      uint32_t wire_len)
{
    uint8_t record[16];

    put_le(record, time_us / SECOND_US, 4);
    put_le(record + 4, time_us % SECOND_US, 4);
    put_le(record + 8, len, 4);
    put_le(record + 12, wire_len, 4);
    return fwrite(record, sizeof record, 1, file) == 1 && fwrite(bytes, 1, len, file) == len;
}

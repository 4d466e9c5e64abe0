/* SPDX-License-Identifier: MIT */
#include "rule_time.h"

#include <string.h>
#include <time.h>

bool rule_time_read(const char *text, size_t len, uint32_t *seconds)
{
    static const char form[] = "0000-00-00T00:00:00";
    struct tm tm = {.tm_mday = 1};
    int *const part[] = {&tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec};
    static const struct {
        uint8_t end;
        int16_t least, most;
    } parts[] = {{4, 0, 9999}, {7, 1, 12}, {10, 1, 31}, {13, 0, 23}, {16, 0, 59}, {19, 0, 60}};
    size_t at = 0, n = 0;

    for (; n < sizeof parts / sizeof parts[0] && at < len; n++) {
        if (len < parts[n].end || (n != 0 && text[at] != form[at] && (n != 3 || text[at] != ' ')))
            return false;
        *part[n] = 0;
        for (at += n != 0; at < parts[n].end; at++) {
            if (text[at] < '0' || text[at] > '9')
                return false;
            *part[n] = 10 * *part[n] + (text[at] - '0');
        }
        if (*part[n] < parts[n].least || *part[n] > parts[n].most)
            return false;
    }
    if (n < 2 || at != len)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;

    const int64_t time = timegm(&tm);

    *seconds = time < 0 ? 0 : time < UINT32_MAX ? (uint32_t)time : UINT32_MAX;
    return true;
}

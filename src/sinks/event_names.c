/* SPDX-License-Identifier: MIT */
#include "event_names.h"

#include <stdio.h>

const char *event_tls_version(uint16_t version, char number[EVENT_NUMBER_LEN])
{
    static const char *const versions[] = {"SSLv3", "TLSv1", "TLS 1.1", "TLS 1.2", "TLS 1.3"};

    if (version >= 0x0300 && version <= 0x0304)
        return versions[version - 0x0300];
    if (version == 0)
        return "UNDETERMINED";
    if (version >> 8 == 0x7f && (version & 255) < 16)
        return "TLS 1.3 draft-<16";
    if (version >> 8 == 0x7f) {
        snprintf(number, EVENT_NUMBER_LEN, "TLS 1.3 draft-%u", version & 255);
        return number;
    }
    snprintf(number, EVENT_NUMBER_LEN, "0x%04x", version);
    return number;
}

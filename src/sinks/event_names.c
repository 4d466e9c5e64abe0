/* SPDX-License-Identifier: MIT */
#include "event_names.h"

#include <stdio.h>

const char *event_tls_version(uint16_t version, char number[EVENT_NUMBER_LEN])
{
    static const char *const versions[] = {"SSLv3", "TLSv1", "TLS 1.1", "TLS 1.2", "TLS 1.3"};

    if (version >= 0x0300 && version <= 0x0304)
        return versions[version - 0x0300];
    snprintf(number, EVENT_NUMBER_LEN, "0x%04x", version);
    return number;
}

/* SPDX-License-Identifier: MIT */
/* Any text as a tunnel's file: it is taken, or refused with a line and a reason. Any bytes as the
 * kernel's answer about a link. */
#include <stdlib.h>
#include <string.h>

#include "tunnel/rtnetlink.h"
#include "tunnel/tunnel_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct tunnel_config config;
    struct link_info link;
    struct sl_diag diag = {.text = ""};
    const enum sl_status status =
        tunnel_config_parse(&config, "file", (const char *)data, len, &diag);

    if (status == SL_OK ? config.n_peers == 0 || config.interface[0] == '\0'
                        : diag.text[0] == '\0' || strcmp(diag.file, "file") != 0)
        abort();
    tunnel_config_clear(&config);
    (void)link_read(&link, data, len);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_send(const char *state)
{
    const char *const path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, strlen(path));
    if (path[0] == '@') /* a name that is no file */
        address.sun_path[0] = '\0';

    const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (made < 0)
        return;
    (void)sendto(made, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    close(made);
}

uint64_t notify_watchdog(void)
{
    const char *const text = getenv("WATCHDOG_USEC");

    return text != NULL ? strtoull(text, NULL, 10) * 1000 / 2 : 0;
}

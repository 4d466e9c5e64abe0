/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of what runs took, and as lines of one. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/run_paces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char line[] = "sluice paces 1\n0000000000000001 ";

static void read_paces(const void *head, size_t head_len, const uint8_t *data, size_t len)
{
    const int fd = memfd_create("paces", MFD_CLOEXEC);
    struct run_paces paces;
    struct sl_diag diag;
    char path[64];

    if (fd < 0 || !fd_write(fd, head, head_len) || !fd_write(fd, data, len))
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const enum sl_status status = paces_read(&paces, path, 1, &diag);
    for (int side = 0; side < PACE_SIDES; side++)
        if (!(paces.of[side].open_s >= 0 && paces.of[side].byte_ns >= 0) ||
            (status != SL_OK && paces.of[side].byte_ns != 0))
            abort();
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    read_paces("", 0, data, len);
    read_paces(line, sizeof line - 1, data, len);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Executables: whole in memory, and through a window as files are read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clamav/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct clam_exe exe, again;
    static uint8_t window[4096];
    struct clam_object object = {.bytes = data, .len = len, .exe = &exe};
    FILE *file = tmpfile();

    object.target = kind_target(clam_object_kind(&object));
    clam_exe_read(&object);
    if (exe.n_sections > CLAM_SECTIONS_MAX)
        abort();
    if (file == NULL)
        return 0;
    if (fwrite(data, 1, len, file) == len && fflush(file) == 0) {
        object.bytes = NULL;
        object.fd = fileno(file);
        object.exe = &again;
        object.window = window;
        object.window_cap = sizeof window;
        clam_exe_read(&object);
        if (exe.good != again.good || exe.entry != again.entry ||
            (exe.good && exe.n_sections != again.n_sections))
            abort();
    }
    (void)fclose(file);
    free(object.memory);
    return 0;
}

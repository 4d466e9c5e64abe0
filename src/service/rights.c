/* SPDX-License-Identifier: MIT */
#include "rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diag.h"

enum sl_status rights_keep(uint64_t capabilities, struct sl_diag *diag)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];

    for (int i = 0; i < 64; i++)
        if ((capabilities & UINT64_C(1) << i) == 0)
            (void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0); /* takes CAP_SETPCAP, or there is none */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_capget, &header, sets) != 0)
        return diag_set(diag, SL_EIO, NULL, 0, "cannot give up rights: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        sets[i].permitted &= (uint32_t)(capabilities >> 32 * i);
        sets[i].effective = sets[i].permitted;
        sets[i].inheritable = 0;
    }
    if (syscall(SYS_capset, &header, sets) != 0)
        return diag_set(diag, SL_EIO, NULL, 0, "cannot give up rights: %s", strerror(errno));
    return SL_OK;
}

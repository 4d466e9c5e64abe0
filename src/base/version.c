/* SPDX-License-Identifier: MIT */
#include "sluice/version.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char *sl_version(void)
{
    return TEXT(SL_VERSION_MAJOR) "." TEXT(SL_VERSION_MINOR) "." TEXT(SL_VERSION_PATCH);
}

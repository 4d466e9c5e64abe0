/* SPDX-License-Identifier: MIT */
/* Where libhs is not installed. */
#include "vectorscan.h"

void vectorscan_add(void)
{
}

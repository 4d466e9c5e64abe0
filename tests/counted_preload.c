/* SPDX-License-Identifier: MIT */
/* Preloaded to the command: at its end the number of times that it asked for memory stands on
 * standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "counted_malloc.h"

__attribute__((destructor)) static void print_count(void)
{
    dprintf(STDERR_FILENO, "\nallocations %llu\n", atomic_load(&n_allocations));
}

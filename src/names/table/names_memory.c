/* SPDX-License-Identifier: MIT */
/* How much memory this process may still take: of the machine, of its control group, and by its
 * limit of address space. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "names_internal.h"

/* The number in a file that holds one, or behind `key` in a file of lines. */
static bool read_number(const char *path, const char *key, uint64_t *number)
{
    FILE *file = fopen(path, "re");
    char line[256];
    bool found = false;

    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *end = line;

        if (strncmp(line, key, strlen(key)) == 0)
            *number = strtoull(line + strlen(key), &end, 10);
        found = end > line + strlen(key);
    }
    fclose(file);
    return found;
}

static uint64_t less(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

/* Control groups 2 are looked for where containers have them. */
static uint64_t group_available(void)
{
    uint64_t limit, used;

    if (!read_number("/sys/fs/cgroup/memory.max", "", &limit) ||
        !read_number("/sys/fs/cgroup/memory.current", "", &used))
        return UINT64_MAX;
    return less(limit, used);
}

static uint64_t address_space_available(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    uint64_t pages;

    if (page <= 0 || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        !read_number("/proc/self/statm", "", &pages))
        return UINT64_MAX;
    return less(limit.rlim_cur, pages * (uint64_t)page);
}

uint64_t names_memory_available(void)
{
    const uint64_t group = group_available(), space = address_space_available();
    uint64_t machine, least = UINT64_MAX;

    if (read_number("/proc/meminfo", "MemAvailable:", &machine))
        least = machine * 1024;
    if (group < least)
        least = group;
    return space < least ? space : least;
}

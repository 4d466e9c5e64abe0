/* SPDX-License-Identifier: MIT */
/* A list of entries that grows and never shrinks, because a signal handler may read it at any time.
 * An entry is reused. Its turn is odd while it describes a mapping, and each change of the entry
 * raises it. A reader that finds the same odd turn before and after has read one mapping. */
#include "base/mapped_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pages.h"

struct entry {
    atomic_bool taken; /* by a mapping that is made, there or ended */
    atomic_uint turn;
    _Atomic(uintptr_t) begin;
    atomic_size_t len;
    _Atomic(char *) path;
    struct entry *next;
};

static _Atomic(struct entry *) entries;

static struct entry *add_entry(void)
{
    struct entry *entry = (struct entry *)calloc(1, sizeof *entry);

    if (entry == NULL)
        return NULL;
    atomic_store(&entry->taken, true);
    entry->next = atomic_load(&entries);
    while (!atomic_compare_exchange_weak(&entries, &entry->next, entry))
        ;
    return entry;
}

static struct entry *take_entry(void)
{
    for (struct entry *entry = atomic_load(&entries); entry != NULL; entry = entry->next)
        if (!atomic_exchange(&entry->taken, true))
            return entry;
    return add_entry();
}

/* The entry of the mapping that has this address; NULL: none. */
static struct entry *find_entry(uintptr_t address, char **path)
{
    for (struct entry *entry = atomic_load(&entries); entry != NULL; entry = entry->next) {
        const unsigned turn = atomic_load(&entry->turn);
        const uintptr_t begin = atomic_load(&entry->begin);
        const size_t len = atomic_load(&entry->len);

        *path = atomic_load(&entry->path);
        if (turn % 2 == 1 && address >= begin && address - begin < len &&
            atomic_load(&entry->turn) == turn)
            return entry;
    }
    return NULL;
}

const char *sl_mapped_file(const void *address)
{
    char *path;

    return find_entry((uintptr_t)address, &path) != NULL ? path : NULL;
}

void *mapped_file_map(int fd, size_t len, bool writable, const char *path)
{
    struct entry *entry = take_entry();
    char *copy = strdup(path);
    void *memory = MAP_FAILED;

    errno = ENOMEM;
    if (entry != NULL && copy != NULL)
        memory = mmap(NULL, len, PROT_READ | (writable ? PROT_WRITE : 0), MAP_PRIVATE, fd, 0);
    if (entry == NULL || memory == MAP_FAILED) {
        const int error = errno;

        free(copy);
        if (entry != NULL)
            atomic_store(&entry->taken, false);
        errno = error;
        return NULL;
    }
    /* The last page is the mapping's to its end. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    atomic_store(&entry->begin, (uintptr_t)memory);
    atomic_store(&entry->len, (len + page - 1) / page * page);
    atomic_store(&entry->path, copy);
    atomic_fetch_add(&entry->turn, 1);
    return memory;
}

bool mapped_file_unmap(void *memory)
{
    char *path;
    struct entry *entry = find_entry((uintptr_t)memory, &path);

    if (entry == NULL)
        return false;
    /* The entry ends first: another thread's mapping may get the address at once. */
    const size_t len = atomic_load(&entry->len);
    atomic_fetch_add(&entry->turn, 1);
    free(path);
    atomic_store(&entry->taken, false);
    (void)munmap(memory, len);
    return true;
}

void mapped_file_discard(const void *from, size_t len)
{
    if (sl_mapped_file(from) != NULL)
        pages_discard(from, len);
}

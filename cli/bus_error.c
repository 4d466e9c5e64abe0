/* SPDX-License-Identifier: MIT */
/* SIGBUS is what reading a mapped file raises where the file was cut or its disk failed. It becomes
 * an error that names the file. */
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "sluice/mapped.h"

/* Calls only what a signal handler may call. */
static void print_fault(const char *path)
{
    static const char before[] = "sluice: ", after[] = ": was cut while it was read\n";
    char text[PATH_MAX + sizeof before + sizeof after];
    char *const name = text + sizeof before - 1;

    memcpy(text, before, sizeof before);
    (void)cli_printable(path, name, PATH_MAX);
    char *const end = name + strlen(name);
    memcpy(end, after, sizeof after);
    if (write(STDERR_FILENO, text, (size_t)(end - text) + sizeof after - 1) < 0)
        return; /* the exit status alone shows it */
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    static atomic_bool printed;
    const char *path = info->si_code > 0 ? sl_mapped_file(info->si_addr) : NULL;

    (void)context;
    if (path == NULL) { /* another fault, or a signal that was sent: its default is what follows */
        (void)signal(number, SIG_DFL);
        (void)raise(number);
        return;
    }
    if (!atomic_exchange(&printed, true)) {
        print_fault(path);
        _exit(EXIT_FAILED);
    }
    for (;;) /* another thread ends the process */
        (void)pause();
}

void cli_catch_bus_errors(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Suricata, as a process of its own: one thread, Hyperscan, alerts to nowhere with the fields that
 * a run's have, and no bound on the bytes of a stream or of a body. */
#ifndef BENCH_SURICATA_H
#define BENCH_SURICATA_H

#include <stdbool.h>
#include <stddef.h>

struct suricata {
    char folder[64]; /* of its logs and its configuration; "": none */
    char config[96];
};

/* Writes a configuration with these rules. The caller closes the struct in any case. False: an
 * error was printed. */
bool suricata_open(struct suricata *suricata, const char *const *rules, size_t n);

/* Returns the seconds of CPU time from when its engine has started to the end of the capture; below
 * 0: it cannot be started, or ends with an error. */
double suricata_run(struct suricata *suricata, char *capture);

void suricata_close(struct suricata *suricata);

#endif

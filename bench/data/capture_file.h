/* SPDX-License-Identifier: MIT */
/* Captures of Ethernet in classic pcap, with times in microseconds. */
#ifndef BENCH_CAPTURE_FILE_H
#define BENCH_CAPTURE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes what is before the packets. False: it cannot be written. */
bool capture_file_begin(FILE *file);

/* Writes a packet, of which len bytes were captured. False: it cannot be written. */
bool capture_file_put(FILE *file, uint64_t time_us, const uint8_t *bytes, uint32_t len,
                      uint32_t wire_len);

#endif

/* SPDX-License-Identifier: MIT */
/* The table: one flat block, the same on every device. */
#ifndef HEADER_TABLE_H
#define HEADER_TABLE_H

#include <stdint.h>

#include "sluice/header.h"

enum {
    HEADER_MAGIC = 0x48534C53, /* "SLSH" */
    HEADER_VERSION = 1,
    HEADER_MAX_HOME = 64, /* sl_header_config.n_home */
    HEADER_NO_CHECK = 63  /* a bit above every check */
};

/* An address of sluice/dissect.h as a 128-bit number. */
struct header_addr {
    uint64_t hi, lo;
};

struct header_net {
    struct header_addr addr, mask;
};

struct sl_header_table {
    uint32_t magic;
    uint32_t version;
    uint64_t table_len; /* bytes, this field's too */
    uint64_t checks;
    uint32_t n_home;
    uint32_t n_broadcast;
    struct header_net home[HEADER_MAX_HOME];
    uint32_t broadcast[HEADER_MAX_HOME]; /* of the IPv4 networks in home, as numbers */
    uint8_t defect_check[256];           /* by sl_packet.defect; HEADER_NO_CHECK where none */
};

#endif

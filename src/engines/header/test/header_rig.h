/* SPDX-License-Identifier: MIT */
/* The backend under test, and batches of packets for it. */
#ifndef HEADER_RIG_H
#define HEADER_RIG_H

#include "header_trials.h"
#include "sluice/device.h"

enum { ETHERNET = 1 };

extern const struct sl_backend *header_backend;
extern const struct sl_limits rig_limits;

struct rig {
    struct sl_header_config config;
    struct sl_header_table *table;
    void *context;
    struct sl_stage *stage; /* CUDA only */
};

void rig_open(struct rig *rig, const struct sl_header_config *config);

/* With the configuration that sl_header_config_init sets. */
void rig_open_all(struct rig *rig);

void rig_close(struct rig *rig);

enum sl_status rig_run(struct rig *rig, const struct sl_batch *batch, struct sl_hits *hits);

/* The hits of a batch, sorted. The next call overwrites them. */
struct sl_hits rig_hits(struct rig *rig, const struct sl_batch *batch);

struct sl_batch *rig_new_batch(void);

void rig_add_packet(struct sl_batch *batch, const uint8_t *bytes, uint32_t len, uint32_t wire_len,
                    uint16_t link_type);

/* An IPv4 packet at byte `begin`, with UDP and payload_len bytes. The bytes around it are noise. */
void rig_add_udp(struct sl_batch *batch, uint32_t begin, uint32_t payload_len, bool wrong,
                 uint64_t *seed);

void rig_dissect(struct sl_batch *batch);

/* The groups of tests. Each returns the number of failed tests. */
int header_check_tests(void);
int header_contract_tests(void);
int header_oracle_tests(void);

#endif

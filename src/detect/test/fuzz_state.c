/* SPDX-License-Identifier: MIT */
/* Any operations on the variables of flows and on the table of hosts. A list of all that is known
 * repeats them. */
#include <stdlib.h>
#include <string.h>

#include "detect/state/flow_bits.h"
#include "detect/state/state_table.h"

enum { FLOWS = 4, KEYS = 80, POOL = 100, HOSTS = 6, TABLE = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool met)
{
    if (!met)
        abort();
}

/* ---- flows ----------------------------------------------------------------------------------- */

struct flows {
    bool set[FLOWS][KEYS + 1];
    uint32_t value[FLOWS][KEYS + 1];
    uint32_t n[FLOWS], n_all;
    uint64_t refused;
};

static void set_bit(struct flows *flows, uint32_t flow, uint32_t key, uint32_t value)
{
    if (!flows->set[flow][key] && (flows->n[flow] == FLOW_BITS_MAX || flows->n_all == POOL)) {
        flows->refused++;
        return;
    }
    flows->n[flow] += !flows->set[flow][key];
    flows->n_all += !flows->set[flow][key];
    flows->set[flow][key] = true;
    flows->value[flow][key] = value;
}

static void unset_bit(struct flows *flows, uint32_t flow, uint32_t key)
{
    flows->n[flow] -= flows->set[flow][key];
    flows->n_all -= flows->set[flow][key];
    flows->set[flow][key] = false;
}

static void change_flows(const uint8_t *data, size_t size)
{
    struct flow_bits_pool pool = {.bit = NULL};
    struct flow_bits bits[FLOWS] = {{0}};
    struct flows *flows = calloc(1, sizeof *flows);

    expect(flows != NULL && flow_bits_open(&pool, POOL));
    for (size_t i = 0; i + 1 < size; i += 2) {
        const uint32_t flow = data[i] % FLOWS, key = 1 + data[i + 1] % KEYS;
        const uint32_t act = data[i] / FLOWS % 8;
        const struct flow_bit *bit = flow_bits_find(&pool, &bits[flow], key);

        expect((bit != NULL) == flows->set[flow][key]);
        expect(bit == NULL || bit->value == flows->value[flow][key]);
        if (act < 5) {
            flow_bits_set(&pool, &bits[flow], key, act);
            set_bit(flows, flow, key, act);
        } else if (act < 7) {
            flow_bits_unset(&pool, &bits[flow], key);
            unset_bit(flows, flow, key);
        } else {
            flow_bits_release(&pool, &bits[flow]);
            for (uint32_t k = 1; k <= KEYS; k++)
                unset_bit(flows, flow, k);
        }
        expect(pool.active == flows->n_all && pool.refused == flows->refused &&
               bits[flow].n == flows->n[flow]);
    }
    flow_bits_close(&pool);
    free(flows);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

struct host {
    bool known;
    int64_t since, used; /* `used`: a count of uses */
    uint64_t seconds;
    uint32_t value;
};

static bool counts(const struct host *host, int64_t now)
{
    const int64_t distance = now > host->since ? now - host->since : host->since - now;

    return host->seconds == UINT64_MAX || distance <= (int64_t)host->seconds * 1000000000;
}

/* The host that was used longest ago. */
static struct host *oldest(struct host *hosts)
{
    struct host *found = NULL;

    for (uint32_t i = 0; i < HOSTS; i++)
        if (hosts[i].known && (found == NULL || hosts[i].used < found->used))
            found = &hosts[i];
    return found;
}

static void add_host(struct host *hosts, struct host host, uint32_t i, int64_t now)
{
    uint32_t n = 0;

    for (int k = 0; k < 2 && oldest(hosts) != NULL && !counts(oldest(hosts), now); k++)
        oldest(hosts)->known = false;
    for (uint32_t k = 0; k < HOSTS; k++)
        n += hosts[k].known;
    if (n == TABLE)
        oldest(hosts)->known = false;
    hosts[i] = host;
}

static void change_hosts(const uint8_t *data, size_t size)
{
    struct state_table table = {.entry = NULL};
    struct host hosts[HOSTS] = {{0}};
    int64_t now = 1000000000, uses = 0;

    expect(state_table_open(&table, TABLE, size));
    for (size_t i = 0; i + 1 < size; i += 2) {
        const uint32_t host = data[i] % HOSTS;
        const struct state_key key = {.owner = {host}, .what = 7};

        now += ((int64_t)data[i + 1] % 16 - 4) * 500000000;
        if (hosts[host].known && !counts(&hosts[host], now))
            hosts[host].known = false;

        struct state_entry *entry = state_table_find(&table, &key, now);

        expect((entry != NULL) == hosts[host].known);
        if (entry != NULL) {
            expect(entry->value == hosts[host].value);
            hosts[host].used = ++uses;
            entry->value = hosts[host].value = data[i + 1];
        }
        if (entry != NULL && data[i] >= 200) {
            state_table_remove(&table, entry);
            hosts[host].known = false;
        } else if (entry == NULL && data[i] < 160) {
            const uint64_t seconds = data[i + 1] < 240 ? data[i + 1] / 16 : UINT64_MAX;

            (void)state_table_add(&table, &key, now, seconds);
            add_host(hosts, (struct host){true, now, ++uses, seconds, 0}, host, now);
        }
    }
    state_table_close(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 2 == 0)
        change_flows(data + 1, size - 1);
    else
        change_hosts(data + 1, size - 1);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Counters as the object of an EVE event of type stats.
 *
 * Names and meanings are Suricata's where it has them; the others lie in the object
 * `sluice`. As in Suricata `capture` is there for interfaces alone. A packet counts once at each
 * protocol that it contains, where Suricata counts headers: of two IPv4 headers in a tunnel it
 * counts both. Such an event comes once in seconds, so that a tree of values costs nothing. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "stats_text.h"

/* A tree that is being built. The end of the build checks once whether memory sufficed. */
struct tree {
    json_t *root;
    bool failed;
};

/* The object of that name in `object`, made where there is none; NULL: no memory. */
static json_t *open_object(json_t *object, const char *name, size_t name_len)
{
    char key[STATS_NAME_LEN];

    snprintf(key, sizeof key, "%.*s", (int)name_len, name);
    json_t *inner = json_object_get(object, key);
    if (inner == NULL && json_object_set_new(object, key, json_object()) == 0)
        inner = json_object_get(object, key);
    return inner;
}

/* Takes the value. Each dot of the path opens an object. */
static void put(struct tree *tree, const char *path, json_t *value)
{
    json_t *object = tree->root;
    const char *dot;

    for (; (dot = strchr(path, '.')) != NULL; path = dot + 1)
        object = open_object(object, path, (size_t)(dot - path));
    tree->failed |= json_object_set_new(object, path, value) != 0;
}

static void put_count(struct tree *tree, const char *path, uint64_t value)
{
    put(tree, path, json_integer((json_int_t)value));
}

/* Into an object of names from elsewhere, which may hold dots. */
static void put_member(struct tree *tree, json_t *object, const char *name, uint64_t value)
{
    tree->failed |= json_object_set_new(object, name, json_integer((json_int_t)value)) != 0;
}

static void put_decoder(struct tree *tree, const struct sl_stats *stats)
{
    static const struct {
        const char *path;
        enum sl_protocol protocol;
    } counts[] = {
        {"decoder.ipv4", SL_PROTOCOL_IPV4},
        {"decoder.ipv6", SL_PROTOCOL_IPV6},
        {"decoder.ethernet", SL_PROTOCOL_ETHERNET},
        {"decoder.arp", SL_PROTOCOL_ARP},
        {"decoder.unknown_ethertype", SL_PROTOCOL_OTHER_LINK},
        {"decoder.tcp", SL_PROTOCOL_TCP},
        {"decoder.udp", SL_PROTOCOL_UDP},
        {"decoder.sctp", SL_PROTOCOL_SCTP},
        {"decoder.icmpv4", SL_PROTOCOL_ICMP},
        {"decoder.icmpv6", SL_PROTOCOL_ICMPV6},
        {"decoder.ppp", SL_PROTOCOL_PPP},
        {"decoder.pppoe", SL_PROTOCOL_PPPOE},
        {"decoder.gre", SL_PROTOCOL_GRE},
        {"decoder.vxlan", SL_PROTOCOL_VXLAN},
        {"decoder.geneve", SL_PROTOCOL_GENEVE},
        {"decoder.teredo", SL_PROTOCOL_TEREDO},
        {"decoder.vlan", SL_PROTOCOL_VLAN},
        {"decoder.mpls", SL_PROTOCOL_MPLS},
    };

    put_count(tree, "decoder.pkts", stats->packets);
    put_count(tree, "decoder.bytes", stats->bytes);
    put_count(tree, "decoder.invalid", stats_undecodable(stats));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        put_count(tree, counts[i].path, stats->dissected.packets[counts[i].protocol]);
    put_count(tree, "decoder.avg_pkt_size",
              stats->packets == 0 ? 0 : stats->bytes / stats->packets);
}

static void put_rules(struct tree *tree, const struct sl_stats *stats)
{
    if (stats->has_rules)
        put(tree, "detect.engines",
            json_pack("[{s:i, s:I, s:I, s:I}]", "id", 0, "rules_loaded",
                      (json_int_t)stats->rules.loaded, "rules_failed", (json_int_t)stats->rules.bad,
                      "rules_skipped", (json_int_t)stats->rules.skipped));
    put_count(tree, "detect.alert", stats->alerts);
    put_count(tree, "sluice.rules_stopped", stats->rules_stopped);
}

static void put_grouped(struct tree *tree, const char *object, const char *group, const char *name,
                        uint64_t value)
{
    char path[STATS_NAME_LEN];

    snprintf(path, sizeof path, "sluice.%s.%s%s%s", object, group != NULL ? group : "",
             group != NULL ? "." : "", name);
    put_count(tree, path, value);
}

static void put_stream_count(void *user, const char *group, const char *name, uint64_t value)
{
    put_grouped(user, "stream", group, name, value);
}

static void put_fragment_count(void *user, const char *group, const char *name, uint64_t value)
{
    put_grouped(user, "fragment", group, name, value);
}

static void put_app_count(void *user, const char *name, uint64_t value)
{
    char path[STATS_NAME_LEN];

    snprintf(path, sizeof path, "sluice.app.%s", name);
    put_count(user, path, value);
}

static void put_streams(struct tree *tree, const struct sl_stream_stats *streams)
{
    uint64_t n_gaps = 0;

    for (int g = 0; g < SL_N_GAPS; g++)
        n_gaps += streams->gaps[g];
    put_count(tree, "tcp.invalid_checksum", streams->doubts[SL_DOUBT_CHECKSUM]);
    put_count(tree, "tcp.reassembly_gap", n_gaps);
    put_count(tree, "tcp.overlap_diff_data", streams->conflicts);
    put_count(tree, "tcp.urgent_oob_data", streams->urgent);
    sl_stream_stats_each(streams, put_stream_count, tree);
}

/* The counters that are not zero, by name. */
static void put_undecodable(struct tree *tree, const struct sl_stats *stats)
{
    json_t *object = json_object();

    for (int d = SL_DEFECT_NONE + 1; d < SL_N_DEFECTS; d++)
        if (stats->dissected.defects[d] != 0)
            put_member(tree, object, sl_defect_name((enum sl_defect)d),
                       stats->dissected.defects[d]);
    put(tree, "sluice.undecodable", object);
}

static void put_anomalies(struct tree *tree, const struct sl_stats *stats)
{
    json_t *object = json_object();

    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        if (stats->anomalies[c] != 0)
            put_member(tree, object, sl_header_check_name((enum sl_header_check)c),
                       stats->anomalies[c]);
    put_count(tree, "sluice.anomaly", stats_anomalies(stats));
    put(tree, "sluice.anomalies", object);
}

static void put_stages(struct tree *tree, const struct sl_pipeline_snapshot *pipeline)
{
    const struct sl_pipeline_stats *stats = &pipeline->stats;
    json_t *queues = json_object();

    put_count(tree, "sluice.busy_ns.fill", stats->fill_ns);
    put_count(tree, "sluice.busy_ns.load", stats->load_ns);
    put_count(tree, "sluice.busy_ns.order", stats->order_ns);
    put_count(tree, "sluice.busy_ns.work", stats->work_ns);
    put_count(tree, "sluice.busy_ns.digest", stats->digest_ns);
    put_count(tree, "sluice.busy_ns.drain", stats->drain_ns);
    for (int s = 0; s < SL_N_PIPELINE_STAGES; s++)
        tree->failed |=
            json_object_set_new(queues, sl_pipeline_stage_name((enum sl_pipeline_stage)s),
                                json_pack("{s:I, s:I}", "waiting",
                                          (json_int_t)pipeline->stage[s].waiting, "busy",
                                          (json_int_t)pipeline->stage[s].busy)) != 0;
    put(tree, "sluice.queues", queues);
}

static void put_engines(struct tree *tree, const struct sl_pipeline_snapshot *pipeline)
{
    json_t *engines = json_object();
    char name[STATS_NAME_LEN];

    for (uint32_t e = 0; e < pipeline->n_engines; e++)
        tree->failed |=
            json_object_set_new(engines, stats_engine(pipeline, e, name),
                                json_pack("{s:s, s:I, s:I}", "backend", pipeline->stats.backend[e],
                                          "busy_ns", (json_int_t)pipeline->stats.engine_ns[e],
                                          "hits", (json_int_t)pipeline->stats.engine_hits[e])) != 0;
    put(tree, "sluice.engines", engines);
}

static void put_devices(struct tree *tree, const struct sl_pipeline_stats *stats)
{
    json_t *devices = json_object();
    char name[STATS_NAME_LEN];

    for (uint32_t d = 0; d < stats->n_devices; d++) {
        const struct sl_pipeline_device *device = &stats->devices[d];

        tree->failed |= json_object_set_new(
                            devices, stats_device(&device->device, name),
                            json_pack("{s:s, s:I, s:I, s:b}", "name", device->device.name,
                                      "batches", (json_int_t)device->batches, "redone",
                                      (json_int_t)device->redone, "dropped", device->dropped)) != 0;
    }
    put(tree, "sluice.devices", devices);
}

static void put_latency(struct tree *tree, const struct sl_pipeline_stats *stats)
{
    if (stats->latency.packets == 0)
        return;
    put_count(tree, "sluice.latency.packets", stats->latency.packets);
    put_count(tree, "sluice.latency.p50_ns", stats->latency.p50_ns);
    put_count(tree, "sluice.latency.p99_ns", stats->latency.p99_ns);
    put_count(tree, "sluice.latency.p999_ns", stats->latency.p999_ns);
    put_count(tree, "sluice.latency.max_ns", stats->latency.max_ns);
}

static void put_own(struct tree *tree, const struct sl_stats *stats)
{
    const struct sl_flow_stats *flows = &stats->flows;

    put(tree, "sluice.version", json_string(stats->version));
    put_count(tree, "sluice.failed_sources", stats->failed_sources);
    put_count(tree, "sluice.batches", stats->pipeline.stats.batches);
    put_count(tree, "sluice.workers", stats->pipeline.stats.n_workers);
    put_stages(tree, &stats->pipeline);
    put_engines(tree, &stats->pipeline);
    put_devices(tree, &stats->pipeline.stats);
    put_latency(tree, &stats->pipeline.stats);
    put_count(tree, "sluice.flow.other", flows->other);
    put_count(tree, "sluice.flow.evicted", flows->evicted);
    put_count(tree, "sluice.flow.timed_out", flows->timed_out);
    put_count(tree, "sluice.flow.reused", flows->reused);
    if (stats->has_state) {
        put_count(tree, "sluice.state.flow_variables", stats->state.flow_bits);
        put_count(tree, "sluice.state.flow_variables_refused", stats->state.flow_bits_refused);
        put_count(tree, "sluice.state.hosts", stats->state.hosts);
        put_count(tree, "sluice.state.hosts_evicted", stats->state.hosts_evicted);
        put_count(tree, "sluice.state.data", stats->state.data_values);
        put_count(tree, "sluice.state.data_refused", stats->state.data_refused);
    }
    sl_fragment_stats_each(&stats->fragments, put_fragment_count, tree);
    if (stats->has_streams)
        put_streams(tree, &stats->streams);
    if (stats->has_apps)
        sl_app_stats_each(&stats->apps, put_app_count, tree);
    put_undecodable(tree, stats);
    if (stats->has_header_checks)
        put_anomalies(tree, stats);
}

enum sl_status sl_stats_json(const struct sl_stats *stats, char **text, size_t *len)
{
    struct tree tree = {.root = json_object()};

    *text = NULL;
    put_count(&tree, "uptime", stats->uptime_ns / 1000000000);
    if (stats->live) {
        put_count(&tree, "capture.kernel_packets", stats->kernel_packets);
        put_count(&tree, "capture.kernel_drops", stats->kernel_drops);
        put_count(&tree, "capture.kernel_ifdrops", stats->interface_drops);
    }
    put_decoder(&tree, stats);
    put_count(&tree, "flow.total", stats->flows.flows);
    put_count(&tree, "flow.active", stats->flows.active);
    put_count(&tree, "flow.tcp", stats->flows.tcp);
    put_count(&tree, "flow.udp", stats->flows.udp);
    put_count(&tree, "tcp.midstream_pickups", stats->flows.midstream);
    put_rules(&tree, stats);
    put_own(&tree, stats);
    if (!tree.failed)
        *text = json_dumps(tree.root, JSON_COMPACT);
    json_decref(tree.root);
    if (*text == NULL)
        return SL_ENOMEM;
    *len = strlen(*text);
    return SL_OK;
}

/* SPDX-License-Identifier: MIT */
/* A run: captures to alerts. The packets of capture files, of an interface or of the caller pass
 * once through all engines that are switched on, on CPUs and GPUs. The events go to sinks.
 *
 *     sl_run_config_init(&config);            sources, engines, sinks, devices
 *     sl_run_create(&run, &config, &diag);    checks the config; opens no source or sink
 *     sl_run_open(run, &diag);                sources, tables, sinks; optional, as execute opens
 *                                             a run that is not open
 *     sl_run_execute(run, &diag);             blocks until the source ends
 *     sl_run_result(run, &result);
 *     sl_run_close(run);
 *
 * Creating is a step of its own because opening may wait: for the first bytes of a pipe, or for
 * tables of millions of rules. A signal handler can stop a run that waits so.
 *
 * A run prints nothing, installs no signal handler and never exits. Runs share nothing: any number
 * of them may be in one process. Events, their order and all counts are the same on every device
 * and for every number of threads. */
#ifndef SLUICE_RUN_H
#define SLUICE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/app.h"
#include "sluice/batch.h"
#include "sluice/capture.h"
#include "sluice/clamav.h"
#include "sluice/detect.h"
#include "sluice/device.h"
#include "sluice/dissect.h"
#include "sluice/header.h"
#include "sluice/mpm.h"
#include "sluice/names.h"
#include "sluice/packet_names.h"
#include "sluice/pipeline.h"
#include "sluice/redundancy.h"
#include "sluice/sampling.h"
#include "sluice/sink.h"
#include "sluice/stats.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds of a run. */
enum {
    SL_RUN_FILES_MAX = UINT16_MAX, /* capture files of a run */
    SL_RUN_SINKS_MAX = 8,          /* the function of the caller among them */
    SL_RUN_DATABASES_MAX = 16,     /* paths of virus databases */
    SL_RUN_SAMPLERS_MAX = 8
};

/* ---- notices --------------------------------------------------------------------------------- */

/* Faults that do not end a run. */
enum sl_run_notice_kind {
    SL_RUN_SOURCE_FAILED,       /* a capture file that cannot be read, or not to its end */
    SL_RUN_RULES_BAD,           /* lines of rule files: `rules` has them */
    SL_RUN_NAMES_IGNORED,       /* lines of tables of names: `names` has them */
    SL_RUN_DATABASES_SKIPPED,   /* signatures of virus databases: `skipped` counts them */
    SL_RUN_DEVICE_DROPPED,      /* a GPU that failed; others repeat its batches: `device` */
    SL_RUN_CHECKSUMS_OFFLOADED, /* most packets of this host have wrong checksums: an interface with
                                   checksum offload writes them later */
    SL_RUN_FILES_UNSTORED, /* a file of a flow cannot be stored, as where the disk is full: once */
    SL_RUN_DATA_UNSAVED,   /* rules want sets of data saved, and no folder is named for it */
    SL_RUN_CPU_TAKES_OVER, /* the GPU that "auto" chose cannot be used for these tables */
    SL_RUN_PACES_UNKNOWN   /* the file of paces cannot be read or written */
};

/* A notice. All pointers are borrowed for the call, and NULL where the kind has no use for them. */
struct sl_run_notice {
    enum sl_run_notice_kind kind;
    const struct sl_diag
        *diag; /* the notice as text, never NULL; with file and line where it has them */
    const struct sl_rules *rules;
    const struct sl_names *names;
    const struct sl_clamav_count *skipped; /* bad and skipped */
    const struct sl_pipeline_device *device;
};

/* ---- config ---------------------------------------------------------------------------------- */

/* Measures the bytes that redundancy elimination would save of the traffic (sluice/redundancy.h).
 */
struct sl_run_redundancy {
    bool on;
    bool compare;  /* all samplers in the place of the config's */
    bool no_raise; /* dynabyte does not correct under-sampling */
    struct sl_sampling_config sampling;

    /* window, period, min_match and the limits of batches are set by the run */
    struct sl_savings_config savings;
};

/* The configuration of a run. All memory to which it points is borrowed until sl_run_close. */
struct sl_run_config {
    /* The source: files one after another ("-": standard input), or an interface, or a function. */
    const char *const *files;
    size_t n_files;
    const char *interface;
    const char *filter; /* of files and interfaces: a BPF filter; NULL: all packets */

    /* Appends packets to an empty batch (sl_run_add_packet). SL_OK: more will follow. SL_END: these
     * are the last. Any other status ends the run with it. One thread at a time. */
    enum sl_status (*fill)(void *user, struct sl_batch *batch, struct sl_diag *diag);
    const char *fill_name; /* the source that events name; NULL: "memory" */

    /* Nanoseconds that a packet of an interface or a pipe waits for others at most; 0: batches are
     * filled. A limit also turns on the measurement from arrival to the sinks. */
    uint64_t max_latency_ns;

    uint32_t sensor_id; /* makes flow ids others than those of other sensors (sluice/dissect.h) */

    /* Flows (sluice/dissect.h). */
    uint8_t min_ttl;        /* segments of TCP with a lower TTL are in no stream */
    uint64_t stream_memory; /* bytes that TCP streams keep at most, and as many of what they say.
                               What streams gave up while batches look at it is 1.5 times as much
                               at most. 128 KiB to 4 GiB for each shard of flows (sluice/dissect.h),
                               or SL_EINVAL; 0: rules and events see packets alone */
    const char *const *host_policies; /* "NET=NAME" (sl_host_policy_parse): how hosts decide between
                                         bytes that overlap; NULL: as bsd. Small networks come
                                         before large ones */
    size_t n_host_policies;
    uint64_t flow_memory;      /* bytes that their table takes at most; 0: 262,144 flows */
    const uint64_t *flow_seed; /* two words, the hash's key; NULL: random ones */

    const char *devices; /* as sl_device_choose_list; "auto" or NULL: the faster ones, by trial.
                            GPUs are left to others where no engine of the run works on one */

    /* A file of what runs took here, which "auto" decides by; made where it is not there. Runs over
     * files of 64 MiB and more add to it, unless they have several GPUs. NULL: none. */
    const char *paces;

    /* The algorithms that replace the defaults, so that a paper's system can run whole; NULL: none.
     * A list such as "mpm:wm,sampling:rabin-buckets,names:mata": an algorithm of sluice/mpm.h, a
     * variant of the sampler (sl_sampling_variants), a plane of sluice/fib.h. */
    const char *variants;

    bool check_headers;
    struct sl_header_config header;

    /* Rules: files, folders or patterns (sl_rules_load), with variables "NAME=VALUE"
     * (sl_rules_assign) for them; or, in their place, a set that the caller has loaded and not
     * compiled. This run alone compiles and uses the set. The caller frees it after the run is
     * closed. */
    const char *const *rule_files;
    size_t n_rule_files;
    const char *const *rule_variables;
    size_t n_rule_variables;
    const char *const *rule_configurations; /* files for sl_rules_configure */
    size_t n_rule_configurations;
    const char *rule_actions; /* their order (sl_rules_order_actions); NULL: the usual one */
    struct sl_rules *rules;
    bool profile_rules;      /* measures each rule: sl_rules_profiled of the result's rules */
    const char *data_folder; /* of sets that rule files save (sl_rules_keep_data); NULL: none */
    const char *compiled; /* a file of sl_mpm_save made from the same rules; NULL: compiled here */

    const char *const *databases; /* ClamAV's, or one file of sl_clamav_save: for payloads */
    size_t n_databases;

    struct sl_names_config names; /* no file: names are not looked up */

    struct sl_run_redundancy redundancy;

    /* A folder for a capture of each flow that raises an alert, FLOW_ID.pcap, from its first packet
     * on; made where it is not there. NULL: none. Of all flows the last 64 MiB of packets are kept
     * in memory, so that packets before an alert can be written. A file has at most 16 MiB, and all
     * files, 65,536 at most, 4 GiB. A file of that name is replaced. */
    const char *evidence_folder;

    /* A folder for files that pass, made where it is not there: XX/SHA256, in folders by the first
     * two digits. Files that rules with `filestore` alert on are stored; without rules all are. At
     * most 65,536 files and 4 GiB are written. A file that is there already is not written again.
     * Files that cannot be written are counted, and a notice reports the first. NULL: none. */
    const char *filestore_folder;

    /* The takers of events: specs of sl_sink_open, a function, both or neither. The function gets
     * each event in the order of packets, one call at a time. Another status than SL_OK ends the
     * run with it. */
    const char *const *sinks;
    size_t n_sinks;
    uint32_t events; /* bits 1 << enum sl_event_kind: the kinds that are written; all are counted */
    enum sl_status (*event)(void *user, const struct sl_event *event, struct sl_diag *diag);
    uint32_t file_hashes; /* of events of files, beside SHA-256: bits 1 << enum sl_file_hash */
    bool file_magic; /* and their kind, as libmagic names it; SL_EUNSUPPORTED where it cannot */
    uint32_t stats_seconds; /* between two events of counters, and one at the end; 0: none. Where no
                               sink takes counters, sl_run_open returns SL_EINVAL */

    void (*notice)(void *user, const struct sl_run_notice *notice); /* any thread, one at a time;
                                                                       NULL: not wanted */
    void *user;                                                     /* of the three functions */
    uint64_t reserved[4];                                           /* 0: room to grow */
};

/* No source, no engine, no sink. All kinds of events but flows, messages and files. Devices "auto",
 * 256 MiB for streams. The defaults of each engine's config, but for a sampling period of 32. */
SL_API void sl_run_config_init(struct sl_run_config *config);

/* Appends a packet of memory to a batch in `fill`. False: the batch has no room for it; return
 * SL_OK, and add it to the next. Of a packet of more than SL_CAPTURE_PACKET_MAX bytes the first
 * ones are added, as if a capture had cut it. link_type is pcap's (LINKTYPE_ETHERNET is 1). Packets
 * are numbered from 1 in the order of adding. */
SL_API bool sl_run_add_packet(struct sl_batch *batch, const void *bytes, uint32_t len,
                              int64_t time_ns, uint16_t link_type);

/* ---- a run ----------------------------------------------------------------------------------- */

/* A run. */
struct sl_run;

/* Checks the config; a thread begins to probe the devices. The caller closes *run, also after a
 * failure. SL_EINVAL: no source or several, a number above its limit, an unknown variant or kind of
 * event; or a part of the config has no use without another. SL_EUNSUPPORTED: this build or this
 * machine lacks a variant. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status
sl_run_create(struct sl_run **run, const struct sl_run_config *config, struct sl_diag *diag);

/* Trains samplebyte's markers on a capture file, before the run is opened. SL_EIO, SL_EFORMAT,
 * SL_ETRUNCATED: no packet of the file can be read. Where some can, the fault is a notice.
 * SL_EINVAL: no redundancy is switched on, or the run is open. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_run_train(struct sl_run *run, const char *path,
                                            struct sl_sampling_training *training,
                                            struct sl_diag *diag);

/* Opens the source, builds the tables, opens the sinks. A source that is no capture fails before a
 * table is built and before a sink is written. SL_EINVAL: the run was opened before, or a device is
 * not known. SL_EDEVICE: a named device is not usable. SL_EIO: no file is a capture. Other statuses
 * are those of the parts. */
SL_CHECK SL_API enum sl_status sl_run_open(struct sl_run *run, struct sl_diag *diag);

/* Runs until the source ends, the run is stopped or a part fails. Once a run. On return all threads
 * have ended and the sinks are closed. Files that fail are notices. SL_OK: the source ended, and
 * the sinks took all events. SL_EINVAL: the run was executed before, or its opening failed.
 * Otherwise the status is the first failure. */
SL_CHECK SL_API enum sl_status sl_run_execute(struct sl_run *run, struct sl_diag *diag);

/* Ends the source. Packets that were read are still evaluated, and the run ends as at the end of
 * its source. Any thread and signal handlers, between sl_run_create and sl_run_close. */
SL_API void sl_run_stop(struct sl_run *run);

/* Copies the counters of this moment. Any thread, between sl_run_create and sl_run_close. */
SL_API void sl_run_snapshot(struct sl_run *run, struct sl_stats *stats);

/* Frees all; no thread may use the run. Accepts NULL. */
SL_API void sl_run_close(struct sl_run *run);

/* ---- results --------------------------------------------------------------------------------- */

/* A sink of a run. */
struct sl_run_sink {
    const char *spec;    /* NULL: the caller's function */
    uint64_t written;    /* events that certainly reached the system, or the function */
    bool takes_stats;    /* counters are written to it */
    bool failed;         /* it did not take all events */
    struct sl_diag diag; /* the reason of a failure at the close; a failed write is the status of
                            sl_run_execute */
};

/* A signature that was found, and how often. */
struct sl_run_virus {
    const char *name;
    bool official; /* see struct sl_clamav_match */
    uint32_t sid;  /* the signature number of its alerts */
    uint64_t n;
};

/* A rule of names that applied, and how often. */
struct sl_run_name_rule {
    uint32_t rule;      /* for sl_packet_names_hit */
    const char *prefix; /* the rule's name */
    uint64_t n;
};

/* A sampler of a run, and its savings. */
struct sl_run_sampler {
    const char *name;
    const struct sl_savings *savings;
};

/* Captures of flows that raised alerts. */
struct sl_run_evidence {
    uint64_t flows, packets, bytes; /* written */
    uint64_t flows_without_begin;   /* their first packets were no longer kept */
    uint64_t packets_left_out;      /* behind the bounds of files, or of another link type; of flows
                                       without a file those with alerts, and those kept before */
    uint64_t packets_without_flow;  /* that raised alerts */
};

/* Files of flows that were asked for. */
struct sl_run_filestore {
    uint64_t files, bytes; /* written */
    uint64_t known;        /* that were there already */
    uint64_t left_out;     /* behind the bounds */
    uint64_t failed;       /* that could not be written */
};

/* The result of a run. Pointers are borrowed until sl_run_close. */
struct sl_run_result {
    enum sl_status status; /* of sl_run_execute, but for sinks that fail when they are closed */

    /* The source. */
    struct sl_capture_stats captured; /* of a function: packets and bytes */
    uint64_t failed_sources;
    bool live;          /* it is an interface */
    bool found_capture; /* false: none of the named files is a capture */

    bool latency;           /* pipeline->latency was measured */
    bool has_header_checks; /* they were switched on */
    bool has_state;         /* some rule has state */
    bool has_streams;       /* some rule sees TCP streams */
    bool has_apps;          /* messages of flows are read */
    bool has_filestore;     /* files were to be stored */
    struct sl_dissect_stats dissected;
    struct sl_flow_stats flows;

    /* The devices, and the engines that ran on them. */
    const struct sl_device *devices;
    uint32_t n_devices;
    const char *why; /* the reason of this choice */
    const struct sl_pipeline_stats *pipeline;
    const char *engines[SL_PIPELINE_ENGINES_MAX]; /* names of the pipeline's engines */
    uint32_t n_engines;
    const char *variants; /* of the config */

    /* Results. */
    uint64_t anomalies, by_check[SL_N_HEADER_CHECKS];
    const struct sl_rules *rules; /* NULL: none */
    struct sl_state_stats state;
    struct sl_stream_stats streams;
    struct sl_app_stats apps;
    struct sl_fragment_stats fragments;
    bool home_missed; /* rules name HOME_NET, it has its default, and no packet has an address of it
                       */
    uint64_t alerts;
    uint64_t rules_stopped;       /* on packets; see sl_evaluator_stopped */
    const uint64_t *by_signature; /* entries of sl_rules_count's loaded */
    struct sl_mpm_info matcher;   /* algorithm NULL: there is none */

    const struct sl_clamav_db *database;           /* NULL: payloads are not scanned */
    uint64_t viruses, virus_payloads, virus_files; /* found; payloads and files that have some */
    uint64_t virus_hits_left_out; /* parts of signatures that were not followed into the segments
                                     behind them: too many waited for those */
    const struct sl_run_virus *by_virus; /* most frequent first */
    size_t n_by_virus;

    const struct sl_names *names; /* NULL: names are not looked up */
    struct sl_packet_names_watch_count watched;
    uint64_t names_matched;
    const struct sl_run_name_rule *by_name_rule; /* in no order */
    size_t n_by_name_rule;

    const struct sl_run_redundancy *redundancy;
    struct sl_run_sampler samplers[SL_RUN_SAMPLERS_MAX];
    uint32_t n_samplers;

    bool has_evidence; /* captures were asked for */
    struct sl_run_evidence evidence;

    struct sl_run_filestore filestore;

    struct sl_run_sink sinks[SL_RUN_SINKS_MAX];
    uint32_t n_sinks;
};

/* Fills the result after sl_run_execute, on the thread that called it. Before, the result has what
 * is known so far. */
SL_API void sl_run_result(const struct sl_run *run, struct sl_run_result *result);

#ifdef __cplusplus
}
#endif
#endif

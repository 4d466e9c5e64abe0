/* SPDX-License-Identifier: MIT */
#include "suricata.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/data/temporary.h"
#include "cli/console.h"
#include "process.h"

static const char settings[] =
    "%YAML 1.1\n---\n"
    "mpm-algo: hs\n"
    "spm-algo: hs\n"
    "vars:\n"
    "  address-groups: {HOME_NET: any, EXTERNAL_NET: any, HTTP_SERVERS: any, SMTP_SERVERS: any,\n"
    "    SQL_SERVERS: any, DNS_SERVERS: any, TELNET_SERVERS: any, AIM_SERVERS: any,\n"
    "    DC_SERVERS: any, DNP3_SERVER: any, DNP3_CLIENT: any, MODBUS_CLIENT: any,\n"
    "    MODBUS_SERVER: any, ENIP_CLIENT: any, ENIP_SERVER: any, SIP_SERVERS: any}\n"
    "  port-groups: {HTTP_PORTS: any, SHELLCODE_PORTS: '!80', ORACLE_PORTS: 1521, SSH_PORTS: 22,\n"
    "    DNP3_PORTS: 20000, MODBUS_PORTS: 502, FILE_DATA_PORTS: any, FTP_PORTS: 21,\n"
    "    GENEVE_PORTS: 6081, VXLAN_PORTS: 4789, TEREDO_PORTS: 3544, SIP_PORTS: 5060}\n"
    "outputs: [{eve-log: {enabled: yes, filetype: regular, filename: /dev/null,\n"
    "  types: [{alert: {payload: yes, payload-printable: yes, packet: yes}}]}}]\n"
    "stream: {reassembly: {depth: 0}}\n"
    "app-layer: {protocols: {http: {enabled: yes, libhtp: {default-config: {\n"
    "  personality: IDS, request-body-limit: 0, response-body-limit: 0}}}}}\n"
    "rule-files:\n";

static bool write_config(FILE *file, const char *const *rules, size_t n)
{
    bool good = fputs(settings, file) >= 0;

    for (size_t i = 0; i < n && good; i++) {
        char *path = realpath(rules[i], NULL);
        struct stat of;

        good = path != NULL && stat(path, &of) == 0 &&
               fprintf(file, S_ISDIR(of.st_mode) ? "- %s/*.rules\n" : "- %s\n", path) > 0;
        free(path);
    }
    return good;
}

bool suricata_open(struct suricata *suricata, const char *const *rules, size_t n)
{
    suricata->folder[0] = '\0';
    if (!bench_make_folder(suricata->folder))
        return false;
    snprintf(suricata->config, sizeof suricata->config, "%s/suricata.yaml", suricata->folder);
    FILE *file = fopen(suricata->config, "w");
    bool good = file != NULL && write_config(file, rules, n);

    if (file != NULL && fclose(file) != 0)
        good = false;
    if (!good)
        cli_error("%s: cannot be written", suricata->config);
    return good;
}

double suricata_run(struct suricata *suricata, char *capture)
{
    static char name[] = "suricata", config[] = "-c", read[] = "-r", mode[] = "--runmode",
                single[] = "single", logs[] = "-l";
    char *const arguments[] = {name,   config, suricata->config, read, capture, mode,
                               single, logs,   suricata->folder, NULL};
    static const struct process_span span = {"Engine started", "end of file reached"};
    struct process_cost cost;

    return process_run(arguments, &span, &cost) ? cost.cpu_seconds : -1;
}

void suricata_close(struct suricata *suricata)
{
    if (suricata->folder[0] != '\0')
        bench_remove_folder(suricata->folder);
}

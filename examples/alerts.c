/* SPDX-License-Identifier: MIT */
/* alerts RULES FILE...: prints the alerts and anomalies of capture files. A run reads the files,
 * evaluates the rules, and calls a function for each event.
 * cc alerts.c $(pkg-config --cflags --libs sluice) */
#include <sluice/sluice.h>
#include <stdio.h>

/* Events come in the order of packets, one call at a time. */
static enum sl_status print_event(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    (void)user;
    (void)diag;
    printf("%llu\t%s\t%s\n", (unsigned long long)event->origin.position, sl_event_type(event->kind),
           event->kind == SL_EVENT_ALERT ? event->signature->msg : event->check);
    return SL_OK;
}

/* A file that cannot be read, a rule that is bad, a GPU that failed: the run goes on. */
static void print_notice(void *user, const struct sl_run_notice *notice)
{
    char text[1200];

    (void)user;
    sl_diag_format(notice->diag, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    struct sl_run_config config;
    struct sl_run_result result;
    struct sl_diag diag = {.text = "usage: alerts RULES FILE..."};
    struct sl_run *run = NULL;
    enum sl_status status = SL_EINVAL;

    sl_run_config_init(&config);
    config.rule_files = (const char *const *)argv + 1;
    config.n_rule_files = 1;
    config.files = (const char *const *)argv + 2;
    config.n_files = argc > 2 ? (size_t)argc - 2 : 0;
    config.check_headers = true;
    config.event = print_event;
    config.notice = print_notice;
    if (argc > 2)
        status = sl_run_create(&run, &config, &diag);
    if (status == SL_OK)
        status = sl_run_execute(run, &diag);
    if (status == SL_OK) {
        sl_run_result(run, &result);
        fprintf(stderr, "%llu packets, %llu alerts, %llu anomalies\n",
                (unsigned long long)result.captured.packets, (unsigned long long)result.alerts,
                (unsigned long long)result.anomalies);
    } else {
        print_notice(NULL, &(struct sl_run_notice){.diag = &diag});
    }
    sl_run_close(run);
    return status == SL_OK ? 0 : 2;
}

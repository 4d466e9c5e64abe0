/* SPDX-License-Identifier: MIT */
/* BPF filters of files, through libpcap. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "capture/source.h"

enum { DLT_OF_RAW_IP = 12, LINKTYPE_RAW_IP = 101 };

/* DLT_ values are LINKTYPE_ values, but for a few that differ between systems. */
static int dlt_of(uint16_t link_type)
{
    return link_type == LINKTYPE_RAW_IP ? DLT_OF_RAW_IP : link_type;
}

enum sl_status capture_filter_add(struct capture_filter *filter, uint16_t link_type,
                                  struct sl_diag *diag)
{
    const char *const name = filter->capture->name;
    enum sl_status status = SL_OK;
    char text[32];

    if (filter->n_links == FILTER_LINKS)
        return diag_set(diag, SL_EUNSUPPORTED, name, 0,
                        "has packets of more than %d link types, which a filter does not take",
                        FILTER_LINKS);
    pcap_t *const dead = pcap_open_dead(dlt_of(link_type), SL_CAPTURE_PACKET_MAX);
    if (dead == NULL)
        return diag_set(diag, SL_ENOMEM, name, 0, "no memory for a filter");
    if (pcap_compile(dead, &filter->link[filter->n_links].program, filter->text, 1,
                     PCAP_NETMASK_UNKNOWN) == 0)
        filter->link[filter->n_links++].link_type = link_type;
    else
        status = diag_set(diag, SL_EINVAL, name, 0, "filter \"%s\" for packets of %s: %s",
                          filter->text, sl_link_type_name(link_type, text), pcap_geterr(dead));
    pcap_close(dead);
    return status;
}

static const struct bpf_program *program_of(struct capture_filter *filter, uint16_t link_type)
{
    for (uint32_t i = 0; i < filter->n_links; i++)
        if (filter->link[i].link_type == link_type)
            return &filter->link[i].program;
    if (filter->status == SL_OK)
        filter->status = capture_filter_add(filter, link_type, &filter->why);
    return filter->status == SL_OK ? &filter->link[filter->n_links - 1].program : NULL;
}

bool capture_filter_passes(struct capture_filter *filter, const struct record *record)
{
    const struct bpf_program *const program = program_of(filter, record->link_type);
    const struct pcap_pkthdr header = {.caplen = record->len, .len = record->wire_len};

    return program != NULL && pcap_offline_filter(program, &header, record->bytes) != 0;
}

void capture_filter_free(struct capture_filter *filter)
{
    if (filter == NULL)
        return;
    for (uint32_t i = 0; i < filter->n_links; i++)
        pcap_freecode(&filter->link[i].program);
    free(filter->text);
    free(filter);
}

struct capture_filter *capture_filter_create(const struct sl_capture *capture, const char *text)
{
    struct capture_filter *const filter = (struct capture_filter *)calloc(1, sizeof *filter);

    if (filter == NULL || (filter->text = strdup(text)) == NULL) {
        free(filter);
        return NULL;
    }
    filter->capture = capture;
    return filter;
}

/* SPDX-License-Identifier: MIT */
/* Link types have two numberings. LINKTYPE_ values are written in files and the same everywhere.
 * DLT_ values are those of libpcap's calls, and differ between systems below 104. */
#include "capture/source.h"

#include <stdio.h>

/* Where the two differ. */
static const struct {
    uint16_t link_type;
    int dlt;
} renumbered[] = {
    {100, DLT_ATM_RFC1483}, {101, DLT_RAW},      {102, DLT_SLIP_BSDOS},
    {103, DLT_PPP_BSDOS},   {106, DLT_ATM_CLIP}, {246, DLT_PFSYNC},
};

/* Assigned, and not named by libpcap 1.10, or by Suricata in another way. */
static const struct {
    uint16_t link_type;
    const char *name;
} unnamed[] = {
    {3, "AX25"},
    {147, "USER0"},
    {148, "USER1"},
    {149, "USER2"},
    {150, "USER3"},
    {151, "USER4"},
    {152, "USER5"},
    {153, "USER6"},
    {154, "USER7"},
    {155, "USER8"},
    {156, "USER9"},
    {157, "USER10"},
    {158, "USER11"},
    {159, "USER12"},
    {160, "USER13"},
    {161, "USER14"},
    {162, "USER15"},
    {228, "IPv4"},
    {229, "IPv6"},
    {252, "WIRESHARK_UPPER_PDU"},
    {290, "ETW"},
    {292, "ZBOSS_NCP"},
    {293, "USB_2_0_LOW_SPEED"},
    {294, "USB_2_0_FULL_SPEED"},
    {295, "USB_2_0_HIGH_SPEED"},
    {297, "ZWAVE_TAP"},
};

enum {
    LINK_TYPE_RAW = 101,
    LOCAL_FIRST = 11, /* these are DLT_ values of one system or another, and no LINKTYPE_ values */
    LOCAL_LAST = 49
};

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

uint16_t link_type_of_dlt(int dlt)
{
    for (size_t i = 0; i < N_OF(renumbered); i++)
        if (renumbered[i].dlt == dlt)
            return renumbered[i].link_type;
    return (uint16_t)dlt;
}

uint16_t link_type_of_file(uint16_t value)
{
    return value == 12 || value == 14 ? LINK_TYPE_RAW : value;
}

static const char *known_name(uint16_t link_type)
{
    for (size_t i = 0; i < N_OF(renumbered); i++)
        if (renumbered[i].link_type == link_type)
            return pcap_datalink_val_to_name(renumbered[i].dlt);
    for (size_t i = 0; i < N_OF(unnamed); i++)
        if (unnamed[i].link_type == link_type)
            return unnamed[i].name;
    if (link_type >= LOCAL_FIRST && link_type <= LOCAL_LAST)
        return NULL;
    return pcap_datalink_val_to_name(link_type);
}

const char *sl_link_type_name(uint16_t link_type, char out[32])
{
    const char *const name = known_name(link_type);

    if (name != NULL)
        return name;
    snprintf(out, 32, "LINKTYPE_%u", link_type);
    return out;
}

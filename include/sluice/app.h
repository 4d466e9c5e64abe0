/* SPDX-License-Identifier: MIT */
/* Application protocols: which packets carry one, and the parts of their messages that rules name.
 *
 * Protocols are found by the bytes of a message, not by ports, but for NTP. Over UDP these are
 * read: DNS, with multicast DNS and LLMNR, which have its form, SIP, NTP, SNMP and DHCP. A datagram
 * is enough for each of them. */
#ifndef SLUICE_APP_H
#define SLUICE_APP_H

#include <stdint.h>

#include "sluice/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of sl_origin.app. */
enum sl_app {
    SL_APP_UNKNOWN,
    SL_APP_DNS,
    SL_APP_MDNS,  /* the form of DNS, with port 5353 */
    SL_APP_LLMNR, /* the form of DNS, with port 5355 */
    SL_APP_SIP,
    SL_APP_NTP, /* with port 123 */
    SL_APP_SNMP,
    SL_APP_DHCP,
    SL_N_APPS
};

/* "dns", "mdns", "llmnr", "sip" and so on, as EVE has them; NULL: SL_APP_UNKNOWN. */
SL_API const char *sl_app_name(enum sl_app app);

/* The buffers that contents of rules are searched for in. A name belongs to several. */
enum {
    SL_BUFFER_PAYLOAD = 1,
    SL_BUFFER_DNS_QUERY = 2,        /* names of the questions of requests */
    SL_BUFFER_DNS_QUERIES = 4,      /* names of questions */
    SL_BUFFER_DNS_ANSWERS = 8,      /* names of answers */
    SL_BUFFER_DNS_AUTHORITIES = 16, /* names of authorities */
    SL_BUFFER_DNS_ADDITIONALS = 32, /* names of additionals */
    SL_BUFFER_DNS_RESPONSE = 64     /* names of the questions and records of responses */
};

/* Of made items that hold bytes of a TCP stream (struct sl_stream_part of sluice/detect.h). */
#define SL_BUFFER_STREAM (UINT32_C(1) << 31)
#define SL_BUFFER_STREAM_BACK (UINT32_C(1) << 30)

/* Sets origin.app of each packet of a dissected host batch. Without origins it does nothing. Any
 * thread. */
SL_API void sl_app_find(struct sl_batch *batch);

/* Appends made items to `to`: the names in DNS messages that belong to one of `buffers`, in the
 * order of packets. `to` is the batch itself, or a batch without items, which takes the names that
 * the batch had no room for. A period stands before each name, and is no part of it. `from` is 0 at
 * first, then the result of the call before. UINT64_MAX: no name is left. `to` must have room for
 * one item of SL_APP_MADE_LEN bytes. Any thread. */
enum { SL_APP_MADE_LEN = 256 };
SL_API uint64_t sl_app_make(const struct sl_batch *batch, struct sl_batch *to, uint32_t buffers,
                            uint64_t from);

#ifdef __cplusplus
}
#endif
#endif

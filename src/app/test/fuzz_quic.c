/* SPDX-License-Identifier: MIT */
/* Any bytes as datagrams of QUIC, and as a hello of TLS. */
#include <stdlib.h>

#include "app/quic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t len = size < 4096 ? (uint32_t)size : 4096;
    struct tls_session session = {.seen = 0};
    struct quic_flow flow = {.version = 0};
    struct app_span span = {data, len};

    for (uint32_t at = 0; at < len; at += 1 + data[at])
        (void)quic_read(&flow, &session, data + at, len - at);
    quic_flow_free(&flow);
    (void)tls_read_client_hello(&session, span);
    (void)tls_read_server_hello(&session, span);
    (void)tls_read_certificate(&session, span);
    (void)tls_certificate_lacks_length(span);
    tls_session_free(&session);
    return 0;
}

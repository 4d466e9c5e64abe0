/* SPDX-License-Identifier: MIT */
/* Any bytes as a rule file, compiled and evaluated on packets with every literal claimed to be
 * there, in all buffers. */
#include <stdlib.h>
#include <string.h>

#include "dissect/test/frame_fixture.h"
#include "sluice/app.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"

enum { N_PACKETS = 5, ALL_BUFFERS = 127 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_frame(struct sl_batch *batch, const struct frame *f, uint8_t flow_flags)
{
    const uint32_t item = sl_batch_add(batch, f->byte, f->len, 0);

    batch->origin[item].link_type = 1;
    batch->origin[item].wire_len = f->len;
    batch->origin[item].flow = item;
    batch->origin[item].flow_flags = flow_flags;
}

static void put_dns(struct frame *f)
{
    static const char message[] =
        "\0\7\1\0\0\2\0\0\0\0\0\0\4abab\4aaaa\0\0\1\0\1\1b\xC0\x0C\0\1\0\1";
    const uint32_t begin = frame_ipv4(f, 17, 0);

    frame_udp(f, 1024, 53, sizeof message - 1);
    frame_bytes(f, message, sizeof message - 1);
    frame_end_ipv4(f, begin);
}

/* The packets: TCP over IPv4 with a payload, ICMP over IPv6, TCP in GRE, no IP, and DNS. */
static struct sl_batch *make_batch(void)
{
    static const char payload[] = "GET / HTTP/1.1\r\nHost: aaaaaaaaaaaaaaaabababab\r\n\r\n";
    static struct frame f;
    struct sl_dissect_stats stats = {0};
    struct sl_batch *batch;
    struct sl_diag diag;

    if (sl_batch_create(&batch, 4096, N_PACKETS, &diag) != SL_OK)
        abort();
    for (uint32_t i = 0; i < N_PACKETS; i++) {
        uint32_t outer = 0, begin;

        f.len = 0;
        frame_ethernet(&f, i == 1 ? 0x86DD : i == 3 ? 0x0806 : 0x0800);
        if (i == 2) {
            outer = frame_ipv4(&f, 47, 0);
            frame_be32(&f, 0x0800);
        }
        if (i == 1) {
            begin = frame_ipv6(&f, 58);
            memcpy(frame_put(&f, 8), "\x80\0\0\0", 4);
            frame_end_ipv6(&f, begin);
        } else if (i == 4) {
            put_dns(&f);
        } else if (i != 3) {
            begin = frame_ipv4(&f, 6, 0);
            frame_tcp(&f, 1024, 80, 0x18, 0);
            frame_bytes(&f, payload, sizeof payload - 1);
            frame_end_ipv4(&f, begin);
        }
        if (outer != 0)
            frame_end_ipv4(&f, outer);
        add_frame(batch, &f, i == 0 ? SL_FLOW_TO_SERVER | SL_FLOW_ESTABLISHED : 0);
    }
    sl_dissect(batch, &stats);
    sl_app_find(batch);
    if (batch->origin[4].app != SL_APP_DNS)
        abort();
    return batch;
}

static void evaluate(struct sl_rules *rules, const struct sl_batch *batch)
{
    const struct sl_literal *literals;
    struct sl_alert alerts[16];
    struct sl_hits hits = {0};
    struct sl_diag diag;
    size_t n_literals, n;

    if (sl_rules_compile(rules, &literals, &n_literals, &diag) != SL_OK)
        return;
    hits.n = hits.cap = batch->n_items * n_literals;
    hits.hit = malloc((hits.n + 1) * sizeof *hits.hit);
    for (size_t i = 0; i < hits.n; i++)
        hits.hit[i] = (struct sl_hit){(uint32_t)(i / n_literals), 1,
                                      (uint64_t)ALL_BUFFERS << 32 | i % n_literals};

    const enum sl_status status = sl_rules_evaluate(rules, batch, &hits, alerts, 16, &n);

    if (status != (n > 16 ? SL_EOVERFLOW : SL_OK))
        abort();
    free(hits.hit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sl_batch *batch;
    struct sl_rules_count count;
    struct sl_rules *rules;
    struct sl_diag diag;

    if (batch == NULL)
        batch = make_batch();
    if (sl_rules_create(&rules, &diag) != SL_OK)
        abort();

    const enum sl_status status =
        sl_rules_load_text(rules, "fuzz", (const char *)data, size, &diag);

    if (status == SL_OK || status == SL_EFORMAT) {
        sl_rules_count(rules, &count);
        if ((status == SL_EFORMAT) != (count.bad != 0 && count.loaded == 0) ||
            count.lines != count.loaded + count.skipped + count.bad + count.duplicates)
            abort();
        evaluate(rules, batch);
    }
    sl_rules_free(rules);
    return 0;
}

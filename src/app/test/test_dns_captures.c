/* SPDX-License-Identifier: MIT */
/* Captures of real programs: the question names that the parser reads are those that the engine
 * `packet_names` finds, and the probe finds DNS on the ports of DNS. SLUICE_TEST_DATA names the
 * folder that has pcap/. */
#include "test.h"

#include <dirent.h>

#include "app/dns.h"
#include "base/bytes.h"
#include "sluice/capture.h"
#include "sluice/dissect.h"
#include "sluice/packet_names.h"

enum {
    ARENA_LEN = 1 << 20,
    ARENA_ITEMS = 4096,
    PORT_DNS = 53,
    PORT_MDNS = 5353,
    PORT_LLMNR = 5355
};

/* The payload of a UDP datagram. */
struct datagram {
    const uint8_t *bytes;
    uint32_t len, sent_len;
    bool has_names; /* by its port, as the engine knows it */
    bool has_port;  /* of DNS */
};

static struct {
    uint64_t names, packets, verdicts[2][DNS_YES + 1]; /* by has_port and verdict */
} seen;

static bool datagram_of(struct datagram *datagram, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *header = batch->bytes + packet->offset + packet->transport;

    if (packet->transport == 0 || packet->protocol != SL_IP_UDP || batch->payload[item].len == 0)
        return false;
    const uint16_t src = load_be16(header), dst = load_be16(header + 2);
    const uint32_t udp_len = load_be16(header + 4);

    datagram->bytes = batch->bytes + batch->payload[item].offset;
    datagram->len = batch->payload[item].len;
    datagram->sent_len = udp_len > 8 + datagram->len ? udp_len - 8 : datagram->len;
    datagram->has_names =
        src == PORT_DNS || dst == PORT_DNS || src == PORT_MDNS || dst == PORT_MDNS;
    datagram->has_port = datagram->has_names || src == PORT_LLMNR || dst == PORT_LLMNR;
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The engine's name as text: its components from the last to the first. */
static uint32_t text_of(const struct sl_name *name, char text[DNS_NAME_TEXT_MAX])
{
    uint32_t begins[128], n = 0, len = 0;

    for (uint32_t at = 0; at < name->len; at += 2 + name->bytes[at + 1]) {
        assert_true(n < 128);
        begins[n++] = at;
    }
    while (n-- > 0) {
        const uint8_t *component = name->bytes + begins[n];

        assert_true(len + 1 + component[1] <= DNS_NAME_TEXT_MAX + 1);
        if (len != 0)
            text[len++] = '.';
        memcpy(text + len, component + 2, component[1]);
        len += component[1];
    }
    return len;
}

static void check_name(const struct sl_packet_name *found, const uint8_t *message,
                       const struct dns_reader *reader, const struct dns_record *record)
{
    char theirs[DNS_NAME_TEXT_MAX], ours[DNS_NAME_TEXT_MAX];
    const uint32_t len = dns_name_text(message, record->name, ours);

    for (uint32_t i = 0; i < len; i++)
        if (ours[i] >= 'A' && ours[i] <= 'Z')
            ours[i] += 'a' - 'A';
    assert_int_equal(found->protocol, SL_PACKET_NAMES_DNS);
    assert_int_equal(text_of(&found->name, theirs), len);
    assert_memory_equal(theirs, ours, len);
    assert_int_equal(found->offset, record->name.at);
    assert_int_equal(found->dns.id, reader->header.id);
    assert_int_equal(found->dns.flags, reader->header.flags);
    assert_int_equal(found->dns.rrtype, record->type);
    assert_int_equal(found->dns.rrclass, record->rrclass);
    seen.names++;
}

/* The engine leaves out messages with more questions than fit, and names beyond its limits. */
static void check_names(const struct sl_batch *batch, uint32_t item,
                        const struct datagram *datagram)
{
    static struct sl_packet_name names[SL_PACKET_NAMES_MAX];
    static uint8_t bytes[SL_PACKET_NAMES_LEN];
    const uint32_t left_out = 1u << SL_PACKET_NAMES_MISS_DNS_HEADER |
                              1u << SL_PACKET_NAMES_MISS_MORE | 1u << SL_PACKET_NAMES_MISS_LONG;
    struct dns_reader reader;
    struct dns_record record;
    uint32_t misses, n = 0;
    const uint32_t n_found = sl_packet_names_find(batch, item, names, bytes, &misses);

    (void)dns_open(&reader, datagram->bytes, datagram->len);
    while (dns_next(&reader, &record) && record.section == DNS_QUESTION && n < n_found)
        check_name(&names[n++], datagram->bytes, &reader, &record);
    assert_int_equal(n, n_found);
    if ((misses & left_out) == 0)
        assert_int_equal(misses != 0, reader.damage != DNS_WHOLE && reader.section == DNS_QUESTION);
}

/* ---- captures -------------------------------------------------------------------------------- */

static void check_batch(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};
    struct datagram datagram;

    sl_dissect(batch, &stats);
    for (uint32_t item = 0; item < batch->n_items; item++) {
        if (!datagram_of(&datagram, batch, item))
            continue;
        const enum dns_verdict verdict = dns_probe(datagram.bytes, datagram.len, datagram.sent_len);

        seen.packets++;
        seen.verdicts[datagram.has_port][verdict]++;
        if (datagram.has_names)
            check_names(batch, item, &datagram);
    }
}

static char last_path[1024];

static int print_last_path(void **state)
{
    (void)state;
    print_message("last file: %s\n", last_path);
    return 0;
}

static void check_file(struct sl_batch *batch)
{
    struct sl_capture *capture;
    enum sl_status status = sl_capture_open_file(&capture, last_path, 0, NULL);

    if (status != SL_OK)
        return;
    while (status == SL_OK) {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, NULL);
        check_batch(batch);
    }
    sl_capture_close(capture);
}

static void agrees_with_packet_names(void **state)
{
    const char *folder = *state;
    struct sl_batch *batch;
    struct dirent *entry;
    char path[512];

    snprintf(path, sizeof path, "%s/pcap", folder);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    assert_int_equal(sl_batch_create(&batch, ARENA_LEN, ARENA_ITEMS, NULL), SL_OK);
    while ((entry = readdir(directory)) != NULL) {
        snprintf(last_path, sizeof last_path, "%s/%s", path, entry->d_name);
        check_file(batch);
    }
    sl_batch_free(batch);
    closedir(directory);
    print_message("%lu datagrams, %lu names of questions agree\n", seen.packets, seen.names);
    for (int has_port = 0; has_port < 2; has_port++)
        print_message("ports of %s: %lu no, %lu maybe, %lu yes\n", has_port ? "DNS" : "others",
                      seen.verdicts[has_port][DNS_NO], seen.verdicts[has_port][DNS_MAYBE],
                      seen.verdicts[has_port][DNS_YES]);
    assert_true(seen.names > 1000);
    assert_true(seen.verdicts[true][DNS_YES] > 20 * seen.verdicts[true][DNS_MAYBE]);
    assert_true(seen.verdicts[false][DNS_NO] > 50 * seen.verdicts[false][DNS_YES]);
}

int main(void)
{
    char *folder = getenv("SLUICE_TEST_DATA");

    if (folder == NULL) {
        puts("skipped: SLUICE_TEST_DATA is not set");
        return TEST_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(agrees_with_packet_names, NULL, print_last_path,
                                                 folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

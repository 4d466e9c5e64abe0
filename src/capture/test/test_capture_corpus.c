/* SPDX-License-Identifier: MIT */
/* Captures of real programs: the packets read must agree with the collection's manifest, with a
 * pipe, and with libpcap. SLUICE_TEST_DATA names the folder that has pcap/MANIFEST.csv. */
#include "test.h"

#include <pcap/pcap.h>

#include "capture_fixture.h"

/* The manifest's columns that matter here. */
struct entry {
    char path[1024];
    uint64_t n_packets, n_bytes;
    const char *format, *link_types, *compression, *error;
};

enum {
    COL_FILE = 0,
    COL_PACKETS = 7,
    COL_BYTES = 8,
    COL_FORMAT = 9,
    COL_LINK = 11,
    COL_PACKED = 12
};
enum { COL_ERROR = 15, COLUMNS = 18 };

static bool parse_entry(struct entry *entry, const char *folder, char *line)
{
    char *columns[COLUMNS] = {NULL};
    int n = 0;

    line[strcspn(line, "\r\n")] = '\0';
    while (n < COLUMNS && line != NULL)
        columns[n++] = strsep(&line, ",");
    for (int i = 0; i < COLUMNS; i++)
        if (columns[i] == NULL)
            return false;
    snprintf(entry->path, sizeof entry->path, "%s/pcap/%s", folder, columns[COL_FILE]);
    entry->n_packets = strtoull(columns[COL_PACKETS], NULL, 10);
    entry->n_bytes = strtoull(columns[COL_BYTES], NULL, 10);
    entry->format = columns[COL_FORMAT];
    entry->link_types = columns[COL_LINK];
    entry->compression = columns[COL_PACKED];
    entry->error = columns[COL_ERROR];
    return true;
}

static bool is_capture(const struct entry *entry)
{
    return strncmp(entry->format, "pcap", 4) == 0 &&
           (entry->compression[0] == '\0' || strcmp(entry->compression, "gz") == 0);
}

/* "1+0+12": raw IP is delivered as 101 whatever its number in the file. */
static bool lists_link_type(const char *list, uint16_t link_type)
{
    while (*list != '\0') {
        char *end;
        const unsigned long value = strtoul(list, &end, 10);

        if (link_type == (value == 12 || value == 14 ? 101 : value))
            return true;
        list = *end == '+' ? end + 1 : end;
    }
    return false;
}

/* The manifest's author read files of versions that never were; libpcap does not, and so does this.
 */
static bool has_bad_version(const struct reading *reading)
{
    return strstr(reading->diag.text, "has version") != NULL;
}

static void check_manifest(const struct entry *entry, const struct reading *reading)
{
    if (!is_capture(entry) || has_bad_version(reading)) {
        assert_int_equal(reading->status, SL_EFORMAT);
        assert_false(reading->opened);
        return;
    }
    assert_int_equal(reading->status, entry->error[0] == '\0' ? SL_END : SL_ETRUNCATED);
    assert_int_equal(reading->stats.packets, entry->n_packets);
    assert_int_equal(reading->stats.bytes, entry->n_bytes);
    for (uint64_t i = 0; i < reading->n_packets; i++)
        assert_true(lists_link_type(entry->link_types, reading->origins[i].link_type));
}

static void check_piped(const struct entry *entry, const struct reading *reading)
{
    FILE *const file = fopen(entry->path, "rb");
    struct reading piped;

    assert_non_null(file);
    fseek(file, 0, SEEK_END);

    const size_t len = (size_t)ftell(file);
    uint8_t *const bytes = malloc(len + 1);
    rewind(file);
    assert_int_equal(fread(bytes, 1, len, file), len);
    fclose(file);
    reading_of_bytes(&piped, bytes, len, PIPED, READING_ARENA, READING_ITEMS);
    assert_int_equal(piped.status, reading->status);
    assert_string_equal(piped.diag.text, reading->diag.text);
    assert_memory_equal(&piped.stats, &reading->stats, sizeof piped.stats);
    if (piped.n_packets != 0)
        assert_memory_equal(piped.origins, reading->origins,
                            piped.n_packets * sizeof *piped.origins);
    assert_int_equal(piped.bytes_len, reading->bytes_len);
    if (piped.bytes_len != 0)
        assert_memory_equal(piped.bytes, reading->bytes, piped.bytes_len);
    reading_free(&piped);
    free(bytes);
}

/* libpcap takes the seconds of pcap files as signed, the format's description as unsigned. */
static bool is_time(int64_t time_ns, const struct timeval *libpcap)
{
    const int64_t seconds = libpcap->tv_sec;
    const int64_t wrapped = seconds < 0 ? seconds + (INT64_C(1) << 32) : seconds;

    return time_ns == seconds * 1000000000 + libpcap->tv_usec ||
           time_ns == wrapped * 1000000000 + libpcap->tv_usec;
}

/* libpcap does not read gzip, minor versions above 2.4, pcapng without interfaces, or pcapng whose
 * interfaces differ in link type or snapshot length. All that it does deliver must be equal; a
 * packet longer than the file's snapshot length it cuts to that. Returns whether it read to the
 * end. */
static bool check_libpcap(const struct entry *entry, const struct reading *reading)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *const pcap =
        pcap_open_offline_with_tstamp_precision(entry->path, PCAP_TSTAMP_PRECISION_NANO, error);
    const uint8_t *at = reading->bytes;
    struct pcap_pkthdr *header;
    const u_char *bytes;
    uint64_t n = 0;
    int result;

    if (pcap == NULL)
        return false;
    assert_false(has_bad_version(reading));
    while ((result = pcap_next_ex(pcap, &header, &bytes)) == 1) {
        assert_in_range(n, 0, reading->n_packets - 1);
        assert_int_equal(header->caplen, reading->lens[n] < (uint32_t)pcap_snapshot(pcap)
                                             ? reading->lens[n]
                                             : (uint32_t)pcap_snapshot(pcap));
        assert_memory_equal(bytes, at, header->caplen);
        assert_true(is_time(reading->origins[n].time_ns, &header->ts));
        at += reading->lens[n++];
    }
    pcap_close(pcap);
    if (result != PCAP_ERROR_BREAK)
        return false;
    assert_int_equal(n, reading->n_packets);
    return true;
}

static char last_path[1024];

/* The file to blame where the test failed. */
static int print_last_path(void **state)
{
    (void)state;
    print_message("last file: %s\n", last_path);
    return 0;
}

static void test_corpus(void **state)
{
    const char *const folder = *state;
    unsigned n_files = 0, n_libpcap = 0;
    char name[1024], line[4096];

    snprintf(name, sizeof name, "%s/pcap/MANIFEST.csv", folder);
    FILE *const manifest = fopen(name, "r");
    assert_non_null(manifest);
    assert_non_null(fgets(line, sizeof line, manifest));
    while (fgets(line, sizeof line, manifest) != NULL) {
        struct reading reading;
        struct entry entry;

        if (!parse_entry(&entry, folder, line)) {
            fail_msg("%s: a line of less than %d columns", name, COLUMNS);
            break;
        }
        memcpy(last_path, entry.path, sizeof last_path);
        reading_of_path(&reading, entry.path, READING_ARENA, READING_ITEMS);
        check_manifest(&entry, &reading);
        check_piped(&entry, &reading);
        n_libpcap += check_libpcap(&entry, &reading);
        reading_free(&reading);
        n_files++;
    }
    fclose(manifest);
    print_message("%u files, %u of them read by libpcap to the end\n", n_files, n_libpcap);
    assert_true(n_libpcap > n_files / 2);
}

int main(void)
{
    char *const folder = getenv("SLUICE_TEST_DATA");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(test_corpus, NULL, print_last_path, folder)};

    if (folder == NULL) {
        puts("skipped: SLUICE_TEST_DATA, a folder with pcap/MANIFEST.csv, is not set");
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The fuzzer changes bytes of a saved table before its checksums are made. Look-ups and updates of
 * a table that passes the checks read and write nothing outside of its memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "names/fib/fib_internal.h"
#include "names/table/names_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A change: eight bytes less than this many at an offset, modulo 4 from: the first byte on, the
 * first behind the head, the index, or the last byte back. */
struct patch {
    uint16_t offset;
    uint8_t from;
    uint8_t len;
    uint8_t bytes[8];
};

struct saved {
    uint8_t *bytes;
    size_t len;
    uint64_t index;
};

static const char *const planes[] = {"hash", "mata"};

enum { N_PLANES = sizeof planes / sizeof *planes };

static _Noreturn void fail(void)
{
    abort();
}

/* The file that sl_names_save writes of a table with routes and with domains. */
static struct saved save(const char *plane)
{
    static const char routes[] = "/\t1\n/a\t2 3\n/a/b\t4\n/com/test/www\t5,7\n";
    static const char domains[] = "||a.test^\n@@||good.a.test^\n||b.test/path^\n";
    char path[] = "/tmp/fuzz_names_load.XXXXXX";
    struct saved saved = {.bytes = NULL};
    struct sl_names *names;
    struct sl_diag diag;

    if (mkdtemp(path) == NULL)
        fail();
    char file[sizeof path + 8];
    snprintf(file, sizeof file, "%s/table", path);
    if (sl_names_create(&names, &diag) != SL_OK ||
        sl_names_load_text(names, "routes", "prefix", routes, sizeof routes - 1, &diag) != SL_OK ||
        sl_names_load_text(names, "domains", "adblock", domains, sizeof domains - 1, &diag) !=
            SL_OK ||
        sl_names_build(names, plane, &diag) != SL_OK || sl_names_save(names, file, &diag) != SL_OK)
        fail();
    sl_names_free(names);
    FILE *in = fopen(file, "rb");
    if (in == NULL || fseek(in, 0, SEEK_END) != 0)
        fail();
    saved.len = (size_t)ftell(in);
    saved.bytes = malloc(saved.len);
    rewind(in);
    if (saved.bytes == NULL || fread(saved.bytes, 1, saved.len, in) != saved.len)
        fail();
    fclose(in);
    unlink(file);
    rmdir(path);
    saved.index = ((const struct names_store_head *)(const void *)saved.bytes)->index;
    return saved;
}

static void apply(uint8_t *bytes, const struct saved *saved, const struct patch *patch)
{
    const size_t begins[] = {0, sizeof(struct names_store_head), saved->index};
    const unsigned from = patch->from % 4;
    const size_t begin = from < 3 ? begins[from] : 0;
    const size_t within = patch->offset % (saved->len - begin);
    const size_t at = from < 3 ? begin + within : saved->len - 1 - within;
    const size_t n = patch->len % 8 + 1;

    memcpy(bytes + at, patch->bytes, n < saved->len - at ? n : saved->len - at);
}

static void seal(uint8_t *bytes, const struct saved *saved)
{
    struct names_store_head *head = (struct names_store_head *)(void *)bytes;

    fib_block_seal((struct fib_block *)(void *)(bytes + saved->index), saved->len - saved->index);
    if (head->index >= sizeof *head && head->index <= saved->len)
        head->checksum =
            names_store_checksum(head, XXH3_64bits(head + 1, head->index - sizeof *head));
}

static void lookup(struct sl_names *names)
{
    static const char *const asked[] = {"a.test", "x.a.test", "/", "http://b.test/path/d", "/a/b"};
    static uint8_t bytes[5][64];
    struct sl_names_answer answers[5];
    struct sl_names_reader *reader;
    struct sl_name name[5];
    struct sl_diag diag;
    const char *format;
    size_t len;

    for (int i = 0; i < 5; i++)
        if (sl_name_read(&name[i], SL_NAME_AUTO, bytes[i], sizeof *bytes, asked[i],
                         strlen(asked[i])) != NULL)
            fail();
    if (sl_names_reader_open(&reader, names, "cpu", &diag) != SL_OK)
        return;
    if (sl_names_lookup(reader, name, 5, answers) == SL_OK)
        for (int i = 0; i < 5; i++) {
            const char *value;

            for (uint32_t v = 0; (value = sl_names_value(names, &answers[i], v, &len)) != NULL; v++)
                if (memchr(value, '\n', len) != NULL)
                    fail();
            (void)sl_names_list(names, answers[i].list, &format);
        }
    sl_names_reader_close(reader);
}

static void update(struct sl_names *names)
{
    static const char text[] = "-/a\t2 3\n+/a\t9\n+/new\t1\n-/\t1\n-/a/b\n";
    struct sl_names_updated updated = {0};
    struct sl_diag diag;

    if (sl_names_update(names, "u", "prefix", text, sizeof text - 1, 1, &updated, &diag) == SL_OK)
        lookup(names);
}

static void open_table(const uint8_t *bytes, size_t len, bool updates)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct sl_names *names;
    struct sl_diag diag;
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        fail();
    if (sl_names_open(&names, path, updates, &diag) == SL_OK) {
        lookup(names);
        if (updates)
            update(names);
        sl_names_free(names);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct saved tables[N_PLANES];
    struct patch patch;

    for (size_t i = 0; i < N_PLANES; i++)
        if (tables[i].bytes == NULL)
            tables[i] = save(planes[i]);
    if (size == 0)
        return 0;
    const struct saved *saved = &tables[data[0] % N_PLANES];
    const bool updates = data[0] / N_PLANES % 2;
    uint8_t *bytes = (uint8_t *)aligned_alloc(64, (saved->len + 63) / 64 * 64);
    if (bytes == NULL)
        return 0;
    memcpy(bytes, saved->bytes, saved->len);
    data++;
    size--;
    for (; size >= sizeof patch; data += sizeof patch, size -= sizeof patch) {
        memcpy(&patch, data, sizeof patch);
        apply(bytes, saved, &patch);
    }
    seal(bytes, saved);
    open_table(bytes, saved->len, updates);
    free(bytes);
    return 0;
}

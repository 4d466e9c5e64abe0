/* SPDX-License-Identifier: MIT */
/* The fuzzer changes bytes of a compiled database before its checksums are made. A scan with a
 * database that passes the checks reads nothing outside of its block. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clamav/db.h"
#include "clamav/set.h"
#include "engines/mpm/mpm_internal.h"
#include "sluice/clamav.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A change: eight bytes less than this many at an offset. */
struct patch {
    uint16_t offset;
    uint8_t array; /* of the block, modulo one more than there are; the last stands for the head */
    uint8_t len;
    uint8_t bytes[8];
};

static const struct {
    const char *file, *lines;
} sources[] = {
    {"f.ndb", "A:0:*:776f726c64\nB:0:*:6162??64{2-4}65*6667\nC:0:5:61(62|63)64\n"
              "D:0:EOF-9:78797a\nE:1:EP+0:6162636465\nF:0:*:(4c)6162(42)\nG:0:*:!(61|62)63646566\n"
              "H:0:*:61[2-3]62636465\nI:3:0,9:3c68746d6c\n"},
    {"f.ldb", "J;Engine:51-255,Target:0;0&1|(2>1,1);61626364;0:6566::i;67::w\n"
              "K;Engine:51-255,Target:0,FileSize:1-900;0;0/ab[c]+d/;616263\n"
              "L;Engine:51-255,Target:0;0&1;616263;0/b.d/g\n"},
    {"f.hdb", "d41d8cd98f00b204e9800998ecf8427e:5:M\n"},
    {"f.hsb", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855:*:N:73\n"},
    {"f.mdb", "5:d41d8cd98f00b204e9800998ecf8427e:O\n"},
};

static struct sl_clamav_db *compile(void)
{
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_diag diag;

    if (sl_clamav_set_create(&set, &diag) != SL_OK)
        abort();
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (sl_clamav_set_read_text(set, sources[i].file, sources[i].lines,
                                    strlen(sources[i].lines), &diag) != SL_OK)
            abort();
    if (sl_clamav_compile(&db, set, SL_DEVICE_CPU, &diag) != SL_OK)
        abort();
    sl_clamav_set_free(set);
    return db;
}

static void apply(uint8_t *copy, const struct clam_block *block, const struct patch *patch)
{
    const unsigned array = patch->array % (CLAM_ARRAYS + 1);
    const uint64_t begin = array < CLAM_ARRAYS ? block->at[array] : 0;
    const uint64_t end = array + 1 < CLAM_ARRAYS ? block->at[array + 1] : block->head.len;
    const uint64_t n = patch->len % 8 + 1;

    if (begin < end) {
        const uint64_t at =
            begin + patch->offset % (array < CLAM_ARRAYS ? end - begin : sizeof *block);

        memcpy(copy + at, patch->bytes, n < block->head.len - at ? n : block->head.len - at);
    }
}

/* The last part is a table that has a checksum of its own. */
static void seal(struct clam_block *copy, const struct clam_block *block)
{
    struct sl_mpm_table *mpm = (struct sl_mpm_table *)((uint8_t *)copy + block->at[CLAM_A_MPM]);

    copy->head = block->head;
    mpm->head.len = block->n[CLAM_A_MPM];
    block_seal(&mpm_block_kind, mpm);
    block_seal(&clam_block_kind, copy);
}

static struct sl_clamav_db *load(const void *bytes, size_t len)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct sl_clamav_db *db = NULL;
    struct sl_diag diag;
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    if (sl_clamav_load(&db, path, &diag) != SL_OK)
        db = NULL;
    close(fd);
    return db;
}

static void scan(const struct sl_clamav_db *db, const uint8_t *data, size_t size)
{
    static const char text[] = "hello world abcd abXd1234e--fg 5678 abcdefg xyz1a2bcde <html acdef";
    struct sl_clamav_scan_config config;
    struct sl_clamav_scanner *scanner;

    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.batch_len = 1 << 16;
    if (sl_clamav_open(&scanner, db, &config, NULL) != SL_OK)
        return;
    (void)sl_clamav_scan_buffer(scanner, text, sizeof text - 1, NULL);
    (void)sl_clamav_scan_buffer(scanner, data, size, NULL);
    (void)sl_clamav_flush(scanner);
    sl_clamav_close(scanner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sl_clamav_db *original;

    if (original == NULL)
        original = compile();
    const struct clam_block *block = original->block;
    uint8_t *copy = (uint8_t *)aligned_alloc(MPM_ALIGN, (block->head.len + 63) / 64 * 64);
    struct patch patch;

    if (copy == NULL)
        return 0;
    memcpy(copy, block, block->head.len);
    for (; size >= sizeof patch; data += sizeof patch, size -= sizeof patch) {
        memcpy(&patch, data, sizeof patch);
        apply(copy, block, &patch);
    }
    seal((struct clam_block *)copy, block);
    struct sl_clamav_db *db = load(copy, block->head.len);
    free(copy);
    if (db != NULL)
        scan(db, data, size);
    sl_clamav_free(db);
    return 0;
}

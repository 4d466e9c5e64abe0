/* SPDX-License-Identifier: MIT */
/* Programs whose certificate table is any bytes, before a trusted and a blocked certificate. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "clamav/authenticode.h"
#include "clamav/db.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct sl_clamav_db *make_db(void)
{
    static const char lines[] =
        "A;1;0000000000000000000000000000000000000000;;c0ffee01;;1;0;1;0;\n"
        "B;0;0000000000000000000000000000000000000000;;c0ffee01;;1;0;1;0;\n";
    struct sl_clamav_set *set;
    struct sl_clamav_db *db;
    struct sl_diag diag;

    if (sl_clamav_set_create(&set, &diag) != SL_OK ||
        sl_clamav_set_read_text(set, "a.crb", lines, sizeof lines - 1, &diag) != SL_OK ||
        sl_clamav_compile(&db, set, SL_DEVICE_CPU, &diag) != SL_OK)
        abort();
    sl_clamav_set_free(set);
    return db;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    enum { PE = 64, DIRECTORIES = PE + 24 + 96, TABLE = 512 };
    static const struct sl_clamav_db *db; /* kept: a leak is what nothing names */
    static uint8_t program[1 << 20];
    struct clam_object object = {.bytes = program};
    int at = 0;

    if (db == NULL)
        db = make_db();
    if (len > sizeof program - TABLE)
        return 0;
    memcpy(program, "MZ", 2);
    put_le(program + 60, PE, 4);
    memcpy(program + PE, "PE\0\0", 4);
    put_le(program + PE + 24, 0x10B, 2);
    put_le(program + DIRECTORIES - 4, 16, 4);
    put_le(program + DIRECTORIES + 32, TABLE, 4);
    put_le(program + DIRECTORIES + 36, len, 4);
    memcpy(program + TABLE, data, len);
    object.len = TABLE + len;
    struct clam_authenticode *signature = clam_authenticode_read(&object);
    if (signature != NULL) {
        while (clam_authenticode_blocked(signature, db->block, &at) != NULL)
            continue;
        (void)clam_authenticode_trusted(signature, db->block, &object);
    }
    clam_authenticode_free(signature);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* One backend, named on the command line, against what the checks mean and against the oracle. */
#include "test.h"

#include "device/test/engine_fixture.h"
#include "engines/header/header_backend.h"
#include "header_rig.h"
#include "header_tiles.h"

int main(int argc, char **argv)
{
    char why[SL_WHY_LEN] = "";

    if (argc == 2)
        header_backend = strcmp(argv[1], header_tiles.name) == 0
                             ? &header_tiles
                             : engine_backend(sl_header_engine(), argv[1]);
    if (header_backend == NULL) {
        fprintf(stderr, "usage: %s scalar|avx2|cuda|tiles\n", argv[0]);
        return 2;
    }
    if (!header_backend->usable(why)) {
        printf("skipped: %s is not usable: %s\n", header_backend->name, why);
        return TEST_SKIPPED;
    }
    return header_check_tests() + header_contract_tests() + header_oracle_tests();
}

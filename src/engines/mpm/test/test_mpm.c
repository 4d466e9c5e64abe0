/* SPDX-License-Identifier: MIT */
/* One algorithm of this library and one of its backends: test_mpm ALGORITHM.BACKEND [TESTS]. */
#include "mpm_trials.h"

int main(int argc, char **argv)
{
    return mpm_trials(argc, argv);
}

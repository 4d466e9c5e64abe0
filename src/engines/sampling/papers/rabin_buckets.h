/* SPDX-License-Identifier: MIT */
/* The paper's approximate sort (TPDS 2016, section 3.2.4): lengths go to buckets of one width, in
 * their order, and within a bucket they have none. Compiled by C and by nvcc. */
#ifndef RABIN_BUCKETS_H
#define RABIN_BUCKETS_H

#include "base/core.h"

enum { RABIN_BUCKETS = 128 }; /* the paper's figure 9 */

/* The bucket of a length between the least and the greatest (Listing 3). */
CORE uint32_t rabin_bucket_of(uint32_t n_buckets, uint32_t least, uint32_t most, uint32_t len)
{
    return most == least ? 0
                         : (uint32_t)((uint64_t)(len - least) * (n_buckets - 1) / (most - least));
}

#endif

/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "bench_ceilings.h"

#define VECTOR __m256i
#define LOAD(at) _mm256_load_si256((const __m256i *)(at))
#define STORE(to, value) _mm256_stream_si256((__m256i *)(to), value)
#define SUM(a, b) _mm256_add_epi64(a, b)

enum { WIDTH = 32 /* bytes */ };

#include "sweep.h"

const struct bench_sweep bench_sweep_avx2 = {sweep_read, sweep_copy};

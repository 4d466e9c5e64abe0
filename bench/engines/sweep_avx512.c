/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "bench_ceilings.h"

#define VECTOR __m512i
#define LOAD(at) _mm512_load_si512((const __m512i *)(at))
#define STORE(to, value) _mm512_stream_si512((__m512i *)(to), value)
#define SUM(a, b) _mm512_add_epi64(a, b)

enum { WIDTH = 64 /* bytes */ };

#include "sweep.h"

const struct bench_sweep bench_sweep_avx512 = {sweep_read, sweep_copy};

/* SPDX-License-Identifier: MIT */
/* The papers' ways to run a sampler. X(variant, backend) stands for the variant's public name and
 * its struct sl_backend. Every build knows the names; the backends exist where SLUICE_PAPERS is
 * on. */
#ifndef SAMPLING_PAPERS_H
#define SAMPLING_PAPERS_H

#define RABIN_PAPERS(X)                             \
    X("rabin-textbook", rabin_textbook)             \
    X("rabin-naive", rabin_cuda_naive)              \
    X("rabin-buckets", rabin_cuda_packet)           \
    X("rabin-radix", rabin_cuda_packet_radix)       \
    X("rabin-unsorted", rabin_cuda_packet_unsorted) \
    X("rabin-branches", rabin_cuda_packet_branches) \
    X("rabin-bytes", rabin_cuda_packet_bytes)       \
    X("rabin-word4", rabin_cuda_packet_word4)       \
    X("rabin-word8", rabin_cuda_packet_word8)       \
    X("rabin-flat", rabin_cuda_packet_flat)         \
    X("rabin-tables", rabin_cuda_packet_tables)     \
    X("rabin-ring", rabin_cuda_packet_ring)         \
    X("rabin-global", rabin_cuda_packet_global)

#define SAMPLEBYTE_PAPERS(X) X("samplebyte-thread", samplebyte_cuda_thread)

/* The lists of this build, and one backend alone as an engine's list of backends. */
#ifdef SLUICE_PAPERS
#define RABIN_PAPERS_BUILT(X) RABIN_PAPERS(X)
#define SAMPLEBYTE_PAPERS_BUILT(X) SAMPLEBYTE_PAPERS(X)
#define SAMPLING_PAPER_ALONE(backend) ((const struct sl_backend *const[]){&(backend), NULL})
#else
#define RABIN_PAPERS_BUILT(X)
#define SAMPLEBYTE_PAPERS_BUILT(X)
#define SAMPLING_PAPER_ALONE(backend) NULL
#endif

#endif

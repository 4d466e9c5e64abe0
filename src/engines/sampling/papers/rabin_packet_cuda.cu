/* SPDX-License-Identifier: MIT */
/* The paper's kernels: a thread a packet.
 *
 * Naive is its Listing 1: bytes one by one, ring and tables in global memory, packets as they come.
 * Its buckets of a fixed size are a layout of the batch (items at a fixed distance), which this
 * kernel reads as any other.
 *
 * Packet is its Listing 2 with all improvements of section 3.2. It loads 16 bytes at once and has
 * tables and ring in shared memory. The layout of the ring keeps the threads of a warp out of each
 * other's banks. The first window is computed apart. Instead of branches, padding is fingerprinted
 * and rejected by its position. Packets are sorted by length, approximately (Listings 3 and 4).
 * Each improvement can be switched off. A radix sort can replace the sort, as in its figure 8b.
 *
 * Different from the paper: there is no cap of fingerprints a packet, so hits go to one compact
 * array. Payloads begin anywhere, so bytes before a payload in its first 16 bytes are fingerprinted
 * and rejected as padding is. The shortest and longest length are found on the GPU, where the
 * lengths are. */
#include <stdlib.h>

#include <cub/device/device_radix_sort.cuh>

#include "base/diag.h"
#include "device/cuda_internal.h"
#include "engines/sampling/rabin/rabin_core.h"
#include "rabin_buckets.h"
#include "sluice/sampling.h"

enum {
    BLOCK = 128,         /* threads, as the paper has it */
    BLOCKS_PER_SM = 16,  /* as many as hold all threads of a multiprocessor */
    LENGTHS_BLOCK = 256, /* threads */
    CHUNK = 16,          /* bytes */
    KEY_BITS = 16        /* of a length that is sorted by: longer ones are alike */
};

/* The part of a batch that the kernels read; overlap is NULL where no item has any. */
struct packets {
    const uint8_t *bytes;
    const struct sl_span *payload;
    const uint16_t *overlap;
    uint32_t n;
};

/* The index that sorting makes, and its temporary memory. */
struct sorting {
    uint32_t lengths[2];            /* the least, and the greatest */
    uint32_t counts[RABIN_BUCKETS]; /* items of a bucket; then where the bucket begins */
};

struct sorted {
    struct sl_span payload;
    uint32_t item;
    uint32_t pad;
};

/* The place of a packet, and its windows: those that begin at `first` or behind it are reported. */
struct packet {
    const uint8_t *bytes;
    uint32_t len, item, first;
};

static __device__ struct packet packet_at(const struct packets *packets, struct sl_span span,
                                          uint32_t item, uint32_t window)
{
    const uint32_t overlap = packets->overlap != NULL ? packets->overlap[item] : 0;
    struct packet packet;

    packet.bytes = packets->bytes + span.offset;
    packet.len = span.len;
    packet.item = item;
    packet.first = overlap >= window ? overlap - window + 1 : 0;
    return packet;
}

/* ---- Listing 1 ------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(BLOCK)
    rabin_naive_kernel(const struct rabin_table *table, struct packets packets, uint8_t *rings,
                       struct cuda_hits_device hits)
{
    const uint32_t window = table->head.window;
    uint8_t *ring = rings + (size_t)blockIdx.x * BLOCK * window + threadIdx.x;

    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < packets.n; i += gridDim.x * BLOCK) {
        const struct packet packet = packet_at(&packets, packets.payload[i], i, window);
        uint64_t fingerprint = 0;
        uint32_t at = 0;

        for (uint32_t k = 0; k < window; k++)
            ring[k * BLOCK] = 0;
        for (uint32_t k = 0; k < packet.len; k++) {
            const uint8_t old = ring[at * BLOCK];
            const uint8_t byte = packet.bytes[k];

            ring[at * BLOCK] = byte;
            at = at + 1 < window ? at + 1 : 0;
            fingerprint =
                rabin_slide(table->push, table->oldest, table->shift, fingerprint, old, byte);
            if (k + 1 < packet.first + window)
                continue;
            if (rabin_chosen(table, fingerprint))
                cuda_hits_append(hits, i, k + 1 - window, fingerprint);
        }
    }
}

/* ---- Listings 3 and 4 ------------------------------------------------------------------------ */

static __global__ void __launch_bounds__(LENGTHS_BLOCK)
    rabin_lengths_kernel(struct packets packets, struct sorting *sorting)
{
    const uint32_t i = blockIdx.x * LENGTHS_BLOCK + threadIdx.x;
    const uint32_t len = packets.payload[i < packets.n ? i : 0].len;
    __shared__ uint32_t least, most;

    if (threadIdx.x == 0) {
        least = len;
        most = len;
    }
    __syncthreads();
    atomicMin(&least, len);
    atomicMax(&most, len);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&sorting->lengths[0], least);
        atomicMax(&sorting->lengths[1], most);
    }
}

static __device__ uint32_t bucket_of(const struct sorting *sorting, uint32_t len)
{
    return rabin_bucket_of(RABIN_BUCKETS, sorting->lengths[0], sorting->lengths[1], len);
}

/* Listing 3. */
static __global__ void __launch_bounds__(LENGTHS_BLOCK)
    rabin_assign_kernel(struct packets packets, struct sorting *sorting, uint32_t *places)
{
    const uint32_t i = blockIdx.x * LENGTHS_BLOCK + threadIdx.x;

    if (i < packets.n)
        places[i] = atomicAdd(&sorting->counts[bucket_of(sorting, packets.payload[i].len)], 1u);
}

/* One block, a thread a bucket: counts become where their buckets begin. */
static __global__ void __launch_bounds__(RABIN_BUCKETS) rabin_prefix_kernel(struct sorting *sorting)
{
    __shared__ uint32_t sums[RABIN_BUCKETS];
    const uint32_t own = sorting->counts[threadIdx.x];

    sums[threadIdx.x] = own;
    for (uint32_t step = 1; step < RABIN_BUCKETS; step *= 2) {
        __syncthreads();
        const uint32_t before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
    }
    sorting->counts[threadIdx.x] = sums[threadIdx.x] - own;
}

/* Listing 4. */
static __global__ void __launch_bounds__(LENGTHS_BLOCK)
    rabin_sort_kernel(struct packets packets, const struct sorting *sorting, const uint32_t *places,
                      struct sorted *sorted)
{
    const uint32_t i = blockIdx.x * LENGTHS_BLOCK + threadIdx.x;

    if (i >= packets.n)
        return;

    const struct sl_span span = packets.payload[i];
    const struct sorted entry = {span, i, 0};

    sorted[sorting->counts[bucket_of(sorting, span.len)] + places[i]] = entry;
}

/* The input of the radix sort. */
static __global__ void __launch_bounds__(LENGTHS_BLOCK)
    rabin_keys_kernel(struct packets packets, uint16_t *keys, struct sorted *unsorted)
{
    const uint32_t i = blockIdx.x * LENGTHS_BLOCK + threadIdx.x;

    if (i >= packets.n)
        return;

    const struct sl_span span = packets.payload[i];
    const struct sorted entry = {span, i, 0};

    keys[i] = (uint16_t)(span.len >> KEY_BITS != 0 ? UINT16_MAX : span.len);
    unsorted[i] = entry;
}

/* ---- Listing 2 ------------------------------------------------------------------------------- */

enum ring { RING_GLOBAL, RING_FLAT, RING_BANKED };

/* The kernel with, or without, each of the paper's improvements. */
template <int WORD_, bool SHARED_TABLES_, enum ring RING_, bool BRANCHES_>
struct form {
    static constexpr int WORD = WORD_; /* bytes a load */
    static constexpr bool SHARED_TABLES = SHARED_TABLES_;
    static constexpr enum ring RING = RING_;
    static constexpr bool BRANCHES = BRANCHES_; /* checks in the loop: Listing 1's */
};

template <int WORD>
static __device__ void load_chunk(const uint8_t *bytes, uint32_t words[CHUNK / 4])
{
    if constexpr (WORD == 16) {
        const uint4 all = *(const uint4 *)bytes;

        words[0] = all.x;
        words[1] = all.y;
        words[2] = all.z;
        words[3] = all.w;
    } else if constexpr (WORD == 8) {
        const uint2 low = *(const uint2 *)bytes, high = *(const uint2 *)(bytes + 8);

        words[0] = low.x;
        words[1] = low.y;
        words[2] = high.x;
        words[3] = high.y;
    } else {
#pragma unroll
        for (int i = 0; i < CHUNK / 4; i++) {
            const uint8_t *four = bytes + 4 * i;

            if constexpr (WORD == 4)
                words[i] = *(const uint32_t *)four;
            else
                words[i] = four[0] | (uint32_t)four[1] << 8 | (uint32_t)four[2] << 16 |
                           (uint32_t)four[3] << 24;
        }
    }
}

/* The state of a thread while it goes over its packet. */
struct walk {
    const uint64_t *push, *oldest;
    uint8_t *ring;
    uint32_t stride; /* bytes between two bytes of the ring */
    uint32_t window, shift;
    uint64_t mask, magic;
    uint64_t fingerprint;
    uint32_t at; /* in the ring */
};

static __device__ void take_byte(struct walk *walk, uint8_t byte)
{
    uint8_t *place = walk->ring + walk->at * walk->stride;
    const uint8_t old = *place;

    *place = byte;
    walk->at = walk->at + 1 < walk->window ? walk->at + 1 : 0;
    walk->fingerprint =
        rabin_slide(walk->push, walk->oldest, walk->shift, walk->fingerprint, old, byte);
}

/* The chunks that the packet lies in, from their first byte on: `lead` bytes before the packet. */
template <class FORM>
static __device__ void walk_packet(struct walk *walk, const struct packet *packet,
                                   struct cuda_hits_device hits)
{
    const uint32_t lead = (uint32_t)((uintptr_t)packet->bytes % CHUNK);
    const uint8_t *bytes = packet->bytes - lead;
    const uint64_t end = (uint64_t)lead + packet->len;
    const uint64_t reported = (uint64_t)lead + packet->first + walk->window; /* behind them */
    uint32_t words[CHUNK / 4];
    uint64_t i = 0;

    if (end < reported)
        return;
    if constexpr (!FORM::BRANCHES) {
        /* Chunks without the last byte of a window that is reported: no check. */
        for (; i < (reported - 1) / CHUNK; i++) {
            load_chunk<FORM::WORD>(bytes + i * CHUNK, words);
            for (int k = 0; k < CHUNK; k++)
                take_byte(walk, (uint8_t)(words[k / 4] >> 8 * (k % 4)));
        }
    }
    for (; i * CHUNK < end; i++) {
        load_chunk<FORM::WORD>(bytes + i * CHUNK, words);
        for (int k = 0; k < CHUNK; k++) {
            const uint64_t behind = i * CHUNK + (uint32_t)k + 1;

            if (FORM::BRANCHES && behind > end)
                break;
            take_byte(walk, (uint8_t)(words[k / 4] >> 8 * (k % 4)));
            if (FORM::BRANCHES && behind < reported)
                continue;
            if ((walk->fingerprint & walk->mask) != walk->magic)
                continue;
            if (FORM::BRANCHES || (behind >= reported && behind <= end))
                cuda_hits_append(hits, packet->item, (uint32_t)(behind - lead) - walk->window,
                                 walk->fingerprint);
        }
    }
}

extern __shared__ uint8_t shared_ring[];

/* The bytes of a ring in one bank: thread t's are at t / 32 + t % 32 * 4, and on by 128. */
template <class FORM> static __device__ void place_ring(struct walk *walk, uint8_t *rings)
{
    const uint32_t thread = threadIdx.x;

    walk->stride = BLOCK;
    if (FORM::RING == RING_GLOBAL) {
        walk->ring = rings + (size_t)blockIdx.x * BLOCK * walk->window + thread;
    } else if (FORM::RING == RING_BANKED) {
        walk->ring = shared_ring + thread / 32 + thread % 32 * 4;
    } else {
        walk->ring = shared_ring + thread * walk->window;
        walk->stride = 1;
    }
}

template <class FORM>
static __global__ void __launch_bounds__(BLOCK)
    rabin_packet_kernel(const struct rabin_table *table, struct packets packets,
                        const struct sorted *sorted, uint8_t *rings, struct cuda_hits_device hits)
{
    __shared__ uint64_t push[256], oldest[256];
    struct walk walk;

    if (FORM::SHARED_TABLES) {
        for (uint32_t i = threadIdx.x; i < 256; i += BLOCK) {
            push[i] = table->push[i];
            oldest[i] = table->oldest[i];
        }
        __syncthreads();
    }
    walk.push = FORM::SHARED_TABLES ? push : table->push;
    walk.oldest = FORM::SHARED_TABLES ? oldest : table->oldest;
    walk.window = table->head.window;
    walk.shift = table->shift;
    walk.mask = table->mask;
    walk.magic = table->magic;
    place_ring<FORM>(&walk, rings);
    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < packets.n; i += gridDim.x * BLOCK) {
        const uint32_t item = sorted != NULL ? sorted[i].item : i;
        const struct sl_span span = sorted != NULL ? sorted[i].payload : packets.payload[i];
        const struct packet packet = packet_at(&packets, span, item, walk.window);

        walk.fingerprint = 0;
        walk.at = 0;
        for (uint32_t k = 0; k < walk.window; k++)
            walk.ring[k * walk.stride] = 0;
        walk_packet<FORM>(&walk, &packet, hits);
    }
}

/* ---- the backends ---------------------------------------------------------------------------- */

typedef void packet_kernel(const struct rabin_table *, struct packets, const struct sorted *,
                           uint8_t *, struct cuda_hits_device);

/* The order in which packets are taken. */
enum order { ORDER_ARRIVAL, ORDER_BUCKETS, ORDER_RADIX };

struct variant {
    packet_kernel *kernel; /* NULL: Listing 1's */
    enum order order;
    enum ring ring;
};

/* A radix sort of lengths, with its temporary memory. */
struct radix {
    uint16_t *d_keys, *d_sorted_keys;
    struct sorted *d_unsorted;
    void *d_scratch;
    size_t scratch_len;
};

struct rabin_packet {
    void *cuda;
    const struct variant *variant;
    uint8_t *d_rings;          /* where they are in global memory */
    struct sorting *d_sorting; /* these where packets are sorted */
    uint32_t *d_places;
    struct sorted *d_sorted;
    struct radix radix;
};

static void packet_close(void *context)
{
    struct rabin_packet *packet = (struct rabin_packet *)context;

    if (packet == NULL)
        return;
    void *const memory[] = {packet->d_rings,          packet->d_sorting,
                            packet->d_places,         packet->d_sorted,
                            packet->radix.d_keys,     packet->radix.d_sorted_keys,
                            packet->radix.d_unsorted, packet->radix.d_scratch};
    cuda_context_close_with(packet->cuda, memory, sizeof memory / sizeof *memory);
    free(packet);
}

static uint32_t max_blocks(const struct rabin_packet *packet)
{
    return ((const struct cuda_context *)packet->cuda)->n_multiprocessors * BLOCKS_PER_SM;
}

/* With its scratch the sort; with none how much scratch it needs. */
static cudaError_t radix_sort(const struct rabin_packet *packet, void *d_scratch, size_t *len,
                              uint32_t n, cudaStream_t stream)
{
    const struct radix *radix = &packet->radix;

    return cub::DeviceRadixSort::SortPairs(d_scratch, *len, radix->d_keys, radix->d_sorted_keys,
                                           radix->d_unsorted, packet->d_sorted, n, 0, KEY_BITS,
                                           stream);
}

static enum sl_status take_radix(struct rabin_packet *packet, uint32_t n, struct sl_diag *diag)
{
    struct radix *radix = &packet->radix;
    enum sl_status status =
        cuda_status(radix_sort(packet, NULL, &radix->scratch_len, n, NULL), "sorting", diag);

    if (status == SL_OK)
        status = cuda_take((void **)&radix->d_keys, n * sizeof *radix->d_keys, "sorting", diag);
    if (status == SL_OK)
        status = cuda_take((void **)&radix->d_sorted_keys, n * sizeof *radix->d_sorted_keys,
                           "sorting", diag);
    if (status == SL_OK)
        status =
            cuda_take((void **)&radix->d_unsorted, n * sizeof *radix->d_unsorted, "sorting", diag);
    if (status == SL_OK)
        status = cuda_take(&radix->d_scratch, radix->scratch_len, "sorting", diag);
    return status;
}

static enum sl_status take_buckets(struct rabin_packet *packet, uint32_t n, struct sl_diag *diag)
{
    const enum sl_status status =
        cuda_take((void **)&packet->d_sorting, sizeof *packet->d_sorting, "sorting", diag);

    return status != SL_OK ? status
                           : cuda_take((void **)&packet->d_places, n * sizeof *packet->d_places,
                                       "sorting", diag);
}

static enum sl_status take_memory(struct rabin_packet *packet, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    const enum order order = packet->variant->order;
    const uint32_t n = limits->max_items + 1;
    enum sl_status status = SL_OK;

    if (packet->variant->ring == RING_GLOBAL)
        status =
            cuda_take((void **)&packet->d_rings,
                      (size_t)max_blocks(packet) * BLOCK * SL_SAMPLING_WINDOW_MAX, "rings", diag);
    if (order == ORDER_ARRIVAL)
        return status;
    if (status == SL_OK)
        status =
            cuda_take((void **)&packet->d_sorted, n * sizeof *packet->d_sorted, "sorting", diag);
    if (status == SL_OK)
        status = order == ORDER_RADIX ? take_radix(packet, n, diag) : take_buckets(packet, n, diag);
    return status;
}

static enum sl_status packet_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag, const struct variant *variant)
{
    struct rabin_packet *packet = (struct rabin_packet *)calloc(1, sizeof *packet);

    if (packet == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    packet->variant = variant;

    enum sl_status status =
        cuda_context_open(&packet->cuda, table, rabin_table(table)->head.len, limits, diag);
    if (status == SL_OK)
        status = take_memory(packet, limits, diag);
    if (status != SL_OK) {
        packet_close(packet);
        return status;
    }
    *context = packet;
    return SL_OK;
}

static uint32_t blocks_for(uint32_t n, uint32_t each)
{
    return (uint32_t)(((uint64_t)n + each - 1) / each);
}

static void sort_by_buckets(const struct rabin_packet *packet, const struct packets *packets,
                            cudaStream_t stream)
{
    const uint32_t n_blocks = blocks_for(packets->n, LENGTHS_BLOCK);
    struct sorting *sorting = packet->d_sorting;

    /* A failure shows at the launch behind it. */
    (void)cudaMemsetAsync(sorting, 0, sizeof *sorting, stream);
    (void)cudaMemsetAsync(&sorting->lengths[0], 0xFF, sizeof sorting->lengths[0], stream);
    rabin_lengths_kernel<<<n_blocks, LENGTHS_BLOCK, 0, stream>>>(*packets, sorting);
    rabin_assign_kernel<<<n_blocks, LENGTHS_BLOCK, 0, stream>>>(*packets, sorting,
                                                                packet->d_places);
    rabin_prefix_kernel<<<1, RABIN_BUCKETS, 0, stream>>>(sorting);
    rabin_sort_kernel<<<n_blocks, LENGTHS_BLOCK, 0, stream>>>(*packets, sorting, packet->d_places,
                                                              packet->d_sorted);
}

static void sort_by_radix(const struct rabin_packet *packet, const struct packets *packets,
                          cudaStream_t stream)
{
    const struct radix *radix = &packet->radix;
    size_t len = radix->scratch_len;

    rabin_keys_kernel<<<blocks_for(packets->n, LENGTHS_BLOCK), LENGTHS_BLOCK, 0, stream>>>(
        *packets, radix->d_keys, radix->d_unsorted);
    (void)radix_sort(packet, radix->d_scratch, &len, packets->n, stream);
}

static void launch(const struct rabin_packet *packet, const struct sl_batch *batch)
{
    const struct cuda_context *cuda = (const struct cuda_context *)packet->cuda;
    const struct rabin_table *d_table = rabin_table(cuda->d_table);
    const struct variant *variant = packet->variant;
    const struct packets packets = {batch->bytes, batch->payload,
                                    batch->has_overlap ? batch->overlap : NULL, batch->n_items};
    const uint32_t wanted = blocks_for(packets.n, BLOCK);
    const uint32_t n_blocks = wanted < max_blocks(packet) ? wanted : max_blocks(packet);
    const uint32_t ring_len =
        variant->ring != RING_GLOBAL ? BLOCK * rabin_table(cuda->table)->head.window : 0;
    const cudaStream_t stream = (cudaStream_t)batch->stream;

    if (variant->order == ORDER_BUCKETS)
        sort_by_buckets(packet, &packets, stream);
    if (variant->order == ORDER_RADIX)
        sort_by_radix(packet, &packets, stream);
    if (variant->kernel == NULL)
        rabin_naive_kernel<<<n_blocks, BLOCK, 0, stream>>>(d_table, packets, packet->d_rings,
                                                           cuda_hits_device(cuda));
    else
        variant->kernel<<<n_blocks, BLOCK, ring_len, stream>>>(
            d_table, packets, variant->order != ORDER_ARRIVAL ? packet->d_sorted : NULL,
            packet->d_rings, cuda_hits_device(cuda));
}

static enum sl_status packet_submit(void *context, const struct sl_batch *batch,
                                    struct sl_hits *hits)
{
    struct rabin_packet *packet = (struct rabin_packet *)context;
    const enum sl_status status =
        cuda_submit_begin((struct cuda_context *)packet->cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0)
        launch(packet, batch);
    return cuda_submit_end((struct cuda_context *)packet->cuda);
}

static enum sl_status packet_wait(void *context)
{
    return cuda_context_wait(((const struct rabin_packet *)context)->cuda);
}

/* Defines a backend rabin_cuda_<symbol>: its kernel, the order of packets, its ring. */
#define BACKEND(symbol, label, kernel, order, ring)                                           \
    static enum sl_status symbol##_open(void **context, const void *table,                    \
                                        const struct sl_limits *limits, struct sl_diag *diag) \
    {                                                                                         \
        static const struct variant variant = {kernel, order, ring};                          \
                                                                                              \
        return packet_open(context, table, limits, diag, &variant);                           \
    }                                                                                         \
    extern "C" {                                                                              \
    extern const struct sl_backend rabin_cuda_##symbol;                                       \
    const struct sl_backend rabin_cuda_##symbol = {                                           \
        label,         SL_DEVICE_CUDA, device_cuda_usable, symbol##_open,                     \
        packet_submit, packet_wait,    packet_close};                                         \
    }

#define PACKET(...) rabin_packet_kernel<form<__VA_ARGS__>>

BACKEND(naive, "cuda-naive", NULL, ORDER_ARRIVAL, RING_GLOBAL)
BACKEND(packet, "cuda-packet", (PACKET(16, true, RING_BANKED, false)), ORDER_BUCKETS, RING_BANKED)
BACKEND(packet_radix, "cuda-packet-radix", (PACKET(16, true, RING_BANKED, false)), ORDER_RADIX,
        RING_BANKED)
BACKEND(packet_unsorted, "cuda-packet-unsorted", (PACKET(16, true, RING_BANKED, false)),
        ORDER_ARRIVAL, RING_BANKED)
BACKEND(packet_branches, "cuda-packet-branches", (PACKET(16, true, RING_BANKED, true)),
        ORDER_BUCKETS, RING_BANKED)
BACKEND(packet_bytes, "cuda-packet-bytes", (PACKET(1, true, RING_BANKED, false)), ORDER_BUCKETS,
        RING_BANKED)
BACKEND(packet_word4, "cuda-packet-word4", (PACKET(4, true, RING_BANKED, false)), ORDER_BUCKETS,
        RING_BANKED)
BACKEND(packet_word8, "cuda-packet-word8", (PACKET(8, true, RING_BANKED, false)), ORDER_BUCKETS,
        RING_BANKED)
BACKEND(packet_flat, "cuda-packet-flat", (PACKET(16, true, RING_FLAT, false)), ORDER_BUCKETS,
        RING_FLAT)
BACKEND(packet_tables, "cuda-packet-tables", (PACKET(16, true, RING_GLOBAL, false)), ORDER_BUCKETS,
        RING_GLOBAL)
BACKEND(packet_ring, "cuda-packet-ring", (PACKET(16, false, RING_BANKED, false)), ORDER_BUCKETS,
        RING_BANKED)
BACKEND(packet_global, "cuda-packet-global", (PACKET(16, false, RING_GLOBAL, false)), ORDER_BUCKETS,
        RING_GLOBAL)

/* SPDX-License-Identifier: MIT */
/* link FILE: sends a file twice over a pair of sockets, and prints the bytes that crossed. The
 * second time they are references. cc link.c $(pkg-config --cflags --libs sluice) */
#include <sluice/sluice.h>
#include <stdio.h>
#include <sys/socket.h>
enum { PACKET = 1400, ROOM = 4096 };
static struct sl_encoder *encoder; /* of the sender, */
static const struct sl_backend *backend;
static void *sampler;
static struct sl_decoder *decoder; /* and of the receiver */
static int ends[2];

/* A packet is sampled and becomes a frame. Returns the frame's length. */
static uint32_t transmit(struct sl_batch *batch)
{
    static struct sl_hit hit[ROOM];
    struct sl_hits hits = {.hit = hit, .cap = ROOM};
    uint8_t frame[ROOM];

    if (backend->submit(sampler, batch, &hits) != SL_OK || backend->wait(sampler) != SL_OK ||
        sl_encoder_batch(encoder, batch, &hits, NULL) != SL_OK)
        return 0;
    const uint32_t len = sl_encoder_frame(encoder, 0, frame);
    return send(ends[0], frame, len, 0) == (ssize_t)len ? len : 0;
}

/* A frame becomes a packet. The receiver reports its state to the sender. */
static bool receive(void)
{
    uint8_t frame[ROOM], feedback[SL_FEEDBACK_MAX];
    const uint8_t *packet;
    uint32_t len;
    ssize_t n = recv(ends[1], frame, sizeof frame, 0);
    if (n < 0 || sl_decoder_decode(decoder, frame, (size_t)n, &packet, &len) != SL_FRAME_DELIVERED)
        return false; /* the next feedback requests it */
    send(ends[1], feedback, sl_decoder_feedback(decoder, feedback), 0);
    n = recv(ends[0], frame, sizeof frame, 0);
    sl_encoder_feedback(encoder, frame, n > 0 ? (size_t)n : 0);
    return true;
}

static void send_file(FILE *file, struct sl_batch *batch)
{
    unsigned long bytes = 0, crossed = 0;
    uint8_t packet[PACKET];

    for (size_t n; (n = fread(packet, 1, PACKET, file)) > 0;) {
        sl_batch_reset(batch);
        sl_batch_add(batch, packet, (uint32_t)n, 0);
        crossed += transmit(batch);
        bytes += receive() ? n : 0;
    }
    printf("%lu bytes as %lu\n", bytes, crossed);
}

int main(int argc, char **argv)
{
    const struct sl_limits limits = {.max_items = 1, .max_bytes = ROOM, .max_hits = ROOM};
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    struct sl_redundancy_config config;
    struct sl_sampling_config sampling;
    struct sl_sampling_table *table;
    struct sl_batch *batch;

    sl_redundancy_config_init(&config);
    sl_sampling_config_init(&sampling);
    config.acknowledged = true; /* a lost frame costs its own packet alone */
    sampling.period = config.period;
    if (file == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 ||
        sl_encoder_create(&encoder, &config, NULL) || sl_decoder_create(&decoder, &config, NULL) ||
        sl_sampling_build(&table, &sampling, NULL) || sl_batch_create(&batch, ROOM, 1, NULL))
        return 2;
    backend = sl_engine_choose(sl_sampling_engine(table), SL_DEVICE_CPU, NULL);
    if (sl_engine_open(&sampler, sl_sampling_engine(table), backend, table, &limits, NULL) != SL_OK)
        return 2;
    for (int i = 0; i < 2; i++, rewind(file))
        send_file(file, batch);
    return 0;
}

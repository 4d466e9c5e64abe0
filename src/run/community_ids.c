/* SPDX-License-Identifier: MIT */
/* A digest costs more than the rest of an event, and OpenSSL takes memory for each. Events are of
 * few tuples, so the ids of the last ones are kept. */
#include "community_ids.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diag.h"

enum {
    N_KEPT = 1024,  /* a power of 2 */
    INPUT_LEN = 40, /* seed, two addresses of IPv6, protocol, a zero byte, two ports */
    SHA1_LEN = 20,
    TEXT_LEN = 2 + (SHA1_LEN + 2) / 3 * 4 + 1
};

/* The input of the digest, and zeros behind it; len 0 where an entry has no id yet. */
struct input {
    uint8_t byte[INPUT_LEN];
    uint32_t len;
};

struct kept {
    struct input input;
    char text[TEXT_LEN];
};

/* The last flow of an entry; 0: none. */
struct of_flow {
    uint64_t flow;
    char text[TEXT_LEN];
};

struct community_ids {
    EVP_MD *sha1;
    EVP_MD_CTX *context;
    struct kept kept[N_KEPT]; /* in pairs, the later first */
    struct of_flow of_flow[N_KEPT];
};

enum sl_status community_ids_create(struct community_ids **ids, struct sl_diag *diag)
{
    struct community_ids *made = calloc(1, sizeof *made);

    *ids = NULL;
    if (made != NULL) {
        made->sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
        made->context = EVP_MD_CTX_new();
    }
    if (made == NULL || made->context == NULL) {
        community_ids_free(made);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for community ids");
    }
    if (made->sha1 == NULL) {
        community_ids_free(made);
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "OpenSSL refuses SHA-1, which community_id of events needs");
    }
    *ids = made;
    return SL_OK;
}

void community_ids_free(struct community_ids *ids)
{
    if (ids == NULL)
        return;
    EVP_MD_CTX_free(ids->context);
    EVP_MD_free(ids->sha1);
    free(ids);
}

/* ---- the input of the digest ----------------------------------------------------------------- */

/* The type of an ICMP message's answer or question. False: it has none, and the flow one way. */
static bool counterpart(uint8_t protocol, uint16_t type, uint16_t *other)
{
    static const uint8_t v4[][2] = {{8, 0}, {10, 9}, {13, 14}, {15, 16}, {17, 18}};
    static const uint8_t v6[][2] = {{128, 129}, {130, 131}, {133, 134},
                                    {135, 136}, {139, 140}, {144, 145}};
    const uint8_t(*const pairs)[2] = protocol == SL_IP_ICMP ? v4 : v6;
    const size_t n = protocol == SL_IP_ICMP ? sizeof v4 / sizeof *v4 : sizeof v6 / sizeof *v6;

    for (size_t i = 0; i < n; i++)
        if (pairs[i][0] == type || pairs[i][1] == type) {
            *other = pairs[i][pairs[i][0] == type];
            return true;
        }
    return false;
}

struct end {
    const uint8_t *addr;
    uint16_t port;
};

static bool is_before(const struct end *a, const struct end *b, size_t addr_len)
{
    const int order = memcmp(a->addr, b->addr, addr_len);

    return order < 0 || (order == 0 && a->port < b->port);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t len)
{
    memcpy(at, bytes, len);
    return at + len;
}

static uint8_t *put_port(uint8_t *at, uint16_t port)
{
    const uint8_t bytes[2] = {(uint8_t)(port >> 8), (uint8_t)port};

    return put(at, bytes, sizeof bytes);
}

/* The smaller end comes first, so that both directions have one id. */
static void write_input(struct input *input, const struct sl_tuple *tuple)
{
    const uint8_t protocol = tuple->protocol;
    const bool is_icmp = protocol == SL_IP_ICMP || protocol == SL_IP_ICMPV6;
    const bool has_ports =
        is_icmp || protocol == SL_IP_TCP || protocol == SL_IP_UDP || protocol == SL_IP_SCTP;
    const bool is_ipv4 = sl_addr_is_ipv4(&tuple->src);
    const size_t addr_at = is_ipv4 ? 12 : 0, addr_len = 16 - addr_at;
    struct end src = {tuple->src.byte + addr_at, tuple->src_port};
    struct end dst = {tuple->dst.byte + addr_at, tuple->dst_port};
    const bool one_way = is_icmp && !counterpart(protocol, tuple->src_port, &dst.port);
    const bool in_order = one_way || is_before(&src, &dst, addr_len);
    const struct end *first = in_order ? &src : &dst, *second = in_order ? &dst : &src;

    memset(input, 0, sizeof *input);
    uint8_t *at = put_port(input->byte, 0);
    at = put(at, first->addr, addr_len);
    at = put(at, second->addr, addr_len);
    *at++ = protocol;
    *at++ = 0;
    if (has_ports)
        at = put_port(put_port(at, first->port), second->port);
    input->len = (uint32_t)(at - input->byte);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static bool write_text(struct community_ids *ids, const struct input *input, char text[TEXT_LEN])
{
    uint8_t digest[SHA1_LEN];

    if (EVP_DigestInit_ex2(ids->context, ids->sha1, NULL) != 1 ||
        EVP_DigestUpdate(ids->context, input->byte, input->len) != 1 ||
        EVP_DigestFinal_ex(ids->context, digest, NULL) != 1)
        return false;
    memcpy(text, "1:", 2);
    EVP_EncodeBlock((unsigned char *)text + 2, digest, SHA1_LEN);
    return true;
}

static bool is_of(const struct kept *kept, const struct input *input)
{
    return memcmp(&kept->input, input, sizeof *input) == 0;
}

/* By the bytes of the input. */
static const char *find(struct community_ids *ids, const struct sl_tuple *tuple)
{
    struct input input;

    write_input(&input, tuple);
    struct kept *pair = &ids->kept[XXH3_64bits(&input, sizeof input) & (N_KEPT - 2)];

    if (is_of(&pair[0], &input))
        return pair[0].text;
    if (is_of(&pair[1], &input))
        return pair[1].text;
    pair[1] = pair[0];
    memset(&pair[0].input, 0, sizeof pair[0].input);
    if (!write_text(ids, &input, pair[0].text))
        return NULL;
    pair[0].input = input;
    return pair[0].text;
}

/* All packets of a flow have one id, but for ICMP, whose types count as ports. */
const char *community_ids_of(struct community_ids *ids, uint64_t flow, const struct sl_tuple *tuple)
{
    struct of_flow *last = &ids->of_flow[flow & (N_KEPT - 1)];

    if (flow == 0 || tuple->protocol == SL_IP_ICMP || tuple->protocol == SL_IP_ICMPV6)
        return find(ids, tuple);
    if (last->flow == flow)
        return last->text;
    const char *text = find(ids, tuple);
    if (text == NULL)
        return NULL;
    last->flow = flow;
    memcpy(last->text, text, TEXT_LEN);
    return last->text;
}

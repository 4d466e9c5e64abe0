/* SPDX-License-Identifier: MIT */
#include "packet_names_extract_ref.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct ref_name *name;
    uint32_t n;
    uint32_t bytes; /* of names that are written anew */
};

static bool full(const struct list *list)
{
    return list->n == SL_PACKET_NAMES_MAX;
}

static struct ref_name *add(struct list *list, enum sl_packet_names_protocol protocol,
                            size_t offset)
{
    struct ref_name *name = &list->name[list->n++];
    name->protocol = protocol;
    name->offset = (uint32_t)offset;
    name->len = name->host_len = 0;
    return name;
}

/* A text that a person could look up; false: it is none. */
static bool add_text(struct list *list, enum sl_packet_names_protocol protocol, size_t offset,
                     enum sl_name_syntax syntax, const char *text, size_t text_len)
{
    static uint8_t bytes[SL_NAME_LEN_MAX];
    const size_t left = SL_PACKET_NAMES_LEN - list->bytes;
    struct sl_name name;

    if (sl_name_read(&name, syntax, bytes, left < sizeof bytes ? (uint32_t)left : sizeof bytes,
                     text, text_len) != NULL)
        return false;
    struct ref_name *to = add(list, protocol, offset);
    to->len = name.len;
    to->host_len = name.host_len;
    memcpy(to->bytes, name.bytes, name.len);
    list->bytes += name.len;
    return true;
}

static uint32_t number(const uint8_t *at, int n)
{
    uint32_t value = 0;

    while (n-- > 0)
        value = value * 256 + *at++;
    return value;
}

/* ---- DNS ------------------------------------------------------------------------------------- */

struct labels {
    char text[128][64];
    int len[128];
    int n, n_pointers;
};

/* RFC 1035, sections 3.1 and 4.1.4: bytes from `at` on, or -1. */
static int read_labels(struct labels *labels, const uint8_t *message, int len, int at)
{
    int wire = 1; /* the root's byte */
    const int begin = at;

    for (int i = 0; i < labels->n; i++)
        wire += labels->len[i] + 1;
    for (;;) {
        if (at >= len)
            return -1;
        const int head = message[at];
        if (head == 0)
            return at + 1 - begin;
        if (head >= 192) {
            if (at + 1 >= len)
                return -1;
            const int to = (head - 192) * 256 + message[at + 1];
            if (++labels->n_pointers > 127) /* no more than a name has labels */
                return -1;
            if (read_labels(labels, message, len, to) < 0)
                return -1;
            return at + 2 - begin;
        }
        if (head > 63 || at + 1 + head > len)
            return -1;
        wire += head + 1;
        if (wire > 255)
            return -1;
        memcpy(labels->text[labels->n], message + at + 1, (size_t)head);
        labels->text[labels->n][head] = '\0';
        labels->len[labels->n++] = head;
        at += head + 1;
    }
}

static void add_labels(struct list *list, const struct labels *labels, size_t offset)
{
    struct ref_name *name = add(list, SL_PACKET_NAMES_DNS, offset);
    uint8_t address[4];
    char text[300] = "";
    size_t len = 0;

    if (labels->n == 4) {
        bool plain = true;

        for (int i = 0; i < 4; i++) {
            plain &= (int)strlen(labels->text[i]) == labels->len[i];
            sprintf(text + strlen(text), "%s%s", i > 0 ? "." : "", labels->text[i]);
        }
        if (plain && inet_pton(AF_INET, text, address) == 1) {
            if (!sl_name_append(name->bytes, sizeof name->bytes, &len, 8, text, strlen(text)))
                abort();
            name->len = name->host_len = (uint32_t)len;
            return;
        }
    }
    for (int i = labels->n; i-- > 0;) {
        char lower[64];

        for (int k = 0; k < labels->len[i]; k++) {
            const char byte = labels->text[i][k];
            lower[k] = byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
        }
        if (!sl_name_append(name->bytes, sizeof name->bytes, &len, 8, lower,
                            (size_t)labels->len[i]))
            abort();
    }
    name->len = name->host_len = (uint32_t)len;
}

/* False: something was amiss. */
static bool dns(struct list *list, const uint8_t *message, int len, int sent_len, size_t base)
{
    int at = 12;

    if (len < 12)
        return false;
    const int n = (int)number(message + 4, 2);
    if (n * 5 > sent_len - 12)
        return false;
    for (int i = 0; i < n; i++) {
        struct labels labels = {.n = 0};

        if (full(list))
            return false;
        const int name_len = read_labels(&labels, message, len, at);
        if (name_len < 0 || at + name_len + 4 > len)
            return false;
        add_labels(list, &labels, base + (size_t)at);
        list->bytes += list->name[list->n - 1].len;
        at += name_len + 4;
    }
    return true;
}

static void dns_stream(struct list *list, const uint8_t *bytes, int len)
{
    int at = 0;

    while (len - at >= 2) {
        const int message_len = (int)number(bytes + at, 2);
        const int here = message_len < len - at - 2 ? message_len : len - at - 2;

        if (!dns(list, bytes + at + 2, here, message_len, (size_t)at + 2))
            return;
        at += 2 + here;
    }
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

/* The line at *at without its end, copied; NULL: it does not end. */
static char *take_line(const char *text, size_t len, size_t *at, size_t *line_len)
{
    size_t end = *at;

    while (end < len && text[end] != '\n')
        end++;
    if (end == len)
        return NULL;
    char *line = malloc(end - *at + 1);
    *line_len = end - *at;
    memcpy(line, text + *at, *line_len);
    *at = end + 1;
    if (*line_len > 0 && line[*line_len - 1] == '\r')
        --*line_len;
    line[*line_len] = '\0';
    return line;
}

/* The value of a field of this name, without blanks around it, or NULL. */
static char *field_value(const char *line, size_t len, const char *name, size_t *value_len)
{
    const size_t name_len = strlen(name);

    if (len < name_len || strncasecmp(line, name, name_len) != 0)
        return NULL;
    size_t begin = name_len, end = len;
    while (begin < end && (line[begin] == ' ' || line[begin] == '\t'))
        begin++;
    while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '\t'))
        end--;
    char *value = malloc(end - begin + 1);
    memcpy(value, line + begin, end - begin);
    value[end - begin] = '\0';
    *value_len = end - begin;
    return value;
}

static bool is_method(const char *text, size_t len)
{
    if (len == 0 || len > 20)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isupper((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
            return false;
    return true;
}

static void add_request(struct list *list, size_t offset, const char *method, const char *target,
                        size_t target_len, const char *host, size_t host_len)
{
    const bool asterisk = target_len == 1 && target[0] == '*';

    if (memchr(target, '\0', target_len) != NULL)
        return;
    if (target[0] != '/' && !asterisk) {
        size_t scheme = strspn(target, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789-._~+");
        if (strcmp(method, "CONNECT") != 0 &&
            (scheme == 0 || strncmp(target + scheme, "://", 3) != 0))
            return;
        (void)add_text(list, SL_PACKET_NAMES_HTTP, offset, SL_NAME_URL, target, target_len);
        return;
    }
    if (host == NULL || host_len == 0)
        return;
    for (size_t i = 0; i < host_len; i++)
        if (host[i] == '/' || host[i] == '?' || host[i] == '#' || host[i] == '\0')
            return;
    char *url = malloc(7 + host_len + target_len);
    memcpy(url, "http://", 7);
    memcpy(url + 7, host, host_len);
    memcpy(url + 7 + host_len, target, target_len);
    (void)add_text(list, SL_PACKET_NAMES_HTTP, offset, SL_NAME_URL, url,
                   7 + host_len + (asterisk ? 0 : target_len));
    free(url);
}

/* One request at *at. False: there is none, or nothing recognizable follows it. */
static bool request(struct list *list, const char *text, size_t len, size_t *at)
{
    while (*at < len && strchr("\r\n", text[*at]) != NULL && text[*at] != '\0')
        ++*at;
    const size_t begin = *at;
    size_t line_len, host_len = 0, value_len;
    char *line = take_line(text, len, at, &line_len), *host = NULL, *value;
    bool body = false, whole = false, found = false; /* a body of a length that is not known */
    size_t body_len = 0;

    if (line == NULL)
        return false;
    char *blank = memchr(line, ' ', line_len);
    const size_t method_len = blank != NULL ? (size_t)(blank - line) : 0;
    if (is_method(line, method_len) && line_len >= method_len + 11 &&
        strncasecmp(line + line_len - 9, " HTTP/1.", 8) == 0 &&
        isdigit((unsigned char)line[line_len - 1]))
        found = !full(list);
    while (found && !whole) {
        size_t field_len;
        char *field = take_line(text, len, at, &field_len);

        if (field == NULL)
            break;
        whole = field_len == 0;
        if ((value = field_value(field, field_len, "host:", &value_len)) != NULL) {
            if (host == NULL) {
                host = value;
                host_len = value_len;
            } else {
                free(value);
            }
        } else if ((value = field_value(field, field_len, "content-length:", &value_len)) != NULL) {
            const bool plain = value_len > 0 && strspn(value, "0123456789") == value_len;
            const double n = plain ? strtod(value, NULL) : 1e9;

            body = body || body_len > 0 || n > 1e6;
            body_len = body ? 0 : (size_t)n;
            free(value);
        } else if ((value = field_value(field, field_len, "transfer-encoding:", &value_len)) !=
                   NULL) {
            body = true;
            free(value);
        }
        free(field);
    }
    if (found) {
        line[method_len] = '\0';
        add_request(list, begin + method_len + 1, line, line + method_len + 1,
                    line_len - 9 - method_len - 1, host, host_len);
    }
    free(host);
    free(line);
    *at += body_len;
    return found && whole && !body && *at <= len;
}

/* ---- TLS ------------------------------------------------------------------------------------- */

/* The handshake's bytes without the records around them, and where each one stands. */
struct flat {
    uint8_t *byte;
    uint32_t *place;
    uint32_t n, at;
    bool bad_end; /* the next bytes are no record */
    bool bad;     /* the message contradicts itself */
};

static void flatten(struct flat *flat, const uint8_t *payload, uint32_t len, uint32_t at)
{
    flat->byte = malloc(len + 1);
    flat->place = malloc((len + 1) * sizeof *flat->place);
    while (len - at >= 5) {
        const uint32_t record_len = number(payload + at + 3, 2);

        if (payload[at] != 22 || payload[at + 1] != 3 || record_len == 0 || record_len > 18432) {
            flat->bad_end = true;
            return;
        }
        at += 5;
        for (uint32_t i = 0; i < record_len && at < len; i++, at++) {
            flat->place[flat->n] = at;
            flat->byte[flat->n++] = payload[at];
        }
    }
}

/* Takes n bytes of the *left that there should be; NULL: there are not. */
static const uint8_t *take(struct flat *flat, uint32_t *left, uint32_t n)
{
    if (n > *left) {
        flat->bad = true;
        return NULL;
    }
    *left -= n;
    if (n > flat->n - flat->at) {
        flat->bad |= flat->bad_end;
        return NULL;
    }
    flat->at += n;
    return flat->byte + flat->at - n;
}

static bool skip_vector(struct flat *flat, uint32_t *left, int n)
{
    const uint8_t *len = take(flat, left, (uint32_t)n);

    return len != NULL && take(flat, left, number(len, n)) != NULL;
}

struct server {
    char *host;
    uint32_t len, place;
};

static bool server_names(struct flat *flat, uint32_t left, struct server *server)
{
    const uint8_t *at = take(flat, &left, 2);

    if (at == NULL)
        return false;
    if (number(at, 2) != left) {
        flat->bad = true;
        return false;
    }
    while (left > 0) {
        const uint8_t *type = take(flat, &left, 1);
        const uint8_t *len = type != NULL ? take(flat, &left, 2) : NULL;
        if (len == NULL)
            return false;
        const uint32_t begin = flat->at;
        const uint8_t *host = take(flat, &left, number(len, 2));
        if (host == NULL)
            return false;
        if (*type != 0 || server->host != NULL)
            continue;
        server->len = number(len, 2);
        server->place = server->len > 0 ? flat->place[begin] : 0;
        server->host = malloc(server->len + 1);
        memcpy(server->host, host, server->len);
    }
    return true;
}

static void extensions(struct flat *flat, uint32_t left, struct server *server)
{
    if (left == 0)
        return;
    const uint8_t *all = take(flat, &left, 2);
    if (all == NULL)
        return;
    if (number(all, 2) != left) {
        flat->bad = true;
        return;
    }
    while (left > 0) {
        const uint8_t *type = take(flat, &left, 2);
        const uint8_t *len = type != NULL ? take(flat, &left, 2) : NULL;

        if (len == NULL)
            return;
        uint32_t inside = number(len, 2);
        if (inside > left) {
            flat->bad = true;
            return;
        }
        left -= inside;
        if (number(type, 2) == 0 && server->host == NULL) {
            if (!server_names(flat, inside, server))
                return;
        } else if (number(type, 2) == 43) { /* a list of versions that has a length */
            if (take(flat, &inside, 1) == NULL || take(flat, &inside, inside) == NULL)
                return;
        } else if (take(flat, &inside, inside) == NULL) {
            return;
        }
    }
}

static void tls(struct list *list, const uint8_t *payload, uint32_t len)
{
    struct flat flat = {0};
    struct server server = {0};
    uint32_t head = 4, left = 0;
    const uint32_t begin =
        len >= 6 && memcmp(payload, "\x14\x03", 2) == 0 && number(payload + 3, 2) == 1 ? 6 : 0;

    if (len - begin < 2 || payload[begin] != 22)
        return;
    flatten(&flat, payload, len, begin);
    const uint8_t *type = take(&flat, &head, 1);
    const uint8_t *size = type != NULL ? take(&flat, &head, 3) : NULL;
    if (size != NULL && *type == 1) {
        left = number(size, 3);
        const uint8_t *version = take(&flat, &left, 2);

        if (version != NULL && *version == 3 && take(&flat, &left, 32) != NULL &&
            skip_vector(&flat, &left, 1) && skip_vector(&flat, &left, 2) &&
            skip_vector(&flat, &left, 1))
            extensions(&flat, left, &server);
    }
    if (server.host != NULL && !flat.bad)
        (void)add_text(list, SL_PACKET_NAMES_TLS, server.place, SL_NAME_DOMAIN, server.host,
                       server.len);
    free(server.host);
    free(flat.byte);
    free(flat.place);
}

/* ---- NDN ------------------------------------------------------------------------------------- */

/* A type and a length at *at; the bytes that they announce may end behind those here, not behind
 * `limit`. */
static bool ndn_head(const uint8_t *bytes, uint64_t here, uint64_t limit, uint64_t *at,
                     uint64_t *type, uint64_t *len)
{
    uint64_t *const to[2] = {type, len};

    for (int i = 0; i < 2; i++) {
        static const int more[] = {2, 4, 8};
        static const uint64_t least[] = {253, 65536, UINT64_C(1) << 32};

        if (*at >= here)
            return false;
        const uint8_t first = bytes[(*at)++];
        *to[i] = first;
        if (first < 253)
            continue;
        if (*at + (uint64_t)more[first - 253] > here)
            return false;
        *to[i] = 0;
        for (int k = 0; k < more[first - 253]; k++)
            *to[i] = *to[i] << 8 | bytes[(*at)++];
        if (*to[i] < least[first - 253])
            return false;
    }
    return *len <= limit - *at;
}

/* The packet's end, or 0: there is no name. */
static uint64_t ndn(struct list *list, const uint8_t *bytes, uint64_t at, uint64_t len)
{
    const uint64_t no_limit = UINT32_MAX;
    uint64_t type, value_len, end, packet_end;

    if (full(list) || !ndn_head(bytes, len, no_limit, &at, &type, &value_len))
        return 0;
    packet_end = end = at + value_len;
    if (type == 100) {
        for (bool found = false; !found;) {
            if (!ndn_head(bytes, end < len ? end : len, end, &at, &type, &value_len))
                return 0;
            if (type == 83 && (at + value_len > len || value_len != 1 || bytes[at] != 1))
                return 0;
            found = type == 80;
            if (!found)
                at += value_len;
        }
        end = at + value_len;
        if (!ndn_head(bytes, end < len ? end : len, end, &at, &type, &value_len))
            return 0;
        end = at + value_len;
    }
    if (type != 5 && type != 6)
        return 0;
    if (!ndn_head(bytes, end < len ? end : len, end, &at, &type, &value_len) || type != 7 ||
        at + value_len > len || value_len > SL_NAME_LEN_MAX)
        return 0;
    const uint64_t begin = at, name_end = at + value_len;
    while (at < name_end) {
        if (!ndn_head(bytes, name_end, name_end, &at, &type, &value_len) || type == 0 ||
            type > 65535 || (type < 3 && value_len != 32))
            return 0;
        at += value_len;
    }
    struct ref_name *name = add(list, SL_PACKET_NAMES_NDN, begin);
    name->len = name->host_len = (uint32_t)(name_end - begin);
    memcpy(name->bytes, bytes + begin, name->len);
    return packet_end;
}

/* ---- a packet -------------------------------------------------------------------------------- */

static bool either(uint16_t src_port, uint16_t dst_port, uint16_t port)
{
    return src_port == port || dst_port == port;
}

uint32_t ref_names(const struct ref_name **names, enum ref_carrier carrier, uint16_t src_port,
                   uint16_t dst_port, const uint8_t *payload, uint32_t len, uint32_t sent_len)
{
    static struct ref_name found[SL_PACKET_NAMES_MAX];
    struct list list = {.name = found};
    size_t at = 0;

    if (len == 0) {
        *names = NULL;
        return 0;
    }
    if (carrier == REF_FRAME) {
        (void)ndn(&list, payload, 0, len);
    } else if (either(src_port, dst_port, 53) ||
               (carrier == REF_UDP && either(src_port, dst_port, 5353))) {
        if (carrier == REF_UDP)
            (void)dns(&list, payload, (int)len, (int)sent_len, 0);
        else
            dns_stream(&list, payload, (int)len);
    } else if (either(src_port, dst_port, 6363) ||
               (carrier == REF_UDP && either(src_port, dst_port, 56363))) {
        uint64_t next = 0;

        do
            next = ndn(&list, payload, next, len);
        while (carrier == REF_TCP && next != 0 && next < len);
    } else if (carrier == REF_TCP && (payload[0] == 22 || payload[0] == 20)) {
        tls(&list, payload, len);
    } else if (carrier == REF_TCP &&
               (isupper(payload[0]) || payload[0] == '\r' || payload[0] == '\n')) {
        while (at < len && request(&list, (const char *)payload, len, &at))
            ;
    }
    *names = list.name;
    return list.n;
}

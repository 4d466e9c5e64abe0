/* SPDX-License-Identifier: MIT */
#include "metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cli.h"
#include "metrics_library.h"

enum {
    REQUEST_LEN = 8192, /* bytes of a request's head */
    /* Connections that wait to be accepted. A scrape is one of them, behind all that came before.
     */
    MAX_WAITING = SOMAXCONN
};

#define EXPECTED "expected ADDR:PORT, [ADDR]:PORT, or PORT alone for 127.0.0.1"

/* ---- the address ----------------------------------------------------------------------------- */

struct address {
    char host[64]; /* with room for an IPv6 address and its zone */
    char port[6];
};

static bool parse_port(const char *text, char port[6])
{
    const size_t len = strlen(text);

    if (len == 0 || len > 5 || strspn(text, "0123456789") != len || strtoul(text, NULL, 10) > 65535)
        return false;
    memcpy(port, text, len + 1);
    return true;
}

static bool parse_address(const char *text, struct address *address)
{
    const bool bracketed = text[0] == '[';
    const char *host = text + bracketed;
    const size_t host_len = strcspn(host, bracketed ? "]" : ":");
    const char *behind = host + host_len + (bracketed && host[host_len] == ']');

    if (!bracketed && *behind == '\0') { /* the port alone */
        strcpy(address->host, "127.0.0.1");
        return parse_port(text, address->port);
    }
    if (*behind != ':' || host_len >= sizeof address->host || (bracketed && host_len == 0))
        return false;
    memcpy(address->host, host, host_len);
    address->host[host_len] = '\0';
    if (host_len == 0 || strcmp(address->host, "localhost") == 0)
        strcpy(address->host, "127.0.0.1");
    /* Four numbers alone: libraries take "0" for an address, too, which is all interfaces. */
    return (bracketed ? strchr(address->host, ':') != NULL
                      : inet_pton(AF_INET, address->host, &(struct in_addr){0}) == 1) &&
           parse_port(behind + 1, address->port);
}

static struct addrinfo *resolve(const char *text)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    struct address address;

    if (parse_address(text, &address) &&
        getaddrinfo(address.host, address.port, &hints, &found) == 0)
        return found;
    cli_error("--metrics '%s' is no address to listen on (" EXPECTED ")", text);
    return NULL;
}

static bool any_port(const struct addrinfo *at)
{
    char port[6] = "";

    return getnameinfo(at->ai_addr, at->ai_addrlen, NULL, 0, port, sizeof port, NI_NUMERICSERV) ==
               0 &&
           strcmp(port, "0") == 0;
}

/* Prints the port that the system chose. */
static void print_port(int socket)
{
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof bound;
    char host[64], port[6];

    if (getsockname(socket, (struct sockaddr *)&bound, &len) == 0 &&
        getnameinfo((struct sockaddr *)&bound, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        cli_error("metrics at http://%s%s%s:%s/metrics", bound.ss_family == AF_INET6 ? "[" : "",
                  host, bound.ss_family == AF_INET6 ? "]" : "", port);
}

/* A socket that listens, or -1 with errno. */
static int listen_at(const struct addrinfo *at)
{
    const int yes = 1;
    const int made = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (made < 0 ||
        (setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
         bind(made, at->ai_addr, at->ai_addrlen) == 0 && listen(made, MAX_WAITING) == 0))
        return made;

    const int error = errno;
    close(made);
    errno = error;
    return -1;
}

bool metrics_listen(struct metrics *metrics, const char *text)
{
    struct addrinfo *at = resolve(text);

    if (at == NULL)
        return false;
    metrics->socket = listen_at(at);
    metrics->listens = metrics->socket >= 0;
    if (!metrics->listens)
        cli_error("--metrics '%s': cannot listen there: %s", text, strerror(errno));
    else if (any_port(at))
        print_port(metrics->socket);
    freeaddrinfo(at);
    return metrics->listens;
}

/* Loaded before the server starts. */
static const struct metrics_library *http;

/* ---- answers --------------------------------------------------------------------------------- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              char *text, size_t len, enum MHD_ResponseMemoryMode memory)
{
    struct MHD_Response *response = http->MHD_create_response_from_buffer(len, text, memory);
    enum MHD_Result result = MHD_NO;

    if (response == NULL) {
        if (memory == MHD_RESPMEM_MUST_FREE)
            free(text);
        return MHD_NO;
    }
    /* One answer a connection: those that a client asks for ahead would hold up all others. */
    if (http->MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
        http->MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
        (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
         http->MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES))
        result = http->MHD_queue_response(connection, status, response);
    http->MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, char *text)
{
    return answer(connection, status, "text/plain; charset=utf-8", text, strlen(text),
                  MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer_metrics(const struct metrics *metrics,
                                      struct MHD_Connection *connection)
{
    struct sl_stats stats = {0};
    size_t len;
    char *text;

    metrics->snapshot(metrics->user, &stats);
    if (sl_stats_prometheus(&stats, &text, &len) != SL_OK)
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n");
    return answer(connection, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", text, len,
                  MHD_RESPMEM_MUST_FREE);
}

/* libmicrohttpd calls this once when a request's headers are there, and again as its body comes. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_len, void **state)
{
    static int seen;

    (void)version;
    (void)body;
    if (strcmp(url, "/metrics") != 0)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "only /metrics is here\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n");
    if (*state == NULL) { /* an answer now would end the connection */
        *state = &seen;
        return MHD_YES;
    }
    if (*body_len != 0) { /* GET has no use for a body */
        *body_len = 0;
        return MHD_YES;
    }
    return answer_metrics(user, connection);
}

/* libmicrohttpd calls this at the begin of a connection, and before it closes its socket. */
static void on_connection(void *user, struct MHD_Connection *connection, void **client,
                          enum MHD_ConnectionNotificationCode code)
{
    struct metrics *metrics = user;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        metrics_clients_remove(&metrics->clients, *client);
        return;
    }
    *client = metrics_clients_add(
        &metrics->clients,
        http->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
        http->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
}

bool metrics_serve(struct metrics *metrics, void (*snapshot)(void *user, struct sl_stats *stats),
                   void *user)
{
    metrics->snapshot = snapshot;
    metrics->user = user;
    http = metrics_library();
    if (http == NULL)
        return false;
    if (!metrics_clients_start(&metrics->clients)) {
        cli_error("--metrics: no thread: %s", strerror(errno));
        return false;
    }
    /* By poll: with epoll, edge-triggered, libmicrohttpd (0.9.75) does not see the end of a client
     * that sends and closes at once. */
    metrics->server = http->MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, metrics, MHD_OPTION_LISTEN_SOCKET,
        metrics->socket, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CLIENTS_MAX,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, metrics, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)REQUEST_LEN, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (metrics->server != NULL)
        return true;
    cli_error("--metrics: no server: %s", strerror(errno));
    metrics_clients_end(&metrics->clients);
    return false;
}

void metrics_close(struct metrics *metrics)
{
    if (metrics->server != NULL) {
        http->MHD_stop_daemon(metrics->server); /* closes the socket */
        metrics_clients_end(&metrics->clients);
    } else if (metrics->listens) {
        close(metrics->socket);
    }
    metrics->server = NULL;
    metrics->listens = false;
}

/* SPDX-License-Identifier: MIT */
#include "tunnel_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sluice/tunnel.h"

enum { WORDS_MAX = 16, WAIT_MS = 5000, CHUNK = 1 << 18, CONNECTS = 100, FETCH_MAX = 60 /* s */ };

extern char **environ;

bool tunnel_link_ip(const char *format, ...)
{
    char text[256], *words[WORDS_MAX + 1] = {"ip"}, *rest = NULL;
    posix_spawn_file_actions_t actions;
    va_list args;
    pid_t pid;
    int status = 0, n = 1;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *word = strtok_r(text, " ", &rest); word != NULL && n < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const bool began = posix_spawnp(&pid, "ip", &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return began && waitpid(pid, &status, 0) == pid && status == 0;
}

static void path_of(const struct tunnel_link *link, int side, const char *end, char path[96])
{
    snprintf(path, 96, "%s/%d.%s", link->folder, side, end);
}

static bool write_config(const struct tunnel_link *link, int side, const char *peer)
{
    static const char *const relays[] = {TUNNEL_RELAY_NEAR, TUNNEL_RELAY_FAR};
    char path[96], control[96], endpoint[32];

    path_of(link, side, "conf", path);
    path_of(link, side, "sock", control);
    snprintf(endpoint, sizeof endpoint, "10.8.0.%d:5182", 2 - side);

    FILE *const file = fopen(path, "we");
    if (file == NULL)
        return false;
    fprintf(file,
            "[Tunnel]\nInterface = sl0\nAddress = 10.9.0.%d/24\nUnderlay = trusted\n"
            "Control = %s\n[Peer]\nEndpoint = %s\nAllowedIPs = 10.9.0.%d/32\n%s",
            side + 1, control, link->is_relayed ? relays[side] : endpoint, 2 - side, peer);
    return fclose(file) == 0;
}

pid_t tunnel_link_run(const struct tunnel_link *link, int side, void (*work)(void *user),
                      void *user)
{
    char path[64];
    const pid_t pid = fork();

    if (pid != 0)
        return pid;
    snprintf(path, sizeof path, "/run/netns/%s", link->name[side]);
    const int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space >= 0 && setns(space, CLONE_NEWNET) == 0)
        work(user);
    _exit(0);
}

struct sockaddr_in tunnel_link_server(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(TUNNEL_LINK_PORT)};

    inet_pton(AF_INET, "10.9.0.2", &address.sin_addr);
    return address;
}

void tunnel_link_sink(void *user)
{
    static uint8_t bytes[CHUNK];
    struct sockaddr_in address = tunnel_link_server();
    const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    (void)user;
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0)
        return;
    for (;;) {
        const int from = accept(listener, NULL, NULL);

        while (recv(from, bytes, sizeof bytes, MSG_TRUNC) > 0)
            continue;
        close(from);
    }
}

static void wait_a_moment(void)
{
    (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
}

static void end_process(pid_t *pid, int signal)
{
    if (*pid <= 0)
        return;
    (void)kill(*pid, signal);
    (void)waitpid(*pid, NULL, 0);
    *pid = 0;
}

int tunnel_link_connect(const struct sockaddr_in *address)
{
    for (int i = 0; i < CONNECTS; i++) {
        const int to = socket(AF_INET, SOCK_STREAM, 0);

        if (connect(to, (const struct sockaddr *)address, sizeof *address) == 0)
            return to;
        close(to);
        wait_a_moment();
    }
    return -1;
}

struct fetch {
    const uint8_t *content;
    size_t len;
    int result; /* a pipe's end */
};

static double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void send_content(void *user)
{
    const struct fetch *const fetch = user;
    const struct sockaddr_in address = tunnel_link_server();
    const int to = tunnel_link_connect(&address);
    const double begin = seconds_now();
    uint8_t end;

    (void)alarm(FETCH_MAX);
    for (size_t at = 0; at < fetch->len;) {
        const ssize_t n = send(to, fetch->content + at, fetch->len - at, 0);

        if (n <= 0)
            return;
        at += (size_t)n;
    }
    (void)shutdown(to, SHUT_WR);
    if (recv(to, &end, 1, 0) != 0)
        return;
    const double seconds = seconds_now() - begin;
    (void)!write(fetch->result, &seconds, sizeof seconds);
}

double tunnel_link_fetch(const struct tunnel_link *link, const uint8_t *content, size_t len)
{
    double seconds = 0;
    int ends[2];

    if (pipe(ends) != 0)
        return 0;
    pid_t sender = tunnel_link_run(link, 0, send_content, &(struct fetch){content, len, ends[1]});
    close(ends[1]);
    if (read(ends[0], &seconds, sizeof seconds) != sizeof seconds)
        seconds = 0;
    close(ends[0]);
    end_process(&sender, SIGKILL);
    return seconds;
}

static struct sl_tunnel *running;

static void stop(int number)
{
    (void)number;
    sl_tunnel_stop(running);
}

static void run_box(void *user)
{
    const struct sigaction action = {.sa_handler = stop};
    struct sl_diag diag;

    if (sl_tunnel_load(&running, user, &diag) != SL_OK || sl_tunnel_open(running, &diag) != SL_OK)
        return;
    (void)sigaction(SIGTERM, &action, NULL);
    (void)!sl_tunnel_run(running, NULL, NULL, &diag);
}

static json_t *ask(const struct tunnel_link *link, int side)
{
    char path[96], *answer;
    size_t len;
    struct sl_diag diag;

    path_of(link, side, "sock", path);
    if (sl_tunnel_ask(path, "json", &answer, &len, &diag) != SL_OK)
        return NULL;
    json_t *const json = json_loadb(answer, len, 0, NULL);
    free(answer);
    return json;
}

static const json_t *peer_of(const json_t *json)
{
    return json_array_get(
        json_object_get(json_object_get(json_object_get(json, "stats"), "tunnel"), "peers"), 0);
}

static bool is_alive(const struct tunnel_link *link, int side)
{
    json_t *const json = ask(link, side);
    const bool alive = json_is_true(json_object_get(peer_of(json), "alive"));

    json_decref(json);
    return alive;
}

bool tunnel_link_spent(const struct tunnel_link *link, int side, uint64_t *cpu_ns)
{
    struct timespec spent;
    clockid_t clock;

    if (clock_getcpuclockid(link->box[side], &clock) != 0 || clock_gettime(clock, &spent) != 0)
        return false;
    *cpu_ns = (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
    return true;
}

bool tunnel_link_used(const struct tunnel_link *link, int side, struct tunnel_used *used)
{
    json_t *const json = ask(link, side);
    const json_t *const peer = peer_of(json);

    if (peer == NULL || !tunnel_link_spent(link, side, &used->cpu_ns)) {
        json_decref(json);
        return false;
    }
    const struct {
        const char *name;
        uint64_t *to;
    } values[] = {{"bytes_in", &used->bytes_in},
                  {"bytes_sent", &used->bytes_sent},
                  {"bytes_out", &used->bytes_out},
                  {"packets_in", &used->packets_in},
                  {"bypassed", &used->bypassed}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i].to = (uint64_t)json_integer_value(json_object_get(peer, values[i].name));
    json_decref(json);
    return true;
}

static bool make_spaces(struct tunnel_link *link)
{
    bool made = true;

    for (int i = 0; i < 2; i++) {
        snprintf(link->name[i], sizeof link->name[i], "sluice-bench-%d-%d", (int)getpid(), i);
        made = made && tunnel_link_ip("netns add %s", link->name[i]);
    }
    made = made && tunnel_link_ip("link add v0 netns %s type veth peer name v1 netns %s",
                                  link->name[0], link->name[1]);
    for (int i = 0; i < 2; i++)
        made = made &&
               tunnel_link_ip("-n %s addr add 10.8.0.%d/24 dev v%d", link->name[i], i + 1, i) &&
               tunnel_link_ip("-n %s link set v%d up", link->name[i], i) &&
               tunnel_link_ip("-n %s link set lo up", link->name[i]);
    return made;
}

void tunnel_link_start(struct tunnel_link *link, int side)
{
    char path[96];

    path_of(link, side, "conf", path);
    link->box[side] = tunnel_link_run(link, side, run_box, path);
}

static bool start_boxes(struct tunnel_link *link, const char *peer)
{
    for (int i = 0; i < 2; i++) {
        if (!write_config(link, i, peer))
            return false;
        tunnel_link_start(link, i);
    }
    for (int i = 0; i < WAIT_MS / 10; i++) {
        if (is_alive(link, 0) && is_alive(link, 1))
            return true;
        wait_a_moment();
    }
    return false;
}

bool tunnel_link_make(struct tunnel_link *link, char why[160])
{
    *link = (struct tunnel_link){.folder = "/tmp/sluice-bench-XXXXXX"};
    if (mkdtemp(link->folder) == NULL) {
        snprintf(why, 160, "no folder in /tmp");
        return false;
    }
    if (!make_spaces(link)) {
        snprintf(why, 160, "no network namespaces can be made here (ip, CAP_SYS_ADMIN)");
        tunnel_link_close(link);
        return false;
    }
    return true;
}

bool tunnel_link_open(struct tunnel_link *link, const char *peer, struct tunnel_relay *relay,
                      char why[160])
{
    if (!tunnel_link_make(link, why))
        return false;
    link->is_relayed = relay != NULL;
    if (relay != NULL)
        link->relay = tunnel_link_run(link, 1, tunnel_relay_run, relay);
    if (!start_boxes(link, peer)) {
        snprintf(why, 160, "the boxes do not hear one another");
        tunnel_link_close(link);
        return false;
    }
    return true;
}

void tunnel_link_close(struct tunnel_link *link)
{
    end_process(&link->relay, SIGKILL);
    for (int i = 0; i < 2; i++) {
        char path[96];

        end_process(&link->box[i], SIGTERM);
        if (link->name[i][0] != '\0')
            (void)tunnel_link_ip("netns del %s", link->name[i]);
        path_of(link, i, "conf", path);
        (void)unlink(path);
        path_of(link, i, "sock", path);
        (void)unlink(path);
    }
    (void)rmdir(link->folder);
}

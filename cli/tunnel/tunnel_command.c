/* SPDX-License-Identifier: MIT */
/* sluice tunnel: one of two boxes with a thin link between them. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "sluice/tunnel.h"

#define SOCKETS "/run/sluice"

static const char usage[] =
    "usage: sluice tunnel check FILE\n"
    "       sluice tunnel run FILE\n"
    "       sluice tunnel status [--json] [--flows] [FILE]\n\n"
    "Carries packets between this box and its peers without what they repeat.\n\n"
    "  check FILE     whether the file is right, and how much memory the tunnel takes\n"
    "  run FILE       make the device and carry packets until a signal ends it\n"
    "  status         counters of the running tunnel of FILE, or of all of them\n"
    "  --json         an EVE event of type stats for each tunnel\n"
    "  --flows        the flows that saved most\n\n"
    "The file is described in docs/tunnel.md. Exit status: 0 done, 2 an error.\n";

static struct sl_tunnel *running;

static void stop(int signal)
{
    (void)signal;
    sl_tunnel_stop(running);
}

static void say(void *user, const char *line)
{
    (void)user;
    cli_error("%s", line);
}

static int failed(const struct sl_diag *diag)
{
    cli_diag(diag);
    return EXIT_FAILED;
}

static int check(const char *path)
{
    struct sl_tunnel *tunnel;
    struct sl_diag diag = {0};
    uint64_t sum = 0;
    char text[32];

    if (sl_tunnel_load(&tunnel, path, &diag) != SL_OK)
        return failed(&diag);
    printf("%s over %s\n", sl_tunnel_interface(tunnel), sl_tunnel_underlay(tunnel));
    for (uint32_t i = 0; i < sl_tunnel_peers(tunnel); i++) {
        struct sl_tunnel_peer peer;
        char cache[32];

        sl_tunnel_peer(tunnel, i, &peer);
        sum += peer.memory_len;
        printf("  peer %s: %s of memory, two caches of %s%s%s, %s, %u networks%s\n", peer.name,
               cli_bytes((double)peer.memory_len, text), cli_bytes((double)peer.cache_len, cache),
               peer.tenant != NULL ? " of tenant " : "", peer.tenant != NULL ? peer.tenant : "",
               peer.sampler, peer.n_allowed, peer.has_endpoint ? "" : ", calls first");
    }
    printf("  all: %s of memory\n", cli_bytes((double)sum, text));
    sl_tunnel_free(tunnel);
    return EXIT_DONE;
}

static int run(const char *path)
{
    const struct sigaction action = {.sa_handler = stop};
    struct sl_diag diag = {0};

    if (sl_tunnel_load(&running, path, &diag) != SL_OK)
        return failed(&diag);
    enum sl_status status = sl_tunnel_open(running, &diag);
    if (status == SL_OK) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        status = sl_tunnel_run(running, say, NULL, &diag);
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
    }
    sl_tunnel_free(running);
    return status == SL_OK ? EXIT_DONE : failed(&diag);
}

/* ---- status ---------------------------------------------------------------------------------- */

static int ask(const char *control, const char *request)
{
    struct sl_diag diag = {0};
    char *answer;
    size_t len;

    if (sl_tunnel_ask(control, request, &answer, &len, &diag) != SL_OK)
        return failed(&diag);
    fwrite(answer, 1, len, stdout);
    free(answer);
    return EXIT_DONE;
}

static int ask_one(const char *path, const char *request)
{
    struct sl_tunnel *tunnel;
    struct sl_diag diag = {0};

    if (sl_tunnel_load(&tunnel, path, &diag) != SL_OK)
        return failed(&diag);
    const int status = ask(sl_tunnel_control(tunnel), request);
    sl_tunnel_free(tunnel);
    return status;
}

static int is_socket(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name);

    return len > 5 && strcmp(entry->d_name + len - 5, ".sock") == 0;
}

static int ask_all(const char *request)
{
    struct dirent **entries;
    const int n = scandir(SOCKETS, &entries, is_socket, alphasort);
    int status = EXIT_DONE;

    if (n <= 0) {
        cli_error("no tunnel runs here: " SOCKETS " has no socket");
        status = EXIT_FAILED;
    }
    for (int i = 0; i < n; i++) {
        char path[512];

        snprintf(path, sizeof path, SOCKETS "/%s", entries[i]->d_name);
        if (ask(path, request) != EXIT_DONE)
            status = EXIT_FAILED;
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

int command_tunnel(int argc, char **argv)
{
    static const struct option known[] = {{"json", no_argument, NULL, 'j'},
                                          {"flows", no_argument, NULL, 'f'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    static const char *const words[] = {"check", "run", "status", NULL};
    struct cli_options options = {.command = "tunnel", .letters = "h", .names = known};
    bool json = false, flows = false;
    int option;

    while ((option = cli_next_option(&options, argc, argv)) != -1) {
        if (option == 'h' || option == CLI_OPTION_BAD)
            return cli_end(option, usage);
        json |= option == 'j';
        flows |= option == 'f';
    }

    const char *const word = optind < argc ? argv[optind] : "";
    const int n_files = argc - optind - 1;
    const bool is_status = strcmp(word, "status") == 0;
    if (n_files < 0 || (!is_status && strcmp(word, "check") != 0 && strcmp(word, "run") != 0)) {
        const char *const nearest = cli_nearest(word, words);

        cli_error("'%s' was not expected%s%s (expected check, run or status)", word,
                  nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "");
        return EXIT_FAILED;
    }
    if (n_files > 1 || (!is_status && n_files != 1)) {
        cli_error("tunnel %s takes %s", word, is_status ? "at most one FILE" : "one FILE");
        return EXIT_FAILED;
    }
    if (!is_status && (json || flows)) {
        cli_error("--json and --flows are of tunnel status");
        return EXIT_FAILED;
    }
    if (!is_status)
        return word[0] == 'c' ? check(argv[optind + 1]) : run(argv[optind + 1]);

    const char *const request = flows ? (json ? "flows json" : "flows") : json ? "json" : "text";
    return n_files == 1 ? ask_one(argv[optind + 1], request) : ask_all(request);
}

/* SPDX-License-Identifier: MIT */
#include "scan_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "sluice/version.h"

static const char usage[] =
    "usage: sluice scan -d DATABASE [OPTION...] [FILE|DIRECTORY|-...]\n\n"
    "Scans files for ClamAV's signatures. Options are clamscan's where it has them.\n\n"
    "  -d, --database PATH      database file or directory of them: ClamAV's (.ndb, .ldb, .hdb,\n"
    "                           .cvd, ...), or compiled ones of any name; may be repeated. A\n"
    "                           database whose lines are all wrong is an error\n"
    "      --compile OUT        compile the databases into the file OUT (SET.sluicedb), for CPUs\n"
    "                           and GPUs, say what of them is supported, and end\n"
    "      --force              with --compile: overwrite OUT; without it you are asked, or it is\n"
    "                           kept\n"
    "      --detect-pua         read databases of unwanted programs, too (.ndu, .ldu, .hdu, ...)\n"
    "      --include-pua CATEGORY, --exclude-pua CATEGORY  of them; Win for PUA.Win.Name\n"
    "      --debug              list each signature that is not supported, and each wrong line\n"
    "  -r, --recursive          scan directories below\n"
    "  -i, --infected           print only files with matches\n"
    "  -o, --suppress-ok-results  do not print plain OK\n"
    "  -z, --allmatch           report all signatures that match, not only the first\n"
    "  -f, --file-list FILE     scan the files that FILE names, one a line\n"
    "  -l, --log FILE           append the lines to FILE as well\n"
    "      --exclude REGEX, --include REGEX          of files' paths\n"
    "      --exclude-dir REGEX, --include-dir REGEX  of directories' paths\n"
    "      --max-filesize SIZE  files above are not scanned (bytes, or with K, M, G), nor members\n"
    "                           (100M)\n"
    "      --max-scansize SIZE  bytes of each file that are scanned, and of its members (400M)\n"
    "      --max-recursion N    levels of containers (17), the file is the first; 0: 32\n"
    "      --max-files N        objects in a file (10000); 0: no limit\n"
    "      --max-scantime MS    ms of each file's scan (120000); 0: no limit\n"
    "      --alert-exceeds-max  a limit that a file exceeds is found in it, as clamscan has it:\n"
    "                           Heuristics.Limits.Exceeded.MaxScanTime (MaxFileSize, MaxScanSize)\n"
    "      --alert-encrypted, --alert-encrypted-archive, --alert-encrypted-doc\n"
    "                           what is encrypted is found, as Heuristics.Encrypted.Zip\n"
    "      --heuristic-scan-precedence  such alerts come before signatures, and end a file's scan\n"
    "      --alert-macros       macros in documents are found\n"
    "      --alert-broken, --alert-broken-media  damaged programs, or images, are found\n"
    "      --alert-phishing-ssl, --alert-phishing-cloak  in any link of a mail: shown with TLS "
    "and\n"
    "                           without it in fact, or with a NUL in it; else in those that show\n"
    "                           a protected domain (.pdb) alone\n"
    "      --phishing-scan-urls yes|no  look for links of mails in lists of phishing (yes)\n"
    "      --scan-archive, --scan-mail, --scan-pdf, --scan-ole2, --scan-html, --scan-swf,\n"
    "      --scan-xmldocs, --scan-onenote, --scan-hwp3  no: such files are not opened (yes)\n"
    "      --normalize yes|no   search texts and HTML in ClamAV's normal form, too (yes)\n"
    "      --max-htmlnormalize SIZE, --max-htmlnotags SIZE, --max-scriptnormalize SIZE  what is\n"
    "                           longer has no such form (40M), none without tags (8M), or is\n"
    "                           a text that has none (20M); 0: no limit\n"
    "      --nocerts            certificates of programs (.crb) are neither trusted nor blocked\n"
    "      --disable-cache      scan archives, mail and documents again whose content was clean\n"
    "      --max-dir-recursion N\n"
    "      --follow-file-symlinks N, --follow-dir-symlinks N  0 never, 1 named ones, 2 always\n"
    "      --cross-fs yes|no    scan other file systems below (yes)\n"
    "      --stop-batch N       with more than N candidates in a batch verify none: SUSPECT\n"
    "      --stop-object N      verify no more than N candidates of a file: SUSPECT\n"
    "      --threads N          that scan, 0: one a core (0)\n"
    "      --device D           auto, cpu, cuda or cuda:N (cpu); auto: a GPU for one thread alone\n"
    "                           and more than 512 MiB below the paths\n"
    "      --json               print a JSON object a line\n"
    "      --no-summary, --quiet\n"
    "      --stdout             errors on standard output, too\n"
    "      --bell               ring at each file with a match\n"
    "      --move DIRECTORY, --copy DIRECTORY, --remove  of files with a match; one of them\n"
    "  -V, --version\n\n"
    "A file that was not scanned or not opened to its end is never OK: its line has the reason,\n"
    "INCOMPLETE (zip: encrypted), INCOMPLETE (Heuristics.Limits.Exceeded.MaxScanTime: ...).\n\n"
    "Options of clamscan without effect: -a -v --verbose --archive-verbose --bytecode\n"
    "--bytecode-timeout --bytecode-unsigned --force-to-disk --gen-json "
    "--heuristic-alerts\n"
    "--leave-temps --max-embeddedpe --max-iconspe --max-partitions --max-rechwp3\n"
    "--max-ziptypercg\n"
    "--pcre-match-limit --pcre-max-filesize --pcre-recmatch-limit (clamscan's defaults)\n"
    "--phishing-sigs --scan-elf --scan-image\n"
    "--scan-image-fuzzy-hash --scan-pe --statistics --structured-* --tempdir.\n"
    "Refused, as nothing does what they ask for (but =no): --alert-partition-intersection\n"
    "--detect-structured --dumpcerts\n"
    "--fail-if-cvd-older-than --official-db-only.\n\n"
    "Exit status: 0 nothing found, 1 found, 2 an error (some file could not be scanned).\n";

/* ---- values ---------------------------------------------------------------------------------- */

/* The scan checks the expressions. */
static bool add_pattern(struct sl_scan_patterns *patterns, const char *text)
{
    const char **more =
        realloc((void *)(uintptr_t)patterns->text, (patterns->n + 1) * sizeof *more);

    if (more == NULL) {
        cli_error("out of memory");
        return false;
    }
    more[patterns->n++] = text;
    patterns->text = more;
    return true;
}

static bool read_size(const char *text, const char *option, uint64_t *size)
{
    if (cli_parse_bytes(text, size) && *size <= INT64_MAX)
        return true;
    cli_error("--%s '%s' is no size (expected bytes, or a number with K, M or G)", option, text);
    return false;
}

static bool read_count(const char *text, const char *option, uint64_t max, uint64_t *value)
{
    if (cli_parse_number(text, max, value))
        return true;
    cli_error("--%s '%s' (expected a number of at most %" PRIu64 ")", option, text, max);
    return false;
}

/* Whether the text is one of the words, ended by NULL, in upper or lower case. */
static bool is_among(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcasecmp(text, *words) == 0)
            return true;
    return false;
}

static const char *const words_of_yes[] = {"yes", "true", "1", NULL};
static const char *const words_of_no[] = {"no", "false", "0", NULL};

static bool read_yes(const char *text, const char *option, bool *value)
{
    *value = text == NULL || is_among(text, words_of_yes);
    if (*value || is_among(text, words_of_no))
        return true;
    cli_error("--%s '%s' is neither yes nor no", option, text);
    return false;
}

static bool read_no(const char *text, const char *option, bool *value)
{
    const bool good = read_yes(text, option, value);

    *value = !*value;
    return good;
}

enum {
    OPT_COMPILE = 256,
    OPT_DEBUG,
    OPT_DETECT_PUA,
    OPT_INCLUDE_PUA,
    OPT_EXCLUDE_PUA,
    OPT_FORCE,
    OPT_EXCLUDE,
    OPT_INCLUDE,
    OPT_EXCLUDE_DIR,
    OPT_INCLUDE_DIR,
    OPT_MAX_FILESIZE,
    OPT_MAX_SCANSIZE,
    OPT_MAX_SCANTIME,
    OPT_ALERT_EXCEEDS,
    OPT_ALERTS_FIRST,
    OPT_MAX_LEVELS,
    OPT_MAX_MEMBERS,
    OPT_MAX_HTML,
    OPT_MAX_HTML_TEXT,
    OPT_MAX_TEXT,
    OPT_ALERT_ENCRYPTED,
    OPT_ALERT_ENCRYPTED_ARCHIVE,
    OPT_ALERT_ENCRYPTED_DOC,
    OPT_ALERT_MACROS,
    OPT_ALERT_BROKEN,
    OPT_ALERT_BROKEN_MEDIA,
    OPT_ALERT_SSL,
    OPT_ALERT_CLOAK,
    OPT_LINKS,
    OPT_SCAN_FIRST, /* and enum sl_scan_group */
    OPT_SCAN_LAST = OPT_SCAN_FIRST + SL_SCAN_HWPS,
    OPT_NORMALIZE,
    OPT_NO_CERTIFICATES,
    OPT_NO_CACHE,
    OPT_MAX_DEPTH,
    OPT_FOLLOW_FILES,
    OPT_FOLLOW_DIRS,
    OPT_CROSS_FS,
    OPT_STOP_BATCH,
    OPT_STOP_OBJECT,
    OPT_THREADS,
    OPT_DEVICE,
    OPT_JSON,
    OPT_NO_SUMMARY,
    OPT_QUIET,
    OPT_STDOUT,
    OPT_BELL,
    OPT_MOVE,
    OPT_COPY,
    OPT_REMOVE,
    OPT_UNUSED_YES, /* from here on: without effect */
    OPT_UNUSED_NUMBER,
    OPT_UNUSED_SIZE,
    OPT_UNUSED_STATISTICS,
    OPT_UNUSED_TEXT,
    OPT_REFUSED_YES, /* refused unless the value is no */
    OPT_REFUSED
};

static const struct option long_options[] = {
    {"database", required_argument, NULL, 'd'},
    {"compile", required_argument, NULL, OPT_COMPILE},
    {"force", no_argument, NULL, OPT_FORCE},
    {"debug", optional_argument, NULL, OPT_DEBUG},
    {"detect-pua", optional_argument, NULL, OPT_DETECT_PUA},
    {"include-pua", required_argument, NULL, OPT_INCLUDE_PUA},
    {"exclude-pua", required_argument, NULL, OPT_EXCLUDE_PUA},
    {"recursive", optional_argument, NULL, 'r'},
    {"infected", optional_argument, NULL, 'i'},
    {"suppress-ok-results", optional_argument, NULL, 'o'},
    {"allmatch", optional_argument, NULL, 'z'},
    {"file-list", required_argument, NULL, 'f'},
    {"log", required_argument, NULL, 'l'},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"include", required_argument, NULL, OPT_INCLUDE},
    {"exclude-dir", required_argument, NULL, OPT_EXCLUDE_DIR},
    {"include-dir", required_argument, NULL, OPT_INCLUDE_DIR},
    {"max-filesize", required_argument, NULL, OPT_MAX_FILESIZE},
    {"max-scansize", required_argument, NULL, OPT_MAX_SCANSIZE},
    {"max-scantime", required_argument, NULL, OPT_MAX_SCANTIME},
    {"alert-exceeds-max", optional_argument, NULL, OPT_ALERT_EXCEEDS},
    {"max-recursion", required_argument, NULL, OPT_MAX_LEVELS},
    {"max-files", required_argument, NULL, OPT_MAX_MEMBERS},
    {"max-htmlnormalize", required_argument, NULL, OPT_MAX_HTML},
    {"max-htmlnotags", required_argument, NULL, OPT_MAX_HTML_TEXT},
    {"max-scriptnormalize", required_argument, NULL, OPT_MAX_TEXT},
    {"alert-encrypted", optional_argument, NULL, OPT_ALERT_ENCRYPTED},
    {"alert-encrypted-archive", optional_argument, NULL, OPT_ALERT_ENCRYPTED_ARCHIVE},
    {"alert-encrypted-doc", optional_argument, NULL, OPT_ALERT_ENCRYPTED_DOC},
    {"alert-macros", optional_argument, NULL, OPT_ALERT_MACROS},
    {"alert-broken", optional_argument, NULL, OPT_ALERT_BROKEN},
    {"alert-broken-media", optional_argument, NULL, OPT_ALERT_BROKEN_MEDIA},
    {"alert-phishing-ssl", optional_argument, NULL, OPT_ALERT_SSL},
    {"alert-phishing-cloak", optional_argument, NULL, OPT_ALERT_CLOAK},
    {"phishing-scan-urls", optional_argument, NULL, OPT_LINKS},
    {"scan-archive", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_ARCHIVES},
    {"scan-mail", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_MAILS},
    {"scan-pdf", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_PDFS},
    {"scan-ole2", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_OLE2S},
    {"scan-html", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_HTMLS},
    {"scan-swf", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_SWFS},
    {"scan-xmldocs", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_XMLS},
    {"scan-onenote", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_ONENOTES},
    {"scan-hwp3", optional_argument, NULL, OPT_SCAN_FIRST + SL_SCAN_HWPS},
    {"normalize", optional_argument, NULL, OPT_NORMALIZE},
    {"nocerts", optional_argument, NULL, OPT_NO_CERTIFICATES},
    {"disable-cache", optional_argument, NULL, OPT_NO_CACHE},
    {"max-dir-recursion", required_argument, NULL, OPT_MAX_DEPTH},
    {"follow-file-symlinks", required_argument, NULL, OPT_FOLLOW_FILES},
    {"follow-dir-symlinks", required_argument, NULL, OPT_FOLLOW_DIRS},
    {"cross-fs", required_argument, NULL, OPT_CROSS_FS},
    {"stop-batch", required_argument, NULL, OPT_STOP_BATCH},
    {"stop-object", required_argument, NULL, OPT_STOP_OBJECT},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"json", no_argument, NULL, OPT_JSON},
    {"no-summary", optional_argument, NULL, OPT_NO_SUMMARY},
    {"quiet", optional_argument, NULL, OPT_QUIET},
    {"stdout", optional_argument, NULL, OPT_STDOUT},
    {"bell", optional_argument, NULL, OPT_BELL},
    {"move", required_argument, NULL, OPT_MOVE},
    {"copy", required_argument, NULL, OPT_COPY},
    {"remove", optional_argument, NULL, OPT_REMOVE},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},

    /* Without effect here; values are checked as clamscan checks them. */
    {"archive-verbose", optional_argument, NULL, OPT_UNUSED_YES},
    {"bytecode", optional_argument, NULL, OPT_UNUSED_YES},
    {"bytecode-timeout", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"bytecode-unsigned", optional_argument, NULL, OPT_UNUSED_YES},
    {"force-to-disk", optional_argument, NULL, OPT_UNUSED_YES},
    {"gen-json", optional_argument, NULL, OPT_UNUSED_YES},
    {"heuristic-alerts", optional_argument, NULL, OPT_UNUSED_YES},
    {"heuristic-scan-precedence", optional_argument, NULL, OPT_ALERTS_FIRST},
    {"leave-temps", optional_argument, NULL, OPT_UNUSED_YES},
    {"max-embeddedpe", required_argument, NULL, OPT_UNUSED_SIZE},
    {"max-iconspe", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"max-partitions", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"max-rechwp3", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"max-ziptypercg", required_argument, NULL, OPT_UNUSED_SIZE},
    {"pcre-match-limit", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"pcre-max-filesize", required_argument, NULL, OPT_UNUSED_SIZE},
    {"pcre-recmatch-limit", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"phishing-sigs", optional_argument, NULL, OPT_UNUSED_YES},
    {"scan-elf", optional_argument, NULL, OPT_UNUSED_YES},
    {"scan-image", optional_argument, NULL, OPT_UNUSED_YES},
    {"scan-image-fuzzy-hash", optional_argument, NULL, OPT_UNUSED_YES},
    {"scan-pe", optional_argument, NULL, OPT_UNUSED_YES},
    {"statistics", optional_argument, NULL, OPT_UNUSED_STATISTICS},
    {"structured-cc-count", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"structured-cc-mode", optional_argument, NULL, OPT_UNUSED_YES},
    {"structured-ssn-count", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"structured-ssn-format", required_argument, NULL, OPT_UNUSED_NUMBER},
    {"tempdir", required_argument, NULL, OPT_UNUSED_TEXT},
    {"verbose", optional_argument, NULL, OPT_UNUSED_YES},

    /* Promises that nothing here keeps. */
    {"alert-partition-intersection", optional_argument, NULL, OPT_REFUSED_YES},
    {"detect-structured", optional_argument, NULL, OPT_REFUSED_YES},
    {"dumpcerts", optional_argument, NULL, OPT_REFUSED_YES},
    {"fail-if-cvd-older-than", required_argument, NULL, OPT_REFUSED},
    {"official-db-only", optional_argument, NULL, OPT_REFUSED_YES},
    {0}};

/* The option that was read last, as it is written. */
static const char *written(char **argv)
{
    /* The argument may stand alone. */
    return argv[optind - (optarg == argv[optind - 1] ? 2 : 1)];
}

/* Whether nothing was asked for. */
static bool refuse(int option, char **argv)
{
    if (option == OPT_REFUSED_YES && optarg != NULL && is_among(optarg, words_of_no))
        return true;
    cli_error("option '%s' is clamscan's, and has no equivalent here: nothing would do what it "
              "asks for (sluice scan --help)",
              written(argv));
    return false;
}

/* Whether clamscan would take the value of an option that has no effect here. */
static bool check_unused(int option, char **argv)
{
    static const char *const statistics[] = {"none", "bytecode", "pcre", NULL};
    const char *expected;
    uint64_t value;
    bool good;

    switch (option) {
    case OPT_UNUSED_YES:
        good = optarg == NULL || is_among(optarg, words_of_yes) || is_among(optarg, words_of_no);
        expected = "yes or no";
        break;
    case OPT_UNUSED_NUMBER:
        good = cli_parse_number(optarg, UINT64_MAX, &value);
        expected = "a number";
        break;
    case OPT_UNUSED_SIZE:
        good = cli_parse_bytes(optarg, &value);
        expected = "bytes, or a number with K, M or G";
        break;
    case OPT_UNUSED_STATISTICS:
        good = optarg == NULL || is_among(optarg, statistics);
        expected = "none, bytecode or pcre";
        break;
    default:
        return true;
    }
    if (!good)
        cli_error("option '%s' has no value '%s' (expected %s)", written(argv), optarg, expected);
    return good;
}

static const char *name_of(int option)
{
    const struct option *known = long_options;

    while (known->name != NULL && known->val != option)
        known++;
    return known->name;
}

static bool take_number(struct sl_scan_config *config, int option)
{
    uint64_t value = 0;
    bool good = true;

    switch (option) {
    case OPT_MAX_FILESIZE:
        return read_size(optarg, "max-filesize", &config->file_len_max);
    case OPT_MAX_SCANSIZE:
        return read_size(optarg, "max-scansize", &config->scan_len_max);
    case OPT_MAX_HTML:
        return read_size(optarg, "max-htmlnormalize", &config->html_len_max);
    case OPT_MAX_HTML_TEXT:
        return read_size(optarg, "max-htmlnotags", &config->html_text_len_max);
    case OPT_MAX_TEXT:
        return read_size(optarg, "max-scriptnormalize", &config->text_len_max);
    case OPT_MAX_SCANTIME:
        good = read_count(optarg, "max-scantime", UINT32_MAX, &value);
        config->time_max_ms = (uint32_t)value;
        return good;
    case OPT_MAX_LEVELS:
        good = read_count(optarg, "max-recursion", UINT32_MAX, &value);
        config->levels_max = (uint32_t)value;
        return good;
    case OPT_MAX_MEMBERS:
        good = read_count(optarg, "max-files", UINT32_MAX, &value);
        config->members_max = (uint32_t)value;
        return good;
    case OPT_MAX_DEPTH:
        good = read_count(optarg, "max-dir-recursion", SL_SCAN_DEPTH_MAX, &value);
        config->depth_max = (uint32_t)value;
        return good;
    case OPT_FOLLOW_FILES:
        good = read_count(optarg, "follow-file-symlinks", 2, &value);
        config->follow_files = (enum sl_scan_follow)value;
        return good;
    case OPT_FOLLOW_DIRS:
        good = read_count(optarg, "follow-dir-symlinks", 2, &value);
        config->follow_directories = (enum sl_scan_follow)value;
        return good;
    case OPT_STOP_BATCH:
        good = read_count(optarg, "stop-batch", UINT32_MAX, &value);
        config->max_batch_hits = (uint32_t)value;
        return good;
    case OPT_STOP_OBJECT:
        good = read_count(optarg, "stop-object", UINT32_MAX, &value);
        config->max_object_hits = (uint32_t)value;
        return good;
    default:
        good = read_count(optarg, "threads", SL_SCAN_THREADS_MAX, &value);
        config->n_threads = (uint32_t)value;
        return good;
    }
}

/* The flag that an option sets. NULL: it has a value, or an effect of another kind. */
static bool *flag_of(struct scan_options *options, int option)
{
    switch (option) {
    case OPT_DEBUG:
        return &options->debug;
    case OPT_DETECT_PUA:
        return &options->detect_pua;
    case OPT_FORCE:
        return &options->force;
    case 'i':
        return &options->report.infected_only;
    case 'o':
        return &options->report.suppress_ok;
    case OPT_ALERTS_FIRST:
        return &options->config.alerts_first;
    case OPT_JSON:
        return &options->report.json;
    case OPT_QUIET:
        return &options->report.quiet;
    case OPT_BELL:
        return &options->report.bell;
    default:
        return NULL;
    }
}

/* Reads yes or no for some bits, which are set for yes, or else for no. */
static bool take_bits(const char *option, uint32_t bits, bool yes, uint32_t *set)
{
    bool value;

    if (!read_yes(optarg, option, &value))
        return false;
    *set = value == yes ? *set | bits : *set & ~bits;
    return true;
}

static bool take_opening(struct sl_scan_config *config, int option)
{
    const uint32_t archive = 1u << SL_SCAN_ENCRYPTED_ARCHIVE, doc = 1u << SL_SCAN_ENCRYPTED_DOC;
    const char *name = name_of(option);

    switch (option) {
    case OPT_ALERT_ENCRYPTED:
        return take_bits(name, archive | doc, true, &config->alerts);
    case OPT_ALERT_ENCRYPTED_ARCHIVE:
        return take_bits(name, archive, true, &config->alerts);
    case OPT_ALERT_ENCRYPTED_DOC:
        return take_bits(name, doc, true, &config->alerts);
    case OPT_ALERT_MACROS:
        return take_bits(name, 1u << SL_SCAN_MACROS, true, &config->alerts);
    case OPT_ALERT_BROKEN:
        return take_bits(name, 1u << SL_SCAN_BROKEN_EXE, true, &config->alerts);
    case OPT_ALERT_BROKEN_MEDIA:
        return take_bits(name, 1u << SL_SCAN_BROKEN_MEDIA, true, &config->alerts);
    case OPT_ALERT_SSL:
        return take_bits(name, 1u << SL_SCAN_PHISHING_SSL, true, &config->alerts);
    case OPT_ALERT_CLOAK:
        return take_bits(name, 1u << SL_SCAN_PHISHING_CLOAK, true, &config->alerts);
    case OPT_LINKS:
        return read_no(optarg, name, &config->ignores_links);
    case OPT_NORMALIZE:
        return read_yes(optarg, name, &config->normalizes);
    case OPT_NO_CERTIFICATES:
        return read_yes(optarg, name, &config->ignores_certificates);
    case OPT_NO_CACHE:
        return read_yes(optarg, name, &config->no_cache);
    default:
        return take_bits(name, 1u << (option - OPT_SCAN_FIRST), false, &config->closed);
    }
}

static bool is_directory(const char *path)
{
    struct stat file;

    if (stat(path, &file) == 0 && S_ISDIR(file.st_mode))
        return true;
    cli_error("%s: is no directory", path);
    return false;
}

/* The disposal of a file with a match. */
static bool take_disposal(struct scan_report *report, int option)
{
    const enum scan_disposal disposal = option == OPT_MOVE   ? SCAN_MOVE
                                        : option == OPT_COPY ? SCAN_COPY
                                                             : SCAN_REMOVE;
    bool value = true;

    if (option == OPT_REMOVE ? !read_yes(optarg, "remove", &value) : !is_directory(optarg))
        return false;
    if (!value)
        return true;
    if (report->disposal != SCAN_KEEP) {
        cli_error("--move, --copy and --remove exclude one another");
        return false;
    }
    report->disposal = disposal;
    report->directory = optarg;
    return true;
}

static bool add_category(struct sl_clamav_pua *pua, bool excludes, const char *text)
{
    struct sl_scan_patterns categories = {pua->categories, pua->n_categories};

    if (pua->n_categories > 0 && pua->excludes != excludes) {
        cli_error("--include-pua and --exclude-pua exclude one another");
        return false;
    }
    if (!add_pattern(&categories, text))
        return false;
    *pua = (struct sl_clamav_pua){categories.text, categories.n, excludes};
    return true;
}

static bool take_option(struct scan_options *options, int option, char **argv)
{
    bool *flag = flag_of(options, option), value;

    if (option >= OPT_UNUSED_YES)
        return option >= OPT_REFUSED_YES ? refuse(option, argv) : check_unused(option, argv);
    if (flag != NULL)
        return read_yes(optarg, name_of(option), flag);
    if (option >= OPT_ALERT_ENCRYPTED && option <= OPT_NO_CACHE)
        return take_opening(&options->config, option);
    switch (option) {
    case 'd':
        options->databases[options->n_databases++] = optarg;
        return true;
    case OPT_COMPILE:
        options->compile = optarg;
        return true;
    case 'r':
        return read_yes(optarg, "recursive", &options->config.recursive);
    case 'z':
        return read_yes(optarg, "allmatch", &options->config.all_matches);
    case 'f':
        options->config.list = optarg;
        return true;
    case 'l':
        options->report.log_path = optarg;
        return true;
    case OPT_EXCLUDE:
        return add_pattern(&options->config.exclude, optarg);
    case OPT_INCLUDE:
        return add_pattern(&options->config.include, optarg);
    case OPT_EXCLUDE_DIR:
        return add_pattern(&options->config.exclude_directories, optarg);
    case OPT_INCLUDE_DIR:
        return add_pattern(&options->config.include_directories, optarg);
    case OPT_INCLUDE_PUA:
    case OPT_EXCLUDE_PUA:
        return add_category(&options->pua, option == OPT_EXCLUDE_PUA, optarg);
    case OPT_ALERT_EXCEEDS:
        return read_yes(optarg, "alert-exceeds-max", &options->config.alert_exceeds);
    case OPT_CROSS_FS:
        return read_no(optarg, "cross-fs", &options->config.stays);
    case OPT_DEVICE:
        options->device = optarg;
        return true;
    case OPT_NO_SUMMARY:
        return read_no(optarg, "no-summary", &options->report.summary);
    case OPT_MOVE:
    case OPT_COPY:
    case OPT_REMOVE:
        return take_disposal(&options->report, option);
    case OPT_STDOUT:
        return read_yes(optarg, "stdout", &value) &&
               (!value || dup2(STDOUT_FILENO, STDERR_FILENO) >= 0);
    case 'a':
    case 'v':
        return true;
    default:
        return take_number(&options->config, option);
    }
}

bool scan_options_check_paths(const struct scan_options *options, char **paths, int n_paths)
{
    for (int i = 0; i < n_paths && options->report.disposal != SCAN_KEEP; i++)
        if (strcmp(paths[i], "-") == 0) {
            cli_error("standard input can be neither moved, nor copied, nor removed");
            return false;
        }
    return true;
}

/* Options that have an effect where a database is compiled, or nowhere. */
static bool is_of_compile(int option)
{
    static const int of_compile[] = {'d',
                                     'a',
                                     'v',
                                     OPT_COMPILE,
                                     OPT_FORCE,
                                     OPT_DETECT_PUA,
                                     OPT_INCLUDE_PUA,
                                     OPT_EXCLUDE_PUA,
                                     OPT_DEBUG,
                                     OPT_QUIET,
                                     OPT_STDOUT,
                                     OPT_NO_SUMMARY};

    for (size_t i = 0; i < sizeof of_compile / sizeof *of_compile; i++)
        if (of_compile[i] == option)
            return true;
    return false;
}

/* Reports options that would have no effect. */
static bool check_effects(const struct scan_options *options, const char *path)
{
    const char *const compile = options->compile;

    if (compile == NULL && options->force)
        cli_error("--force needs --compile");
    else if (options->report.json && options->report.quiet)
        cli_error("--quiet and --json exclude one another");
    else if (compile != NULL && path != NULL)
        cli_error("'%s' was not expected: --compile scans no file", path);
    else if (compile != NULL && options->of_scan != NULL)
        cli_error("--%s and --compile exclude one another", options->of_scan);
    else
        return true;
    return false;
}

/* Whether the compiled database or the log would be written over what is read. */
static bool writes_input(const struct scan_options *options)
{
    const char *const outs[] = {options->compile, options->report.log_path};

    for (size_t out = 0; out < sizeof outs / sizeof *outs; out++) {
        for (size_t i = 0; outs[out] != NULL && i < options->n_databases; i++)
            if (cli_is_input(outs[out], options->databases[i]))
                return true;
        if (outs[out] != NULL && options->config.list != NULL &&
            cli_is_input(outs[out], options->config.list))
            return true;
    }
    return false;
}

static void init(struct scan_options *options)
{
    *options = (struct scan_options){.device = "cpu", .report = {.summary = true}};
    sl_scan_config_init(&options->config);
    options->config.n_threads = 0;
}

const struct sl_clamav_pua *scan_options_pua(const struct scan_options *options)
{
    return options->detect_pua ? &options->pua : NULL;
}

void scan_options_free(struct scan_options *options)
{
    free((void *)(uintptr_t)options->pua.categories);
    free((void *)(uintptr_t)options->config.exclude.text);
    free((void *)(uintptr_t)options->config.include.text);
    free((void *)(uintptr_t)options->config.exclude_directories.text);
    free((void *)(uintptr_t)options->config.include_directories.text);
    free(options->databases);
}

static bool is_value(int option, const char *text)
{
    (void)option;
    return strcmp(text, "yes") == 0 || strcmp(text, "no") == 0;
}

enum scan_wish scan_options_read(struct scan_options *options, int argc, char **argv)
{
    static const int repeated[] = {'d',
                                   OPT_EXCLUDE,
                                   OPT_INCLUDE,
                                   OPT_EXCLUDE_DIR,
                                   OPT_INCLUDE_DIR,
                                   OPT_INCLUDE_PUA,
                                   OPT_EXCLUDE_PUA,
                                   OPT_UNUSED_YES,
                                   OPT_UNUSED_NUMBER,
                                   OPT_UNUSED_SIZE,
                                   OPT_UNUSED_STATISTICS,
                                   OPT_UNUSED_TEXT,
                                   OPT_REFUSED_YES,
                                   0};
    struct cli_options known = {.command = "scan",
                                .letters = "d:riozf:l:avVh",
                                .names = long_options,
                                .repeated = repeated,
                                .is_value = is_value};
    int option;

    init(options);
    options->databases = calloc((size_t)argc, sizeof *options->databases);
    if (options->databases == NULL) {
        cli_error("out of memory");
        return SCAN_WISH_FAILED;
    }
    while ((option = cli_next_option(&known, argc, argv)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            scan_report_help(stdout);
            return SCAN_WISH_DONE;
        }
        if (option == 'V') {
            printf("sluice %s\n", sl_version());
            return SCAN_WISH_DONE;
        }
        if (option == CLI_OPTION_BAD || !take_option(options, option, argv))
            return SCAN_WISH_FAILED;
        if (options->of_scan == NULL && option < OPT_UNUSED_YES && !is_of_compile(option))
            options->of_scan = name_of(option);
    }
    if (options->n_databases == 0)
        cli_error("no database was named (usage: sluice scan -d DATABASE FILE...)");
    else if (check_effects(options, argv[optind]) && !writes_input(options))
        return SCAN_WISH_SCAN;
    return SCAN_WISH_FAILED;
}

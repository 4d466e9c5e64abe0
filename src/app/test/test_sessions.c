/* SPDX-License-Identifier: MIT */
/* Sessions of SMTP, FTP and SSH, whole and in random pieces. */
#include "test.h"

#include "app/app_line.h"
#include "app/ftp.h"
#include "app/mime.h"
#include "app/smtp.h"
#include "app/ssh.h"
#include "app_trial.h"
#include "counted_malloc.h"

/* A part of what a side says; len 0: a text. */
struct said {
    const char *bytes;
    uint32_t len;
    enum app_side side;
};

static void play(struct app_trial *trial, const struct said *said, size_t n, uint32_t mean)
{
    uint64_t seed = mean + 1;

    trial_begin(trial);
    for (size_t i = 0; i < n; i++)
        trial_give(trial, said[i].side, said[i].bytes,
                   said[i].len != 0 ? said[i].len : (uint32_t)strlen(said[i].bytes), mean, &seed);
    trial_end(trial);
    assert_false(trial->failed);
}

/* The reports are these lines, whatever the cuts. */
static void expect(const struct said *said, size_t n, const char *wanted)
{
    struct app_trial trial;

    for (uint32_t mean = 0; mean < 30; mean += 1 + mean / 4) {
        play(&trial, said, n, mean);
        assert_string_equal((char *)trial.told.bytes, wanted);
        trial_free(&trial);
    }
}

#define EXPECT(said, wanted) expect((said), sizeof(said) / sizeof *(said), (wanted))

/* ---- SSH ------------------------------------------------------------------------------------- */

#define KEX_INIT(cookie)                                                   \
    "\x14" cookie "\0\0\0\1k\0\0\0\1h\0\0\0\1a\0\0\0\1b\0\0\0\1c\0\0\0\1d" \
    "\0\0\0\1e\0\0\0\1f\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define PACKET "\0\0\0\x4B\4" KEX_INIT("0123456789abcdef") "pppp"

/* The digests are those of md5sum over "k;a;c;e" and "k;b;d;f". */
static void test_ssh(void **state)
{
    static const struct said said[] = {
        {"welcome\r\nSSH-1.99-OpenSSH_5.1-x comment\r\n", 0, APP_SERVER},
        {"SSH-2.0-a\n", 0, APP_CLIENT},
        {PACKET, sizeof PACKET - 1, APP_CLIENT},
        {PACKET, sizeof PACKET - 1, APP_SERVER},
        {"\0\0\0\x0C\x0A\x15", 6, APP_CLIENT},
    };

    (void)state;
    EXPECT(said,
           "ssh 0 s head [1.99] [OpenSSH_5.1-x]\n"
           "ssh 0 c head [2.0] [a]\n"
           "ssh 0 c head [2.0] [a] [6caaea1d18055f5765c77467c268b8e6] [k;a;c;e]\n"
           "ssh 0 s head [1.99] [OpenSSH_5.1-x] [fa7284ce0213bacce70aa71449c59e27] [k;b;d;f]\n"
           "ssh 0 c done [2.0] [a] [6caaea1d18055f5765c77467c268b8e6] [k;a;c;e]\n");
}

/* Padding that is longer than its packet leaves no lists. */
static void test_padding_of_ssh(void **state)
{
    static const char packet[] = "\0\0\0\x4B\x4A" KEX_INIT("0123456789abcdef") "pppp";
    static const struct said said[] = {{"SSH-2.0-a\n", 0, APP_CLIENT},
                                       {packet, sizeof packet - 1, APP_CLIENT}};

    (void)state;
    EXPECT(said, "ssh 0 c head [2.0] [a]\n"
                 "ssh 0 c done [2.0] [a]\n");
}

/* A packet that is too long ends its side, and is not kept. */
static void test_ssh_is_bounded(void **state)
{
    static const char packet[100000] = "\0\x01\0";
    const struct said said[] = {{"SSH-2.0-a\r\n", 0, APP_CLIENT},
                                {packet, sizeof packet, APP_CLIENT},
                                {"SSH-2.0-b", 0, APP_SERVER},
                                {packet, sizeof packet, APP_SERVER},
                                {"\n", 0, APP_SERVER}};
    struct app_trial trial;

    (void)state;
    play(&trial, said, sizeof said / sizeof *said, 100);
    assert_true(trial.held_max < 4096);
    assert_non_null(strstr((char *)trial.told.bytes, "ssh 0 s head [2.0] [b\\x00"));
    assert_non_null(strstr((char *)trial.told.bytes, "ssh 0 c done [2.0] [a]\n"));
    trial_free(&trial);
}

/* A server may send lines before its banner, but not any number of them. */
static void test_lines_before_a_banner(void **state)
{
    struct app_trial trial;
    uint64_t seed = 1;

    (void)state;
    for (int n = SSH_LINES_MAX - 1; n <= SSH_LINES_MAX; n++) {
        trial_begin(&trial);
        trial_give(&trial, APP_CLIENT, "SSH-2.0-a\n", 10, 0, &seed);
        for (int i = 0; i < n; i++)
            trial_give(&trial, APP_SERVER, "x\n", 2, 0, &seed);
        trial_give(&trial, APP_SERVER, "SSH-2.0-b\n", 10, 0, &seed);
        trial_end(&trial);
        assert_int_equal(strstr((char *)trial.told.bytes, "[b]") != NULL, n < SSH_LINES_MAX);
        trial_free(&trial);
    }
}

/* ---- FTP ------------------------------------------------------------------------------------- */

static void test_ftp(void **state)
{
    static const struct said said[] = {
        {"220-hello\r\n FTP\r\n220 ready\r\n", 0, APP_SERVER},
        {"user  me\r\nPORT 192,0,2,1,234,10\r\n", 0, APP_CLIENT},
        {"331 who?\r\n200 fine\r\n", 0, APP_SERVER},
        {"RETR a b\r\n", 0, APP_CLIENT},
        {"150 coming\r\n226 done\r\n", 0, APP_SERVER},
        {"QUIT\r\n", 0, APP_CLIENT},
    };

    (void)state;
    EXPECT(said, "ftp 0 s head [220] [220] [hello] [ FTP] [ready]\n"
                 "ftp 0 c done\n"
                 "ftp 1 c head [USER] [ me]\n"
                 "ftp 2 c head [PORT] [192,0,2,1,234,10]\n"
                 "ftp 1 s head [331] [who?]\n"
                 "ftp 1 c done [USER] [ me]\n"
                 "ftp 2 s head [200] [fine]\n"
                 "ftp 2 c done [PORT] [192,0,2,1,234,10]\n"
                 "ftp 3 c head [RETR] [a b]\n"
                 "ftp 3 s head [150] [226] [coming] [done]\n"
                 "ftp 3 c done [RETR] [a b]\n"
                 "ftp 4 c head [QUIT]\n"
                 "ftp 4 c done [QUIT]\n");
}

static void give(struct app_stream *stream, enum app_side side, const char *text,
                 const struct app_listener *listener)
{
    assert_true(
        app_stream_give(stream, side, (const uint8_t *)text, (uint32_t)strlen(text), listener));
}

/* The port that a transaction names. */
static void hear_port(void *to, const struct app_news *news)
{
    struct sl_app_message message = {.side = news->side};

    if (news->kind != APP_DONE)
        return;
    news->parser->describe(&message, news->transaction);
    *(struct sl_app_message *)to = message;
}

static struct sl_app_message described(const char *command, const char *reply)
{
    struct sl_app_message message = {.port = 0};
    const struct app_listener listener = {hear_port, &message};
    struct app_stream *stream = app_stream_open();

    assert_non_null(stream);
    give(stream, APP_CLIENT, "USER a\r\n", &listener);
    give(stream, APP_SERVER, "331 b\r\n", &listener);
    give(stream, APP_CLIENT, command, &listener);
    give(stream, APP_SERVER, reply, &listener);
    app_stream_close(stream, &listener);
    return message;
}

static void test_ports_of_ftp(void **state)
{
    static const struct {
        const char *command, *reply;
        uint16_t port;
        enum sl_ftp_mode mode;
    } cases[] = {
        {"PORT 192,0,2,1,234,10\r\n", "200 ok\r\n", 59914, SL_FTP_ACTIVE},
        {"EPRT |1|192.0.2.1|59914|\r\n", "200 ok\r\n", 59914, SL_FTP_ACTIVE},
        {"PASV\r\n", "227 Entering (192,0,2,1,0,21).\r\n", 21, SL_FTP_PASSIVE},
        {"epsv\r\n", "229 Entering (|||6446|)\r\n", 6446, SL_FTP_PASSIVE},
        {"EPSV\r\n", "229 Entering (|||99999|)\r\n", 0, SL_FTP_PASSIVE},
        {"EPSV\r\n", "229 Entering (|||106446|)\r\n", 0, SL_FTP_PASSIVE},
        {"PASV\r\n", "227 (1,2,3,4,100000,21)\r\n", 0, SL_FTP_PASSIVE},
        {"PASV\r\n", "227 (1,2,3,4,999,21)\r\n", 0, SL_FTP_PASSIVE},
        {"PASV\r\n", "500 no (1,2,3,4,5,6)\r\n", 0, SL_FTP_PASSIVE},
        {"PORT 7\r\n", "500 no\r\n", 0, SL_FTP_ACTIVE},
        {"NOOP 7,7\r\n", "200 ok\r\n", 0, SL_FTP_UNSTATED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sl_app_message message = described(cases[i].command, cases[i].reply);

        assert_int_equal(message.port, cases[i].port);
        assert_int_equal(message.ftp_mode, cases[i].mode);
        assert_false(message.truncated[0] || message.truncated[1]);
        assert_true(message.half[APP_SERVER].has_head && message.half[APP_SERVER].has_ended);
    }
    assert_false(described("NOOP\r\n", "").half[APP_SERVER].has_ended);
}

static void test_cut_lines_of_ftp(void **state)
{
    static char line[FTP_LINE_MAX + 8];

    (void)state;
    memset(line, 'x', sizeof line - 1);
    memcpy(line + sizeof line - 3, "\r\n", 2);
    for (int side = 0; side < 2; side++) {
        struct sl_app_message message;

        memcpy(line, "200 ", 4);
        message = described(side == 0 ? line : "NOOP\r\n", side == 1 ? line : "200 ok\r\n");
        assert_int_equal(message.truncated[0], side == 0);
        assert_int_equal(message.truncated[1], side == 1);
    }
}

/* Long lines are cut, with an event, and of many open commands the first are done. */
static void test_ftp_is_bounded(void **state)
{
    enum { LONG = 3 * FTP_LINE_MAX, MANY = 1000 };
    struct app_trial trial;
    char line[LONG];
    uint64_t seed = 1;

    (void)state;
    memset(line, 'x', sizeof line);
    trial_begin(&trial);
    trial.quiet = true;
    trial_give(&trial, APP_CLIENT, "USER a\r\n", 8, 0, &seed);
    for (int i = 0; i < MANY; i++) {
        trial_give(&trial, APP_CLIENT, "NOOP ", 5, 0, &seed);
        trial_give(&trial, APP_CLIENT, line, 100, 0, &seed);
        trial_give(&trial, APP_CLIENT, "\r\n", 2, 0, &seed);
    }
    trial.quiet = false;
    trial_give(&trial, APP_CLIENT, line, sizeof line, 100, &seed);
    trial_give(&trial, APP_CLIENT, "\r\nNOOP\r\n", 8, 0, &seed);
    trial_give(&trial, APP_SERVER, line, sizeof line, 100, &seed);
    trial_give(&trial, APP_SERVER, "\r\n", 2, 0, &seed);
    for (int i = 0; i < MANY; i++) {
        trial_give(&trial, APP_SERVER, "220-", 4, 0, &seed);
        trial_give(&trial, APP_SERVER, line, 100, 0, &seed);
        trial_give(&trial, APP_SERVER, "\r\n", 2, 0, &seed);
    }
    trial_end(&trial);
    assert_true(trial.held_max < (FTP_OPEN_MAX + 2) * UINT64_C(512) + 3 * FTP_LINE_MAX);
    const char *const event = strstr((char *)trial.told.bytes, " c event request_command_too_long");
    assert_non_null(event);
    assert_null(strstr(event + 1, " c event request_command_too_long"));
    assert_non_null(strstr((char *)trial.told.bytes, " s event response_command_too_long"));
    trial_free(&trial);
}

/* ---- SMTP ------------------------------------------------------------------------------------ */

static void test_smtp(void **state)
{
    static const struct said said[] = {
        {"220 ESMTP\r\n", 0, APP_SERVER},
        {"EHLO me\r\n", 0, APP_CLIENT},
        {"250-a\r\n250 b\r\n", 0, APP_SERVER},
        {"MAIL FROM: <a@b> SIZE=1\r\nrcpt to:c@d x\r\nRCPT TO:<e>\r\nDATA\r\n", 0, APP_CLIENT},
        {"250 ok\r\n250 ok\r\n550 no\r\n354 go\r\n", 0, APP_SERVER},
        {"From: a\r\nTo: \"x, y\" <c>,\r\n\td\r\nSubject: s\r\nX: y\r\n\r\n", 0, APP_CLIENT},
        {"..a http://x.test/y?z, <HTTPS://q>\r\n.\r\n", 0, APP_CLIENT},
        {"250 ok\r\n", 0, APP_SERVER},
        {"QUIT\r\n", 0, APP_CLIENT},
    };

    (void)state;
    EXPECT(said, "smtp 0 c head [me] [<a@b>] [c@d] [<e>]\n"
                 "smtp 0 c head [me] [<a@b>] [c@d] [<e>] [a] [\"x, y\" <c>] [d] [s] "
                 "[http://x.test/y?z,] [HTTPS://q]\n"
                 "smtp 0 c done [me] [<a@b>] [c@d] [<e>] [a] [\"x, y\" <c>] [d] [s] "
                 "[http://x.test/y?z,] [HTTPS://q]\n");
}

/* The last of several greetings and senders holds, but the first of several fields. Of a mail in a
 * mail the parts are read, and its fields are not. */
static void test_what_holds_in_a_mail(void **state)
{
    static const struct said said[] = {
        {"EHLO you\r\nEHLO me\r\nMAIL FROM:<a>\r\nMAIL FROM:<b>\r\nDATA\r\n", 0, APP_CLIENT},
        {"250-a\r\n250-b\r\n250 c\r\n250 ok\r\n250 ok\r\n250 ok\r\n", 0, APP_SERVER},
        {"354 go\r\n", 0, APP_SERVER},
        {"Subject: s\r\n t\r\nSubject: u\r\nReceived: v\r\nReceived: w\r\n", 0, APP_CLIENT},
        {"From: x\0y\r\n", 11, APP_CLIENT},
        {"Content-Type: message/rfc822\r\n\r\n", 0, APP_CLIENT},
        {"Subject: z\r\nContent-Type: a/b; name=n\r\n", 0, APP_CLIENT},
        {"Content-Disposition: attachment; filename=m\r\n", 0, APP_CLIENT},
        {"Content-Transfer-Encoding: base64\r\n\r\nTQ==TQ==\r\n.\r\nQUIT\r\n", 0, APP_CLIENT},
    };

    (void)state;
    EXPECT(said, "smtp 0 c head [me] [<b>]\n"
                 "smtp 0 c file [n]\n"
                 "smtp 0 c end body 2=[MM]\n"
                 "smtp 0 c head [me] [<b>] [x y] [st] [v] [w] [n]\n"
                 "smtp 0 c done [me] [<b>] [x y] [st] [v] [w] [n]\n");
}

static void test_smtp_without_a_mail(void **state)
{
    static const struct said said[] = {
        {"HELO me\r\nMAIL FROM:<a>\r\nRSET\r\nMAIL FROM:<b>\r\n", 0, APP_CLIENT},
        {"250 ok\r\n250 ok\r\n250 ok\r\n250 ok\r\n", 0, APP_SERVER},
        {"DATA\r\n", 0, APP_CLIENT},
        {"503 no recipient\r\n", 0, APP_SERVER},
        {"STARTTLS\r\n", 0, APP_CLIENT},
        {"220 go\r\n", 0, APP_SERVER},
        {"\x16\x03\x01\0\4\1\0\0\0", 9, APP_CLIENT},
    };

    (void)state;
    EXPECT(said, "smtp 0 c head [me] [<a>]\n"
                 "smtp 0 c done [me] [<a>]\n"
                 "smtp 1 c head [me] [<b>]\n"
                 "tls 0 c event invalid_handshake_message\n"
                 "smtp 1 c done [me] [<b>]\n");
}

/* Parts in parts, codings, names in pieces, and chunks that end anywhere. */
static void test_attachments(void **state)
{
#define MAIL                                                                                       \
    "Content-Type: multipart/mixed; boundary=\"a\"\r\n\r\npreamble\r\n--a\r\n"                     \
    "Content-Type: multipart/related;\r\n boundary=b\r\n\r\n"                                      \
    "--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n"                  \
    "PGEgaHJlZj0iaHR0\r\ncDovL2IudGVzdCI+\r\n"                                                     \
    "--b\r\nContent-Disposition: inline; filename=q\r\n"                                           \
    "Content-Transfer-Encoding: Quoted-Printable\r\n\r\na=3D=\r\nb=4\r\n=zz\r\n\r\n--b--\r\nx\r\n" \
    "--a\r\nContent-Type: a/b; name*0=n; name*1=m\r\n\r\n--x\r\n--A\r\n\r\n"                       \
    "--a\r\nContent-Type: a/b; name=\"e\"\r\nContent-Transfer-Encoding: "                          \
    "base64\r\n\r\nTR\r\nI=\r\n"                                                                   \
    "--a--\r\nepilogue\r\n"
    static const char chunk_1[] = "BDAT 7\r\nContent", chunk_2[] = "BDAT %u LAST\r\n%s";
    char last[2048];
    const struct said said[] = {{"EHLO me\r\n", 0, APP_CLIENT},
                                {chunk_1, 0, APP_CLIENT},
                                {last, 0, APP_CLIENT},
                                {"DATA\r\n", 0, APP_CLIENT},
                                {MAIL ".\r\n", 0, APP_CLIENT}};
    static const char report[] = "smtp %d c file [q]\n"
                                 "smtp %d c end body 12=[a=b=4\\r\\n=zz\\r\\n]\n"
                                 "smtp %d c file [nm]\n"
                                 "smtp %d c end body 10=[--x\\r\\n--A\\r\\n]\n"
                                 "smtp %d c file [e]\n"
                                 "smtp %d c end body 2=[M\\x12]\n"
                                 "smtp %d c head [me] [http://b.test] [q] [nm] [e]\n"
                                 "smtp %d c done [me] [http://b.test] [q] [nm] [e]\n";
    char wanted[2048] = "smtp 0 c head [me]\n";

    (void)state;
    snprintf(last, sizeof last, chunk_2, (unsigned)(sizeof MAIL - 1 - 7), &MAIL[7]);
    size_t n = strlen(wanted);
    n += (size_t)snprintf(wanted + n, sizeof wanted - n, report, 0, 0, 0, 0, 0, 0, 0, 0);
    n += (size_t)snprintf(wanted + n, sizeof wanted - n, "smtp 1 c head [me]\n");
    snprintf(wanted + n, sizeof wanted - n, report, 1, 1, 1, 1, 1, 1, 1, 1);
    EXPECT(said, wanted);
}

/* A boundary of parts around others ends these, too. Nothing is read behind the last one. A part
 * without its boundary is cut. */
static void test_boundaries(void **state)
{
    static const struct said said[] = {
        {"EHLO me\r\nDATA\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n", 0, APP_CLIENT},
        {"--a\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n", 0, APP_CLIENT},
        {"--b\r\nContent-Type: a/b; name=n\r\n\r\nx\r\n", 0, APP_CLIENT},
        {"--a\r\nContent-Type: a/b; name=m\r\n\r\n--b\r\n", 0, APP_CLIENT},
        {"--a--\r\nhttp://behind\r\n.\r\n", 0, APP_CLIENT},
        {"DATA\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n", 0, APP_CLIENT},
        {"--a\r\nContent-Type: a/b; name=n\r\n\r\nx\r\n.\r\nQUIT\r\n", 0, APP_CLIENT},
    };

    (void)state;
    EXPECT(said, "smtp 0 c head [me]\n"
                 "smtp 0 c file [n]\n"
                 "smtp 0 c end body 1=[x]\n"
                 "smtp 0 c file [m]\n"
                 "smtp 0 c end body 3=[--b]\n"
                 "smtp 0 c head [me] [n] [m]\n"
                 "smtp 0 c done [me] [n] [m]\n"
                 "smtp 1 c head [me]\n"
                 "smtp 1 c file [n]\n"
                 "smtp 1 c end cut body 1=[x]\n"
                 "smtp 1 c head [me] [n]\n"
                 "smtp 1 c done [me] [n]\n");
}

static void test_long_boundaries(void **state)
{
    static const char begin[] = "EHLO a\r\nDATA\r\nContent-Type: multipart/mixed; boundary=";
    static const char end[] = "\r\nContent-Type: a/b; name=n\r\n\r\n";
    char boundary[MIME_BOUNDARY_MAX + 1];
    struct app_trial trial;

    (void)state;
    memset(boundary, 'b', sizeof boundary);
    for (uint32_t len = MIME_BOUNDARY_MAX; len <= sizeof boundary; len++) {
        const struct said said[] = {{begin, 0, APP_CLIENT},
                                    {boundary, len, APP_CLIENT},
                                    {"\r\n\r\n--", 0, APP_CLIENT},
                                    {boundary, len, APP_CLIENT},
                                    {end, 0, APP_CLIENT}};

        play(&trial, said, sizeof said / sizeof *said, 0);
        assert_int_equal(strstr((char *)trial.told.bytes, "file [n]") != NULL,
                         len <= MIME_BOUNDARY_MAX);
        trial_free(&trial);
    }
}

/* Endless fields, recipients, lines and parts take bounded memory, and an attachment without an
 * end is cut. */
static void test_smtp_is_bounded(void **state)
{
    static const char *const lines[] = {"RCPT TO:<someone@example.org>\r\n",
                                        "DATA\r\nX: y\r\n",
                                        " more of the field\r\n",
                                        "To: a, b, c, d, e, f, g\r\n",
                                        "Received: by a, by b, by c\r\n",
                                        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n",
                                        "Content-Type: a/b; name=0123456789\r\n\r\n",
                                        "a line without its end "};
    struct app_trial trial;
    uint64_t seed = 1;

    (void)state;
    trial_begin(&trial);
    trial.quiet = true;
    trial_give(&trial, APP_CLIENT, "EHLO a\r\n", 8, 0, &seed);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int k = 0; k < 3000; k++)
            trial_give(&trial, APP_CLIENT, lines[i], (uint32_t)strlen(lines[i]), 0, &seed);
    assert_true(trial.held_max < UINT64_C(5) * MIME_TEXTS_MAX);
    trial.quiet = false;
    trial_end(&trial);
    assert_non_null(strstr((char *)trial.told.bytes, " c end cut body"));
    trial_free(&trial);
}

/* Lines of texts and of commands have no bounds, but the memory for them has. */
static void test_endless_lines_of_smtp(void **state)
{
    static const char *const begins[] = {"EHLO a\r\nDATA\r\n\r\n", "EHLO a\r\nNOOP "};
    static char text[100000];
    struct app_trial trial;

    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const struct said said[] = {{begins[i], 0, APP_CLIENT}, {text, sizeof text, APP_CLIENT}};

        play(&trial, said, sizeof said / sizeof *said, 1000);
        assert_true(trial.held_max < 8192);
        trial_free(&trial);
    }
}

/* The bytes of the last attachment: that came, and up to its end. */
struct heard_bytes {
    uint64_t len, end;
};

static void hear_bytes(void *to, const struct app_news *news)
{
    struct heard_bytes *const heard = to;

    heard->len = news->kind == APP_FILE ? 0 : heard->len;
    heard->len += news->kind == APP_BODY ? news->len : 0;
    if (news->kind == APP_END)
        heard->end = news->offset;
}

static struct heard_bytes hear_around_gap(const char *begin, uint64_t gap, const char *rest)
{
    struct heard_bytes heard = {0};
    const struct app_listener listener = {hear_bytes, &heard};
    struct app_stream *stream = app_stream_open();

    assert_non_null(stream);
    give(stream, APP_CLIENT, begin, &listener);
    assert_true(app_stream_gap(stream, APP_CLIENT, gap, &listener));
    give(stream, APP_CLIENT, rest, &listener);
    app_stream_close(stream, NULL);
    return heard;
}

/* A gap in a mail is one in its attachment, and a line behind it is not whole. */
static void test_gaps_of_smtp(void **state)
{
#define MAIL_BEGIN "Content-Type: a/b; name=n\r\n\r\nab\r\n"
    static const struct {
        const char *begin, *rest;
    } cases[] = {{"EHLO a\r\nDATA\r\n" MAIL_BEGIN, ".\r\n.\r\nQUIT\r\n"},
                 {"EHLO a\r\nBDAT 36 LAST\r\n" MAIL_BEGIN, "fQUIT\r\n"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct heard_bytes heard = hear_around_gap(cases[i].begin, 2, cases[i].rest);

        assert_int_equal(heard.len, strlen("ab\r\nf"));
        assert_int_equal(heard.end, heard.len + 2);
    }
}

/* A head that has a gap may lack the boundary that ends its part: the attachment has a gap, too.
 * One behind the next boundary has none. */
static void test_gaps_in_heads_of_mails(void **state)
{
#define PART_HEAD "Content-Disposition: attachment; filename=n\r\n"
#define PARTS "Content-Type: multipart/mixed; boundary=B\r\n\r\n"
    static const struct {
        const char *begin, *rest;
        bool lacks;
    } cases[] = {
        {"EHLO a\r\nDATA\r\n", PART_HEAD "\r\nab\r\n--B--\r\n.\r\n", true},
        {"EHLO a\r\nDATA\r\nTo: a\r\n", "b\r\n" PART_HEAD "\r\nab\r\n--B--\r\n.\r\n", true},
        {"EHLO a\r\nDATA\r\n" PARTS "--B\r\nX: a\r\n", "b\r\n" PART_HEAD "\r\nab\r\n--B--\r\n.\r\n",
         true},
        {"EHLO a\r\nDATA\r\n" PARTS "--B\r\nX: a\r\n",
         "b\r\n\r\nxy\r\n--B\r\n" PART_HEAD "\r\nab\r\n--B--\r\n.\r\n", false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct heard_bytes heard = hear_around_gap(cases[i].begin, 9, cases[i].rest);

        assert_true(heard.len != 0);
        assert_int_equal(heard.end, heard.len + cases[i].lacks);
    }
}

/* Without memory for its NUL a text is not kept. */
static void test_texts_end_without_memory(void **state)
{
    static const uint8_t bytes[155] = {'x'};
    struct app_text texts = {0};

    (void)state;
    if (!ALLOCATIONS_ARE_COUNTED)
        test_skip("the allocator of a sanitizer is not refused");
    app_texts_add(&texts, (struct app_span){bytes, 100}, UINT32_MAX);
    assert_int_equal(texts.max - texts.len, sizeof bytes);
    refuse_allocation(1);
    app_texts_add(&texts, (struct app_span){bytes, sizeof bytes}, UINT32_MAX);
    assert_true(allocation_was_refused());
    assert_true(texts.no_memory);
    assert_int_equal(texts.len, 101);
    app_text_free(&texts);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ssh),
        cmocka_unit_test(test_padding_of_ssh),
        cmocka_unit_test(test_ssh_is_bounded),
        cmocka_unit_test(test_lines_before_a_banner),
        cmocka_unit_test(test_ftp),
        cmocka_unit_test(test_ports_of_ftp),
        cmocka_unit_test(test_cut_lines_of_ftp),
        cmocka_unit_test(test_ftp_is_bounded),
        cmocka_unit_test(test_smtp),
        cmocka_unit_test(test_what_holds_in_a_mail),
        cmocka_unit_test(test_smtp_without_a_mail),
        cmocka_unit_test(test_attachments),
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_long_boundaries),
        cmocka_unit_test(test_smtp_is_bounded),
        cmocka_unit_test(test_endless_lines_of_smtp),
        cmocka_unit_test(test_gaps_of_smtp),
        cmocka_unit_test(test_gaps_in_heads_of_mails),
        cmocka_unit_test(test_texts_end_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

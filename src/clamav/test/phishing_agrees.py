#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what `sluice scan` and clamscan find in mails with links.

usage: phishing_agrees.py SLUICE [SEED [ROUNDS]]

A round is lists of domains and hashes (.pdb, .wdb, .gdb), and mails whose links show one address
and lead to another, in each form of a link, of a text and of a mail. The names of all findings are
compared, with clamscan's options. Without clamscan it is skipped.
"""
import base64
import hashlib
import os
import random
import shutil
import sys
import tempfile

from clamscan_agrees import names_of

SKIPPED = 77
MAILS = 250
COMMON = ["--allmatch", "--no-summary", "--infected", "--disable-cache"]
OPTIONS = [[], [], [], ["--alert-phishing-ssl"], ["--alert-phishing-cloak"],
           ["--alert-phishing-ssl=yes", "--alert-phishing-cloak=yes"],
           ["--phishing-scan-urls=no", "--alert-phishing-ssl"]]

SAFE = ["paypal.com", "www.paypal.com", "my.bank.co.uk", "bank.co.uk", "ebay.de", "shop.museum",
        "a.b.c.d.bank.com", "bank.com"]
EVIL = ["evil.com", "www.evil.net", "paypal.com.evil.org", "1.2.3.4", "evil.co.uk", "x.evil.info",
        "notpaypal.com", "bank.com", "www.bank.co.uk", "evil.banana", "localhost", "paypal.co.uk"]


# ---- lists ---------------------------------------------------------------------------------------

def escaped(name):
    return name.replace(".", r"\.")


def level(rng):
    return rng.choice(["", "", "", ":17-", ":1-500", ":500-", ":1-20", ":x-9", ":-"])


def protected_line(rng):
    name = rng.choice(SAFE)
    other = rng.choice(EVIL)
    return rng.choice([
        f"H:{name}", f"H:{name}", f"H:{name}", f"H0a:{name}", f"H:{name.upper()}",
        f"R:.+\\.{escaped(other)}([/?].*)?:.+\\.{escaped(name)}",
        f"R:.+{escaped(other)}:.+{escaped(name)}([/?].*)?",
        f"R1:http://(www\\.)?{escaped(other)}:.*{escaped(name)}",
        f"R:.+:.+{escaped(name)}([/?].*)", f"R:^www\\.{escaped(name)}",
        f"R:.+w{{3}}\\.{escaped(name)}", f"R:.+:.+[a-z]{{2,3}}\\.{escaped(name)}",
        f"R:(evil|bad)\\.(com|net):(https?://)?(www\\.)?{escaped(name)}",
    ]) + level(rng)


def harmless_line(rng):
    name, other = rng.choice(SAFE), rng.choice(EVIL)
    return rng.choice([
        f"M:{other}:{name}", f"M:www.{other}:{name}", f"M:{other}:www.{name}",
        f"X:.+{escaped(other)}:.+{escaped(name)}",
        f"X:.+\\.{escaped(other)}([/?].*)?:.+{escaped(name)}",
        f"Y:^{escaped(other)}:{escaped(name)}", f"Y:.+\\.{escaped(other)}",
        f"X:https?://{escaped(other)}:.+\\.{escaped(name)}([/?].*)?",
    ]) + level(rng)


PATHS = ["", "a", "a/b", "a/b?x=1", "login.php", "a/b/c/d/e/f", "?q", "a?x/y", "dir/"]


def hash_line(rng, n):
    host = rng.choice(EVIL)
    path = rng.choice(PATHS)
    digest = hashlib.sha256(f"{host}/{path}".encode()).hexdigest()
    return f"{('S1', 'S2', 'S', 'S3')[n % 4]}:F:{digest}" + rng.choice(["", ":17-", ":900-"])


def lists(rng, folder):
    os.mkdir(folder)
    names = rng.sample(SAFE, 4)
    texts = {"a.pdb": [f"H:{name}" for name in names[:rng.randint(1, 4)]] +
                      [protected_line(rng) for _ in range(rng.randint(1, 6))]}
    if rng.random() < 0.6:
        texts["a.wdb"] = [harmless_line(rng) for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.4:
        lines = [hash_line(rng, n) for n in range(rng.randint(1, 9))]
        lines.append("S1:P:" + hashlib.sha256(b"evil.com/").hexdigest()[:8])
        texts["a.gdb"] = lines
    for name, lines in texts.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write("# a comment\n" + "\n".join(lines) + "\n\n")


# ---- links ---------------------------------------------------------------------------------------

def hexed(rng, text):
    at = rng.randrange(len(text))
    code = rng.choice([f"%{ord(text[at]):02x}", f"%{ord(text[at]):02X}", "%00", "%25" +
                       f"{ord(text[at]):02x}", "%", "%zz", "%2e", "%41"])
    return text[:at] + code + text[at + rng.randrange(2):]


def real_address(rng):
    host = rng.choice(EVIL * 4 + SAFE)
    if rng.random() < 0.3:
        host = rng.choice(["www.", "WWW.", "a."] * 3 + [".", "a..", "x-y."]) + host
    if rng.random() < 0.08:
        host = hexed(rng, host)
    if rng.random() < 0.1:
        host = rng.choice(["user@", "user:pw@", "paypal.com@", "a@b@"]) + host
    path = rng.choice(PATHS + ["", "x/./y", "x/../y", "x/y/../../z", "%61", "x%20y", "a#b"])
    path = rng.choice(["/", "/", "/", "", "?", ":80/", "\\", "//"]) + path
    scheme = rng.choice(["http://"] * 18 + ["https://"] * 5 + ["ftp://", "", "HTTP://", "http:",
                        "mailto:", "blocked::http://", "http:///", " http://", "javascript:"])
    return scheme + host + path


def spaced(rng, text):
    return "".join(c + rng.choice(["", "", "", " "]) for c in text)


def shown_address(rng):
    host = rng.choice(SAFE * 4 + EVIL)
    if rng.random() < 0.4:
        host = rng.choice(["www.", "WWW.", "login.", "my", "a.b."]) + host
    if rng.random() < 0.1:
        host = spaced(rng, host)
    if rng.random() < 0.1:
        host = hexed(rng, host)
    if rng.random() < 0.06:
        host = host.replace(".", rng.choice(["\u3002", "\uff0e", "\ufe52", " .", ". ", "&#46;"]))
    scheme = rng.choice(["http://"] * 5 + ["https://"] * 5 + [""] * 6 + ["HTTPS://", "ftp://",
                        "odd://", "http:/ /", "mailto:", "http:", "to:", "a:"])
    text = scheme + host + rng.choice([""] * 4 + ["/", "/login", "?x", ":443/", "/a b", "\\a",
                                                  "/x@y"])
    return rng.choice(["{}"] * 25 + ["Check out {}", "go to {} now", "({})", "&lt;{}&gt;", "{}.",
                       "\"{}\"", " {} ", "{};", "see{}", "\u00a0{}", "{}\u00e9", "me@{}",
                       "a.com@{}", "{}!", "&nbsp;{}", "asp.net {}", "{}\n", "\r\n {}",
                       "* {}"]).format(text)


def attribute(rng, value):
    value = value.replace('"', "")
    if rng.random() < 0.08 and value:
        at = rng.randrange(len(value))
        value = value[:at] + rng.choice([f"&#{ord(value[at])};", f"&#x{ord(value[at]):x};",
                                         "&amp;", "&odd;"]) + value[at + 1:]
    quote = rng.choice(['"'] * 6 + ["'", ""])
    return quote + (value if quote else value.replace(" ", "").replace(">", "")) + quote


def link(rng):
    real, shown = attribute(rng, real_address(rng)), shown_address(rng)
    head = rng.choice(["a href=", "a href=", "A HREF=", "a class=x href=", "a\nhref = ",
                       "a target='_blank' href="])
    tail = rng.choice([""] * 6 + [" id=1", " href='http://other.com'", " title=" +
                                  attribute(rng, shown_address(rng))])
    kind = rng.randrange(22)
    image = f"<img src={attribute(rng, shown_address(rng))}>"
    frame = rng.choice(["iframe src", "area href", "img dynsrc"])
    inner = {0: f"<b>{shown}</b>", 1: f"<!-- x -->{shown}", 2: f"{shown[:7]}<i>{shown[7:]}</i>",
             3: image, 4: f"{image}{shown}", 5: f"<{frame}={attribute(rng, shown_address(rng))}>",
             6: f"{shown}<br>{shown}", 7: f"<script>var a=1;</script>{shown}",
             8: f"{shown}<!--", 9: f"<font color=red>{shown}"}.get(kind, shown)
    text = f"<{head}{real}{tail}>{inner}{rng.choice(['</a>'] * 8 + ['', '</A >', '</b></a>'])}"
    if kind in (10, 11):
        action = attribute(rng, real_address(rng))
        text = f"<form action={action}>{text}{rng.choice(['', image])}</form>"
    if kind == 12:
        text = f"{text[:-4]}<a href=http://x.com>{shown}</a>"
    return text


def mail_text(rng):
    if rng.random() < 0.06:
        return "see " + real_address(rng) + " and " + real_address(rng) + "\nbye, and so on\n"
    links = "\n".join(link(rng) for _ in range(rng.choice([1, 1, 1, 2, 3])))
    return rng.choice(["<html><body>\n{}\n</body></html>\n"] * 4 + ["{}\n", "hello <p> {} </p>\n"]
                      ).format(links)


# ---- mails ---------------------------------------------------------------------------------------

def part(rng, text, heads):
    encoding = rng.choice(["", "", "7bit", "8bit", "base64", "quoted-printable"])
    data = text.encode("utf-8")
    if encoding == "base64":
        data = base64.encodebytes(data)
    elif encoding == "quoted-printable":
        data = data.replace(b"=", b"=3D")
    if encoding:
        heads = heads + [f"Content-Transfer-Encoding: {encoding}"]
    return "\n".join(heads).encode() + b"\n\n" + data


def mail(rng):
    text = mail_text(rng)
    head = "From: a@example.com\nTo: b@example.com\nSubject: hello\nDate: Mon, 1 Jan 2024\n" \
           "MIME-Version: 1.0\n"
    kind = rng.randrange(12)
    if kind == 0:
        data = head.replace("MIME-Version: 1.0\n", "").encode() + b"\n" + text.encode("utf-8")
    elif kind < 6:
        heads = ["Content-Type: " + rng.choice(["text/html", "text/html; charset=utf-8",
                                                "TEXT/HTML", "text/plain", "text/odd"])]
        data = head.encode() + part(rng, text, heads)
    elif kind == 6:
        inner = head.encode() + part(rng, text, ["Content-Type: text/html"])
        data = head.encode() + b"Content-Type: message/rfc822\n\n" + inner
    else:
        shown = rng.choice(["", "", "inline", "attachment", "inline; filename=x.html",
                            "attachment; filename=x.html"])
        heads = ["Content-Type: " + rng.choice(["text/html"] * 3 + ["text/plain"])]
        heads += [f"Content-Disposition: {shown}"] if shown else []
        first = part(rng, "hello\n", ["Content-Type: text/plain"])
        second = part(rng, text, heads)
        kinds = rng.choice(["mixed", "alternative", "related"])
        data = head.encode() + f"Content-Type: multipart/{kinds}; boundary=\"bb\"\n\n".encode()
        data += b"--bb\n" + first + b"\n--bb\n" + second + b"\n--bb--\n"
    return b"From x@example.com Mon Jan  1 00:00:00 2024\n" + data if rng.random() < 0.1 else data


# ---- the comparison ------------------------------------------------------------------------------

def round_of(rng, sluice, folder, number, totals):
    database, mails = os.path.join(folder, f"db{number}"), os.path.join(folder, f"mails{number}")
    lists(rng, database)
    os.mkdir(mails)
    for i in range(MAILS):
        with open(os.path.join(mails, f"m{i}"), "wb") as file:
            file.write(mail(rng))
    options = COMMON + OPTIONS[number % len(OPTIONS)] + ["-d", database, "-r", mails]
    ours = names_of([sluice, "scan"] + options, folder)
    theirs = names_of(["clamscan"] + options, folder)
    for who, names in (("clamscan", theirs - ours), ("sluice", ours - theirs)):
        for file, name in sorted(names):
            print(f"round {number}: only {who} finds {name} in {mails}/{file}")
    for _, name in theirs:
        totals[name] = totals.get(name, 0) + 1
    return len(ours ^ theirs)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sluice = os.path.abspath(sys.argv[1])
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    if shutil.which("clamscan") is None:
        print("skipped: clamscan is not installed")
        sys.exit(SKIPPED)
    totals, n_differ = {}, 0
    folder = os.environ.get("SLUICE_TEST_KEEP") or tempfile.mkdtemp()
    try:
        for number in range(rounds):
            n_differ += round_of(rng, sluice, folder, number, totals)
    finally:
        if "SLUICE_TEST_KEEP" not in os.environ:
            shutil.rmtree(folder)
    for name, n in sorted(totals.items()):
        print(f"{name}: {n}")
    print(f"{n_differ} differ of {rounds * MAILS} mails")
    if len(totals) < 5 or sum(totals.values()) < 30 * rounds:
        sys.exit("too few findings to prove anything")
    sys.exit(1 if n_differ > 0 else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sluice scan: lists of phishing, and mails whose links pretend to lead elsewhere.

usage: test_phishing.py SLUICE
"""
import hashlib
import json
import sys
import unittest

import case

SLUICE = sys.argv[1]
SPOOFED = "Heuristics.Phishing.Email.SpoofedDomain"
TLS = "Heuristics.Phishing.Email.SSL-Spoof"
CLOAKED = "Heuristics.Phishing.Email.Cloaked.Null"
BLOCKED = "Heuristics.Phishing.URL.Blocked"


def sluice(*arguments):
    return case.run(SLUICE, "scan", *arguments)


def link(real, shown):
    return f'<html><a href="{real}">{shown}</a></html>\n'


class Phishing(case.Case):
    def setUp(self):
        super().setUp()
        self.list = self.path("a.pdb",
                              b"# domains\nH:bank.com\n\nR0a1:.+\\.shop\\.de([/?].*)?:.+\n")

    def mail(self, text, head="Content-Type: text/html\n"):
        return self.path("mail", f"From: a@b.c\nTo: d@e.f\nSubject: g\n{head}\n{text}".encode())

    def names(self, text, *options, head="Content-Type: text/html\n"):
        result = sluice("-z", "-i", "--no-summary", "-d", self.list, *options,
                        self.mail(text, head))
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return [line.split(": ")[1].removesuffix(" FOUND")
                for line in result.stdout.decode().splitlines()]

    def test_links_that_show_a_protected_domain(self):
        for real, shown, names in (
                ("http://evil.com/", "http://bank.com/", [SPOOFED]),
                ("http://evil.com/x?y", "Www.Bank.Com", [SPOOFED]),
                ("http://evil.com/", "see bank.com", [SPOOFED]),
                ("http://evil.com/", "seebank.com", []),
                ("http://evil.com/", "the bank", []),
                ("http://www.bank.com/", "http://bank.com/", []),
                ("mailto:a@evil.com", "bank.com", []),
                ("http://a.shop.de/x", "http://any.org/", [SPOOFED]),
                ("http://shop.de/x", "http://any.org/", []),
                ("http://evil.com/", "https://bank.com", [TLS]),
                ("http://evil%00.com/", "http://bank.com", [CLOAKED]),
                ("http://bank.com.evil.co.uk/", "http://b ank.c om/", [SPOOFED])):
            self.assertEqual(self.names(link(real, shown)), names, (real, shown))

    def test_texts_of_a_mail(self):
        text = link("http://evil.com/", "http://bank.com/")
        self.assertEqual(self.names(text, head=""), [SPOOFED])
        self.assertEqual(self.names(text, head="Content-Type: image/png\n"), [])
        parts = "--b\nContent-Type: text/html\n{}\n" + text + "\n--b--\n"
        for disposition, kind, names in (("", "mixed", [SPOOFED]),
                                         ("Content-Disposition: attachment\n", "mixed", []),
                                         ("Content-Disposition: attachment\n", "related",
                                          [SPOOFED])):
            head = f"Content-Type: multipart/{kind}; boundary=b\n"
            self.assertEqual(self.names(parts.format(disposition), head=head), names)
        many = link("http://evil.com/", "x") * 3000  # more than clamscan looks at
        self.assertEqual(self.names(many + text), [])
        plain = self.path("page.html", text.encode())
        self.assertEqual(sluice("-d", self.list, plain).returncode, 0)

    def test_the_place_of_a_link(self):
        result = sluice("-z", "--json", "-d", self.list,
                        self.mail(self.mail_in_mail(), "Content-Type: message/rfc822\n"))
        found = json.loads(result.stdout.splitlines()[0])
        self.assertIn(SPOOFED, json.dumps(found))

    @staticmethod
    def mail_in_mail():
        return "From: a@b.c\nTo: d@e.f\nSubject: g\nContent-Type: text/html\n\n" + \
            link("http://evil.com/", "http://bank.com/")

    def test_harmless_links(self):
        text = link("http://a.evil.com/", "http://www.bank.com/")
        for line in ("M:evil.com:www.bank.com", "X:.+\\.evil\\.com:.+bank\\.com([/?].*)?:17-",
                     "Y:^a\\.evil\\.com:w.+"):
            self.assertEqual(self.names(text, "-d", self.path("a.wdb", line.encode())), [], line)
        for line in ("M:evil.com:bank.com", "X:.+evil\\.net:.+", "X:.+evil\\.com:.+:1-2"):
            self.assertEqual(self.names(text, "-d", self.path("a.wdb", line.encode())), [SPOOFED],
                             line)

    def test_hashes_of_addresses(self):
        def digest(text):
            return hashlib.sha256(text.encode()).hexdigest()

        text = link("http://a.evil.org/x/y?z", "click")
        for known, names in (("a.evil.org/x/y?z", [BLOCKED]), ("evil.org/x/", [BLOCKED]),
                             ("evil.org/", [BLOCKED]), ("org/", []), ("b.evil.org/", [])):
            lines = f"S1:F:{digest(known)}\nS1:P:{digest(known)[:8]}\n"
            self.assertEqual(self.names(text, "-d", self.path("a.gdb", lines.encode())), names)
        lines = f"S:W:{digest('evil.org/')}\nS1:F:{digest('evil.org/')}\n"
        self.assertEqual(self.names(text, "-d", self.path("a.gdb", lines.encode())), [])
        lines = f"S2:F:{digest('evil.org/')}:17-\nS1:F:{digest('evil.org/')}:1-9\n"
        self.assertEqual(self.names(text, "-d", self.path("a.gdb", lines.encode())),
                         ["Heuristics.Safebrowsing.Suspected-phishing_safebrowsing.clamav.net"])

    def test_options(self):
        text = link("http://evil.com/", "https://any.org") + link("http://x%00y.com/", "z.org")
        self.assertEqual(self.names(text), [])
        self.assertEqual(self.names(text, "--alert-phishing-ssl"), [TLS])
        self.assertEqual(self.names(text, "--alert-phishing-cloak=yes"), [CLOAKED])
        self.assertEqual(self.names(text, "--alert-phishing-ssl", "--phishing-scan-urls=no"), [])
        spoofed = link("http://evil.com/", "bank.com")
        self.assertEqual(self.names(spoofed, "--phishing-scan-urls=no"), [])
        result = sluice("--no-summary", "-d", self.list, "-d",
                        self.path("a.ndb", b"Word:0:*:6576696c\n"), self.mail(spoofed))
        self.assertIn(b"Word.UNOFFICIAL FOUND", result.stdout)  # a signature comes first

    def test_compiled_lists(self):
        harmless = self.path("a.wdb", b"M:evil.com:bank.com\n")
        first, second = self.path("first"), self.path("second")
        self.assertEqual(sluice("-d", self.list, "--compile", first).returncode, 0)
        self.assertEqual(sluice("-d", first, "-d", harmless, "--compile", second).returncode, 0)
        other = link("http://evil.org/", "http://bank.com/")
        for text, database, n in ((link("http://evil.com/", "bank.com"), first, 1),
                                  (link("http://evil.com/", "bank.com"), second, 0),
                                  (other, second, 1)):
            result = sluice("-i", "--no-summary", "-d", database, self.mail(text))
            self.assertEqual(result.returncode, n, result.stdout)

    def test_wrong_lines_are_named(self):
        digest = "0" * 63
        for name, line, reason in (
                ("a.pdb", "bank.com", "no kind and no ':'"), ("a.pdb", "X:a:b", "not R, H or S"),
                ("a.wdb", "H:bank.com", "not X, Y or M"), ("a.pdb", "H:", "has no name"),
                ("a.pdb", "R:(a", "no regular expression"), ("a.gdb", "S1:Q:00", "not F, P or W"),
                ("a.gdb", f"S1:F:{digest}", "no SHA-256"), ("a.gdb", "S1:P:12", "8 hexadecimal"),
                ("a.wdb", "X:" + "a" * 9000, "is longer than")):
            path = self.path(name, f"# a\n{line}\n".encode())
            result = sluice("-d", path, self.mail("hello"))
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"{path}:2: ", result.stderr.decode())
            self.assertIn(reason, result.stderr.decode())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])

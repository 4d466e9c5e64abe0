#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sluice scan as a person starts it: databases, what is not looked into, limits, options.

usage: test_scan.py SLUICE SAMPLES
"""
import base64
import binascii
import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import random
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile
import zlib

import case
import hostile_scan
import locked_documents
import locked_zip
import quines
import signed_program

SLUICE, SAMPLES = sys.argv[1:3]
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../docs/clamscan.md")
LZMA1_PROPERTIES = b"\x5d" + struct.pack("<I", 1 << 16)
CAPTURE = os.path.join(SAMPLES, "sample.pcap")


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


class Databases(case.Case):
    def compiled(self, name, text, *more):
        """The path of a compiled database; its name is `name`."""
        source = self.path("source." + name.split(".")[0] + ".ndb", text)
        result = sluice("scan", "-d", source, *more, "--compile", self.path(name))
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.path(name)

    def found(self, *arguments):
        """The names that are found in files which hold one of the words each."""
        files = [self.path(word, word.encode()) for word in ("first", "second", "third", "fourth")]
        result = sluice("scan", "-z", "-i", "--no-summary", *arguments, *files)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return sorted(line.split(": ")[1].removesuffix(".UNOFFICIAL FOUND")
                      for line in result.stdout.decode().splitlines())

    def test_names_of_hashes_stay_as_they_are(self):
        names = ["Win.A-1-0", "Win.A-12-0", "Win.A-123456789-0", "Win.A-1234567890-0", "B.007",
                 "B.0", "B", "12", "9", "Win.\1-5", "C" * 200 + "7", "{MD5}php.1.23", "Win.A-1-0"]
        words = [f"word {i}" for i in range(len(names))]
        lines = [f"{hashlib.md5(word.encode()).hexdigest()}:{len(word)}:{name}\n"
                 for word, name in zip(words, names)]
        source = self.path("a.hdb", "".join(lines).encode())
        files = [self.path(word, word.encode()) for word in words]
        compiled = self.path("compiled")
        sluice("scan", "-d", source, "--compile", compiled)
        other = self.path("other.ndb", b"Other:0:*:7365636f6e64\n")
        ignored = self.path("a.ign2", b"Win.A-12-0\n12\n")
        for ignoring in ((), ("-d", ignored)):
            for databases in (("-d", source), ("-d", compiled), ("-d", compiled, "-d", other)):
                if ignoring and databases == ("-d", compiled):
                    continue  # lists combine with what is compiled anew
                lines = sluice("scan", "--no-summary", "-i", *databases, *ignoring,
                               *files).stdout.decode().splitlines()
                self.assertEqual(lines, [f"{file}: {name}.UNOFFICIAL FOUND"
                                         for file, name in zip(files, names)
                                         if not ignoring or name not in ("Win.A-12-0", "12")])

    def test_compiled_databases_combine(self):
        first = self.compiled("first.sluicedb", b"First:0:*:6669727374\n")
        second = self.compiled("second.cdb", b"Second:0:*:7365636f6e64\n")
        third = self.path("third.ndb", b"Third:0:*:7468697264\n")
        fourth = self.path("fourth.hdb", hashlib.md5(b"fourth").hexdigest().encode() +
                           b":6:Fourth\n")
        self.assertEqual(self.found("-d", first), ["First"])
        self.assertEqual(self.found("-d", first, "-d", third), ["First", "Third"])
        self.assertEqual(self.found("-d", third, "-d", first), ["First", "Third"])
        self.assertEqual(self.found("-d", first, "-d", second, "-d", third, "-d", fourth),
                         ["First", "Fourth", "Second", "Third"])
        self.assertEqual(sluice("scan", "-d", first, "-d", second, "-d", fourth, "--compile",
                                self.path("again.sluicedb")).returncode, 0)
        self.assertEqual(self.found("-d", self.path("again.sluicedb"), "-d", third),
                         ["First", "Fourth", "Second", "Third"])

    def test_compiled_databases_of_any_name_in_directories(self):
        os.mkdir(self.path("set"))
        for name in ("a", "b.sluicedb", "c.ndb", "d.cdb"):
            shutil.move(self.compiled("moved", b"First:0:*:6669727374\n"),
                        self.path("set/" + name))
            self.assertEqual(self.found("-d", self.path("set")), ["First"], name)
            self.path("set/e.ndb", b"Second:0:*:7365636f6e64\n")
            self.path("set/README", b"no database\n")
            self.assertEqual(self.found("-d", self.path("set")), ["First", "Second"], name)
            for entry in os.listdir(self.path("set")):
                os.remove(self.path("set/" + entry))

    def test_a_pipe_in_a_directory_is_not_waited_for(self):
        os.mkdir(self.path("set"))
        self.path("set/a.ndb", b"First:0:*:6669727374\n")
        os.mkfifo(self.path("set/b.ndb"))
        self.assert_refused(sluice("scan", "-d", self.path("set"), "--no-summary", SLUICE),
                            "set/b.ndb: is no regular file")

    def test_ignored_names_stay_ignored(self):
        ignore = self.path("a.ign2", b"Second\n")
        both = self.compiled("both", b"First:0:*:6669727374\nSecond:0:*:7365636f6e64\n", "-d",
                             ignore)
        third = self.path("third.ndb", b"Third:0:*:7468697264\n")
        self.assertEqual(self.found("-d", both, "-d", third), ["First", "Third"])
        self.assertEqual(self.found("-d", both, "-d", third, "-d", self.path("b.ign2", b"Third\n")),
                         ["First"])

    def test_what_cannot_be_combined_is_an_error(self):
        line = b"First:0:*:6669727374"
        digest = hashlib.md5(line).hexdigest().encode()
        compiled = self.compiled("first.sluicedb", line + b"\n")
        text = self.path("first.ndb", line + b"\n")
        ignore = self.path("a.ign2", b"First:" + digest + b"\n")
        self.assertEqual(self.found("-d", text, "-d", ignore), [])
        self.assert_refused(sluice("scan", "-d", compiled, "-d", ignore, text), compiled, "First",
                            "MD5")
        other = self.path("b.ign2", b"Other:" + digest + b"\n")
        self.assertEqual(self.found("-d", compiled, "-d", other), ["First"])
        with open(compiled, "r+b") as file:
            file.seek(8)
            file.write(b"\x01")
        for others in ([], ["-d", text]):
            self.assert_refused(sluice("scan", "-d", compiled, *others, text), compiled, "version")

    def test_container_signatures_are_no_compiled_database(self):
        cdb = self.path("a.cdb", b"Zip:CL_TYPE_ZIP:*:*:*:*:*:*:*:*\nBad:*:*:(:*:*:*:*:*:*\n"
                        b"Sum:*:*:a:*:*:*:*:1234:*\n")
        text = self.path("first.ndb", b"First:0:*:6669727374\n")
        result = sluice("scan", "--debug", "-d", cdb, "-d", text, self.path("first", b"first"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"checksums of members are not supported", result.stderr)
        self.assertIn(b"Known viruses: 2\n", result.stdout)
        self.assertIn(b"Skipped signatures: 1\nWrong lines in databases: 1\n", result.stdout)

    def test_a_compiled_database_says_that_it_lists_nothing(self):
        compiled = self.compiled("compiled", b"First:0:*:6669727374\nwrong\n")
        first = self.path("first", b"first")
        result = sluice("scan", "--debug", "-d", compiled, first)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"a compiled database does not list what was left out", result.stderr)
        self.assertNotIn(b"does not list", sluice("scan", "-d", compiled, first).stderr)

    def test_runs_combine_them(self):
        with open(CAPTURE, "rb") as file:
            words = sorted({w for w in file.read().split(b" ") if w.isalpha() and len(w) > 5})[:2]
        lines = [b"Word%d:0:*:%s\n" % (i, word.hex().encode()) for i, word in enumerate(words)]
        compiled = self.compiled("a", lines[0])
        both = self.path("both.ndb", b"".join(lines))
        other = self.path("other.ndb", lines[1])
        events = [sluice("run", "-r", CAPTURE, "--alerts", "eve:-", *databases).stdout
                  for databases in (["--scan", both], ["--scan", compiled, "--scan", other],
                                    ["--scan", other, "--scan", compiled])]
        self.assertIn(b"Word0", events[0])
        self.assertIn(b"Word1", events[0])
        for one in events[1:]:
            self.assertEqual(sorted(one.splitlines()), sorted(events[0].splitlines()))

    def test_a_database_of_wrong_lines_is_an_error(self):
        file = self.path("first", b"first")
        text = self.path("first.ndb", b"First:0:*:6669727374\n")
        for name, content in (("bad.ndb", b"# comment\n\nno signature\n" * 1000),
                              ("bad.ldb", b"a;Engine:51-255,Target:0;0;zz\n" +
                                          b"b;Engine:51-255,Target:0;0;${macro}\n"),
                              ("bad.hdb", b"abc:1:x\n"), ("bad.ign2", b":\n")):
            bad = self.path(name, content)
            first = 1 + [bool(line) and line[:1] != b"#" for line in content.split(b"\n")].index(1)
            for arguments in (["-d", bad, file], ["-d", text, "-d", bad, file],
                              ["-d", bad, "--compile", self.path("out")]):
                self.assert_refused(sluice("scan", *arguments), f"{bad}:{first}: ", "no line")
            self.assert_refused(sluice("run", "-r", CAPTURE, "--scan", bad), f"{bad}:{first}: ")
            self.assertFalse(os.path.exists(self.path("out")))

    def test_unwanted_programs(self):
        """A category is the word behind "PUA.", in full; names without one have none."""
        digest = hashlib.md5(b"second").hexdigest().encode()
        sources = ["-d", self.path("a.ndu", b"PUA.Win.A:0:*:6669727374\nNone:0:*:6669727374\n"),
                   "-d", self.path("a.hdu", digest + b":6:PUA.Packed.B\n"),
                   "-d", self.path("a.LDU", b"PUA.Winner.C;Engine:51-255,Target:0;0;7468697264\n"),
                   "-d", self.path("a.mdu", b"5:" + digest + b":PUA.Win.D\n")]
        every = ["None", "PUA.Packed.B", "PUA.Win.A", "PUA.Winner.C"]
        include, exclude = "--include-pua=", "--exclude-pua="
        for options, names in (
                ([], []), ([include + "Win"], []), (["--detect-pua=no"], []),
                (["--detect-pua"], every), (["--detect-pua", include + "Win"], every[2:3]),
                (["--detect-pua", include + "Win", include + "Packed"], every[1:3]),
                (["--detect-pua", exclude + "Win"], [every[1], every[3]]),
                (["--detect-pua", exclude + "Win", exclude + "Winner"], every[1:2]),
                (["--detect-pua", include + "win"], [])):
            self.assertEqual(self.found(*options, *sources), names, options)
        file = self.path("first", b"first")
        self.assertIn(b"Skipped signatures: 5\n", sluice("scan", *sources, file).stdout)
        saved = self.path("saved")
        self.assertEqual(sluice("scan", *sources, "--detect-pua", include + "Packed", "--compile",
                                saved).returncode, 0)
        self.assertEqual(self.found("-d", saved), every[1:2])
        result = sluice("scan", *sources, include + "Win", exclude + "Packed", file)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"--include-pua and --exclude-pua exclude one another", result.stderr)

    def test_unsupported_lines_are_skipped(self):
        file = self.path("first", b"first")
        skipped = self.path("skipped.ldb", b"b;Engine:51-255,Target:0;0;${macro}\n")
        result = sluice("scan", "-d", skipped, file)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"Skipped signatures: 1\n", result.stdout)
        self.assertEqual(sluice("scan", "-d", self.path("none.ndb", b"# nothing\n"),
                                file).returncode, 0)
        mixed = self.path("mixed.ndb", b"First:0:*:6669727374\nwrong\n")
        self.assertEqual(sluice("scan", "-d", mixed, "-d", skipped, "--compile",
                                self.path("out")).returncode, 0)
        result = sluice("scan", "-d", self.path("out"), file)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"Skipped signatures: 1\nWrong lines in databases: 1\n", result.stdout)
        rows = sluice("scan", "-d", self.path("out"), "--json", file).stdout.splitlines()
        summary = json.loads(rows[-1])["summary"]
        self.assertEqual((summary["skipped_signatures"], summary["wrong_lines"]), (1, 1))


class NotOpened(case.Case):
    """Files of each type begin as its documentation has it."""

    def setUp(self):
        super().setUp()
        self.database = self.path("a.ndb", b"World:0:*:776f726c64\n")

    def scan(self, *arguments, **options):
        return sluice("scan", "-d", self.database, *arguments, **options)

    def types(self):
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as file:
            file.addfile(tarfile.TarInfo("a"), None)
        tar = tar.getvalue()
        old_tar = bytearray(tar[:512])
        old_tar[257:265] = bytes(8)
        old_tar[148:156] = b" " * 8
        old_tar[148:156] = b"%06o\0 " % sum(old_tar)
        zipped = io.BytesIO()
        with zipfile.ZipFile(zipped, "w") as file:
            file.writestr("a", b"a")
        iso = bytes(0x8001) + b"CD001" + bytes(100)
        dmg = bytes(1000) + b"koly" + bytes(508)
        return {
            "zip": [zipped.getvalue(), b"PK\5\6" + bytes(18),
                    b"MZ" + bytes(50) + zipped.getvalue()],
            "gz": [gzip.compress(b"a")],
            "bz2": [bz2.compress(b"a")], "xz": [lzma.compress(b"a")],
            "lzma": [lzma.compress(b"a" * 100, lzma.FORMAT_ALONE)],
            "zst": [b"\x28\xb5\x2f\xfd\0\0"], "lz4": [b"\4\x22\x4d\x18\0\0"],
            "7z": [b"7z\xbc\xaf\x27\x1c\0\4"], "rar": [b"Rar!\x1a\7\0", b"Rar!\x1a\7\1\0"],
            "tar": [tar, bytes(old_tar)], "cpio": [b"070701" + b"0" * 104], "ar": [b"!<arch>\n"],
            "cab": [b"MSCF" + bytes(32)], "iso": [iso], "dmg": [dmg], "rpm": [b"\xed\xab\xee\xdb"],
            "arj": [b"\x60\xea\x29\x00\x1e" + bytes(60)], "ace": [bytes(7) + b"**ACE**"],
            "lha": [b"\x20\0-lh5-" + bytes(40)], "xar": [b"xar!\0\x1c"], "chm": [b"ITSF\3\0\0\0"],
            "ole2": [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)],
            "pdf": [b"%PDF-1.4\n1 0 obj\n", b"\0\1\2junk\n%PDF-1.7\n"], "rtf": [b"{\\rtf1 a}"],
            "mail": [b"Received: from a\nSubject: b\n\nc\n", b"From a@b Thu Jan  1\nTo: c\n\nd\n",
                     b"MIME-Version: 1.0\n\n", b"X-Odd: a\n b\r\nContent-type: text/html\r\n\r\n"],
            "pkcs7": [b"\x30\x80\6\x09\x2a\x86\x48\x86\xf7\x0d\1\7\2" + bytes(40)],
            "tnef": [b"\x78\x9f\x3e\x22\1\0"], "uuencode": [b"begin 644 a\n#86%A\n`\nend\n"],
            "office xml": [b'<?xml version="1.0"?>\n<?mso-application progid="Word.Document"?>\n'],
        }

    def test_lines_summary_and_json_say_it(self):
        files = {}
        for kind, contents in self.types().items():
            for i, content in enumerate(contents):
                files[self.path(f"{kind}{i}", content)] = kind
        plain = [self.path("text", b"PK is no zip, and %PDF- is only mentioned\n"),
                 self.path("http", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx"),
                 self.path("fields", b"name: a\nsubject: b\n"),
                 self.path("list", b"Content-Type: text/html\nand more text\n"),
                 self.path("program", b"\x7fELF" + bytes(100)), self.path("zeros", bytes(70000))]
        result = self.scan(*files, *plain)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.decode().split("\n\n")[0].splitlines()
        whole = {line.removesuffix(": OK") for line in lines if line.endswith(": OK")}
        for line, (path, kind) in zip(lines, files.items()):
            if path not in whole:
                self.assertRegex(line, f"^{path}: INCOMPLETE [(]{kind}: ")
        self.assertLessEqual(set(plain), whole)
        left = [path for path in files if path not in whole]
        self.assertIn(f"Files not fully opened: {len(left)} ", result.stdout.decode())
        rows = [json.loads(line) for line in
                self.scan("--json", "--no-summary", *files, *plain).stdout.splitlines()]
        self.assertEqual({row["path"] for row in rows if "not_opened" in row}, set(left))
        self.assertEqual({row["result"] for row in rows}, {"ok", "incomplete"})
        quiet = self.scan("-o", "--no-summary", *files, *plain).stdout.decode().splitlines()
        self.assertEqual(quiet, [line for line in lines if not line.endswith(": OK")])
        self.assertEqual(self.scan("-i", "--no-summary", *files, *plain).stdout, b"")
        self.assertIn("not fully opened", sluice("scan", "--help").stdout.decode())

    def test_nothing_is_opened_where_options_say_so(self):
        path = self.path("a.gz", gzip.compress(b"hello world"))
        asked = self.scan("--no-summary", "--scan-archive=no", path)
        self.assertEqual((asked.returncode, asked.stdout.decode()),
                         (0, f"{path}: INCOMPLETE (gz: not opened, as asked)\n"))

    def test_of_any_length_and_from_pipes(self):
        large = gzip.compress(random.Random(1).randbytes(9 << 20) + b"hello world")
        self.assertTrue(self.scan("--no-summary", self.path("large", large)).stdout
                        .endswith(b": World.UNOFFICIAL FOUND\n"))
        result = self.scan("--no-summary", "-", stdin=None, input=large)
        self.assertEqual(result.stdout, b"stdin: World.UNOFFICIAL FOUND\n")
        result = self.scan("--no-summary", "-", stdin=None, input=large[:-100])
        self.assertEqual(result.stdout, b"stdin: INCOMPLETE (gz: cut or damaged)\n")
        image = bytes(0x8001) + b"CD001" + bytes(9 << 20)
        self.assertIn(b": INCOMPLETE (iso: ",
                      self.scan("--no-summary", self.path("image", image)).stdout)


class Opened(case.Case):
    """What lies in archives."""

    def setUp(self):
        super().setUp()
        self.database = self.path("a.ndb", b"World:0:*:776f726c64\n")

    def result(self, content, *options):
        path = self.path("container", content)
        result = sluice("scan", "-d", self.database, "--no-summary", *options, path)
        return result.returncode, result.stdout.decode().removeprefix(f"{path}: ").strip()

    def each(self, contents, *options):
        """What one start says of each: sanitizers make a start slow."""
        paths = [self.path(f"container{i}", content) for i, content in enumerate(contents)]
        result = sluice("scan", "-d", self.database, "--no-summary", *options, *paths)
        lines = result.stdout.decode().splitlines()
        self.assertEqual([line.split(": ", 1)[0] for line in lines], paths, result.stderr)
        said = [line.split(": ", 1)[1] for line in lines]
        self.assertEqual(result.returncode, int(any(one.endswith(" FOUND") for one in said)))
        return said

    def assert_found(self, contents):
        for content, said in zip(contents, self.each(contents)):
            self.assertEqual(said, self.FOUND[1], content)

    FOUND = (1, "World.UNOFFICIAL FOUND")

    @staticmethod
    def zip_of(members, method=zipfile.ZIP_DEFLATED):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return file.getvalue()

    @staticmethod
    def tar_of(content):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as archive:
            member = tarfile.TarInfo("a")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        return file.getvalue()

    def test_each_format(self):
        text = b"hello world " * 10
        contents = (gzip.compress(text), bz2.compress(text), lzma.compress(text),
                    lzma.compress(text, lzma.FORMAT_ALONE), self.tar_of(text),
                    gzip.compress(b"hello ") + gzip.compress(text),
                    *(self.zip_of({"a": text}, method) for method in
                      (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2,
                       zipfile.ZIP_LZMA)),
                    gzip.compress(self.tar_of(self.zip_of({"a": bz2.compress(text)}))))
        self.assert_found([other for content in contents for other in (
            content, content.replace(b"hello", b"Hello"))])

    def test_mail(self):
        text = b"hello world, " * 20
        lines = [text[i:i + 45] for i in range(0, len(text), 45)]
        parts = {"base64": base64.encodebytes(text), "quoted-printable": text.replace(b"o", b"=6F"),
                 "7bit": b"\nbegin 644 a\n" + b"".join(map(binascii.b2a_uu, lines)) + b"`\nend\n",
                 "x-yencode": b"=ybegin line=128 size=260 name=a\n" +
                              bytes((byte + 42) % 256 for byte in text) + b"\n=yend size=260\n"}
        mails = []
        for encoding, body in parts.items():
            head = b"MIME-Version: 1.0\nContent-Transfer-Encoding: " + encoding.encode() + b"\n"
            part = head.split(b"\n", 1)[1] + b"Content-Type: image/png\n\n" + body
            inner = (b'From: a\nContent-Type: multipart/mixed; boundary="x y"\n\nbefore\n'
                     b"--x y\n\nplain\n--x y\n" + part + b"\n--x y--\n")
            outer = (b"From: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed;\n boundary=ab\n\n"
                     b"--ab\nContent-Type: message/rfc822\n\n" + inner + b"\n--ab--\n")
            for mail in (b"From: a\n" + head + b"\n" + body, inner, outer,
                         b"From a\n" + inner + b"\nFrom b\n" + outer):
                mails += [mail, mail.replace(b"\n", b"\r\n")]
        self.assert_found(mails)
        self.assertIn("has no end", self.result(b"From: a\n\nx\nbegin 644 a\n#86%A\n")[1])

    def test_parts_whose_encoding_is_not_what_it_says(self):
        text = base64.encodebytes(b"hello world, " * 20)
        self.assert_found([b"From: a\nMIME-Version: 1.0\n" + head + b"\n" + text for head in (
            b"Content-Transfer-Encoding: 7bit\nContent-Disposition: x; filename=a\n",
            b"Content-Type: image/png; name=a\n",
            b"Content-Transfer-Encoding: unheard-of\n")])

    def test_mail_that_is_its_own_part(self):
        mail = b"not a field\nFrom: a\nMIME-Version: 1.0\nContent-Type: text/plain\n\n"
        self.assertEqual(self.result(mail), (0, "OK"))
        self.assertEqual(self.result(mail + b"world"), self.FOUND)

    def test_a_part_that_begins_with_an_empty_line(self):
        """ClamAV has what follows its first lines alone."""
        content = (b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst line\n\n"
                   b"later line\n--b--\n")
        for text in (b"later line\n", b"first line\n\nlater line\n"):
            self.database = self.path("a.hdb", b"%s:%d:World\n" % (
                hashlib.md5(text).hexdigest().encode(), len(text)))
            self.assertEqual(self.result(content), self.FOUND, text)

    def test_boundaries(self):
        text = base64.b64encode(b"hello world")
        part = b"\nContent-Transfer-Encoding: base64\n\n" + text + b"\n"
        head = b'From: a\nContent-Type: multipart/mixed; boundary="%s"\n\n'
        for boundary in (b"", b"x"):
            mail = head % boundary + b"--" + boundary + part + b"--" + boundary
            self.assertEqual(self.result(mail), self.FOUND, mail)
        rest = head % b"x" + b"--x\n\na\n--x--\n\nlast"
        for digest, result in ((b"last\n", self.FOUND), (b"\nlast\n", (0, "OK"))):
            self.database = self.path("a.hdb", b"%s:%d:World\n" % (
                hashlib.md5(digest).hexdigest().encode(), len(digest)))
            self.assertEqual(self.result(rest), result)

    def test_scripts(self):
        script = b"<html><script>var first = 'wo' + 'r' /* x */ + 'LD'; use(first)</script>"
        self.assertEqual(self.result(script), self.FOUND)
        self.database = self.path("b.ndb", b"World:3:*:757365286e30303029\n")  # use(n000)
        self.assertEqual(self.result(script), self.FOUND)

    def test_limits_of_normal_forms(self):
        """The length that is a limit is within it, as for clamscan. 0 is no limit."""
        html = b"<html><b>HELLO</b> World<script>var a = \"Of Scripts\";</script></html>"
        text = b"A TEXT of  blanks\n"
        forms = {"Tags": b"<b>hello</b>", "Text": b"hello world", "Script": b"of scripts",
                 "Blanks": b"a text of blanks"}
        self.database = self.path("a.ndb", b"".join(
            b"%s:0:*:%s\n" % (name.encode(), form.hex().encode()) for name, form in forms.items()))

        def found(content, option):
            said = self.result(content, "-z", option)[1].replace(".UNOFFICIAL FOUND", "")
            return sorted(set(re.findall(r"(?:^|: )(\w+)$", said, re.MULTILINE)))

        every = ["Script", "Tags", "Text"]
        for content, option, within, above in (
                (html, "--max-htmlnormalize", every, ["OK"]),
                (html, "--max-htmlnotags", every, ["Script", "Tags"]),
                (text, "--max-scriptnormalize", ["Blanks"], ["OK"])):
            for limit, names in ((0, within), (len(content), within), (len(content) - 1, above)):
                self.assertEqual(found(content, f"{option}={limit}"), names, (option, limit))

    def test_documents_that_need_no_password(self):
        text = b"hello world " * 10
        for revision, bits in ((2, 40), (3, 128), (3, 40)):
            self.assertEqual(self.result(locked_documents.pdf_rc4(revision, bits, text)),
                             self.FOUND)
            self.assertEqual(
                self.result(locked_documents.pdf_rc4(revision, bits, text, b"a password")),
                (0, "INCOMPLETE (pdf: encrypted)"))

    @unittest.skipIf(shutil.which("openssl") is None, "the command openssl makes the documents")
    def test_documents_of_aes_that_need_no_password(self):
        text = b"hello world " * 10
        for revision in (4, 5, 6):
            self.assertEqual(self.result(locked_documents.pdf_aes(revision, text)), self.FOUND)
            self.assertEqual(
                self.result(locked_documents.pdf_aes(revision, text, b"a password")),
                (0, "INCOMPLETE (pdf: encrypted)"))
        document = self.zip_of({"a": text})
        for bits in (128, 192, 256):
            self.assertEqual(self.result(locked_documents.office(bits, document)), self.FOUND)
            self.assertEqual(self.result(locked_documents.office(bits, document, "another")),
                             (0, "INCOMPLETE (ole2: encrypted)"))

    def test_documents(self):
        text = b"hello world " * 10
        packed = zlib.compress(text)
        native = (struct.pack("<IH", 0, 2) + b"a\0b\0" + bytes(8) + b"c\0" +
                  struct.pack("<I", len(text)) + text)
        rtf = (struct.pack("<II", 0x501, 2) + struct.pack("<I", 2) + b"P\0" + bytes(8) +
               struct.pack("<I", len(native)) + native)
        contents = (
            b"%PDF-1.4\n1 0 obj<</Filter/FlateDecode/Length 9>>stream\n" + packed +
            b"\nendstream endobj\n",
            b"%PDF-1.4\n1 0 obj<</Filter[/AHx/Fl]>>stream\n" + binascii.hexlify(packed) +
            b">\nendstream endobj\n",
            b"%PDF-1.4\n1 0 obj<</Filter/ASCII85Decode>>stream\n" + base64.a85encode(text) +
            b"~>\nendstream endobj\n",
            b"%PDF-1.4\n1 0 obj<</S/JavaScript/JS(w\\157rld)>> endobj\n",
            b"CWS\x08" + struct.pack("<I", 8 + len(text)) + packed,
            b"{\\rtf1{\\object{\\*\\objdata " + binascii.hexlify(rtf) + b"}}}",
            b"<html><body>hello w&#111;r&#x6C;d</body></html>", b"<html>WOR<!-- x -->LD",
            b"not yet a WORLD\n", b"\xff\xd8\xff" + self.zip_of({"a": text}))
        for content in contents:
            self.assertNotIn(b"world", content)
        self.assert_found(contents)
        self.assertIn("encrypted", self.result(b"%PDF-1.4\ntrailer<</Encrypt 1 0 R>>")[1])

    def test_a_damaged_stream_of_a_pdf(self):
        def pdf(packed):
            return (b"%PDF-1.4\n1 0 obj<</Filter/FlateDecode/Length 9>>stream\n" + packed +
                    b"\nendstream endobj\n")

        packed = zlib.compress(b"hello world")
        self.assertEqual(self.result(pdf(packed[:-4] + bytes(4))), self.FOUND)  # the checksum
        packer = zlib.compressobj()
        begin = packer.compress(b"hello w0rld") + packer.flush(zlib.Z_FULL_FLUSH)
        self.assertEqual(self.result(pdf(begin + b"\7")),  # a block of no type
                         (0, "INCOMPLETE (pdf: a stream is damaged)"))

    def test_what_lies_behind_and_between(self):
        text = b"hello world " * 10
        hidden = self.zip_of({"a": text})
        local = hidden[:hidden.index(b"PK\1\2")]
        plain = self.zip_of({"b": b"plain " * 20})
        at = plain.index(b"PK\1\2")
        end = plain.index(b"PK\5\6")
        between = (plain[:at] + local + plain[at:end + 16] + struct.pack("<I", at + len(local)) +
                   plain[end + 20:])
        cab = b"MSCF" + bytes(4) + struct.pack("<I", 36) + bytes(12) + b"\3\1" + bytes(10)
        head = bytearray(self.tar_of(gzip.compress(text)))
        head[156:157] = b"D"  # a type that readers may take for a file
        head[148:156] = b"%06o\0 " % (sum(head[:148]) + sum(head[156:512]) + 8 * 32)
        said = hidden.index(b"PK\1\2")
        contents = (*(begin + hidden for begin in (
                        gzip.compress(b"x"), bz2.compress(b"x"), lzma.compress(b"x"),
                        self.tar_of(b"x"), cab, b"\x7fELF" + bytes(60), b"%PDF-1.4\n",
                        b"<html>x</html>", b"x\n", b"FWS\5\x0c\0\0\0abcd",
                        b"{\\rtf1}", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(24))),
                    between, plain + hidden, hidden + plain,
                    lzma.compress(b"x") + bytes(4) + lzma.compress(text),
                    bz2.compress(b"x") + bz2.compress(text), bytes(head),
                    hidden[:said + 10] + b"\0\0" + hidden[said + 12:],  # stored, it says
                    hidden[:said + 20] + b"\1" + hidden[said + 21:])    # of one byte
        for content in contents:
            self.assertNotIn(b"world", content)
        self.assert_found(contents)

    def test_lha_and_arj(self):
        bits = "".join(f"0{byte:08b}" for byte in b"hello world ")  # ARJ's method 4: literals
        packed = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
        header = bytearray(30) + b"a\0\0"
        header[0], header[5], header[12:20] = 30, 4, struct.pack("<II", len(packed), 12)
        begin = b"\x60\xea" + struct.pack("<H", len(header))
        arj = (begin + bytes([30]) + bytes(5) + b"\2" + bytes(23) + b"a\0\0" + bytes(6) + begin +
               header + bytes(6) + packed + b"\x60\xea\0\0")
        lzs = int("".join(f"1{byte:08b}" for byte in b"hello world") + "0" * 13, 2)
        lzs = lzs.to_bytes(14, "big")
        head = b"-lzs-" + struct.pack("<II", len(lzs), 11) + bytes(4) + b" \0\1a" + bytes(2)
        lha = bytes([len(head), sum(head) % 256]) + head + lzs + b"\0"
        self.assertNotIn(b"world", arj + lha)
        for content in (arj, lha, *(b"x" * n + arj for n in (1, 1022, 1023, 1024, 1025, 5000))):
            self.assertEqual(self.result(content), self.FOUND)
        self.assertIn("INCOMPLETE", self.result(lha[:-5])[1])

    @staticmethod
    def seven_zip(folders, names, packed_header=False):
        """An archive whose folders are (coders, bytes as packed, streams)."""
        def number(n):
            return bytes([0xC0 | n >> 16, n & 0xFF, n >> 8 & 0xFF]) if n > 127 else bytes([n])

        def streams(at, folders):
            info = b"\6" + number(at) + number(len(folders)) + b"\x09"
            info += b"".join(number(len(packed)) for _, packed, _ in folders) + b"\0\7\x0b"
            info += number(len(folders)) + b"\0"
            for coders, _, _ in folders:
                info += number(len(coders))
                for code, properties in coders:
                    info += bytes([len(code) | 0x20]) + code + number(len(properties)) + properties
                info += b"".join(bytes([i, i + 1]) for i in range(len(coders) - 1))
            info += b"\x0c" + b"".join(number(sum(map(len, parts))) for coders, _, parts in folders
                                      for _ in coders) + b"\0\x08\x0d"
            info += b"".join(number(len(parts)) for _, _, parts in folders) + b"\x09"
            info += b"".join(number(len(part)) for _, _, parts in folders for part in parts[:-1])
            parts = [part for _, _, parts in folders for part in parts]
            info += b"\x0a\1" + b"".join(struct.pack("<I", zlib.crc32(part)) for part in parts)
            return info + b"\0\0"

        text = b"\0" + b"".join(name.encode("utf-16-le") + b"\0\0" for name in names)
        header = (b"\1\4" + streams(0, folders) + b"\5" + number(len(names)) + b"\x11" +
                  number(len(text)) + text + b"\0\0")
        body = b"".join(packed for _, packed, _ in folders)
        if packed_header:
            packed = Opened.lzma_raw(header, [{"id": lzma.FILTER_LZMA1}])
            body, header = body + packed, b"\x17" + streams(
                len(body), [([(b"\3\1\1", LZMA1_PROPERTIES)], packed, [header])])
        place = struct.pack("<QQI", len(body), len(header), zlib.crc32(header))
        return (b"7z\xbc\xaf\x27\x1c\0\4" + struct.pack("<I", zlib.crc32(place)) + place + body +
                header)

    @staticmethod
    def lzma_raw(content, filters):
        filters = filters[:-1] + [filters[-1] | {"dict_size": 1 << 16}]
        return lzma.compress(content, lzma.FORMAT_RAW, filters=filters)

    def test_7z(self):
        parts = [b"first " * 20, b"hello world " * 10, b"\xe8\1\0\0\0" * 30]
        text = b"".join(parts)
        lzma1, lzma2 = {"id": lzma.FILTER_LZMA1}, {"id": lzma.FILTER_LZMA2}
        x86, delta = {"id": lzma.FILTER_X86}, {"id": lzma.FILTER_DELTA, "dist": 4}
        one, two = (b"\3\1\1", LZMA1_PROPERTIES), (b"\x21", b"\x08")
        names = ["a", "b \U0001d11e", "c"]
        self.database = self.path("a.hdb", "".join(
            f"{hashlib.md5(part).hexdigest()}:{len(part)}:{name[0]}\n"
            for part, name in zip(parts, names)).encode())
        for i, (coders, packed) in enumerate((
                ([(b"\0", b"")], text), ([one], self.lzma_raw(text, [lzma1])),
                ([two], self.lzma_raw(text, [lzma2])),
                ([(b"\3\3\1\3", b""), two], self.lzma_raw(text, [x86, lzma2])),
                ([(b"\3\3\1\3", b""), one], self.lzma_raw(text, [x86, lzma1])),
                ([(b"\3\3\1\3", b""), (b"\3", b"\3"), two],
                 self.lzma_raw(text, [x86, delta, lzma2])),
                ([(b"\4\1\x08", b"")], zlib.compress(text)[2:-4]),
                ([(b"\4\2\2", b"")], bz2.compress(text)))):
            archive = self.seven_zip([(coders, packed, parts)], names, i % 2 == 1)
            found = self.result(archive, "-z")[1]
            self.assertEqual(re.findall("([abc])[.]UNOFFICIAL FOUND", found), list("abc"), coders)
        self.database = self.path("a.cdb", b"B:CL_TYPE_7Z:*:^b \xf0\x9d\x84\x9e$:0:120:0:1:*:*\n")
        self.assertEqual(self.result(archive), (1, "B.UNOFFICIAL FOUND"))
        self.database = self.path("a.ndb", b"World:0:*:776f726c64\n")
        copy = [(b"\0", b"")]
        several = self.seven_zip([(copy, b"one", [b"one"]), (copy, b"two" + text, [b"two", text])],
                                 names)
        self.assertEqual(self.result(several), self.FOUND)
        self.assertEqual(self.result(several.replace(b"first", b"First")), self.FOUND)
        self.assertEqual(self.result(self.seven_zip([(copy, text, parts)], names[:1])), self.FOUND)
        self.assertEqual(self.result(several.replace(b"world", b"World")),
                         (0, "INCOMPLETE (7z: a member is damaged)"))
        for said in self.each([archive[:end] for end in range(7, len(archive), 30)]):
            self.assertIn("INCOMPLETE (7z: ", said)
        clean = several.replace(b"world", b"World")
        for said in self.each([clean[:at] + bytes([clean[at] ^ 0x41]) + clean[at + 1:]
                               for at in range(32 + 6 + len(text), len(clean), 25)]):
            self.assertNotEqual(said, "OK")

    def test_sections_of_7z_stand_once(self):
        """A header of many would cost the product of their number and that of folders."""
        def archive(header):
            place = struct.pack("<QQI", 11, len(header), zlib.crc32(header))
            return (b"7z\xbc\xaf\x27\x1c\0\4" + struct.pack("<I", zlib.crc32(place)) + place +
                    b"hello world" + header)

        streams = b"\6\0\1\x09\x0b\0\7\x0b\1\0\1\x21\0\0\x0c\x0b\0"
        files = b"\5\1\x11\5\0a\0\0\0\0"
        self.assertEqual(self.result(archive(b"\1\4" + streams + b"\x08\0\0" + files + b"\0")),
                         self.FOUND)
        for header in (b"\1\0", b"\1\4" + streams + b"\x08\0\x08\0\0" + files + b"\0",
                       b"\1\4" + streams + b"\0\4\0" + files + b"\0",
                       b"\1\4" + streams + b"\0" + files + files + b"\0"):
            content = archive(header).replace(b"hello", b"later").replace(b"world", b"w0rld")
            self.assertIn("INCOMPLETE (7z: ", self.result(content)[1], header)

    @staticmethod
    def imploded(first, distance, length, last, flags):
        """Bytes, a match, and bytes, in codes whose symbols all have one length."""
        def code(symbol, n):
            return f"{symbol ^ ((1 << n) - 1):0{n}b}"

        def number(value, n):
            return f"{value:0{n}b}"[::-1]

        def text(content):
            return "".join("1" + (code(byte, 8) if flags & 4 else number(byte, 8))
                           for byte in content)

        least, low = 3 if flags & 4 else 2, 7 if flags & 2 else 6
        bits = text(first) + "0" + number((distance - 1) & ((1 << low) - 1), low)
        bits += code((distance - 1) >> low, 6) + code(min(length - least, 63), 6)
        bits += number(length - least - 63, 8) if length - least >= 63 else ""
        bits += text(last)
        bits += "0" * (-len(bits) % 8)
        trees = (b"\x0f" + b"\xf7" * 16 if flags & 4 else b"") + (b"\3" + b"\xf5" * 4) * 2
        return trees + bytes(int(bits[at:at + 8][::-1], 2) for at in range(0, len(bits), 8))

    def test_imploded_members(self):
        lines, archives = b"", []
        for flags in (0, 2, 4, 6):
            for distance, length in ((6, 5), (1, 2 + (flags >> 2)), (7, 100), (200, 64)):
                first, last = b"a hello wor", b"ld"
                plain = bytearray(first)
                for _ in range(length):
                    plain.append(plain[-distance] if distance <= len(plain) else 0)
                plain += last
                packed = self.imploded(first, distance, length, last, flags)
                archive = bytearray(self.zip_of({"a": packed}, zipfile.ZIP_STORED))
                for at, place in ((0, 6), (archive.index(b"PK\1\2"), 8)):
                    struct.pack_into("<HH", archive, at + place, flags, 6)
                    struct.pack_into("<I", archive, at + place + 16, len(plain))
                lines += b"%s:%d:World\n" % (hashlib.md5(plain).hexdigest().encode(), len(plain))
                archives.append(bytes(archive))
        self.database = self.path("a.hdb", lines)
        self.assert_found(archives)
        self.database = self.path("a.ndb", b"Other:0:*:6162636465\n")
        struct.pack_into("<I", archive, 22, len(plain) + 1)
        struct.pack_into("<I", archive, archive.index(b"PK\1\2") + 24, len(plain) + 1)
        self.assertEqual(self.result(archive), (0, "INCOMPLETE (zip: a member is cut or damaged)"))
        self.assertEqual(self.result(archive.replace(packed[:1], b"\xff")),
                         (0, "INCOMPLETE (zip: a member is damaged, or its method is not known)"))

    def test_installers_of_nsis(self):
        text = b"hello world " * 10
        raw = self.lzma_raw(text, [{"id": lzma.FILTER_LZMA1}])
        packed = LZMA1_PROPERTIES + raw
        deflated = zlib.compress(text)[2:-4]
        mark = bytes(4) + b"\xef\xbe\xad\xdeNullsoftInst" + struct.pack("<I", 9)

        def installer(body):
            return b"MZ" + bytes(510) + mark + struct.pack("<I", 32 + len(body)) + body + bytes(4)

        def block(content, bit=1 << 31):
            return struct.pack("<I", len(content) | bit) + content

        solid = block(b"first", 0) + block(text, 0)
        for body in (block(packed) + block(packed), block(deflated), zlib.compress(solid)[2:-4],
                     LZMA1_PROPERTIES + self.lzma_raw(solid, [{"id": lzma.FILTER_LZMA1}])):
            self.assertEqual(self.result(installer(body)), self.FOUND, body)
        cut = installer(block(packed))[:-20]
        self.assertIn("INCOMPLETE (nsis: ", self.result(cut.replace(b"w", b"W"))[1])

    def test_small_sectors_behind_those_that_are_cut_off(self):
        """The first sector of small ones lies behind the end of the file, the second one in it."""
        end, text = 0xfffffffe, b"hello world"

        def entry(name, kind, begin, length):
            spelled = (name + "\0").encode("utf-16-le")
            return (spelled.ljust(64, b"\0") + struct.pack("<HBB3I", len(spelled), kind, 1,
                                                           *[0xffffffff] * 3) +
                    bytes(36) + struct.pack("<IQ", begin, length))

        head = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) +
                struct.pack("<5H6xII", 62, 3, 0xfffe, 9, 6, 0, 1) +
                struct.pack("<I4x5I", 1, 4096, 2, 1, end, 0))
        document = (head + struct.pack("<I", 0) + b"\xff" * 432 +
                    struct.pack("<6I", 0xfffffffd, end, end, end, end, 3).ljust(512, b"\xff") +
                    (entry("Root", 5, 5, 1024) + entry("A", 2, 8, 11)).ljust(512, b"\0") +
                    struct.pack("<9I", *[0xffffffff] * 8, end).ljust(512, b"\xff") +
                    text.ljust(512, b"\0"))
        self.assertEqual(self.result(document), self.FOUND)
        self.database = self.path("a.hdb", hashlib.md5(text).hexdigest().encode() + b":11:World\n")
        self.assertEqual(self.result(document), self.FOUND)
        self.assertEqual(self.result(document.replace(b"hello", b"he11o")),
                         (0, "INCOMPLETE (ole2: a stream is cut)"))

    def test_records_of_workbooks(self):
        """ClamAV's list: a line for each record, of a workbook with macros or pictures alone."""
        def record(kind, content=b""):
            return struct.pack("<HH", kind, len(content)) + content

        def workbook(*records):
            book = b"".join(records).ljust(4096, b"\0")
            return locked_documents.ole2([("Workbook", book), ("Other", bytes(4096))])

        sheet = record(0x85, bytes(4) + b"\2\1\1\0A")
        lines = ((b"0085      9   BOUNDSHEET : Sheet Information - Excel 4.0 macro sheet, "
                  b"very hidden\n"),
                 b"0018     18   LABEL : Cell Value, String Constant - abc\n",
                 b"0018     16   LABEL : Cell Value, String Constant - built-in-name 1 auto_open\n",
                 b"0082      2   GRIDSET : State Change of Gridlines Option\n",
                 b"0fff      0   <unknown>\n")
        others = (record(0x18, bytes(15) + b"abc"), record(0x18, b"\x20" + bytes(14) + b"\1"),
                  record(0x82, bytes(2)), record(0xfff))
        for line in lines:
            self.database = self.path("a.ndb", b"World:0:*:" + binascii.hexlify(line) + b"\n")
            self.assertEqual(self.each([workbook(sheet, *others), workbook(*others)]),
                             [self.FOUND[1], "OK"], line)
        picture = record(0xeb, bytes(8))
        self.assertEqual(self.result(workbook(*others, picture)), self.FOUND)

    def test_hwp(self):
        head = b"HWP Document File V3.00 \x1a\1\2\3\4\5" + bytes(124) + b"\1\0\2\0" + bytes(1010)
        packed = zlib.compress(b"hello world " * 10)[2:-4]
        self.assertEqual(self.result(head + packed), self.FOUND)
        self.assertEqual(self.result(head + packed, "--scan-hwp3=no"),
                         (0, "INCOMPLETE (hwp: not opened, as asked)"))
        self.assertEqual(self.result(head + packed, "--scan-archive=no"), self.FOUND)
        self.assertEqual(self.result(head + zlib.compress(b"another " * 10)[2:-9]),
                         (0, "INCOMPLETE (hwp: cut or damaged)"))
        for flags, expected in ((1, self.FOUND), (3, (1, "Heuristics.Encrypted.OLE2 FOUND")),
                                (5, (1, "Heuristics.Encrypted.OLE2 FOUND"))):
            header = b"HWP Document File".ljust(36, b"\0") + bytes([flags])
            text = packed if flags == 1 else bytes(packed)[::-1]
            document = locked_documents.ole2([("FileHeader", header.ljust(4096, b"\0")),
                                              ("Section0", text.ljust(4096, b"\0"))])
            self.assertEqual(self.result(document, "--alert-encrypted-doc"), expected, flags)

    def test_onenote(self):
        form = bytes.fromhex("3fdd9a101b91f549a5d01791edc8aed8")
        mark = bytes.fromhex("e716e3bd65261145a4c48d4d0b7a9eac")
        kind = bytes.fromhex("e4525c7b8cd8a74daeb15378d02996d3")

        def document(form, *files):
            return kind + bytes(32) + form + bytes(960) + b"".join(
                mark + struct.pack("<QIQ", len(file) + more, 0, 0) + file for file, more in files)

        packed = zlib.compress(b"hello world")
        swf = b"CWS\x09" + struct.pack("<I", 19) + packed
        other = b"CWS\x09" + struct.pack("<I", 19) + zlib.compress(b"hello other")
        self.assertEqual(self.result(document(form, (other, 0), (swf, 0))), self.FOUND)
        self.assertEqual(self.result(document(form, (other, 0))), (0, "OK"))
        self.assertEqual(self.result(document(form, (other, 0), (other, 1))),
                         (0, "INCOMPLETE (onenote: a file in it is cut)"))
        self.assertEqual(self.result(document(form) + mark + bytes(8)),
                         (0, "INCOMPLETE (onenote: a file in it is cut)"))
        self.assertEqual(self.result(document(kind, (other, 0))),
                         (0, "INCOMPLETE (onenote: not of a form that is known)"))

    def test_xar(self):
        """The second member has its own bytes alone."""
        members = [b"first " * 20, b"second " * 20]
        toc, at = "<?xml version='1.0'?><xar><toc>", 0
        for i, content in enumerate(members):
            toc += (f"<file id='{i}'><name>{i}</name><type>file</type><data>"
                    f"<length>{len(content)}</length><offset>{at}</offset>"
                    f"<size>{len(content)}</size><encoding style='application/octet-stream'/>"
                    "</data></file>")
            at += len(content)
        toc = (toc + "</toc></xar>").encode()
        packed = zlib.compress(toc)
        archive = (b"xar!" + struct.pack(">HHQQI", 28, 1, len(packed), len(toc), 0) + packed +
                   b"".join(members))
        for content in members + [toc]:
            self.database = self.path("a.hdb", b"%s:%d:World\n" % (
                hashlib.md5(content).hexdigest().encode(), len(content)))
            self.assertEqual(self.result(archive), self.FOUND, content)
        self.database = self.path("a.ndb", b"World:0:*:776f726c64\n")
        damaged = self.result(archive.replace(packed, packed[:-1] + b"!"))
        self.assertEqual(damaged, (0, "INCOMPLETE (xar: its table of contents is cut or damaged)"))

    def test_iso(self):
        """A member that says a length, and has no place in the image, is no empty one."""
        def both(n):
            return struct.pack("<I", n) + struct.pack(">I", n)

        def record(name, extent, length, flags, more=b""):
            text = bytes([0]) + both(extent) + both(length) + bytes(7) + bytes([flags, 0, 0])
            text += struct.pack("<HH", 1, 256) + bytes([len(name)]) + name + more
            text += bytes(1 - len(text) % 2)
            return bytes([len(text) + 1]) + text

        def image(*member, more=b""):
            volume = b"\1CD001\1".ljust(80, b"\0") + both(24) + bytes(32)
            volume += struct.pack("<HH", 1, 256) * 2 + struct.pack("<HH", 2048, 8) + both(10)
            volume += struct.pack("<II", 18, 0) + struct.pack(">II", 19, 0)
            volume = (volume + record(b"\0", 20, 2048, 2)).ljust(881, b"\0") + b"\1"
            root = record(b"\0", 20, 2048, 2, b"SP\7\1\xbe\xef\0PD\5\1\0" if more else b"")
            root += record(b"\1", 20, 2048, 2) + record(b"A", *member, more)
            sectors = [volume, b"\xffCD001\1", b"", b"", root, b"hello world", b"", b""]
            return bytes(16 * 2048) + b"".join(one.ljust(2048, b"\0") for one in sectors)

        packed = b"PD\5\1\0ZF\x10\1pz\4\x0f" + both(99999)
        self.database = self.path("a.cdb", b"World:CL_TYPE_ISO9660:*:^A$:*:11:*:*:*:*\n")
        self.assertEqual(self.result(image(21, 11, 0)), self.FOUND)
        self.database = self.path("a.ndb", b"Other:0:*:6162636465\n")
        self.assertEqual(self.result(image(21, 11, 0)), (0, "OK"))
        self.database = self.path("a.cdb", b"World:CL_TYPE_ISO9660:*:^A$:*:11:0:*:*:*\n")
        name = b"NM\7\1\0no"  # clamscan knows no names of Rock Ridge
        self.assertEqual(self.result(image(21, 11, 0, more=name)), self.FOUND)
        self.database = self.path("a.cdb", b"World:CL_TYPE_ISO9660:*:^no$:*:11:0:*:*:*\n")
        self.assertEqual(self.result(image(21, 11, 0, more=name)), self.FOUND)
        self.database = self.path("a.ndb", b"Other:0:*:6162636465\n")
        for flags in (0, 2):
            result = self.result(image(23, 0, flags, more=packed))
            self.assertIn("INCOMPLETE (iso: a member ", result[1], flags)

    def test_objects_share_no_bytes(self):
        self.assertEqual(self.result(self.zip_of({"a": b"hello wor", "b": b"ld"})), (0, "OK"))

    def test_content_that_returns(self):
        """What was clean is not scanned again; all else is as without the cache."""
        contents, places = {}, set()
        while len(places) < 6:  # a thread remembers one content of each third byte of a digest
            clean, found = (self.zip_of({"a": os.urandom(3000), "b": word})
                            for word in (b"clean", b"world"))
            mail = b"From: a\nMIME-Version: 1.0\n\nhello\n"
            contents = {"clean": clean, "found": found, "cut": clean[:2000], "mail": mail,
                        "text": b"nothing " * 100, "other": self.zip_of({"a": b"other"})}
            places = {hashlib.sha256(content).digest()[2] for content in contents.values()}
        paths = [self.path(f"{name}{i}", content)
                 for i in range(3) for name, content in contents.items()]
        one = ["--threads", "1"]
        for options in (one, [*one, "-z"], [], ["--max-files", "1"]):
            said = [sluice("scan", "-d", self.database, "--json", *options, *more, *paths)
                    .stdout.splitlines() for more in ([], ["--disable-cache"])]
            self.assertEqual(said[0][:-1], said[1][:-1])
            first, second = (json.loads(lines[-1])["summary"] for lines in said)
            self.assertEqual(second.pop("repeated"), 0)
            repeated = first.pop("repeated")
            if one[0] in options:  # threads may have scanned the same at a time
                self.assertEqual(repeated, 6, options)
            first["seconds"] = second["seconds"]
            self.assertEqual(first, second)

    def test_limits(self):
        content = b"world"
        for _ in range(16):
            content = gzip.compress(content)
        self.assertEqual(self.result(content), self.FOUND)
        deeper, limit = gzip.compress(content), "Heuristics.Limits.Exceeded.MaxRecursion"
        self.assertEqual(self.result(deeper), (0, f"INCOMPLETE ({limit}: not scanned to its end)"))
        self.assertEqual(self.result(deeper, "--alert-exceeds-max"), (1, f"{limit} FOUND"))
        self.assertEqual(self.result(deeper, "--max-recursion=18"), self.FOUND)
        for content, n in ((b"123456", 11), (b"12345", 10)):  # clamscan does not count tiny ones
            many = self.zip_of({str(i): content for i in range(9)} | {"last": b"world"})
            self.assertEqual(self.result(many, f"--max-files={n}"), self.FOUND)
            self.assertIn("MaxFiles", self.result(many, f"--max-files={n - 1}")[1])
        bomb = gzip.compress(bytes(3 << 20) + b"world")
        self.assertEqual(self.result(bomb), self.FOUND)
        self.assertIn("MaxFileSize", self.result(bomb, "--max-filesize=1M")[1])

    def test_a_copy_in_another_file_is_no_copy(self):
        content = bytes(1000) + b"world"
        files = [self.path(name, pack(content)) for name, pack in (
            ("a.xz", lzma.compress), ("a.bz2", bz2.compress), ("a.gz", gzip.compress),
            ("a.lzma", lambda text: lzma.compress(text, lzma.FORMAT_ALONE)))]
        for first in files:  # each kind behind each other one, at odd and even places
            paths = [file for second in files for file in (first, second, first)]
            result = sluice("scan", "-d", self.database, "--threads", "1", "--no-summary", *paths)
            self.assertEqual(result.stdout.decode().splitlines(),
                             [file + ": World.UNOFFICIAL FOUND" for file in paths])

    def test_content_as_long_as_a_limit_is_opened(self):
        length = 100000 if case.is_sanitized(SLUICE) else 400000
        content = bytes(random.choices(b"ab", k=length)) + b"world"
        for pack in (lzma.compress, bz2.compress, gzip.compress,
                     lambda text: self.zip_of({"a": text}),
                     lambda text: lzma.compress(text, lzma.FORMAT_ALONE)):
            packed = pack(content)
            for more in (-1, 0, 100000):
                limit = len(packed) + len(content) + more
                result = self.result(packed, f"--max-scansize={limit}", "--max-filesize=0")
                self.assertEqual(result == self.FOUND, more >= 0, (packed[:4], more, result))

    def test_a_bomb_of_copies_is_opened_once(self):
        content = hostile_scan.copies(bytes(16 << 10) + b"world", levels=4)
        self.assertEqual(self.result(content), self.FOUND)
        self.database = self.path("a.ndb", b"Other:0:*:6162636465\n")
        self.assertEqual(self.result(content), (0, "OK"))
        self.database = self.path("a.ldb", b"Is;Engine:51-255,Target:0,Container:CL_TYPE_GZ;0;"
                                           b"776f726c64\n")
        member = b"hello world, hello world"
        both = self.zip_of({"a": member, "b": gzip.compress(member)})
        self.assertEqual(self.result(both), (1, "Is.UNOFFICIAL FOUND"))

    def test_objects_that_clamscan_joins_or_cuts_are_there_too(self):
        """All attachments of a TNEF in one, and the first stream of a .bz2 alone."""
        attachments = [b"hello " * 9, b"world " * 9]
        tnef = b"\x78\x9f\x3e\x22\1\0" + b"".join(
            b"\2" + struct.pack("<HHI", kind, 6, len(content)) + content + bytes(2)
            for one in attachments for kind, content in ((0x9002, bytes(14)), (0x800f, one)))
        streams = bz2.compress(attachments[0]) + bz2.compress(attachments[1])
        for container, objects in ((tnef, [*attachments, b"".join(attachments)]),
                                   (streams, [attachments[0], b"".join(attachments)])):
            for content in objects:
                self.database = self.path("a.hdb", b"%s:%d:World\n" % (
                    hashlib.md5(content).hexdigest().encode(), len(content)))
                self.assertEqual(self.result(container), self.FOUND, content)

    def test_tars_with_maps_and_with_bytes_behind_the_end(self):
        """A sparse file's map may go on behind its header. Damage is neither."""
        def header(name, size, kind=b"0"):
            info = tarfile.TarInfo(name)
            info.size, info.type = size, kind
            return bytearray(info.tobuf(tarfile.GNU_FORMAT))

        sparse = header("a", 600, tarfile.GNUTYPE_SPARSE)
        sparse[482] = 1
        sparse[148:156] = b"%06o\0 " % (sum(sparse[:148]) + 256 + sum(sparse[156:]))
        data, more = bytes(1024), bytes(504) + b"\1" + bytes(7)
        word = header("b", 5) + b"world" + bytes(507)
        self.assertEqual(self.result(sparse + more + bytes(512) + data + word), self.FOUND)
        other = header("b", 5) + b"other" + bytes(507)
        for content, result in ((sparse + more + bytes(512) + data + other, "OK"),
                                (other + bytes(512) + b"\0\0used before" * 50, "OK"),
                                (other + b"\0\0damaged....." * 50, "INCOMPLETE"),
                                (sparse + more, "INCOMPLETE")):
            self.assertTrue(self.result(content)[1].startswith(result), content[:600])

    def test_signatures_of_members_and_of_what_lies_in_containers(self):
        content = self.zip_of({"a.doc": b"hello world", "b": gzip.compress(b"other words here")})
        signatures = (
            ("cdb", "%s:CL_TYPE_ZIP:*:\\.doc$:*:11:0:1:*:*", True),
            ("cdb", "%s:*:*:\\.doc$:*:10-12:*:*:*:*", True),
            ("cdb", "%s:CL_TYPE_7Z:*:\\.doc$:*:*:*:*:*:*", False),
            ("cdb", "%s:*:*:\\.doc$:*:12-20:*:*:*:*", False),
            ("cdb", "%s:*:*:\\.doc$:*:*:1:*:*:*", False),
            ("cdb", "%s:*:*:\\.doc$:*:*:*:2:*:*", False),
            ("ldb", "%s;Engine:51-255,Target:0,Container:CL_TYPE_ZIP;0;776f726c64", True),
            ("ldb", "%s;Engine:51-255,Target:0,Container:CL_TYPE_GZ;0;776f726c64", False),
            ("ldb", "%s;Engine:51-255,Target:0,Container:CL_TYPE_GZ;0;776f726473", True),
            ("ldb", "%s;Engine:51-255,Target:0,Container:CL_TYPE_GZ,"
                    "Intermediates:CL_TYPE_ZIP>CL_TYPE_GZ;0;776f726473", True),
            ("ldb", "%s;Engine:51-255,Target:0,Intermediates:CL_TYPE_ZIP>CL_TYPE_GZ;0;"
                    "776f726473", True),
            ("ldb", "%s;Engine:51-255,Target:0,Intermediates:CL_TYPE_GZ;0;776f726473", True),
            ("ldb", "%s;Engine:51-255,Target:0,Intermediates:CL_TYPE_ZIP;0;776f726473", False),
            ("ldb", "%s;Engine:51-255,Target:0,Intermediates:CL_TYPE_GZ>CL_TYPE_ZIP;0;"
                    "776f726473", False),
            ("ldb", "%s;Engine:51-255,Target:0,Container:CL_TYPE_GZ,"
                    "Intermediates:CL_TYPE_7Z>CL_TYPE_GZ;0;776f726473", False))
        databases = []
        for wanted in ("cdb", "ldb"):
            lines = "".join(line % f"Is{i}" + "\n"
                            for i, (ending, line, _) in enumerate(signatures) if ending == wanted)
            databases += ["-d", self.path("a." + wanted, lines.encode())]
        compiled = self.path("a.sluicedb")
        sluice("scan", *databases, "--force", "--compile", compiled)
        path = self.path("container", content)
        for given in (databases, ["-d", compiled]):
            result = sluice("scan", *given, "-z", "--no-summary", path)
            self.assertEqual(set(re.findall(r": Is(\d+)[.]UNOFFICIAL FOUND",
                                            result.stdout.decode())),
                             {str(i) for i, (_, _, found) in enumerate(signatures) if found})

    def test_what_is_encrypted_or_damaged(self):
        plain = self.zip_of({"a": b"hello world"}, zipfile.ZIP_STORED)
        locked = bytearray(plain.replace(b"world", b"w0rld"))
        locked[6] |= 1
        locked[locked.index(b"PK\1\2") + 8] |= 1
        self.assertEqual(self.result(locked), (0, "INCOMPLETE (zip: encrypted)"))
        self.assertEqual(self.result(locked, "--alert-encrypted"),
                         (1, "Heuristics.Encrypted.Zip FOUND"))
        self.assertEqual(self.result(self.zip_of({"a": locked, "b": b"world"}),
                                     "--alert-encrypted"), self.FOUND)
        self.assertEqual(self.result(self.zip_of({"b": b"world", "a": locked}), "--alert-encrypted",
                                     "--heuristic-scan-precedence"),
                         (1, "Heuristics.Encrypted.Zip FOUND"))
        far = self.zip_of({"b": b"world", "long": os.urandom(3 << 20), "a": locked})
        self.assertEqual(self.result(far, "--alert-encrypted", "--heuristic-scan-precedence"),
                         (1, "Heuristics.Encrypted.Zip FOUND"))
        self.assertEqual(self.result(far, "--alert-encrypted"), self.FOUND)
        self.assertEqual(self.result(self.zip_of({"b": b"world"}), "--alert-encrypted",
                                     "--heuristic-scan-precedence"), self.FOUND)
        hidden = bytearray(self.zip_of({"a": b"w0rld"}))
        for at in (18, hidden.index(b"PK\1\2") + 20):  # the packed length
            hidden[at:at + 4] = bytes(4)
        self.assertEqual(self.result(hidden), (0, "INCOMPLETE (zip: a member has no bytes)"))
        whole = self.zip_of({"a": os.urandom(3000)})
        self.assertIn("INCOMPLETE (zip: ", self.result(whole[:2000])[1])

    def passwords(self, *lines):
        return "-d", self.path("a.pwdb", "".join(line + "\n" for line in lines).encode())

    def test_passwords_of_zip(self):
        """They are tried in order; wrong ones that the salt does not tell, too."""
        text = b"hello world " * 20
        right = "A;Engine:81-255,Container:CL_TYPE_ZIP;0;infected"
        some = [f"W;Engine:81-255;0;{i}" for i in range(300)]
        for deflated in (False, True):
            for described in (False, True):
                locked = locked_zip.archive(text, b"infected", deflated, described)
                with zipfile.ZipFile(io.BytesIO(locked)) as judge:
                    self.assertEqual(judge.read("a", pwd=b"infected"), text)
                self.assertEqual(self.result(locked, *self.passwords(*some, right)), self.FOUND)
        self.assertEqual(self.result(locked, *self.passwords("A;Engine:81-255;1;696E666563746564")),
                         self.FOUND)
        for lines in (some, [right.replace("ZIP", "RAR")], [right.replace("81-255", "300-400")]):
            self.assertEqual(self.result(locked, *self.passwords(*lines)),
                             (0, "INCOMPLETE (zip: encrypted)"))
        clean = locked_zip.archive(b"clean", b"infected")
        right = self.passwords("L;Engine:81-255;0;" + "a" * 255, right)
        self.assertEqual(self.result(clean, *right), (0, "OK"))
        self.assertEqual(self.result(clean, "--alert-encrypted", *right),
                         (1, "Heuristics.Encrypted.Zip FOUND"))

    def test_passwords_of_zip_in_compiled_databases(self):
        locked = locked_zip.archive(b"hello world", b"second")
        for name, password in (("one", "first"), ("two", "second")):
            lines = self.passwords(f"A;Engine:81-255;0;{password}")
            self.assertEqual(sluice("scan", *lines, "--compile", self.path(name)).returncode, 0)
        self.assertEqual(self.result(locked, "-d", self.path("one"), "-d", self.path("two")),
                         self.FOUND)

    def test_lines_of_passwords_that_are_wrong_or_skipped(self):
        lines = {"A;Engine:81-255;2;a": "neither 0 nor 1",
                 "A;Engine:81-255;1;abc": "not hexadecimal",
                 "A;Engine:81-255;1;zz": "not hexadecimal",
                 "A;Container:CL_TYPE_ZIP;0;a": "does not begin with Engine",
                 "A;Engine:81-255,Container:CL_TYPE_PDF;0;a": "CL_TYPE_ANY",
                 "A;Engine:x;0;a": "no range", "A;Engine:81-255;0": "four fields",
                 "A;Engine:81-255,Container:CL_TYPE_RAR;0;a": "rar",
                 "A;Engine:300-400;0;a": "engine levels",
                 "A;Engine:81-255;0;" + "a" * 256: "more than 255 bytes"}
        result = sluice("scan", "--debug", "-d", self.database,
                        *self.passwords(*lines, "B;Engine:81-255;0;b"), self.database)
        said = result.stderr.decode().splitlines()
        for number, reason in enumerate(lines.values(), 1):
            self.assertTrue(any(f"pwdb:{number}: " in line and reason in line for line in said),
                            (reason, said))

    @staticmethod
    def program(sections=1, alignment=4096, address=4096, at=512):
        """A program for Windows, of one section."""
        optional = bytearray(224)
        struct.pack_into("<H", optional, 0, 0x10B)
        struct.pack_into("<II", optional, 32, alignment, 512)
        return (b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" +
                struct.pack("<HHIIIHH", 0x14C, sections, 0, 0, 0, 224, 0) + optional +
                b".text\0\0\0" + struct.pack("<IIII", 512, address, 512, at) + bytes(400) +
                bytes(512))

    def assert_alerts(self, cases, option):
        """All are clean without the option."""
        contents, alerts = zip(*cases)
        self.assertEqual(self.each(contents, option), list(alerts))
        self.assertEqual(self.each(contents), ["OK"] * len(cases))

    def test_what_is_broken(self):
        broken = "Heuristics.Broken.Executable FOUND"
        elf = b"\x7fELF\2\1\1" + bytes(57)
        cut = elf[:56] + b"\1" + elf[57:]
        programs = ((self.program(), "OK"), (self.program(alignment=0), broken),
                    (self.program(sections=0), broken), (self.program(address=4097), broken),
                    (self.program(at=5000), broken), (self.program(sections=97), broken),
                    (self.program()[:200], broken), (elf, "OK"), (cut, broken))
        self.assert_alerts(programs, "--alert-broken")
        segment = b"\xff\xe0\0\4ab"
        chunk = struct.pack(">I", 4) + b"IHDR" + bytes(8)
        end = bytes(4) + b"IEND" + bytes(4)
        gif = b"GIF89a" + bytes(7)
        image = b"," + bytes(9) + b"\2\1a\0"
        faults = (
            (b"\xff\xd8" + segment * 2 + b"\xff\xd9", ""),
            (b"\xff\xd8" + segment * 2 + b"\xff\xda\0", ""),
            (b"\xff\xd8" + segment * 2, "JPEG.CantReadSegmentSize"),
            (b"\xff\xd8\xff\xe0\0\1" + bytes(40), "JPEG.InvalidSegmentSize"),
            (b"\xff\xd8" + segment + bytes(16) + b"\xff\xd9",
             "JPEG.SpuriousBytesBeforeSegment"),
            (b"\x89PNG\r\n\x1a\n" + chunk + end, ""),
            (b"\x89PNG\r\n\x1a\n" + chunk, "PNG.NoEnd"),
            (b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\1" + end, "PNG.ChunkBeyondEnd"),
            (b"\x89PNG\r\n\x1a\n" + end, "PNG.NoHeader"),
            (gif + image + b";", ""), (gif[:12], "GIF.TruncatedScreenDescriptor"),
            (gif + image[:6], "GIF.TruncatedImageDescriptor"),
            (gif + image[:-1], "GIF.TruncatedBlock"))
        self.assert_alerts([(content, f"Heuristics.Broken.Media.{fault} FOUND" if fault else "OK")
                            for content, fault in faults], "--alert-broken-media")


TIME = "Heuristics.Limits.Exceeded.MaxScanTime"


class Certificates(case.Case):
    """Programs of one section, signed by certificates under a root that the database has."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keys = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keys.cleanup)
        cls.root, cls.middle, cls.leaf = (signed_program.Key(cls.keys.name, name)
                                          for name in ("root", "middle", "leaf"))
        cls.rooted = cls.root.certificate(cls.root, 1, ca=True, use=None)

    def signed(self, certificate, *more, key=None, issuer=None, serial=7, text=b"world"):
        return signed_program.sign(signed_program.program(text), key or self.leaf,
                                   issuer or self.root, serial, [certificate, *more])

    def results(self, lines, files, *options):
        """By the file's name, what was found in it."""
        database = self.path("a.ndb", b"World:0:*:776f726c64\n")
        paths = [self.path(name + ".exe", content) for name, content in files.items()]
        result = sluice("scan", "-d", database, "-d", self.path("a.crb", "".join(lines).encode()),
                        "--no-summary", *options, *paths)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        found = {}
        for line in result.stdout.decode().splitlines():
            path, what = line.split(": ", 1)
            found.setdefault(os.path.basename(path)[:-4], []).append(what)
        return {name: " ".join(what) for name, what in found.items()}

    WORLD, OK, BAD = "World.UNOFFICIAL FOUND", "OK", "Bad FOUND"

    def some(self):
        leaf, middle = self.leaf.certificate(self.root, 7), self.middle.certificate(
            self.root, 8, ca=True, use=None)
        good = self.signed(leaf, self.rooted)
        changed, damaged = bytearray(good), bytearray(good)
        changed[600] ^= 1
        damaged[-40] ^= 1
        rogue = self.middle.certificate(self.leaf, 9)
        return {
            "plain": signed_program.program(b"world"), "good": good, "alone": self.signed(leaf),
            "middle": self.signed(self.leaf.certificate(self.middle, 7), middle,
                                  issuer=self.middle),
            "changed": bytes(changed), "damaged": bytes(damaged), "longer": good + b"world",
            "expired": self.signed(self.leaf.certificate(self.root, 7, years=-1)),
            "any_use": self.signed(self.leaf.certificate(self.root, 7, use=None)),
            "server": self.signed(self.leaf.certificate(self.root, 7, use=signed_program.SERVER)),
            "rogue": self.signed(rogue, leaf, key=self.middle, issuer=self.leaf, serial=9),
            "zipped": Opened.zip_of({"a": good}),
        }

    def test_trusted_ones_make_a_program_clean(self):
        files = self.some()
        trusted = {"good", "alone", "middle", "zipped"}
        self.assertEqual(self.results([self.root.line("Good")], files),
                         {name: self.OK if name in trusted else self.WORLD for name in files})
        row = json.loads(sluice("scan", "-d", self.path("a.ndb"), "-d", self.path("a.crb"),
                                "--json", "--no-summary", self.path("good.exe")).stdout)
        self.assertIs(row["allowed"], True)
        good = {"good": files["good"]}
        for line in (self.root.line("Good", code=0), self.root.line("Good", cert=0),
                     self.middle.line("Good"),
                     self.root.line("Good", levels=";300")):
            self.assertEqual(self.results([line], good)["good"], self.WORLD, line)
        for line in (self.leaf.line("Good"), self.leaf.line("Good", serial=7),
                     self.root.line("Good", levels=";80;255")):
            self.assertEqual(self.results([line], good)["good"], self.OK, line)
        self.assertEqual(self.results([self.root.line("Good")], good, "--nocerts")["good"],
                         self.WORLD)

    def test_blocked_ones_are_found(self):
        """Whatever became of the program."""
        files = self.some()
        with_leaf = set(files) - {"plain"}
        self.assertEqual(self.results([self.leaf.line("Bad", trusted=0)], files),
                         {name: self.BAD if name in with_leaf else self.WORLD for name in files})
        clean = {"good": self.signed(self.leaf.certificate(self.root, 7), text=b"clean")}
        for line, what in ((self.leaf.line("Bad", 0, 7), self.BAD),
                           (self.leaf.line("Bad", 0, 8), self.OK),
                           (self.leaf.line("Bad", 0, code=0, cert=0), self.BAD)):
            self.assertEqual(self.results([self.root.line("Good"), line], clean)["good"], what)
        self.assertEqual(self.results([self.leaf.line("Bad", 0)], clean, "--nocerts")["good"],
                         self.OK)
        self.assertEqual(self.results([self.leaf.line("Bad", 0)], {"good": files["good"]}, "-z"),
                         {"good": f"{self.BAD} {self.WORLD}"})

    def test_in_compiled_databases(self):
        clean = self.path("clean.exe", self.signed(self.leaf.certificate(self.root, 7)))
        for name, key, trusted in (("one", self.root, 1), ("two", self.middle, 0),
                                   ("three", self.leaf, 0)):
            text = key.line(name, trusted).encode()
            self.assertEqual(sluice("scan", "-d", self.path(name + ".crb", text), "--compile",
                                    self.path(name)).returncode, 0)
        result = sluice("scan", "-d", self.path("one"), "-d", self.path("two"), "-d",
                        self.path("three"), "--no-summary", clean)
        self.assertEqual(result.stdout.decode(), f"{clean}: three FOUND\n")

    def test_clamscan_agrees(self):
        if shutil.which("clamscan") is None:
            self.skipTest("clamscan is not installed")
        files = self.some()
        for lines in ([self.root.line("Good")], [self.leaf.line("Bad", 0)]):
            ours = self.results(lines, files)
            result = case.run("clamscan", "-d", self.path("a.ndb"), "-d", self.path("a.crb"),
                              "--no-summary",
                              *(self.path(name + ".exe") for name in files))
            said = result.stdout.decode().splitlines()
            theirs = {os.path.basename(path)[:-4]: what
                      for path, what in (line.split(": ", 1) for line in said)}
            # It takes a certificate that may sign code alone for an authority, and none where bytes
            # follow the signature.
            self.assertEqual({name for name in files if ours[name] != theirs[name]} -
                             {"rogue", "longer"}, set(), (ours, theirs))

    def test_wrong_lines(self):
        lines = {"A;1;b": "eleven fields", self.root.line("A", 2)[:-1]: "not 0 or 1",
                 self.root.line("A")[:-1].replace(";010001;1", ";010001;"): "not 0 or 1",
                 f"A;1;00;;{self.root.modulus:x};;1;0;1;0;": "SHA-1",
                 f"A;1;{'0' * 40};00;{self.root.modulus:x};;1;0;1;0;": "SHA-1",
                 f"A;1;{'0' * 40};;;;1;0;1;0;": "no digit",
                 f"A;1;{'0' * 40};;xy;;1;0;1;0;": "not hexadecimal",
                 f"A;1;{'0' * 40};;ff;;1;0;1;0;;x": "no number",
                 f";1;{'0' * 40};;ff;;1;0;1;0;": "no name"}
        database = self.path("a.crb", "\n".join([*lines, self.root.line("Good")]).encode())
        result = sluice("scan", "--debug", "-d", database, database)
        said = result.stderr.decode().splitlines()
        self.assertEqual(len(said), len(lines), said)
        for number, reason in enumerate(lines.values(), 1):
            self.assertTrue(said[number - 1].startswith(f"{database}:{number}: ") and
                            reason in said[number - 1], (reason, said))


class Limits(case.Case):
    def setUp(self):
        super().setUp()
        self.database = self.path("a.ndb", b"World:0:*:776f726c64\n")

    def scan(self, *arguments, **options):
        return sluice("scan", "-d", self.database, *arguments, **options)

    def sparse(self, name, length, head=b""):
        path = self.path(name, head)
        os.truncate(path, length)
        return path

    def test_a_file_that_takes_too_long_is_not_plain_ok(self):
        long, short = self.sparse("long", 2 << 30), self.path("short", b"short")
        result = self.scan("--max-scantime", "200", long, short)
        text = result.stdout.decode()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"{long}: INCOMPLETE ({TIME}: not scanned to its end)\n{short}: OK\n", text)
        self.assertIn("Scanned files: 2\nInfected files: 0\nFiles beyond limits: 1 ", text)
        lines = self.scan("--max-scantime", "200", "-o", "--no-summary", long, short).stdout
        self.assertEqual(lines.decode(), f"{long}: INCOMPLETE ({TIME}: not scanned to its end)\n")
        rows = [json.loads(line) for line in
                self.scan("--max-scantime=200", "--json", long, short).stdout.splitlines()]
        self.assertEqual([(row["result"], row.get("limit")) for row in rows[:2]],
                         [("incomplete", TIME), ("ok", None)])
        self.assertEqual(rows[2]["summary"]["beyond_limits"], 1)
        self.assertLess(rows[2]["summary"]["scanned_bytes"], 2 << 30)

    def test_alerts_of_limits_are_clamscans(self):
        long, short = self.sparse("long", 2 << 30), self.path("short", b"short")
        result = self.scan("--max-scantime", "200", "--alert-exceeds-max", "-i", long, short)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"{long}: {TIME} FOUND\n", result.stdout.decode())
        self.assertIn("Scanned files: 2\nInfected files: 1\n", result.stdout.decode())
        for option, name in (("--max-filesize=3", "MaxFileSize"), ("--max-scansize=3",
                                                                   "MaxScanSize")):
            result = self.scan(option, "--alert-exceeds-max=yes", "--no-summary", short)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout.decode(),
                             f"{short}: Heuristics.Limits.Exceeded.{name} FOUND\n")
            result = self.scan(option, "--alert-exceeds-max=no", "--no-summary", short)
            self.assertEqual(result.returncode, 0)
            self.assertRegex(result.stdout.decode(), f"{name}: not scanned")

    def test_what_is_found_in_time_is_found(self):
        long = self.sparse("long", 2 << 30, b"hello world")
        result = self.scan("--max-scantime", "200", "--no-summary", long)
        self.assertEqual(result.stdout.decode(), f"{long}: World.UNOFFICIAL FOUND\n")
        self.assertEqual(result.returncode, 1)

    def test_no_limit(self):
        path = self.sparse("long", 64 << 20)
        for limit in ("0", "120000"):
            self.assertEqual(self.scan("--max-scantime", limit, "--no-summary", path)
                             .stdout.decode(), f"{path}: OK\n")
        self.assert_refused(self.scan("--max-scantime", "soon", path), "'soon'")
        self.assertIn("(120000)", sluice("scan", "--help").stdout.decode())

    def test_hostile_files_end_in_time(self):
        """Each would take minutes at least, tried at each place: a PCRE, bodies with wide gaps.
        What is scanned to its end in time has the answer of a scan without a limit."""
        cases = (("ldb", b"Slow;Engine:51-255,Target:0;0&1;61616161;0/a.{0,300}.{0,300}b/s\n",
                  "Slow.UNOFFICIAL FOUND"),
                 ("ldb", b"Wide;Engine:51-255,Target:0;0>9;6161{0-2000000}6161{0-2000000}6162\n",
                  "OK"),
                 ("ndb", b"Far:0:*:6161{0-3000000}61??61{0-3000000}62\n", "Far.UNOFFICIAL FOUND"))
        path = self.path("hostile", b"a" * (3 << 20) + b"b")
        for ending, signature, answer in cases:
            database = self.path("hostile." + ending, signature)
            begin = time.monotonic()
            result = sluice("scan", "-d", database, "--max-scantime=300", "--no-summary", path)
            self.assertIn(result.stdout.decode(),
                          (f"{path}: INCOMPLETE ({TIME}: not scanned to its end)\n",
                           f"{path}: {answer}\n"), signature)
            self.assertLess(time.monotonic() - begin, 60)


@unittest.skipIf(case.is_sanitized(SLUICE), "sanitizers change what steps cost")
class Hostile(case.Case):
    def cost(self, database, path):
        """Seconds of a core."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        result = sluice("scan", "-d", database, "--no-summary", path)
        self.assertEqual(result.stdout.decode(), f"{path}: OK\n")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def test_what_is_made_to_cost_much_costs_a_known_factor(self):
        """docs/virus-scan.md has the factor over an ordinary file of the same length."""
        length = 1 << 20
        ordinary = self.path("ordinary", bytes(i * i >> 3 & 255 for i in range(length)))
        for name, ending, signature, repeated in hostile_scan.CASES:
            database = self.path(f"{name}.{ending}", signature.encode() + b"\n")
            path = self.path(name, hostile_scan.content(repeated, length))
            plain = max(self.cost(database, ordinary), 0.02)
            self.assertLess(self.cost(database, path), 150 * plain, name)


class Bombs(case.Case):
    def scan(self, *arguments):
        """What was said, and what it cost: seconds of a core, kB of the largest process."""
        with open(self.path("said"), "wb") as said:
            process = subprocess.Popen([SLUICE, "scan", "--no-summary", *arguments], stdout=said)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        with open(self.path("said"), encoding="ascii") as said:
            return said.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss

    def test_what_holds_much_or_itself_costs_little(self):
        signatures = self.path("a.ndb", b"World:0:*:776f726c64\n")
        for name, make, limit in hostile_scan.BOMBS:
            path = self.path(name, make())
            said, seconds, memory = self.scan("-d", signatures, path)
            self.assertEqual(said, f"{path}: " + (
                f"INCOMPLETE (Heuristics.Limits.Exceeded.{limit}: not scanned to its end)\n"
                if limit else "OK\n"))
            if not case.is_sanitized(SLUICE):
                self.assertLess(seconds, 20, name)
                self.assertLess(memory, 100 << 10, name)

    def test_quines_hold_themselves(self):
        for quine, inside in ((quines.gzip_quine(), gzip.decompress),
                              (quines.zip_quine(), lambda content: zipfile.ZipFile(
                                  io.BytesIO(content)).read(quines.NAME.decode()))):
            self.assertEqual(inside(quine), quine)


class Unpacker(case.Case):
    def test_it_ends_without_a_word_where_the_scan_has_ended(self):
        program = os.path.join(os.path.dirname(SLUICE), "sluice-unpack")
        for greeted in (False, True):
            ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            arena = os.memfd_create("arena")
            os.ftruncate(arena, 2 << 20)
            with ours, subprocess.Popen(
                    ["sh", "-c", f'exec "$0" 3<&{its.fileno()} 4<&{arena}', program],
                    pass_fds=(its.fileno(), arena), stderr=subprocess.PIPE) as process:
                its.close()
                os.close(arena)
                self.assertTrue(ours.recv(1 << 16))
                if greeted:
                    ours.sendall(b"\0")
                ours.close()
                self.assertEqual(process.communicate(timeout=120)[1], b"")
                self.assertEqual(process.returncode, 0 if greeted else 1)


class Options(case.Case):
    """clamscan's options, as scripts pass them."""

    def setUp(self):
        super().setUp()
        self.database = self.path("a.ndb", b"Planet:0:*:776f726c64\n")
        self.clean, self.found = self.path("clean", b"hello"), self.path("found", b"world")

    def scan(self, *arguments, **options):
        return sluice("scan", "-d", self.database, *arguments, **options)

    def test_a_line_of_a_cron_job(self):
        result = self.scan("-r", "-i", "--no-summary", "--stdout", "--max-filesize=25M",
                           "--max-scansize=100M", "--max-recursion=16", "--max-files=10000",
                           "--max-dir-recursion=20", "--scan-archive=yes", "--scan-mail",
                           "--exclude-dir=^/sys", "--exclude-dir=^/proc", "--detect-pua=yes",
                           "--heuristic-alerts=yes", "--official-db-only=no", "--tempdir=/tmp",
                           "--disable-cache", "-v", "-a", "--log", self.path("log"),
                           self.folder.name)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stdout.decode(), f"{self.found}: Planet.UNOFFICIAL FOUND\n")
        with open(self.path("log"), "rb") as log:
            self.assertEqual(log.read(), result.stdout)
        self.assertEqual(result.stderr, b"")

    def test_outputs_show_the_files_that_are_wanted(self):
        """Standard output or the log, lines or JSON: the options hold for each."""
        log = self.path("log")

        def shown(*options):
            result = self.scan("--no-summary", "--log", log, *options, self.clean, self.found)
            self.assertEqual((result.returncode, result.stderr), (1, b""), options)
            with open(log, "rb") as file:
                logged = file.read()
            os.unlink(log)
            return result.stdout, logged

        both = f"{self.clean}: OK\n{self.found}: Planet.UNOFFICIAL FOUND\n".encode()
        infected = both[both.index(b"\n") + 1:]
        self.assertEqual(shown(), (both, both))
        self.assertEqual(shown("--quiet"), (b"", both))
        for option in ("--infected", "--suppress-ok-results"):
            self.assertEqual(shown(option), (infected, infected))
            self.assertEqual(shown(option, "--quiet"), (b"", infected))
            out, logged = shown(option, "--json")
            self.assertEqual(logged, out)
            self.assertEqual(json.loads(out)["path"], self.found)
        out, logged = shown("--json")
        self.assertEqual(logged, out)
        self.assertEqual([json.loads(line)["result"] for line in out.splitlines()],
                         ["ok", "found"])

    def test_a_list_of_print0_is_an_error(self):
        """Its first name would be scanned alone, and the exit status would say that all is well."""
        base = self.path("a.ndb", b"First:0:*:6669727374\n")
        good, bad = self.path("good", b"nothing"), self.path("bad", b"the first")
        names = self.path("names", b"%s\0%s\0" % (good.encode(), bad.encode()))
        result = sluice("scan", "-d", base, "--no-summary", "-f", names)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"holds a NUL byte", result.stdout + result.stderr)

    def test_without_effect(self):
        plain = self.scan("--no-summary", self.clean, self.found).stdout
        result = self.scan(
            "--no-summary", "--bytecode=no", "--bytecode-timeout=100", "--normalize=no",
            "--nocerts", "--pcre-match-limit=5", "--scan-pe=no", "--phishing-sigs=no", "--verbose",
            "--statistics=pcre", "--structured-cc-count=3", "--leave-temps", "--gen-json",
            "--max-embeddedpe=5M", "--alert-macros=no", "--remove=no", self.clean, self.found)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, plain, b""))

    def test_values_are_clamscans_also_without_effect(self):
        """Its pattern of a truth value is yes, true, 1, no, false or 0, in any case."""
        plain = self.scan("--no-summary", self.clean, self.found).stdout
        truths = ("yes", "YES", "true", "True", "1", "no", "No", "false", "FALSE", "0")
        for truth in truths:
            options = (f"--{name}={truth}"
                       for name in ("scan-pe", "structured-cc-mode", "verbose", "allmatch"))
            result = self.scan("--no-summary", *options, self.clean, self.found)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (1, plain, b""),
                             truth)
        for truth in truths[:5]:
            result = self.scan("--no-summary", f"--infected={truth}", self.clean, self.found)
            self.assertNotIn(b"clean: OK", result.stdout)
            self.assert_refused(self.scan(f"--dumpcerts={truth}", self.found), "clamscan's")
        for truth in truths[5:]:
            options = (f"--{name}={truth}"
                       for name in ("infected", "quiet", "bell", "stdout", "remove"))
            result = self.scan("--no-summary", *options, self.clean, self.found)
            self.assertEqual((result.returncode, result.stdout), (1, plain), truth)
        for option in ("--scan-pe=maybe", "--scan-pe=", "--scan-pe=2", "--verbose=y",
                       "--infected=maybe", "--no-summary=maybe", "--stdout=maybe",
                       "--bytecode-timeout=soon", "--max-files=5M", "--max-embeddedpe=big",
                       "--pcre-max-filesize=5X", "--statistics=all", "--max-recursion=-1"):
            name, value = option.split("=")
            self.assert_refused(self.scan(option, self.clean), name, f"'{value}'")
        self.assert_refused(self.scan("--max-files", "many", self.clean), "--max-files", "'many'")
        for option in ("--move=no", "--copy=no"):  # a folder
            self.assert_refused(self.scan(option, self.found), "no: is no directory")

    def test_promises_that_nothing_keeps_are_refused(self):
        for option in (["--detect-structured"], ["--official-db-only"],
                       ["--fail-if-cvd-older-than=7"], ["--dumpcerts"], ["--dumpcerts=x"]):
            self.assert_refused(self.scan(*option, self.found), f"'{option[0]}'", "clamscan's")

    def test_files_with_matches_are_moved_copied_or_removed(self):
        there = self.path("there/x")
        os.makedirs(os.path.dirname(there), exist_ok=True)
        there = os.path.dirname(there)
        link = self.path("link")
        os.symlink(self.found, link)
        for name in ("found", "found.001"):
            result = self.scan("--copy", there, "--no-summary", self.clean, self.found)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(result.stdout.decode().splitlines(),
                             [f"{self.clean}: OK", f"{self.found}: Planet.UNOFFICIAL FOUND",
                              f"{self.found}: copied to '{there}/{name}'"])
            with open(os.path.join(there, name), "rb") as file:
                self.assertEqual(file.read(), b"world")
        row = json.loads(self.scan("--json", f"--move={there}", "--no-summary", link).stdout)
        self.assertEqual(row["disposed"], f"moved to '{there}/found.002'")
        self.assertFalse(os.path.exists(self.found))
        self.assertEqual(self.scan("--remove", self.clean).returncode, 0)
        self.assertTrue(os.path.exists(self.clean))
        self.assertEqual(self.scan("--remove", os.path.join(there, "found.002")).returncode, 1)
        self.assertEqual(sorted(os.listdir(there)), ["found", "found.001"])
        self.assert_refused(self.scan("--remove", "--copy", there, self.clean), "exclude one")
        self.assert_refused(self.scan("--remove", "-", stdin=None, input=b"w"), "standard input")

    def test_standard_output_takes_errors(self):
        result = sluice("scan", "--stdout", "-d", self.path("none.ndb"), self.found)
        self.assertEqual((result.returncode, result.stderr), (2, b""))
        self.assertIn(b"none.ndb", result.stdout)

    def test_the_bell_rings_for_matches(self):
        result = self.scan("--bell", "--no-summary", self.clean, self.found, self.found)
        self.assertEqual(result.stderr, b"\a\a")

    def test_page_help_and_parser_agree_on_every_option_of_clamscan(self):
        """Those of its version 1.4, and of the one that is installed."""
        words = re.compile(r"--([a-z0-9-]+)")
        with open(PAGE, encoding="utf-8") as file:
            parts = re.split(r"\*\*[A-Z].*?\*\*", file.read())[1:]
        same, unused, refused = (set(words.findall(part)) for part in parts)
        self.assertEqual(same & unused | unused & refused | refused & same, set())
        self.assertEqual(sorted(same | unused | refused), sorted(CLAMSCAN_OPTIONS.split()))
        if shutil.which("clamscan") is not None:
            said = case.run("clamscan", "--help").stdout.decode()
            self.assertEqual(set(re.findall(r"(?m)^ +--([a-z0-9-]+)", said)),
                             same | unused | refused)
        text = sluice("scan", "--help").stdout.decode()
        text, last = text.split("Refused, ", 1)
        last = last.split("Exit status", 1)[0]
        first, middle = text.split("Options of clamscan without effect:", 1)
        middle = middle.replace("--structured-*", " ".join(
            f"--{name}" for name in unused if name.startswith("structured")))
        self.assertEqual([set(words.findall(part)) for part in (middle, last)], [unused, refused])
        self.assertLessEqual(same - {"help"}, set(words.findall(first)))
        values = {"database": self.database, "move": self.folder.name,
                  "copy": self.folder.name, "statistics": "none"}
        alone = {"version", "move", "copy", "include-pua"}  # they exclude others, or end the run
        taken = [f"--{name}={values.get(name, 1)}" for name in (same | unused) - alone - {"help"}]
        for options in (taken, ["--version"], *([f"--{name}={values.get(name, 1)}"]
                                                for name in alone - {"version"})):
            result = sluice("scan", *options, "--help")
            self.assertEqual(result.returncode, 0, result.stderr)
        for name in refused:
            self.assertEqual(sluice("scan", f"--{name}=1", "--help").returncode, 2, name)


CLAMSCAN_OPTIONS = """help version verbose archive-verbose debug quiet stdout no-summary infected
    suppress-ok-results bell tempdir leave-temps force-to-disk gen-json database official-db-only
    fail-if-cvd-older-than log recursive allmatch cross-fs follow-dir-symlinks follow-file-symlinks
    file-list remove move copy exclude exclude-dir include include-dir bytecode bytecode-unsigned
    bytecode-timeout statistics detect-pua exclude-pua include-pua detect-structured
    structured-ssn-format structured-ssn-count structured-cc-count structured-cc-mode scan-mail
    phishing-sigs phishing-scan-urls heuristic-alerts heuristic-scan-precedence normalize scan-pe
    scan-elf scan-ole2 scan-pdf scan-swf scan-html scan-xmldocs scan-hwp3 scan-onenote scan-archive
    scan-image scan-image-fuzzy-hash alert-broken alert-broken-media alert-encrypted
    alert-encrypted-archive alert-encrypted-doc alert-macros alert-exceeds-max alert-phishing-ssl
    alert-phishing-cloak alert-partition-intersection nocerts dumpcerts max-scantime max-filesize
    max-scansize max-files max-recursion max-dir-recursion max-embeddedpe max-htmlnormalize
    max-htmlnotags max-scriptnormalize max-ziptypercg max-partitions max-iconspe max-rechwp3
    pcre-match-limit pcre-recmatch-limit pcre-max-filesize disable-cache"""


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

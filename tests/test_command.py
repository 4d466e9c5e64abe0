#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command as a person starts it: options, bad input, pipes, signals, full disks.

usage: test_command.py SLUICE SAMPLES
"""
import gzip
import json
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

import case

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
RULES = os.path.join(SAMPLES, "sample.rules")

measures = unittest.skipIf(case.is_sanitized(SLUICE), "sanitizers make measurements long")


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


class Command(case.Case):
    # ---- the command line

    def test_usage(self):
        self.assertEqual(sluice().returncode, 2)
        for arguments in (["--help"], ["run", "--help"], ["rules", "--help"], ["scan", "--help"],
                          ["bench", "--help"], ["devices", "--help"], ["encode", "--help"],
                          ["decode", "--help"], ["--version"]):
            result = sluice(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertTrue(result.stdout)
            self.assertFalse(result.stderr)

    def test_bad_options_are_quoted(self):
        self.assert_refused(sluice("fly"), "'fly'")
        self.assert_refused(sluice("run"), "-r")
        self.assert_refused(sluice("run", "--what"), "--what")
        self.assert_refused(sluice("run", "-z"), "-z")
        self.assert_refused(sluice("run", "-r"), "-r")
        self.assert_refused(sluice("run", CAPTURE), CAPTURE)
        self.assert_refused(sluice("run", "-r", CAPTURE, "-i", "lo"), "-r", "-i")
        self.assert_refused(sluice("run", "-r", CAPTURE, "-f", "tcp prot"), "tcp prot")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--device", "tpu"), "'tpu'", "cuda:N")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--home", "10.0.0.0/99"), "10.0.0.0/99")
        self.assert_refused(sluice("run", "-r", CAPTURE, "-k", "some"), "'some'")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--header-checks=tcp-flags"), "tcp-flags",
                            "tcp-syn-fin")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--alerts", "fax:1"), "fax", "eve:")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", RULES, "--set", "X"), "'X'")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", RULES, "--set", "HOME_NET=x"),
                            "HOME_NET=x")
        self.assert_refused(sluice("bench", "--runs", "0"), "'0'")
        self.assert_refused(sluice("devices", "extra"), "extra")

    def test_variants(self):
        plain = sluice("run", "-r", CAPTURE, "--rules", RULES, "--json", "--alerts",
                       "eve:" + self.path("plain.json"))
        varied = sluice("run", "-r", CAPTURE, "--rules", RULES, "--json", "--variant", "mpm:ac",
                        "--alerts", "eve:" + self.path("varied.json"))
        self.assertEqual((plain.returncode, varied.returncode), (0, 0))
        self.assertNotIn("variants", json.loads(plain.stdout))
        self.assertEqual(json.loads(varied.stdout)["variants"], "mpm:ac")
        self.assertEqual(json.loads(varied.stdout)["alerts"], json.loads(plain.stdout)["alerts"])
        text = sluice("run", "-r", CAPTURE, "--redundancy", "rabin", "--variant",
                      "sampling:rabin").stdout
        self.assertIn(b"\nvariants   sampling:rabin\n", text)
        for variant, reason in (("mpm:fly", "fly"), ("sampling:rabin", "no use"),
                                ("names:mata", "no use"), ("fly", "is no variant")):
            self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", RULES, "--variant",
                                       variant), reason)

    def test_a_limit_that_is_none_is_refused(self):
        for command in (["run", "-r", CAPTURE], ["devices"]):
            self.assert_refused(sluice(*command, env={**os.environ, "SLUICE_CPU": "avx3"}),
                                "SLUICE_CPU", "'avx3'", "scalar, avx2 or avx512")
        for limit, level in (("", None), ("scalar", "scalar")):
            result = sluice("run", "-r", CAPTURE, "--device", "cpu", "--json",
                            env={**os.environ, "SLUICE_CPU": limit})
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertIn(level or "", json.loads(result.stdout)["device"]["name"])

    def test_a_missing_gpu_is_said(self):
        devices = [json.loads(line) for line in sluice("devices", "--json").stdout.splitlines()]
        self.assertTrue(devices[0]["usable"])
        if any(device["usable"] for device in devices if device["kind"] == "cuda"):
            self.skipTest("there is a GPU")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--device", "cuda"), "cuda",
                            devices[1]["why"])
        with open(CAPTURE, "rb") as file:  # of a pipe no length is known
            result = sluice("run", "-r", "-", "--json", input=file.read())
        self.assertIn(devices[1]["why"], json.loads(result.stdout)["device"]["why"])

    # ---- encode and decode

    def test_encoded_files_come_back(self):
        with open(CAPTURE, "rb") as file:
            capture = file.read()
        for content in (b"", b"x", capture, capture * 40 + b"garbage", os.urandom(300000) * 2):
            source = self.path("in", content)
            encoded, decoded = self.path("encoded"), self.path("decoded")
            for options in ([], ["--no-zstd"], ["--level", "3", "--cache", "1M", "--period", "16"],
                            ["--device", "auto"]):
                result = sluice("encode", "-f", *options, source, encoded)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
                self.assertEqual(sluice("decode", "-f", encoded, decoded).returncode, 0)
                with open(decoded, "rb") as file:
                    self.assertEqual(file.read(), content)
            piped = sluice("encode", "-", "-", stdin=None, input=content)
            self.assertEqual(piped.returncode, 0)
            self.assertEqual(sluice("decode", "-", "-", stdin=None, input=piped.stdout).stdout,
                             content)

    def test_lines_come_at_once(self):
        with subprocess.Popen([SLUICE, "encode", "--flush", "-", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as encode, \
                subprocess.Popen([SLUICE, "decode", "-", "-"], stdin=encode.stdout,
                                 stdout=subprocess.PIPE) as decode:
            encode.stdout.close()
            for line in (b"one\n", b"two\n" * 30, b"one\n"):
                encode.stdin.write(line)
                encode.stdin.flush()
                self.assertEqual(decode.stdout.read(len(line)), line)  # waits for no more
            encode.stdin.close()
            self.assertEqual((decode.stdout.read(), decode.wait(), encode.wait()), (b"", 0, 0))

    def test_kept_caches_and_files_one_after_another(self):
        content = os.urandom(200000)
        caches = [self.path("encode.cache"), self.path("decode.cache")]
        files = []
        for number in range(3):
            result = sluice("encode", "--cache", f"1M,{caches[0]}", "-", "-", stdin=None,
                            input=content)
            self.assertEqual(result.returncode, 0, result.stderr)
            files.append(result.stdout)
            self.assertEqual(len(result.stdout) < 5000, number > 0)
        self.assert_refused(sluice("decode", "-", "-", stdin=None, input=files[1]),
                            "after a cache, which is needed")
        for file in files:
            result = sluice("decode", "--cache", caches[1], "-", "-", stdin=None, input=file)
            self.assertEqual((result.returncode, result.stdout), (0, content))
        with open(caches[0], "rb") as one, open(caches[1], "rb") as other:
            kept = [one.read(), other.read()]
        self.assertEqual(kept[0][24:56] + kept[0][64:], kept[1][24:56] + kept[1][64:])
        self.assert_refused(sluice("decode", "--cache", caches[1], "-", "-", stdin=None,
                                   input=files[1]), "after another cache")
        whole = sluice("decode", "-", "-", stdin=None, input=b"".join(files))
        self.assertEqual((whole.returncode, whole.stdout), (0, content * 3))
        self.path("encode.cache", b"no cache")
        self.assert_refused(sluice("encode", "--cache", caches[0], CAPTURE, self.path("out")),
                            "not a kept cache")
        with open(caches[0], "rb") as file:
            self.assertEqual(file.read(), b"no cache")

    def test_encode_refuses(self):
        out = self.path("out")
        self.assert_refused(sluice("encode", CAPTURE), "1 files")
        self.assert_refused(sluice("encode", CAPTURE, out, "--cache", "1T"), "'1T'")
        self.assert_refused(sluice("encode", CAPTURE, out, "--cache", "1000"), "1000", "1048576")
        self.assert_refused(sluice("encode", CAPTURE, out, "--cache", "60000G"), "this machine has")
        self.assert_refused(sluice("encode", CAPTURE, out, "--level", "23"), "'23'", "22")
        self.assert_refused(sluice("encode", CAPTURE, out, "--window", "11"), "11", "12")
        self.assert_refused(sluice("encode", CAPTURE, out, "--sampler", "dice"), "'dice'", "rabin")
        self.assert_refused(sluice("encode", CAPTURE, out, "--device", "tpu"), "'tpu'", "cuda")
        self.assert_refused(sluice("encode", self.path("none"), out), "none", "No such file")
        self.assert_refused(sluice("encode", self.folder.name, out), "directory")
        self.assertFalse(os.path.exists(out))
        self.path("out", b"before")
        self.assert_refused(sluice("encode", "-f", CAPTURE, out, "--sampler", "dice"), "'dice'")
        with open(out, "rb") as file:
            self.assertEqual(file.read(), b"before")
        self.assert_refused(sluice("encode", CAPTURE, "/dev/full"), CAPTURE + " to /dev/full: ",
                            "No space left")
        same = self.path("same", b"content")
        self.assert_refused(sluice("encode", same, same), "one file")
        with open(same, "rb") as file:
            self.assertEqual(file.read(), b"content")

    def test_decode_names_the_frame(self):
        content = os.urandom(1000000)
        encoded, decoded = self.path("encoded"), self.path("decoded")
        self.assertEqual(sluice("encode", self.path("in", content), encoded).returncode, 0)
        with open(encoded, "rb") as file:
            whole = file.read()
        self.assert_refused(sluice("decode", CAPTURE, decoded), CAPTURE, "not an encoded file",
                            "nothing was written")
        self.assertFalse(os.path.exists(decoded))
        self.path("decoded", b"before" * 300000)
        self.assert_refused(sluice("decode", "-f", CAPTURE, decoded), CAPTURE,
                            "not an encoded file")
        self.assert_refused(sluice("decode", "-f", self.path("cut", whole[:100]), decoded),
                            "frame 1 at byte")
        self.assertEqual(os.path.getsize(decoded), 1800000)  # nothing was decoded: it is as it was
        self.assertEqual(sluice("decode", "--force", encoded, decoded).returncode, 0)
        with open(decoded, "rb") as file:
            self.assertEqual(file.read(), content)
        for damaged, frame in ((whole[:-1], 5), (whole[:500000], 2), (whole + b"x", 5),
                               (whole[:600000] + bytes([whole[600000] ^ 1]) + whole[600001:], 3)):
            part = self.path("part%d" % len(damaged))
            result = sluice("decode", self.path("damaged", damaged), part)
            self.assert_refused(result, "damaged: frame %d at byte" % frame)
            result = sluice("decode", "-f", self.path("damaged"), decoded)
            self.assert_refused(result, "damaged: frame %d at byte" % frame, decoded + ".partial")
            for path in (part, decoded + ".partial"):
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), content[:(frame - 1) << 18])
            with open(decoded, "rb") as file:
                self.assertEqual(file.read(), content)
        self.assert_refused(sluice("decode", encoded, "/dev/full"), encoded + " to /dev/full: ",
                            "No space left")

    # ---- bad captures

    def test_bad_captures(self):
        self.assert_refused(sluice("run", "-r", self.path("none.pcap")), "none.pcap",
                            "No such file")
        self.assert_refused(sluice("run", "-r", self.path("empty.pcap", b"")), "empty.pcap",
                            "empty", "expected")
        self.assert_refused(sluice("run", "-r", self.path("text.pcap", b"hello, world" * 9)),
                            "text.pcap", "expected", "pcap")
        self.assert_refused(sluice("run", "-r", self.folder.name), self.folder.name)
        self.assert_refused(sluice("run", "-r", "-"), "empty")

    def test_what_comes_before_a_cut_is_processed(self):
        with open(CAPTURE, "rb") as file:
            whole = file.read()
        packets = json.loads(sluice("run", "-r", CAPTURE, "--json").stdout)["packets"]
        for content in (whole[:-3], gzip.compress(whole[:-3])):
            result = sluice("run", "-r", self.path("cut.pcap", content), "--json")
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"cut.pcap", result.stderr)
            self.assertEqual(json.loads(result.stdout)["packets"], packets - 1)

    def test_a_bad_file_among_good_ones_costs_itself(self):
        packets = json.loads(sluice("run", "-r", CAPTURE, "--json").stdout)["packets"]
        result = sluice("run", "-r", CAPTURE, self.path("none"), CAPTURE, "--json")
        self.assertEqual(result.returncode, 2)
        summary = json.loads(result.stdout)
        self.assertEqual(summary["packets"], 2 * packets)
        self.assertEqual(summary["failed_sources"], 1)

    # ---- bad rules

    def test_a_bad_rule_costs_itself(self):
        rules = self.path("a.rules",
                          b'alert tcp any any -> any any (msg:"a"; content:"GET"; sid:1;)\n'
                          b"alert tcp any any > any any (sid:2;)\n"
                          b'alert tcp any any -> any any (lua:"/x/"; sid:3;)\n')
        result = sluice("run", "-r", CAPTURE, "--rules", rules, "--json")
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"a.rules:2:19: ", result.stderr)
        summary = json.loads(result.stdout)
        self.assertEqual(summary["rules"], {"loaded": 1, "skipped": 1, "bad": 1})
        listed = json.loads(sluice("rules", "--json", "--list", rules).stdout)
        self.assertEqual(listed["skipped_by_keyword"], {"lua": 1})
        self.assertEqual(listed["bad_lines"][0]["line"], 2)
        self.assertEqual(listed["skipped_rules"][0]["line"], 3)
        self.assert_refused(sluice("rules", self.path("no.rules")), "no.rules", "No such file")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", self.path("no.rules")),
                            "no.rules")

    def test_what_a_bad_line_holds_cannot_control_a_terminal(self):
        """UTF-8 stays; ESC, CSI as a byte and as a character, and what is no UTF-8 do not."""
        odd = "é€\U0001f600".encode() + b"\x1b1\x9b2\xc2\x9b3\xff4\xc35\xe2\x82"
        rules = self.path("a.rules", b"alert " + odd + b" any any -> any any (sid:1;)\n")
        result = sluice("rules", rules)
        said = "'é€\U0001f600\\x1b1\\x9b2\\xc2\\x9b3\\xff4\\xc35\\xe2\\x82' is no protocol"
        self.assertIn(said, result.stdout.decode())
        result = sluice("run", "-r", CAPTURE, "--rules", rules)
        self.assertIn(said, result.stderr.decode())
        for arguments in (["run", "-k"], ["run", "-r", CAPTURE, "--home"], ["lookup", "--syntax"],
                          ["scan", "--stop-batch"], ["run", "-r"], ["rules"], ["bench"], []):
            self.assert_refused(sluice(*arguments, b"a\x1b\xc2\x9bb"), "a\\x1b\\xc2\\x9bb")
        database = self.path("a.ndb", b"A:0:*:68656c6c6f\n")
        odd = self.path("odd\udcff\x9b", b"hello")
        result = sluice("scan", "-d", database, "--json", "--no-summary", odd)
        self.assertEqual(json.loads(result.stdout)["path"], self.path("odd\\xff\x9b"))
        result = sluice("scan", "-d", database, "--no-summary", odd)
        self.assertEqual(result.stdout.decode(),
                         self.path("odd\\xff\\xc2\\x9b") + ": A.UNOFFICIAL FOUND\n")

    # ---- compiled rules

    def test_rules_none_of_which_is_understood_are_refused(self):
        skipped = b"".join(b'alert tcp any any -> any any (%s:"/x/"; sid:%d;)\n' % (keyword, sid)
                           for sid, keyword in enumerate((b"lua", b"asn1", b"lua"), 1))
        table, eve = self.path("rules.table"), self.path("eve.json")
        for content, words in ((skipped,
                                ("3 were read, 0 bad, 3 skipped, by keyword: lua 2, asn1 1\n",)),
                               (b"# alert tcp any any -> any any (sid:1;)\n", ("0 were read",))):
            rules = self.path("a.rules", content)
            self.assert_refused(sluice("run", "-r", CAPTURE, "--header-checks", "--rules", rules,
                                       "--alerts", "eve:" + eve), rules + ": no rule was loaded",
                                *words)
            result = sluice("rules", "--json", "--compile", table, rules)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words[0].encode(), result.stderr)
            self.assertEqual(json.loads(result.stdout)["understood"], 0)
        self.assertEqual(os.listdir(self.folder.name), ["a.rules"])
        many = self.path("many.rules",
                         b"".join(b"alert tcp any any -> any any (%s:1; sid:%d;)\n" % (name, i)
                                  for i, name in enumerate((b"lua", b"cvs", b"frame", b"rpc",
                                                            b"asn1", b"resp"), 1)))
        self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", many), "6 skipped", " 1, ...\n")

    def test_compiled_rules_give_the_same_alerts(self):
        table = self.path("rules.table")
        result = sluice("rules", "--compile", table, "--device", "cpu", RULES)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout.decode().splitlines()[-1],
                         r"^ +[0-9,]+ literals compiled into .*rules\.table: \w+, .*B, [0-9.]+ s$")
        compiled = json.loads(sluice("rules", "--json", "--force", "--compile", table,
                                     RULES).stdout)["compiled"]
        self.assertEqual(compiled["bytes"], os.path.getsize(table))
        self.assertGreater(compiled["literals"], 0)
        self.assertEqual(os.listdir(self.folder.name), ["rules.table"])

        run = ("run", "-r", CAPTURE, "--rules", RULES, "--alerts", "eve:-")
        expected = sluice(*run).stdout
        result = sluice(*run, "--compiled", table)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(expected)
        self.assertEqual(result.stdout, expected)

    def test_compiled_rules_are_of_these_rules(self):
        table = self.path("rules.table")
        other = self.path("other.rules", b'alert tcp any any -> any any (msg:"a"; content:"GET"; '
                                         b"sid:1;)\n")
        run = ("run", "-r", CAPTURE, "--rules", RULES, "--compiled", table)
        self.assert_refused(sluice(*run), "rules.table", "No such file")
        self.assertEqual(sluice("rules", "--compile", table, other).returncode, 0)
        self.assert_refused(sluice(*run), "rules.table", "other rules")
        self.path("rules.table", b"hello, world" * 99)
        self.assert_refused(sluice(*run), "rules.table", "no compiled table")
        self.assertEqual(sluice("rules", "--force", "--compile", table, RULES).returncode, 0)
        with open(table, "r+b") as file:
            file.truncate(1000)
        self.assert_refused(sluice(*run), "rules.table", "1000 bytes")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--compiled", table), "rules.table",
                            "--rules")
        self.assert_refused(sluice("rules", "--device", "cpu", RULES), "'cpu'", "--compile")
        self.assert_refused(sluice("rules", "--compile", self.path("none/table"), RULES),
                            "none/table", "No such file")
        self.assert_refused(sluice("rules", "--compile", "/dev/full", RULES), "/dev/full",
                            "no regular file")

    # ---- the benchmark of matching

    # ---- scan

    def scan(self, *arguments, **options):
        signatures = b"Hello:0:*:68656c6c6f2c20776f726c64\nWorld:0:*:776f726c64\n"
        return sluice("scan", "-d", self.path("scan.ndb", signatures), "--no-summary", *arguments,
                      **options)

    def test_scan_prints_clamscans_lines(self):
        found, clean = self.path("found", b"say hello, world"), self.path("clean", b"nothing")
        empty, link = self.path("empty", b""), self.path("link")
        os.symlink(found, link)
        result = self.scan(found, clean, empty)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout.decode(), f"^{found}: (Hello|World).UNOFFICIAL FOUND\n"
                                                 f"{clean}: OK\n{empty}: Empty file\n$")
        names = self.scan("-z", "-i", found, clean).stdout.decode().splitlines()
        self.assertEqual(sorted(names), [f"{found}: Hello.UNOFFICIAL FOUND",
                                         f"{found}: World.UNOFFICIAL FOUND"])
        self.assertEqual(self.scan(clean).returncode, 0)
        result = self.scan("-", stdin=None, input=b"hello, world")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stdout.startswith(b"stdin: "))

    def test_scan_goes_on_behind_what_it_cannot_read(self):
        found = self.path("found", b"world")
        result = self.scan(self.path("none"), found)
        self.assertIn(b"none: No such file or directory\n", result.stdout)
        self.assertIn(b"World.UNOFFICIAL FOUND", result.stdout)
        self.assertEqual(self.scan(self.path("none")).returncode, 2)

    def test_scan_ends_in_loops_of_links(self):
        os.mkdir(self.path("tree"))
        self.path("tree/found", b"world")
        os.symlink("..", self.path("tree/up"))
        result = self.scan("-r", "--follow-dir-symlinks=2", "--follow-file-symlinks=2", "-i",
                           self.path("tree"))
        self.assertEqual(result.returncode, 1)
        lines = result.stdout.decode().splitlines()
        self.assertIn(f"{self.path('tree/found')}: World.UNOFFICIAL FOUND", lines)

    def test_scan_in_threads_keeps_the_order(self):
        os.mkdir(self.path("many"))
        for i in range(300):
            self.path(f"many/{i:03}", b"world" if i % 7 == 0 else b"x" * (i + 1))
        one = self.scan("-r", self.path("many"))
        four = self.scan("-r", "--threads", "4", self.path("many"))
        self.assertEqual(one.stdout, four.stdout)
        self.assertEqual(one.stdout.count(b"FOUND"), 43)
        rows = [json.loads(line) for line in self.scan("-r", "--json", self.path("many"))
                .stdout.splitlines()]
        self.assertEqual(sum(row["result"] == "found" for row in rows), 43)

    def test_scan_with_no_number_of_threads_takes_every_core(self):
        """Threads wait for what a list of files, a pipe, names next."""
        expected = 1 + len(os.sched_getaffinity(0))
        process = subprocess.Popen([SLUICE, "scan", "-d",
                                    self.path("a.ndb", b"World:0:*:776f726c64\n"), "--threads", "0",
                                    "--no-summary", "-f", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        end = time.monotonic() + 60
        while len(os.listdir(f"/proc/{process.pid}/task")) < expected and time.monotonic() < end:
            time.sleep(0.02)
        self.assertGreaterEqual(len(os.listdir(f"/proc/{process.pid}/task")), expected)
        found = self.path("found", b"world")
        self.assertEqual(process.communicate(found.encode())[0].decode(),
                         f"{found}: World.UNOFFICIAL FOUND\n")
        self.assertEqual(process.returncode, 1)

    def test_scan_with_a_compiled_database(self):
        text = self.path("scan2.ndb", b"World:0:*:776f726c64\nbad line\n")
        compiled, found = self.path("scan.sluicedb"), self.path("found", b"world")
        result = sluice("scan", "-d", text, "--debug", "--compile", compiled)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"scan2.ndb:2: ", result.stderr)
        self.assertEqual(sluice("scan", "-d", compiled, found).returncode, 1)
        with open(compiled, "rb") as file:
            whole = file.read()
        turned = self.path("turned", whole[7::-1] + whole[8:])
        self.assert_refused(sluice("scan", "-d", turned, found), turned, "another byte order")
        with open(compiled, "r+b") as file:
            file.seek(5000)
            file.write(b"\xff\x00\xff")
        self.assert_refused(sluice("scan", "-d", compiled, found), compiled, "damaged")
        self.assert_refused(sluice("scan", "-d", self.path("no.ndb"), found), "no.ndb")
        self.assert_refused(sluice("scan", found), "database")

    def http_capture(self, *contents):
        """A capture of TCP packets that hold an HTTP answer with these contents."""
        capture = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
        for content in contents:
            payload = b"HTTP/1.1 200 OK\r\nServer: test\r\n\r\n" + content
            head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 1, 0, 64, 6, 0,
                               bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2]))
            head += struct.pack(">HHIIHHHH", 80, 40000, 1, 1, 0x5018, 1000, 0, 0)
            capture += struct.pack("<IIII", 1, 0, len(head + payload), len(head + payload))
            capture += head + payload
        return self.path("http.pcap", capture)

    def test_run_scans_payloads(self):
        eicar = b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$" + b"EICAR-STANDARD-ANTIVIRUS" + b"-TEST-FILE!$H+H*"
        lines = f"Eicar-Test-Signature:0:0:{eicar.hex()}\nLater:1:*:6c61746572206f6e\n"
        database = self.path("run.ndb", lines.encode())
        capture = self.http_capture(eicar, b"nothing", b"later on, later on")
        result = sluice("run", "-r", capture, "--scan", database, "--alerts", "eve:-", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        events = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([(event.get("pcap_cnt"), event["event_type"], event["alert"]["signature"])
                          for event in events],
                         [(1, "alert", "Eicar-Test-Signature.UNOFFICIAL"),
                          (3, "alert", "Later.UNOFFICIAL"),
                          (None, "alert", "Eicar-Test-Signature.UNOFFICIAL")])
        self.assertEqual(len(events[2]["files"]), 1)  # the file that the first payload holds
        self.assertEqual({(event["alert"]["category"], event["alert"]["gid"]) for event in events},
                         {("virus", 600)})
        viruses = json.loads(result.stderr.splitlines()[-1])["viruses"]
        self.assertEqual((viruses["signatures"], viruses["matches"], viruses["payloads"]),
                         (2, 3, 2))
        self.assertEqual({name["signature_id"]: name["signature"] for name in viruses["names"]},
                         {event["alert"]["signature_id"]: event["alert"]["signature"]
                          for event in events})
        text = sluice("run", "-r", capture, "--scan", database).stdout.decode()
        self.assertIn("Later.UNOFFICIAL  (virus, priority 1)", text)
        self.assertIn("viruses    3 in 2 payloads and 1 files", text)
        compiled = self.path("run.sluicedb")
        self.assertEqual(sluice("scan", "-d", database, "--compile", compiled).returncode, 0)
        again = sluice("run", "-r", capture, "--scan", compiled, "--alerts", "eve:-", "--json")
        self.assertEqual(again.stdout, result.stdout)
        self.assert_refused(sluice("run", "-r", capture, "--scan", self.path("no.ndb")), "no.ndb")

    def test_bad_literals_are_quoted(self):
        for text, why in ((b"b|0", "bar"), (b"b|0|", "half"), (b"b|zz|", "hexadecimal"),
                          (b"a\\x", "backslash"), (b"a;nocas", "nocase"), (b";nocase", "empty"),
                          (b"a" * 4097, "4096")):
            path = self.path("a.txt", b"# literals\n\nGET\n" + text + b"\nPOST\n")
            self.assert_refused(sluice("bench", "mpm", "-r", CAPTURE, "--literals", path, "--json"),
                                      "a.txt:4: ", why)
        self.assert_refused(sluice("bench", "mpm", "-r", CAPTURE, "--literals",
                                   self.path("none.txt"), "--json"), "none.txt", "No such file")
        self.assert_refused(sluice("bench", "mpm", "-r", CAPTURE, "--literals",
                                   self.path("no.txt", b"# none\n"), "--json"), "no.txt",
                            "no literal")
        self.assert_refused(sluice("bench", "mpm", "-r", CAPTURE, "--literals", path, "--rules",
                                   RULES, "--json"), "--literals", "--rules")

    def test_bad_options_of_mpm_are_quoted(self):
        self.assert_refused(sluice("bench", "mpm", "--algorithms", "ac,foo", "-r", CAPTURE,
                                   "--json"), "'foo'", "auto, ac")
        for counts in ("0", "3,", "x", "1000001", "1," * 16 + "1"):
            self.assert_refused(sluice("bench", "mpm", "--counts", counts), "--counts",
                                f"'{counts}'")
        for size in ("0", "4G", "x", "12T", "-1"):
            self.assert_refused(sluice("bench", "mpm", "--device-bytes", size), "--device-bytes",
                                f"'{size}'")
        self.assert_refused(sluice("bench", "capture", "--files", CAPTURE), "--files")
        self.assert_refused(sluice("bench", "mpm", "--files", self.path("empty", b""), "--json"),
                            "no payload")

    def rows(self, *options):
        result = sluice("bench", "mpm", "--runs", "1", "--json", "--device", "cpu", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        for line in lines:
            if "table_bytes" in line:
                self.assertGreater(line["load_s"], 0)
        return [line for line in lines if "hits" in line]

    def test_every_occurrence_is_counted(self):
        literals = self.path("a.txt", b"# literals\n|61|b\nAB;nocase\nba\n\\;\n")
        scanned = self.path("scanned", b"abab;AB\n" * 40000)
        rows = self.rows("--files", scanned, "--literals", literals, "--counts", "1,2,9",
                         "--algorithms", "auto,ac", "--all-cores")
        self.assertEqual({row["bench"] for row in rows},
                         {f"{name}/{n}" for name in ("auto (ac)", "ac") for n in (1, 2, 4)})
        for row in rows:
            self.assertEqual(row["hits"],
                             40000 * {"1": 2, "2": 5, "4": 7}[row["bench"].split("/")[1]], row)
            self.assertGreater(row["median"], 0)
        self.assertEqual(sum("cores" in row["variant"] for row in rows), len(rows) // 2)

    def test_tables_are_trained_on_the_half_that_is_not_measured(self):
        literals = self.path("a.txt", b"TRAIN\nMEASURE\n")
        halves = [self.path(f"half{i}", word * (65536 // len(word))) 
                  for i, word in enumerate((b"MEASURE.", b"TRAIN..."))]
        for row in self.rows("--files", *halves, "--literals", literals, "--algorithms", "ac",
                             "--sample"):
            self.assertEqual(row["hits"], 8192, row)
            self.assertIn("as sample", row["data"])

    def test_bench_scan(self):
        database = self.path("bench.ndb", b"A:0:*:68656c6c6f2c20776f726c64\n")
        files = [self.path(f"scanned{i}",
                           bytes(i * 1000) + (b"hello, world" if i % 3 else b"")) for i in range(9)]
        self.assert_refused(sluice("bench", "scan", "--json", "--files", *files), "--database")
        self.assert_refused(sluice("bench", "scan", "--json", "--database", "none.ndb", "--files",
                                   *files), "none.ndb")
        result = sluice("bench", "scan", "--runs", "1", "--json", "--device", "cpu", "--database",
                        database, "--files", *files)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines() if b'"bench"' in line]
        self.assertIn("scan", {row["bench"] for row in rows})
        self.assertIn(6, {row.get("hits") for row in rows if row["bench"].startswith("anchors")})

    def test_bench_run(self):
        rules = self.path("bench.rules", b'alert tcp any any -> any any (content:"GET"; sid:1;)\n')
        database = self.path("run.ndb", b"A:0:*:68656c6c6f2c20776f726c64\n")
        options = ["--bytes", "200k", "--entries", "100", "--runs", "1", "--json", "--device",
                   "cpu"]
        result = sluice("bench", "run", "-r", CAPTURE, "--rules", rules, "--database", database,
                        *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines() if b'"bench"' in line]
        runs = [row for row in rows if row["bench"] == "run" and "why" not in row]
        self.assertEqual({row["series"] for row in runs if row["cores"] == 1},
                         {"nothing", "header checks", "rules", "viruses", "names", "redundancy",
                          "four", "all five", "all five, 800 bytes"})
        for row in runs:
            self.assertEqual(row["ceiling_of"], "page cache")
            self.assertEqual(set(row["stages_ns"]),
                             {"fill", "load", "order", "engines", "digest", "drain"})
            self.assertGreater(row["stages_ns"]["load"], 0)
        of = {row["series"]: row["stages_ns"] for row in runs if row["cores"] == 1}
        self.assertGreater(of["rules"]["engines"], 0)

        environment = {**os.environ, "SLUICE_TEST_DATA": self.folder.name}
        result = sluice("bench", "run", *options, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines() if b'"bench"' in line]
        why = {row["variant"]: row["why"] for row in rows if "why" in row}
        self.assertEqual(why["rules"], "needs --rules")
        self.assertEqual(why["viruses"], "needs --database")
        self.assertEqual(why["all five"], "needs --rules and --database")
        self.assertIn("generated, lengths as recorded", {row.get("data") for row in rows})
        self.assert_refused(sluice("bench", "flow", "--bytes", "1M", "-r", CAPTURE), "--bytes")

    @measures
    def test_bench_app(self):
        rules = self.path("app.rules",
                          b'alert http any any -> any any (http.uri; content:"/pages/"; sid:1;)\n')
        result = sluice("bench", "app", "--rules", rules, "--bytes", "200k", "--runs", "1",
                        "--json", "--device", "cpu")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines() if b'"bench"' in line]
        app = [row for row in rows if row["bench"] == "app" and "why" not in row]
        self.assertEqual({row.get("series"): row.get("ceiling_of") for row in app
                          if row.get("cores") == 1 and "series" in row},
                         {"rules": "page cache", "events of HTTP": "page cache",
                          "gzip, rules": "zlib alone", "gzip, events of HTTP": "zlib alone"})
        self.assertEqual([row["unit"] for row in app if "memory" in row["variant"]], ["bytes"])

    @measures
    def test_bench_start(self):
        rules = self.path("start.rules", b'alert tcp any any -> any any (content:"GET"; sid:1;)\n')
        result = sluice("bench", "start", "--rules", rules, "--runs", "1", "--json", "--device",
                        "cpu")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = {row["variant"]: row for row in map(json.loads, result.stdout.splitlines())
                if row.get("bench") == "start"}
        for variant in ("rules read", "rules read and parsed", "rules compiled", "tables built",
                        "first batch", "exit", "a whole run, its process"):
            self.assertEqual(rows[variant]["unit"], "ms")
            self.assertGreater(rows[variant]["median"], 0, variant)
        for variant in ("device probed, context made", "bare context, its process"):
            self.assertEqual(rows[variant]["why"], "no GPU was chosen")
        self.assert_refused(sluice("bench", "start", "-r", CAPTURE), "-r")
        self.assert_refused(sluice("bench", "start", "--rules", "none.rules", "--device", "cpu",
                                   "--json"), "none.rules")

    def test_studies(self):
        self.assert_refused(sluice("bench", "mpm", "--study", "x", "-r", CAPTURE, "--json"), "'x'",
                            "packet-size")
        self.assert_refused(sluice("bench", "header", "--study", "literals", "-r", CAPTURE),
                            "--study")
        self.assert_refused(sluice("bench", "fib", "--study", "literals", "--json"), "'literals'",
                            "lookup-link")
        self.assert_refused(sluice("bench", "fib", "--study", "lookup-kernel", "--device", "cpu",
                                   "--json"), "GPU")
        self.assert_refused(sluice("bench", "mpm", "--study", "packet-size", "-r", CAPTURE,
                                   "--device", "cpu", "--json"), "packet-size", "GPU")
        result = sluice("bench", "mpm", "--study", "literals", "--files", CAPTURE, "--runs", "1",
                        "--device", "cpu", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [row for row in map(json.loads, result.stdout.splitlines()) if "study" in row]
        self.assertEqual(len(rows), 8 * 3)
        for row in rows:
            self.assertTrue("note" in row or row["1 core GB/s"] > 0, row)
            self.assertIsNone(row["GPU pinned GB/s"])
        self.assertEqual([row["pinned"] for row in rows if row["algorithm"] == "rk"][-1], 302.227)

    def study_of_sampling(self, name):
        result = sluice("bench", "sampling", "--study", name, "-r", CAPTURE, "--runs", "1",
                        "--device", "cpu", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return [row for row in map(json.loads, result.stdout.splitlines()) if "study" in row]

    def test_a_capture_that_cannot_be_read_has_one_reason(self):
        with open(CAPTURE, "rb") as file:
            capture = file.read()
        long = capture[:32] + b"\xff\xff\xff\x7f" + capture[36:]
        for name, content, reason in (("bad", b"xxxx", "not a pcap"),
                                      ("long", long, "the packet record at byte 24 claims")):
            path = self.path(name, content)
            for bench in ("mpm", "header"):
                self.assert_refused(sluice("bench", bench, "-r", path, "--device", "cpu",
                                           "--json"), path, reason)

    @measures
    def test_studies_of_sampling(self):
        self.assert_refused(sluice("bench", "sampling", "--study", "literals", "-r", CAPTURE,
                                   "--json"), "'literals'", "markers")
        self.assert_refused(sluice("bench", "sampling", "--study", "sorting", "-r", CAPTURE,
                                   "--device", "cpu", "--json"), "sorting", "GPU")
        rows = self.study_of_sampling("markers")
        self.assertEqual([row["k"] for row in rows if row["markers"] == "generic"],
                         list(range(1, 9)))
        for row in rows:
            self.assertGreaterEqual(row["net %, expanded"], row["net %, chunks"], row)
        periods = [row["period"] for row in self.study_of_sampling("period-change")]
        self.assertEqual(periods, sorted(periods, key=[32, 64, 48].index))
        machines = self.study_of_sampling("machines")
        self.assertEqual(machines[0]["paper Gbit/s"], 0.95)
        for row in machines:
            if "SLUICE_PAPERS" not in (row.get("note") or ""):
                self.assertGreater(row["GB/s"], 0, row)

    # ---- pipes and signals

    def test_a_pipe_is_read_as_the_file(self):
        expected = sluice("run", "-r", CAPTURE, "--rules", RULES, "--alerts", "eve:-").stdout
        with open(CAPTURE, "rb") as file:
            piped = sluice("run", "-r", "-", "--rules", RULES, "--alerts", "eve:-",
                           stdin=file).stdout
        process = subprocess.Popen([SLUICE, "run", "-r", "-", "--rules", RULES, "--alerts",
                                    "eve:-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        with open(CAPTURE, "rb") as file:
            slow = process.communicate(file.read(), timeout=60)[0]

        def events(text):
            lines = [json.loads(line) for line in text.splitlines()]
            for line in lines:
                line.pop("pcap_filename", None)
            return lines

        self.assertTrue(events(expected))
        self.assertEqual(events(expected), events(piped))
        self.assertEqual(events(expected), events(slow))

    def test_a_list_of_files_that_cannot_be_read(self):
        database = self.path("a.ndb", b"A:0:*:68656c6c6f\n")
        result = sluice("scan", "-d", database, "-f", self.folder.name, "--no-summary")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout.decode(), self.folder.name + ": Is a directory\n")

    def test_outputs_are_no_inputs(self):
        for name, content, arguments in (
            ("a.rules", b"alert tcp any any -> any any (sid:1;)\n",
             ["rules", "--compile", "{}", "{}"]),
            ("a.ndb", b"A:0:*:68656c6c6f\n", ["scan", "--compile", "{}", "-d", "{}"]),
            ("a.txt", b"/a\t1\n", ["lookup", "--build", "{}", "--table", "{}"]),
            ("b.rules", b"", ["run", "-r", CAPTURE, "--rules", "{}", "--alerts", "eve:{}"]),
            ("a.pcap", b"x", ["run", "-r", "{}", "--alerts", "eve:{}"])):
            path = self.path(name, content)
            other = os.path.join(self.folder.name, "..", os.path.basename(self.folder.name), name)
            paths = iter([path, other])
            self.assert_refused(sluice(*[a.replace("{}", next(paths)) if "{}" in a else a 
                                         for a in arguments]),
                                name + ": is read, and would be written")
            with open(path, "rb") as file:
                self.assertEqual(file.read(), content)
        saved, update = self.path("saved"), self.path("update", b"+/b\t2\n")
        self.assertEqual(sluice("lookup", "--table", self.path("a.txt"), "--build",
                                saved).returncode, 0)
        self.assertEqual(sluice("lookup", "--table", saved, "--update", update, "--force",
                                "--build", saved).returncode, 0)
        self.assertEqual(sluice("lookup", "--table", saved, "/b/c").stdout,
                         b"/b/c\t/b\tforward\t2\n")

    def test_interrupt_before_a_pipe_has_anything(self):
        process = subprocess.Popen([SLUICE, "run", "-r", "-", "--json", "--metrics", "0"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertIn(b"metrics at", process.stderr.readline())
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60) # before its pipe is closed
        summary, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, b""))
        self.assertEqual(json.loads(summary)["packets"], 0)

    def test_interrupt_ends_a_pipe_with_a_summary(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([SLUICE, "run", "-r", "-", "--json"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            with open(CAPTURE, "rb") as file:
                process.stdin.write(file.read())
            process.stdin.flush()
            case.wait_until_read(process.stdin)
            process.send_signal(number)
            text = process.stdout.read()
            process.stdin.close()
            process.stdout.close()
            self.assertEqual(process.wait(timeout=60), 0)
            self.assertGreater(json.loads(text)["packets"], 0)

    def test_interrupt_is_heard_while_a_capture_is_opened(self):
        """Whichever thread hears it: nobody writes the named pipe."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        process = subprocess.Popen([SLUICE, "run", "--json", "-r", CAPTURE, fifo],
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while len(os.listdir(f"/proc/{process.pid}/task")) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)  # it opens the pipe meanwhile, or is interrupted before
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertGreater(json.load(process.stdout)["packets"], 0)

    def test_what_is_no_capture_leaves_outputs_alone(self):
        eve = self.path("kept.json")
        for standard_input in (b"", b"no capture, whatever it may be"):
            with open(eve, "wb") as file:
                file.write(b"kept")
            run = subprocess.run([SLUICE, "run", "-r", "-", "--header-checks", "--alerts",
                                  "eve:" + eve], input=standard_input, capture_output=True,
                                 timeout=60)
            self.assertEqual(run.returncode, 2)
            self.assertIn(b"standard input", run.stderr)
            with open(eve, "rb") as file:
                self.assertEqual(file.read(), b"kept")

    def test_interrupt_ends_training(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        process = subprocess.Popen([SLUICE, "run", "-r", CAPTURE, "--redundancy", "samplebyte",
                                    "--train", fifo])
        self.addCleanup(process.kill)
        writer = os.open(fifo, os.O_WRONLY)  # which it waits for to read
        self.addCleanup(os.close, writer)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)

    def test_a_second_signal_ends_the_process(self):
        """Whatever the first one waits for: here for who writes a named pipe."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        process = subprocess.Popen([SLUICE, "run", "-r", CAPTURE, fifo], stdout=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while len(os.listdir(f"/proc/{process.pid}/task")) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        # both at once
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
        self.assertIn(process.wait(timeout=60), (-signal.SIGINT, -signal.SIGTERM))

    def latency_of_a_slow_pipe(self):
        with open(CAPTURE, "rb") as file:
            capture = file.read()
        eve = self.path("eve.json")
        process = subprocess.Popen([SLUICE, "run", "-r", "-", "--rules", RULES, "--json",
                                    "--device", "cpu", "--max-latency", "2000", "--alerts",
                                    "eve:" + eve], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for at in range(0, len(capture), 4096):
            process.stdin.write(capture[at:at + 4096])
            process.stdin.flush()
            time.sleep(0.003)
        # What was found is there while the pipe is open.
        expected = len(sluice("run", "-r", CAPTURE, "--rules", RULES, "--alerts",
                              "eve:-").stdout.splitlines())
        deadline = time.monotonic() + 60
        found = 0
        while found != expected and time.monotonic() < deadline:
            time.sleep(0.05)
            with open(eve, "rb") as file:
                found = len(file.read().splitlines())
        os.remove(eve)  # which the next run would append to
        self.assertEqual(found, expected, "alerts while the pipe is open")
        summary = json.loads(process.communicate(timeout=60)[0])
        latency = summary["latency"]
        self.assertEqual(latency["packets"], summary["packets"])
        self.assertTrue(
            latency["p50_us"] <= latency["p99_us"] <= latency["p99.9_us"] <= latency["max_us"])
        return latency

    def test_latency_is_bounded_and_reported(self):
        for value in ("0", "x", "-1", "1.5", "999999999"):
            self.assert_refused(sluice("run", "-r", CAPTURE, "--max-latency", value), f"'{value}'")
        for _ in range(20):  # the machine may be busy
            latency = self.latency_of_a_slow_pipe()
            # A batch is not closed before, and a full one, or a pause of 100 ms, is not waited for.
            self.assertGreater(latency["p50_us"], 1000)
            if latency["p50_us"] < 80000:
                break
        else:
            self.fail(latency)
        with open(CAPTURE, "rb") as file:
            text = sluice("run", "-r", "-", "--max-latency", "2000",
                          input=file.read()).stdout.decode()
        self.assertRegex(text, r"latency +from arrival to result: p50 [0-9.]+ us, p99 ")
        self.assertNotIn("latency", json.loads(sluice("run", "-r", CAPTURE, "--json").stdout))

    def test_memory_is_bounded_on_a_long_pipe(self):
        """2 GB, less under a sanitizer, or SLUICE_TEST_PIPE_BYTES. Without it at most a minute."""
        # A sanitizer keeps freed memory.
        sanitized = case.is_sanitized(SLUICE)
        asked = os.environ.get("SLUICE_TEST_PIPE_BYTES")
        goal, end = int(asked or (4e8 if sanitized else 2e9)), time.monotonic() + 60
        with open(CAPTURE, "rb") as file:
            capture = file.read()
        process = subprocess.Popen([SLUICE, "run", "-r", "-", "--rules", RULES, "--header-checks",
                                    "--json", "--device", "cpu"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        process.stdin.write(capture)
        records, written, early = capture[24:] * 20, len(capture), 0

        def resident(field):
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                return next(int(line.split()[1]) for line in file if line.startswith(field)) * 1024

        while written < goal and (asked or time.monotonic() < end):
            process.stdin.write(records)
            written += len(records)
            if not early and written > 2e8:
                early = resident("VmRSS")
        peak = resident("VmHWM")
        summary = json.loads(process.communicate(timeout=60)[0])
        self.assertEqual(process.returncode, 0)
        self.assertEqual(summary["packets"] % 1139, 0)
        self.assertGreater(summary["packets"], 1139 * 20)
        if early:
            self.assertLess(peak - early, 500e6 if sanitized else 64e6,
                            f"{written} bytes: {early} bytes resident, later {peak}")

    def test_a_closed_pipe_ends_quietly(self):
        """The signal ends sluice without a word, as other tools. Other sinks have all events."""
        many, eve = [CAPTURE] * 200, self.path("eve.json")
        encoded = self.path("encoded")
        self.assertEqual(sluice("encode", CAPTURE, encoded).returncode, 0)
        database = self.path("a.ndb", b"A:0:*:68656c6c6f\n")
        for arguments in (["--help"], ["run", "-r", CAPTURE], ["run", "-r", CAPTURE, "--json"],
                          ["run", "-r", *many, "--rules", RULES, "--alerts", "eve:-"],
                          ["run", "-r", CAPTURE, "--rules", RULES, "--alerts", "console",
                           "--alerts", "eve:" + eve], ["rules", RULES], ["devices", "--json"],
                          ["scan", "-d", database, CAPTURE], ["encode", CAPTURE, "-"],
                          ["decode", encoded, "-"],
                          ["bench", "--from", self.results("a.json", [self.row("a", 10)])]):
            process = subprocess.Popen([SLUICE, *arguments], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"", arguments)
            self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE, arguments)
            process.stderr.close()
        with open(eve, "rb") as file:
            self.assertEqual(len(file.readlines()), 18)

    def test_closed_descriptors_are_nobodys(self):
        """What is printed goes into no file that was opened instead."""
        eve = self.path("eve.json")
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            command = (f'"{SLUICE}" run -r "{CAPTURE}" --rules "{RULES}" '
                       f'--alerts "eve:{eve}" {closed}')
            result = subprocess.run(["sh", "-c", command], capture_output=True, timeout=120,
                                    check=False)
            self.assertEqual(result.returncode, 2 if ">&-" in closed.split() else 0, closed)
            with open(eve, encoding="utf-8") as file:
                self.assertEqual(len([json.loads(line) for line in file]), 18, closed)
            os.remove(eve)
        result = subprocess.run(["sh", "-c", f'"{SLUICE}" encode "{CAPTURE}" - >&-'],
                                capture_output=True, timeout=120, check=False)
        self.assert_refused(result, "Bad file descriptor")

    def test_a_full_disk_ends_the_run(self):
        result = sluice("run", "-r", CAPTURE, "--rules", RULES, "--alerts", "eve:/dev/full")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"No space left", result.stderr)
        self.assertIn(b"0 events were written", result.stderr)

    def test_a_full_disk_is_said_by_every_command(self):
        """What no sink writes: summaries, tables, rows of benchmarks, help."""
        list_of_names = self.path("hosts", b"0.0.0.0 ads.test\n")
        database = self.path("a.ndb", b"A:0:*:68656c6c6f\n")
        for arguments in (["--help"], ["--version"], ["run", "--help"], ["run", "-r", CAPTURE],
                          ["run", "-r", CAPTURE, "--json"],
                          ["run", "-r", CAPTURE, "--alerts", "eve:" + self.path("e")],
                          ["rules", RULES], ["rules", "--json", RULES], ["devices"],
                          ["devices", "--json"], ["lookup", "--table", list_of_names],
                          ["lookup", "--table", list_of_names, "ads.test"],
                          ["lookup", "--format", "help"], ["scan", "-d", database, CAPTURE],
                          ["decode", "--help"],
                          ["bench", "--from", self.results("a.json", [self.row("a", 10)])]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([SLUICE, *arguments], stdin=subprocess.DEVNULL, stdout=full,
                                        stderr=subprocess.PIPE, timeout=120, check=False)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(b"standard output: cannot be written", result.stderr, arguments)

    # ---- sinks agree

    def test_eve_and_sqlite_hold_what_the_summary_counts(self):
        eve, database = self.path("eve.json"), self.path("alerts.db")
        result = sluice("run", "-r", CAPTURE, "--rules", RULES, "--header-checks", "--json",
                        "--alerts", "eve:" + eve, "--alerts", "sqlite:" + database)
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads(result.stdout)
        with open(eve, encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        connection = sqlite3.connect(database)
        for kind, table in (("alert", "alerts"), ("anomaly", "anomalies")):
            rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            self.assertEqual(rows, summary[table + "_total"])
            self.assertEqual(rows, sum(event["event_type"] == kind for event in events))
            self.assertGreater(rows, 0)
        connection.close()

    def test_the_summary_is_for_people(self):
        result = sluice("run", "-r", CAPTURE, "--rules", RULES, "--header-checks", "--stats")
        self.assertEqual(result.returncode, 0)
        text = result.stdout.decode()
        for word in ("packets", "TCP", "flows", "anomalies", "alerts", "cpu", "pipeline"):
            self.assertIn(word, text)

    # ---- live

    def test_live_capture_ends_on_interrupt(self):
        port = case.own_port(self)
        process = subprocess.Popen([SLUICE, "run", "-i", "lo", "-f", f"udp port {port}", "--json",
                                    "--metrics", "0"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        if not case.serves(process.stderr.readline().decode()):
            reason = process.stderr.read().decode()
            process.stdout.close()
            process.stderr.close()
            self.assertEqual(process.wait(timeout=60), 2)
            self.skipTest("cannot capture on lo: " + reason)
        import socket
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(5):
                sender.sendto(b"hello", ("127.0.0.1", port))
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(json.loads(text)["protocols"]["UDP"]["packets"], 5)

    def test_a_missing_interface_is_said(self):
        self.assert_refused(sluice("run", "-i", "no-such-if"), "no-such-if")

    # ---- savings

    def test_savings(self):
        result = sluice("run", "-r", CAPTURE, CAPTURE, "--redundancy", "rabin,p=8,w=16,cache=2M",
                        "--compare", "--device", "cpu", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        samplers = {entry["sampler"]: entry for entry in json.loads(result.stdout)["redundancy"]}
        self.assertLessEqual({"rabin", "samplebyte", "dynabyte", "maxp", "every"}, set(samplers))
        every = samplers["every"]
        self.assertGreaterEqual(every["gross"], every["bytes"] // 2)  # it was all there before
        for entry in samplers.values():
            self.assertEqual(entry["bytes"], every["bytes"])
            self.assertLessEqual(entry["gross"], every["gross"])
            self.assertLess(entry["net"], entry["gross"])
            self.assertEqual(entry["frames"], entry["net"] - 24 * entry["packets"])
            self.assertEqual(sum(part["gross"] for part in entry["intervals"]), entry["gross"])
        alone = sluice("run", "-r", CAPTURE, CAPTURE, "--redundancy", "rabin,p=8,w=16,cache=2M",
                       "--device", "cpu", "--json")
        self.assertEqual(json.loads(alone.stdout)["redundancy"], [samplers["rabin"]])

    def test_savings_of_a_round_trip(self):
        gross = []
        for rtt in ("", ",rtt=1", ",rtt=100", ",rtt=60000"):
            result = sluice("run", "-r", os.path.join(SAMPLES, "web.pcap"), "--redundancy",
                            "maxp,p=8,w=16" + rtt, "--device", "cpu", "--json")
            gross.append(json.loads(result.stdout)["redundancy"][0]["gross"])
        self.assertEqual(gross, sorted(gross, reverse=True))
        self.assertGreater(gross[1], gross[2])
        self.assertEqual(gross[3], 0)
        self.assertEqual(json.loads(result.stdout)["redundancy"][0]["rtt_ms"], 60000)
        text = sluice("run", "-r", CAPTURE, "--redundancy", "maxp,rtt=7").stdout
        self.assertIn(b", round trip 7 ms\n", text)

    def test_bad_savings(self):
        for spec, words in (("nothing", ["'nothing'", "rabin"]), ("rabin,q=3", ["'q=3'"]),
                            ("rabin,p=31", ["31"]), ("rabin,w=5", ["5"]), ("maxp,cache=1", ["1"]),
                            ("rabin,p=", ["'p='"]), ("rabin,w=3s", ["'w=3s'"]),
                            ("rabin,rtt=0", ["'rtt=0'"]), ("rabin,rtt=60001", ["'rtt=60001'"])):
            self.assert_refused(sluice("run", "-r", CAPTURE, "--redundancy", spec), *words)
        self.assert_refused(sluice("run", "-r", CAPTURE, "--redundancy", "maxp,cache=60000G"),
                            "a packet cache of")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--redundancy",
                                   "maxp,interval=9999999999s"), "interval")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--redundancy", "maxp,no-raise"),
                            "no-raise", "dynabyte")
        self.assertEqual(sluice("run", "-r", CAPTURE, "--redundancy", "dynabyte,no-raise",
                                "--json").returncode, 0)
        self.assert_refused(sluice("run", "-r", CAPTURE, "--compare"), "--redundancy")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--redundancy", "maxp", "--train",
                                   CAPTURE), "samplebyte")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--redundancy", "samplebyte", "--train",
                                   self.path("none.pcap")), "none.pcap")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--redundancy", "samplebyte", "--train",
                                   "-"), "empty")

    def test_trained_markers(self):
        result = sluice("run", "-r", CAPTURE, CAPTURE, "--redundancy", "samplebyte,p=8,w=16",
                        "--train", CAPTURE, "--device", "cpu", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"markers", result.stderr)
        self.assertGreater(json.loads(result.stdout)["redundancy"][0]["samples"], 0)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_savings_drawn(self):
        plot = self.path("it's.svg")
        result = sluice("run", "-r", CAPTURE, "--redundancy", "maxp", "--plot", plot, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(plot, encoding="utf-8") as file:
            self.assertIn("net savings", file.read())
        again = ("run", "-r", CAPTURE, "--redundancy", "dynabyte", "--plot", plot, "--json")
        self.assert_refused(sluice(*again), "was not overwritten (--force overwrites it)")
        with open(plot, encoding="utf-8") as file:
            self.assertIn("maxp", file.read())
        self.assertEqual(sluice(*again, "--force").returncode, 0)
        with open(plot, encoding="utf-8") as file:
            self.assertIn("dynabyte", file.read())
        self.assert_refused(sluice("run", "-r", CAPTURE, "--force"), "--force needs --plot")
        plot = self.path("none/a.svg")
        result = sluice("run", "-r", CAPTURE, "--redundancy", "maxp", "--plot", plot, "--json")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.decode(),
                         f"sluice: {plot}: cannot be created: No such file or directory\n")
        json.loads(result.stdout)  # and no picture

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    @measures
    def test_studies_drawn(self):
        plot = self.path("it's.svg")
        for study, panel in (("markers", "bytes a sample"), ("periods", "ms a GB"),
                             ("period-change", "net %")):
            result = sluice("bench", "sampling", "--study", study, "-r", CAPTURE, "--device", "cpu",
                            "--force", "--plot", plot, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b'"study": "' + study.encode() + b'"', result.stdout)
            with open(plot, encoding="utf-8") as file:
                self.assertIn(panel, file.read())
        for bench, study in (("sampling", "machines"), ("mpm", "literals"),
                             ("fib", "lookup-kernel")):
            self.assert_refused(sluice("bench", bench, "--study", study, "--force", "--plot", plot,
                                       "--json"), study, "table")

    # ---- the benchmark of the whole machine

    MACHINE = {"sluice": "0.1.0", "time": "2026-11-21T00:00:00Z", "cpu": "Test CPU",
               "level": "AVX2", "cores": 2, "memory_bytes": 1000000000}

    @staticmethod
    def row(variant, median, spread=0.01, **more):
        """A row whose middle half of runs is `spread` of the median wide."""
        return {"bench": "header", "variant": variant, "data": "some", "unit": "GB/s",
                "median": median, "min": median * (1 - spread), "q1": median * (1 - spread / 2),
                "q3": median * (1 + spread / 2), "max": median * (1 + spread), "runs": 11, **more}

    def results(self, name, rows, command=("bench",), **machine):
        content = {"format": "sluice bench", "version": 1, "machine": {**self.MACHINE, **machine},
                   "rows": rows, "timelines": [], "command": command}
        return self.path(name, json.dumps(content).encode())

    def compare(self, then, now, **machine):
        """What --against says of two saved files, by variant, and its heading; as text too."""
        files = ["--from", self.results("now.json", now), "--against",
                 self.results("then.json", then, **machine)]
        text = sluice("bench", *files)
        result = sluice("bench", *files, "--json")
        self.assertEqual((result.returncode, text.returncode), (0, 0), result.stderr + text.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        heading, = [line for line in lines if "against" in line]
        return {line["variant"]: line for line in lines
                if "change" in line}, heading, text.stdout.decode()

    def test_changes_count_above_the_noise(self):
        then = [self.row("slower", 10), self.row("faster", 10), self.row("same", 10),
                self.row("little", 10, 0.001), self.row("noisy then", 10, 0.2),
                self.row("noisy now", 10, 0.01), self.row("beyond", 10, 0.1)]
        now = [self.row("slower", 9.7), self.row("faster", 10.3), self.row("same", 10),
               self.row("little", 9.81, 0.001), self.row("noisy then", 8.1),
               self.row("noisy now", 8.5, 0.2), self.row("beyond", 7.9, 0.1)]
        changes, heading, text = self.compare(then, now)
        self.assertEqual({variant: line["change"] for variant, line in changes.items()},
                         {"slower": "slower", "faster": "faster", "same": "same", "little": "same",
                          "noisy then": "same", "noisy now": "same", "beyond": "slower"})
        self.assertTrue(heading["comparable"])
        self.assertAlmostEqual(changes["slower"]["percent"], -3, 3)
        # 1 % of both, and the least
        self.assertAlmostEqual(changes["slower"]["noise_percent"], 2, 3)
        self.assertAlmostEqual(changes["noisy now"]["noise_percent"], 18, 3)
        self.assertAlmostEqual(changes["noisy then"]["noise_percent"], 20.81, 3)
        self.assertRegex(
            text, r"slower +header +slower +10\.000 -> 9\.700 GB/s +-3\.0 % \(noise 2\.0 %\)")
        self.assertIn("4 rows are as they were", text)

    def test_rows_of_one_side_are_listed(self):
        why = {"bench": "header", "variant": "lost", "why": "no such thing"}
        then = [self.row("both", 10), self.row("gone", 10), self.row("lost", 10),
                {**why, "variant": "neither"}, self.row("data", 10)]
        now = [self.row("both", 10), self.row("new", 10), why, {**why, "variant": "neither"},
               self.row("data", 10, data="other")]
        changes, _, text = self.compare(then, now)
        self.assertEqual({variant: line["change"] for variant, line in changes.items()},
                         {"both": "same", "gone": "gone", "new": "new", "lost": "gone",
                          "data": "other"})
        self.assertEqual(changes["lost"]["why"], "no such thing")
        for variant in ("gone", "new", "lost", "data"):
            self.assertRegex(text, rf"(gone|new|other) +header +{variant} ")

    def test_another_machine_is_not_judged(self):
        for machine, words in (({"cores": 16}, "cores: 16 then, 2 now"),
                               ({"cpu": "Other CPU"}, "Other CPU then"),
                               ({"gpu": "Some GPU"}, "gpu: Some GPU then, none now"),
                               ({"level": "scalar"}, "scalar")):
            changes, heading, text = self.compare([self.row("a", 10)], [self.row("a", 5)],
                                                  **machine)
            self.assertFalse(heading["comparable"])
            self.assertIn(words, heading["why"])
            self.assertEqual(changes["a"]["change"], "differs")
            self.assertIn("ANOTHER MACHINE", text)
            self.assertNotIn("slower", text)

    def test_a_file_that_is_no_result_is_refused(self):
        with open(self.results("good.json", [self.row("a", 10)]), encoding="utf-8") as file:
            good = json.load(file)

        def row(**change):
            return {**good, "rows": [self.row("b", 10), {**self.row("a", 10), **change}]}

        for content, *words in (
            (b"", ":1: "), (b"{\n\n,}", ":3: "), (b"[]", "no file of"), (b"\xff\x00", ":1: "),
            (b'{"a":1,"a":1}', "duplicate"), (b"[" * 5000, ":1: "),
            ({**good, "format": "x"}, "no file of"),
            ({**good, "version": 2}, "version 2", "reads 1"),
            ({**good, "machine": 1}, "no machine"), ({**good, "rows": {}}, "no rows"),
            ({**good, "machine": {**self.MACHINE, "cpu": "x\u001b[2J"}}, "control"),
            (row(bench=3), "row 2", "no bench"), (row(median=-1), "row 2", "ascending"),
            (row(q1=20), "row 2", "ascending"), (row(max="x"), "row 2"), (row(unit=None), "row 2"),
            (row(min=0, q1=0, median=0, q3=0, max=0), "row 2", "no rate"),
            (row(variant="a\nb"), "control")):
            bad = self.path("bad.json",
                            content if isinstance(content, bytes) else json.dumps(content).encode())
            for option in ("--from", "--against"):
                self.assert_refused(sluice("bench", option, bad), "bad.json", *words)
        self.assert_refused(sluice("bench", "--against", self.path("none.json")), "none.json",
                            "No such file")
        self.assert_refused(sluice("bench", "--against", self.folder.name), "no regular file")
        self.assert_refused(sluice("bench", "--save", self.path("none/x.json")), "none/x.json")

    def test_bench_starts_the_program_beside_it_or_in_path(self):
        alone = shutil.copy(SLUICE, self.path("sluice"))
        library = os.path.join(os.path.dirname(os.path.abspath(SLUICE)), "..", "lib")

        def start(path):
            environment = {**os.environ, "PATH": path, "LD_LIBRARY_PATH": library}
            return subprocess.run([alone, "bench", "--help"], capture_output=True, timeout=120,
                                  env=environment)

        self.assert_refused(start("/nowhere"), "sluice-bench", os.path.join(self.folder.name, ""),
                            "PATH")
        expected = sluice("bench", "--help").stdout
        there = os.path.abspath(SLUICE)
        self.assertEqual(start(os.path.dirname(there)).stdout, expected)
        os.symlink(there, self.path("link"))
        linked = subprocess.run([self.path("link"), "bench", "--help"], capture_output=True,
                                timeout=120)
        self.assertEqual(linked.stdout, expected)

    def test_bad_options_of_the_whole_bench(self):
        for variants in ("foo", "mpm", "mpm:", "header:scalar,x:y", ":ac"):
            self.assert_refused(sluice("bench", "--variants", variants), "--variants", "mpm:ac")
        self.assert_refused(sluice("bench", "header", "--variants", "mpm:ac"), "--variants")
        self.assert_refused(sluice("bench", "header", "--from", "x"), "--from")
        self.assert_refused(sluice("bench", "--study", "literals"), "--study")
        self.assert_refused(sluice("bench", "--files", CAPTURE), "--files")

    def test_options_that_would_do_nothing_are_refused(self):
        for benches, options, name in ((["header"], ["--database", "x"], "header"),
                                       (["fib"], ["--sample"], "fib"),
                                       (["scan", "fib"], ["-r", CAPTURE], "scan"),
                                       (["capture", "header"], ["--counts", "1"], "capture"),
                                       (["mpm", "header"], ["--files", CAPTURE], "header"),
                                       (["names"], ["--algorithms", "hash"], "names"),
                                       (["sampling"], ["--device-bytes", "1M"], "sampling"),
                                       (["together"], ["--all-cores"], "together")):
            self.assert_refused(sluice("bench", *benches, *options),
                                f"sluice: {options[0]} is no option of {name}\n")
        for option in (["--database", "x"], ["--sample"], ["--algorithms", "ac"]):
            self.assert_refused(sluice("bench", *option),
                                option[0] + " needs the name of a benchmark")
        self.assert_refused(sluice("bench", "mpm", "--plot", "x.svg"), "--plot", "--study")
        result = sluice("bench", "header", "names", "-r", CAPTURE, "--entries", "1000", "--runs",
                        "1", "--device", "cpu", "--json")  # of names alone
        self.assertEqual(result.returncode, 0, result.stderr)

    @measures
    def test_named_benches_are_saved_and_compared(self):
        saved = self.path("header.json")
        options = ["header", "-r", CAPTURE, "--runs", "1", "--device", "cpu"]
        self.assertEqual(sluice("bench", *options, "--save", saved).returncode, 0)
        with open(saved, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["command"], ["bench", *options, "--save", saved])
        result = sluice("bench", *options, "--against", saved, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        rows = [(line["bench"], line["variant"]) for line in lines if "median" in line]
        self.assertEqual(sorted(rows), sorted((line["bench"], line["variant"]) for line in lines
                                              if "change" in line))
        self.assertLessEqual({line["change"] for line in lines if "change" in line},
                             {"same", "slower", "faster"})

    @measures
    def test_bench_of_a_tunnel(self):
        result = sluice("bench", "tunnel", "--bytes", "2M", "--runs", "1", "--json", "--device",
                        "cpu")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        rows = [row["variant"] for row in rows if row.get("bench") == "tunnel"]
        rows = [row for row in rows if "wireguard-go" not in row]
        self.assertEqual(len(rows), 28, result.stdout)
        self.assert_refused(sluice("bench", "tunnel", "--bytes", "0"), "--bytes", "'0'")

    @measures
    def test_all_engines_together(self):
        result = sluice("bench", "together", "-r", CAPTURE, "--runs", "1", "--entries", "1000",
                        "--counts", "50,100", "--device", "cpu", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual({line["bench"] for line in lines if "median" in line},
                         {"ceiling", "header", "mpm/50", "sampling", "virus/100", "packet names",
                          "all"})

    @measures
    def test_the_whole_machine(self):
        saved = self.path("saved.json")
        result = sluice("bench", "-r", CAPTURE, "--runs", "1", "--entries", "1000", "--counts",
                        "50,100", "--device", "cpu", "--variants",
                        "mpm:ac,header:scalar,virus:none", "--json", "--save", saved)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        rows = [line for line in lines if "variant" in line and "timeline" not in line]
        with open(saved, encoding="utf-8") as file:
            kept = json.load(file)
        self.assertEqual([(row["bench"], row["variant"]) for row in kept["rows"]],
                         [(row["bench"], row["variant"]) for row in rows])
        self.assertEqual(kept["machine"], lines[0]["machine"])
        self.assertEqual({row["bench"] for row in rows} - {"clamscan"},
                         {"ceiling", "header", "mpm/50", "sampling", "virus/100", "names",
                          "packet names", "all", "zstd", "scan"})
        cores = len(os.sched_getaffinity(0))
        series = {}
        for row in rows:
            if "why" not in row:
                self.assertTrue(
                    0 < row["min"] <= row["q1"] <= row["median"] <= row["q3"] <= row["max"], row)
                series.setdefault(row.get("series"), []).append(row["cores"])
        for name in ("header scalar", "mpm/50 ac scalar", "memory read"):
            self.assertIn(name, series)
            self.assertEqual((series[name][0], series[name][-1]), (1, cores), name)
        self.assertIn("none", [row["variant"] for row in rows if "why" in row])
        for row in rows:
            if row["bench"] == "names" and "hits" in row:
                # each name of a trace lies below one of the table
                self.assertEqual(row["hits"], 64 * 16384)
        self.assertEqual(len({row["hits"] for row in rows
                              if row["bench"] == "header" and "hits" in row}), 1)
        together = [row for row in rows if row["bench"] == "all"]
        self.assertTrue(all(0 < row["p50_us"] <= row["p99_us"] for row in together))
        self.assert_timelines(lines, kept, together)

    def assert_timelines(self, lines, kept, together):
        timelines = [line for line in lines if "timeline" in line]
        self.assertEqual(timelines, kept["timelines"])
        self.assertEqual([line["variant"] for line in timelines],
                         [row["variant"] for row in together])
        for timeline in timelines:
            self.assertTrue(0 < len(timeline["batches_ns"]) <= 65)
            before = 0
            for number, batch in enumerate(timeline["batches_ns"]):
                if number < 64:  # and behind these the slowest
                    self.assertEqual(batch["batch"], number)
                moments = [batch["due"], batch["fill_begin"], batch["filled"]]
                self.assertEqual([engine["engine"] for engine in batch["engines"]],
                                 ["header", "mpm/50", "sampling", "virus/100", "packet names"])
                for engine in batch["engines"]:
                    moments += [engine["begin"], engine["end"]]
                moments.append(batch["drained"])
                self.assertEqual(moments, sorted(moments))
                self.assertGreaterEqual(batch["drained"], before)  # results come in order
                before = batch["drained"]

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_rates_drawn(self):
        plot = self.path("it's.svg")
        rows = [self.row("a, 1 core", 2, role="engine", series="header it's", cores=1),
                self.row("a, 2 cores", 4, role="engine", series="header it's", cores=2),
                self.row("a, GPU", 50, role="engine", series="header cuda"),
                self.row("read", 12, role="ceiling", series="memory read", cores=1)]
        result = sluice("bench", "--from", self.results("x.json", rows), "--plot", plot)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(plot, encoding="utf-8") as file:
            text = file.read()
        for words in ("header it's", "memory read", "Test CPU", "CPU cores, and the GPU",
                      "GB/s, logarithmic"):
            self.assertIn(words, text.replace("&#39;", "'"))
        result = sluice("bench", "--from", self.results("y.json", [self.row("a", 10)]),
                        "--force", "--plot", plot)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"no rows", result.stderr)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_the_page_of_a_machine(self):
        rows = [self.row("read, 1 core", 12, role="ceiling", series="read", cores=1),
                self.row("a, 1 core", 2, role="engine", series="a", cores=1, ceiling=4, share=0.5,
                         ceiling_of="memory read"),
                self.row("a, 2 cores", 3.9, role="engine", series="a", cores=2, scaling=1.95),
                self.row("p, 1 core", 1, role="peer", series="p", cores=1),
                self.row("2 engines, 2 cores", 1.5, role="together", bench="all", cores=2,
                         p50_us=10, p99_us=20), {"bench": "x", "variant": "y", "why": "not here"}]
        saved = self.results("x.json", rows, cpu="Test(R) Xeon(R) CPU 1 @ 2 GHz", kernel="Linux",
                             software={"zstd": "1"}, others_percent=0,
                             command=["bench", "header", "--save", "S", "--runs", "3", "--plot",
                                      "P"])
        stub = self.path("stub", f"""#!/bin/sh
            [ "$2" = --save ] || exec '{os.path.abspath(SLUICE)}' "$@"
            cp '{saved}' "$3" && echo '<svg/>' >"$5"
            """.encode())
        os.chmod(stub, 0o755)
        tool = os.path.join(SAMPLES, "..", "..", "tools", "bench-page")
        folder = self.path("pages")
        for again in (False, True):
            result = subprocess.run([sys.executable, tool, stub, folder], capture_output=True,
                                    timeout=60, text=True, check=True)
            self.assertEqual("against" in result.stdout, again, result.stdout)
        self.assertEqual(sorted(os.listdir(folder)), ["README.md"]
                         + [f"test-xeon-1-2-cores.{kind}" for kind in ("json", "md", "svg")])
        with open(os.path.join(folder, "test-xeon-1-2-cores.md"), encoding="utf-8") as file:
            page = file.read()
        for words in ("# Test(R) Xeon(R)", "\n    sluice bench header --runs 3\n", "## Ceilings",
                      "## Peers", "50 % of memory read", "10, 20",
                      "- x, y: not here", "](test-xeon-1-2-cores.svg)"):
            self.assertIn(words, page)
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            self.assertIn("(test-xeon-1-2-cores.md) | 1.5 GB/s (2 engines, 2 cores) | 2026-11-21 |",
                          file.read())

    # ---- the benchmark of sampling

    @measures
    def test_backends_of_a_sampler_agree(self):
        self.assert_refused(sluice("bench", "sampling", "foo", "-r", CAPTURE), "'foo'")
        result = sluice("bench", "sampling", "rabin", "--files",
                        self.path("random", os.urandom(300000)), "--runs", "1", "--device", "cpu",
                        "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        rows = [row for row in rows if "hits" in row and "cached" not in row["variant"]]
        self.assertIn("streams", {row["variant"] for row in rows})
        self.assertEqual(len({row["hits"] for row in rows}), 1, rows)
        self.assertTrue(900 < rows[0]["hits"] < 1450, rows)


if __name__ == "__main__":
    case.main()

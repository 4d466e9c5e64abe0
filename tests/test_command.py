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
from saved_results import saved_file, saved_row

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
RULES = os.path.join(SAMPLES, "sample.rules")


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

    def test_threads_change_no_byte(self):
        part = os.urandom(5 << 20)
        content = part + b"x" * 1000 + part[::-1] + part + part  # three rounds, and repeats
        source, decoded = self.path("in", content), self.path("decoded")
        outputs = set()
        for threads in (1, 2, 3, 7):
            encoded = self.path("encoded")
            result = sluice("encode", "-f", "--threads", str(threads), source, encoded)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            with open(encoded, "rb") as file:
                outputs.add(file.read())
        self.assertEqual(len(outputs), 1)
        self.assertLess(len(outputs.pop()), 11 << 20)  # of 20 MiB half repeats
        for threads in (0, 1, 3):
            result = sluice("decode", "-f", "--threads", str(threads), encoded, decoded)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            with open(decoded, "rb") as file:
                self.assertEqual(file.read(), content)

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

    def engines(self, *arguments):
        """The engines of a run with rules."""
        rules = self.path("engines.rules",
                          b'alert tcp any any -> any any (content:"later"; sid:1;)\n')
        result = sluice("run", "-r", self.http_capture(b"x"), "--rules", rules, "--device", "cpu",
                        "--json", "--stats", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        pipeline = json.loads(result.stdout.splitlines()[-1])["pipeline"]
        return [entry["engine"] for entry in pipeline["engines"]]

    def test_literals_that_segments_cut_have_an_engine(self):
        database = self.path("engines.ndb", b"Later:1:*:6c61746572206f6e\n")

        self.assertEqual(self.engines()[1:], ["seams"])
        self.assertNotIn("seams", self.engines("--stream-memory", "0"))
        # Viruses may lie across any place, so that each is made an item.
        self.assertNotIn("seams", self.engines("--scan", database))

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

    def latency_of_a_slow_pipe(self, pause):
        """The latencies, and the microseconds in which the packets came."""
        with open(CAPTURE, "rb") as file:
            capture = file.read()
        eve = self.path("eve.json")
        process = subprocess.Popen([SLUICE, "run", "-r", "-", "--rules", RULES, "--json",
                                    "--device", "cpu", "--max-latency", "2000", "--alerts",
                                    "eve:" + eve], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        begin = time.monotonic()
        for at in range(0, len(capture), 4096):
            process.stdin.write(capture[at:at + 4096])
            process.stdin.flush()
            time.sleep(pause)
        duration = (time.monotonic() - begin) * 1e6
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
        return latency, duration

    def test_latency_is_bounded_and_reported(self):
        for value in ("0", "x", "-1", "1.5", "999999999"):
            self.assert_refused(sluice("run", "-r", CAPTURE, "--max-latency", value), f"'{value}'")
        for pause in (0.003, 0.01, 0.03, 0.06):  # the machine may be slow, or busy
            latency, duration = self.latency_of_a_slow_pipe(pause)
            # A batch is not closed before, and a full one, or a pause of 100 ms, is not waited for:
            # half of the packets would wait for half of the time and more.
            self.assertGreater(latency["p50_us"], 1000)
            if latency["p50_us"] < duration / 4:
                break
        else:
            self.fail((latency, duration))
        with open(CAPTURE, "rb") as file:
            text = sluice("run", "-r", "-", "--max-latency", "2000",
                          input=file.read()).stdout.decode()
        self.assertRegex(text, r"latency +from arrival to result: p50 [0-9.]+ us, p99 ")
        self.assertNotIn("latency", json.loads(sluice("run", "-r", CAPTURE, "--json").stdout))

    def test_memory_is_bounded_on_a_long_pipe(self):
        """600 MB, half under sanitizers, or SLUICE_TEST_PIPE_BYTES. At most a minute without."""
        # A sanitizer keeps freed memory.
        sanitized = case.is_sanitized(SLUICE)
        asked = os.environ.get("SLUICE_TEST_PIPE_BYTES")
        goal, end = int(asked or (3e8 if sanitized else 6e8)), time.monotonic() + 60
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
        saved = self.path("a.json", saved_file([saved_row("a", 10)]))
        self.assertEqual(sluice("encode", CAPTURE, encoded).returncode, 0)
        database = self.path("a.ndb", b"A:0:*:68656c6c6f\n")
        for arguments in (["--help"], ["run", "-r", CAPTURE], ["run", "-r", CAPTURE, "--json"],
                          ["run", "-r", *many, "--rules", RULES, "--alerts", "eve:-"],
                          ["run", "-r", CAPTURE, "--rules", RULES, "--alerts", "console",
                           "--alerts", "eve:" + eve], ["rules", RULES], ["devices", "--json"],
                          ["scan", "-d", database, CAPTURE], ["encode", CAPTURE, "-"],
                          ["decode", encoded, "-"],
                          ["bench", "--from", saved]):
            reader, writer = os.pipe()
            os.close(reader)  # before sluice begins, which may write all at once
            result = subprocess.run([SLUICE, *arguments], stdin=subprocess.DEVNULL, stdout=writer,
                                    stderr=subprocess.PIPE, timeout=60, check=False)
            os.close(writer)
            self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, b""), arguments)
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
        saved = self.path("a.json", saved_file([saved_row("a", 10)]))
        for arguments in (["--help"], ["--version"], ["run", "--help"], ["run", "-r", CAPTURE],
                          ["run", "-r", CAPTURE, "--json"],
                          ["run", "-r", CAPTURE, "--alerts", "eve:" + self.path("e")],
                          ["rules", RULES], ["rules", "--json", RULES], ["devices"],
                          ["devices", "--json"], ["lookup", "--table", list_of_names],
                          ["lookup", "--table", list_of_names, "ads.test"],
                          ["lookup", "--format", "help"], ["scan", "-d", database, CAPTURE],
                          ["decode", "--help"],
                          ["bench", "--from", saved]):
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


if __name__ == "__main__":
    case.main()

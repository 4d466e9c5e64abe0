#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarks as a person starts them: options, rows, saved results, pictures.

usage: test_bench.py SLUICE SAMPLES
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import case
from saved_results import MACHINE, saved_file, saved_row

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
RULES = os.path.join(SAMPLES, "sample.rules")

measures = unittest.skipIf(case.is_sanitized(SLUICE), "sanitizers make measurements long")
takes_long = unittest.skipUnless(os.environ.get("SLUICE_TEST_BENCHES"),
                                 "SLUICE_TEST_BENCHES is not set: it takes seconds of all cores")


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


class Bench(case.Case):
    # ---- of an engine

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

    @takes_long
    @measures
    def test_bench_scan_of_generated_documents(self):
        """Without clamscan, which would take minutes."""
        result = sluice("bench", "scan", "--runs", "1", "--json",
                        env={"PATH": self.path("nowhere"), "TMPDIR": self.path("")})
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        rates = {(row["bench"], row["role"]): row["median"] for row in lines if "median" in row}
        scans = ("plain", "mail", "stored", "deflated", "mixed", "bz2", "xz", "7z", "all of them")
        self.assertEqual({key for key in rates if key[1] == "engine"},
                         {(f"scan {name}", "engine") for name in scans})
        self.assertEqual({key for key in rates if key[1] == "ceiling"},
                         {(f"scan {name}", "ceiling") for name in ("bz2", "xz", "7z")})
        self.assertGreater(min(rates.values()), 0)
        self.assertEqual([row["variant"] for row in lines if "why" in row], ["clamscan"])

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

    # ---- studies

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

    @takes_long
    def test_study_of_literals(self):
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

    @takes_long
    def test_study_of_machines(self):
        machines = self.study_of_sampling("machines")
        self.assertEqual(machines[0]["paper Gbit/s"], 0.95)
        for row in machines:
            if "SLUICE_PAPERS" not in (row.get("note") or ""):
                self.assertGreater(row["GB/s"], 0, row)

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

    # ---- saved results

    def results(self, name, rows, **how):
        return self.path(name, saved_file(rows, **how))

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
        then = [saved_row("slower", 10), saved_row("faster", 10), saved_row("same", 10),
                saved_row("little", 10, 0.001), saved_row("noisy then", 10, 0.2),
                saved_row("noisy now", 10, 0.01), saved_row("beyond", 10, 0.1)]
        now = [saved_row("slower", 9.7), saved_row("faster", 10.3), saved_row("same", 10),
               saved_row("little", 9.81, 0.001), saved_row("noisy then", 8.1),
               saved_row("noisy now", 8.5, 0.2), saved_row("beyond", 7.9, 0.1)]
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
        then = [saved_row("both", 10), saved_row("gone", 10), saved_row("lost", 10),
                {**why, "variant": "neither"}, saved_row("data", 10)]
        now = [saved_row("both", 10), saved_row("new", 10), why, {**why, "variant": "neither"},
               saved_row("data", 10, data="other")]
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
            changes, heading, text = self.compare([saved_row("a", 10)], [saved_row("a", 5)],
                                                  **machine)
            self.assertFalse(heading["comparable"])
            self.assertIn(words, heading["why"])
            self.assertEqual(changes["a"]["change"], "differs")
            self.assertIn("ANOTHER MACHINE", text)
            self.assertNotIn("slower", text)

    def test_a_file_that_is_no_result_is_refused(self):
        with open(self.results("good.json", [saved_row("a", 10)]), encoding="utf-8") as file:
            good = json.load(file)

        def row(**change):
            return {**good, "rows": [saved_row("b", 10), {**saved_row("a", 10), **change}]}

        for number, (content, *words) in enumerate((
            (b"", ":1: "), (b"{\n\n,}", ":3: "), (b"[]", "no file of"), (b"\xff\x00", ":1: "),
            (b'{"a":1,"a":1}', "duplicate"), (b"[" * 5000, ":1: "),
            ({**good, "format": "x"}, "no file of"),
            ({**good, "version": 2}, "version 2", "reads 1"),
            ({**good, "machine": 1}, "no machine"), ({**good, "rows": {}}, "no rows"),
            ({**good, "machine": {**MACHINE, "cpu": "x\u001b[2J"}}, "control"),
            (row(bench=3), "row 2", "no bench"), (row(median=-1), "row 2", "ascending"),
            (row(q1=20), "row 2", "ascending"), (row(max="x"), "row 2"), (row(unit=None), "row 2"),
            (row(min=0, q1=0, median=0, q3=0, max=0), "row 2", "no rate"),
            (row(variant="a\nb"), "control"))):
            bad = self.path("bad.json",
                            content if isinstance(content, bytes) else json.dumps(content).encode())
            option = ("--from", "--against")[number % 2]
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

    # ---- of the whole machine

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
        result = sluice("bench", "capture", "names", "-r", CAPTURE, "--entries", "1000", "--runs",
                        "1", "--device", "cpu", "--json")  # of names alone
        self.assertEqual(result.returncode, 0, result.stderr)

    @measures
    def test_named_benches_are_saved_and_compared(self):
        saved = self.path("capture.json")
        options = ["capture", "-r", CAPTURE, "--runs", "1", "--device", "cpu"]
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

    @takes_long
    def test_bench_of_a_tunnel(self):
        result = sluice("bench", "tunnel", "--bytes", "2M", "--runs", "1", "--json", "--device",
                        "cpu")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        rows = [row["variant"] for row in rows if row.get("bench") == "tunnel"]
        rows = [row for row in rows if "wireguard-go" not in row]
        self.assertEqual(len(rows), 28, result.stdout)
        self.assert_refused(sluice("bench", "tunnel", "--bytes", "0"), "--bytes", "'0'")

    @takes_long
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
                        "mpm:ac,header:scalar,virus:none", "--json", "--save", saved,
                        env={**os.environ, "PATH": "/nowhere"})  # no peers
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

    # ---- pictures and pages

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_rates_drawn(self):
        plot = self.path("it's.svg")
        rows = [saved_row("a, 1 core", 2, role="engine", series="header it's", cores=1),
                saved_row("a, 2 cores", 4, role="engine", series="header it's", cores=2),
                saved_row("a, GPU", 50, role="engine", series="header cuda"),
                saved_row("read", 12, role="ceiling", series="memory read", cores=1)]
        result = sluice("bench", "--from", self.results("x.json", rows), "--plot", plot)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(plot, encoding="utf-8") as file:
            text = file.read()
        for words in ("header it's", "memory read", "Test CPU", "CPU cores, and the GPU",
                      "GB/s, logarithmic"):
            self.assertIn(words, text.replace("&#39;", "'"))
        result = sluice("bench", "--from", self.results("y.json", [saved_row("a", 10)]),
                        "--force", "--plot", plot)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"no rows", result.stderr)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_the_page_of_a_machine(self):
        rows = [saved_row("read, 1 core", 12, role="ceiling", series="read", cores=1),
                saved_row("a, 1 core", 2, role="engine", series="a", cores=1, ceiling=4, share=0.5,
                         ceiling_of="memory read"),
                saved_row("a, 2 cores", 3.9, role="engine", series="a", cores=2, scaling=1.95),
                saved_row("p, 1 core", 1, role="peer", series="p", cores=1),
                saved_row("2 engines, 2 cores", 1.5, role="together", bench="all", cores=2,
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

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command on several GPUs, which are simulated and fail on demand.

usage: test_devices.py SLUICE_SIMULATED SAMPLES
"""
import glob
import itertools
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import case

SLUICE, SAMPLES = sys.argv[1:3]
SAMPLE = os.path.join(SAMPLES, "sample.pcap")
FEW = case.is_sanitized(SLUICE)  # each run takes several times as long
# Some batches, and a pipe: `auto` cannot know its length.
CAPTURES = [SAMPLE] * (40 if FEW else 100) + ["-"]
RULES = os.path.join(SAMPLES, "sample.rules")
REPEAT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools/repeat-captures")
CACHES = tempfile.TemporaryDirectory()  # what runs took is kept there
os.environ["XDG_CACHE_HOME"] = CACHES.name


def sluice(*arguments, gpus=0, faults=""):
    environment = dict(os.environ, SIMULATED_GPUS=str(gpus), SIMULATED_FAULTS=faults)
    with open(SAMPLE, "rb") as file:
        return subprocess.run([SLUICE, *arguments], capture_output=True, timeout=120,
                              env=environment, input=file.read())


def start(*arguments, gpus=0, faults=""):
    environment = dict(os.environ, SIMULATED_GPUS=str(gpus), SIMULATED_FAULTS=faults)
    return subprocess.Popen([SLUICE, *arguments], env=environment, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.eve = os.path.join(cls.folder.name, "eve.json")
        cls.write_scanned()
        result = sluice(*cls.arguments(cls, "cpu"))
        assert result.returncode == 0, result.stderr
        cls.expected = cls.take_events(cls)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def arguments(self, device, *more):
        return ["run", "-r", *CAPTURES, "--rules", RULES, "--header-checks", "--json", "--alerts",
                "eve:" + self.eve, "--device", device, *more]

    def setUp(self):
        if os.path.exists(self.eve):
            os.remove(self.eve)

    def take_events(self):
        """The events in the file, which a run would otherwise append to."""
        with open(self.eve, encoding="utf-8") as file:
            text = file.read()
        os.remove(self.eve)
        return text

    def events(self, result):
        assert result.returncode == 0, result.stderr
        return self.take_events()

    def test_a_compiled_database_is_for_all_devices(self):
        names = [os.path.join(self.folder.name, name) for name in ("w.ndb", "w.sluicedb", "found")]
        for name, content in ((names[0], b"World:0:*:776f726c64\n"), (names[2], b"a world")):
            with open(name, "wb") as file:
                file.write(content)
        result = sluice("scan", "-d", names[0], "--compile", names[1])
        self.assertEqual(result.returncode, 0, result.stderr)
        for device in ("cpu", "cuda"):
            result = sluice("scan", "-d", names[1], "--device", device, names[2], gpus=1)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn(b"World.UNOFFICIAL FOUND", result.stdout)

    def run_on(self, device, *more, **how):
        """Compares the events with the CPU's. Returns the summary's devices and stderr."""
        result = sluice(*self.arguments(device, *more), **how)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.events(result), self.expected)
        summary = json.loads(result.stdout)
        return summary["devices"], result.stderr.decode().splitlines()

    def test_all_some_or_one(self):
        self.assertGreater(len(self.expected.splitlines()), 1000)
        for device, indices in (("cuda", [0, 1, 2]), ("cuda:2,0", [2, 0]), ("cuda:1", [1])):
            devices, errors = self.run_on(device, gpus=3)
            self.assertEqual([entry["index"] for entry in devices], indices)
            self.assertEqual({entry["kind"] for entry in devices}, {"cuda"})
            self.assertEqual([entry["dropped"] for entry in devices], [False] * len(indices))
            self.assertGreater(sum(entry["batches"] for entry in devices), 3)
            self.assertEqual(errors, [])

    def test_long_captures_have_the_same_events_of_all_types(self):
        """GPUs have shorter batches, which are cut elsewhere."""
        data = os.environ.get("SLUICE_TEST_DATA", "")
        captures = sorted(glob.glob(os.path.join(data, "pcap/**/*.*cap*"), recursive=True))
        if not data or not captures:
            self.skipTest("no outside captures (SLUICE_TEST_DATA)")
        joined = os.path.join(self.folder.name, "all.pcap")
        with open(joined, "wb") as file:
            subprocess.run([sys.executable, REPEAT, "1", *captures], stdout=file, check=True)
        rules = glob.glob(os.path.join(data, "rules/**/*.rules"), recursive=True)
        texts = []
        for device in ("cpu", "cuda"):
            result = sluice("run", "-r", joined, *[word for file in rules
                                                   for word in ("--rules", file)],
                            "--events", "all", "--header-checks", "--alerts", "eve:" + self.eve,
                            "--device", device, gpus=2)
            texts.append(self.events(result))
        self.assertGreater(len(texts[0]), 1000000)
        self.assertTrue(texts[0] == texts[1])

    def test_auto_measures_and_says_so(self):
        result = sluice(*self.arguments("auto"), gpus=3)
        self.assertEqual(self.events(result), self.expected)
        summary = json.loads(result.stdout)
        said = re.fullmatch(
            r"of packets made to measure it the GPU does [0-9.e+-]+ GB/s, "
            r"[0-9]+ cores? [0-9.e+-]+: "
            r"(both work|the GPU works|the CPU works)", summary["device"]["why"])
        self.assertTrue(said, summary["device"])
        kinds = {"both work": ["cuda", "cpu"], "the GPU works": ["cuda"],
                 "the CPU works": ["cpu"]}[said[1]]
        self.assertEqual([entry["kind"] for entry in summary["devices"]], kinds)
        self.assertEqual([entry["index"] for entry in summary["devices"]], [0] * len(kinds))

    def test_auto_takes_the_cpu_for_short_captures(self):
        result = sluice("run", "-r", SAMPLE, "--rules", RULES, "--json", "--device", "auto", gpus=3)
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads(result.stdout)
        self.assertEqual([entry["kind"] for entry in summary["devices"]], ["cpu"])
        self.assertRegex(summary["device"]["why"],
                         r"^[0-9]+ cores end [0-9.e+-]+ MB of captures before a GPU has started$")

    def test_a_gpu_without_work_is_left_to_others(self):
        result = sluice("run", "-r", SAMPLE, "--events", "flow", "--json", "--device", "cuda",
                        "--alerts", "eve:" + self.eve, gpus=3)
        summary = json.loads(result.stdout)
        self.assertEqual([entry["kind"] for entry in summary["devices"]], ["cpu"])
        self.assertEqual(summary["device"]["why"], "no engine of the run works on a GPU")

    def test_auto_goes_by_what_runs_took(self):
        run = ["run", "--rules", RULES, "--json", "-r"]
        paces = os.path.join(CACHES.name, "sluice", "paces")
        result = sluice(*run, *[SAMPLE] * 300, "--device", "cpu", gpus=1)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(paces, encoding="ascii") as file:
            self.addCleanup(os.remove, paces)
            entry = re.fullmatch(r"sluice paces 1\n([0-9a-f]{16}) [0-9.e+-]+ [0-9.e+-]+ 1 0 0 0\n",
                                 file.read())
        for times, said, kinds in (
                ("1e3 5 1 0.1 5 1", r"of packets made to measure it the GPU does .*", None),
                ("0.1 5 1 1e3 5 1", r".* on [0-9]+ cores, and in 1e\+03 s with a GPU, as runs "
                                    r"before did", ["cpu"]),
                ("-1 5 1 1e3 5 1", r"[0-9]+ cores end .* before a GPU has started", ["cpu"])):
            with open(paces, "w", encoding="ascii") as file:
                file.write(f"sluice paces 1\n{entry[1]} {times}\n")
            result = sluice(*run, SAMPLE, "--device", "auto", gpus=1)
            self.assertEqual(result.returncode, 0, result.stderr)
            summary = json.loads(result.stdout)
            self.assertRegex(summary["device"]["why"], f"^{said}$")
            if kinds is not None:
                self.assertEqual([device["kind"] for device in summary["devices"]], kinds)
            self.assertEqual(b"what runs took is damaged" in result.stderr, "-1" in times)

    def test_wrong_devices_are_refused(self):
        for device, word in (("cuda:0,0", "twice"), ("cuda:0,9", "cuda:9"), ("cuda:0,x", "'x'")):
            result = sluice(*self.arguments(device), gpus=2)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(word, result.stderr.decode())

    def test_a_device_that_fails_is_dropped(self):
        for step in ("upload", "submit", "wait", "hits"):
            devices, errors = self.run_on("cuda", gpus=2, faults=f"1:{step}:1")
            self.assertEqual([entry["dropped"] for entry in devices], [False, True])
            self.assertIn(devices[1]["redone"], (1, 2))
            self.assertEqual(devices[0]["redone"], 0)
            self.assertEqual(len(errors), 1, errors)
            self.assertIn("cuda:1 is dropped: " + devices[1]["why"], errors[0])
            self.assertTrue(errors[0].endswith(f" {devices[1]['redone']}"), errors[0])

    def test_a_device_that_hangs_is_dropped(self):
        devices, errors = self.run_on("cuda", gpus=2, faults="1:hang:1")
        self.assertEqual([entry["dropped"] for entry in devices], [False, True])
        self.assertIn(devices[1]["redone"], (1, 2))
        self.assertEqual(len(errors), 1, errors)
        self.assertIn("it hangs. Its memory and pinned batches are not freed", errors[0])

    def test_the_cpu_takes_over_from_the_last(self):
        for faults in ("0:wait:2,1:upload:1", "0:submit:1,1:hits:1"):
            devices, errors = self.run_on("cuda", gpus=2, faults=faults)
            self.assertEqual([entry["kind"] for entry in devices], ["cuda", "cuda", "cpu"])
            self.assertEqual([entry["dropped"] for entry in devices], [True, True, False])
            self.assertGreater(devices[2]["batches"], 0)
            self.assertEqual(len(errors), 2, errors)

    def test_the_summary_is_for_people(self):
        arguments = [argument for argument in self.arguments("cuda") if argument != "--json"]
        result = sluice(*arguments, gpus=2, faults="0:wait:1,1:upload:1")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = result.stdout.decode()
        self.assertRegex(text, r"on 2 GPUs \(cuda: asked for\)")
        self.assertRegex(
            text,
            r"cuda:0 +simulated GPU 0, [0-9]+ batches\n +dropped: .*; [12] batches were done again")
        self.assertRegex(text, r"cpu +.*, [0-9]+ batches, took over\n")

    def test_one_without_memory_is_left_out(self):
        for step in ("open", "stage"):
            devices, errors = self.run_on("cuda", gpus=2, faults=f"0:{step}:1:memory")
            self.assertEqual([entry["dropped"] for entry in devices], [True, False])
            self.assertEqual(devices[0]["redone"] + devices[0]["batches"], 0)
            self.assertEqual(len(errors), 1)
            self.assertIn("cuda:0 is dropped", errors[0])
            self.assertIn("out of memory", errors[0])

    def test_a_gpu_that_was_only_preferred_is_given_up(self):
        table = os.path.join(self.folder.name, "rules.table")
        self.assertEqual(sluice("rules", "--compile", table, "--device", "cpu", RULES).returncode,
                         0)
        for faults, more in (("0:open:1:memory", []), ("0:open:1:device", []), ("0:pinned:1", []),
                             ("0:open:2:unsupported", ["--compiled", table])):
            devices, errors = self.run_on("auto", *more, gpus=1, faults=faults)
            self.assertEqual([entry["kind"] for entry in devices], ["cpu"])
            self.assertEqual(len(errors), 1)
            self.assertIn("cuda:0 is dropped: ", errors[0])
            result = sluice(*self.arguments("cuda", *more), gpus=1, faults=faults)
            # Threads pin memory side by side. Without that of another batch than the first, the
            # run goes on.
            self.assertIn(result.returncode, (0, 2) if "pinned" in faults else (2,))
            if result.returncode == 2:
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def interrupt(self, number, device, **how):
        """A pipe that goes on, and a signal in between. Returns the summary."""
        with open(CAPTURES[0], "rb") as file:
            capture = file.read()
        process = start("run", "-r", "-", "--rules", RULES, "--header-checks", "--json", "--alerts",
                        "eve:" + self.eve, "--device", device, **how)
        stop, goes = threading.Event(), threading.Event()

        def write():
            try:
                process.stdin.write(capture)
                for i in itertools.count():
                    if stop.is_set():
                        break
                    process.stdin.write(capture[24:])
                    if i == 20:  # much more than the pipe and the first reads hold
                        goes.set()
            except BrokenPipeError:
                pass

        writer = threading.Thread(target=write)
        writer.start()
        self.assertTrue(goes.wait(120))
        process.send_signal(number)
        text = process.stdout.read()
        stop.set()
        self.assertEqual(process.wait(timeout=60), 0, process.stderr.read())
        writer.join()
        for stream in (process.stdout, process.stderr):
            stream.close()
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        return json.loads(text)

    def test_signals_lose_no_finished_alert(self):
        """The events are those of a capture of as many packets as were read."""
        with open(CAPTURES[0], "rb") as file:
            capture = file.read()
        lens, at = [], 24
        while at < len(capture):
            lens.append(16 + struct.unpack_from("<I", capture, at + 8)[0])
            at += lens[-1]
        for number, device, how in ((signal.SIGINT, "cpu", {}), (signal.SIGTERM, "cpu", {}),
                                    (signal.SIGINT, "cuda", {"gpus": 2, "faults": "1:wait:3"}),
                                    (signal.SIGTERM, "cuda", {"gpus": 1})):
            packets = self.interrupt(number, device, **how)["packets"]
            self.assertGreater(packets, 0)
            found = [json.loads(line) for line in self.take_events().splitlines()]
            prefix = os.path.join(self.folder.name, "prefix.pcap")
            with open(prefix, "wb") as file:
                file.write(capture[:24] + capture[24:] * (packets // len(lens)) +
                           capture[24:24 + sum(lens[:packets % len(lens)])])
            result = sluice("run", "-r", prefix, "--rules", RULES, "--header-checks", "--alerts",
                            "eve:" + self.eve)
            self.assertEqual(result.returncode, 0, result.stderr)
            expected = [json.loads(line) for line in self.take_events().splitlines()]
            for event in found + expected:
                event.pop("pcap_filename", None)
            self.assertEqual(len(found), len(expected))
            self.assertTrue(found == expected, f"signal {number} on {device}: other events")

    @classmethod
    def write_scanned(cls):
        folder = os.path.join(cls.folder.name, "scanned")
        database = os.path.join(cls.folder.name, "d.ndb")
        os.makedirs(folder)
        with open(database, "w", encoding="utf-8") as file:
            file.write("A:0:*:68656c6c6f2c20776f726c64\nB:0:*:c0ffee{-9000000}c0ffee01\n")
        for i in range(60):
            large = (16 if FEW else 40) << 20 if i in (20, 40) else i * 1000
            with open(os.path.join(folder, f"{i:02}"), "wb") as file:
                file.write(bytes.fromhex("c0ffee") + bytes(large)
                           + (b"hello, world" if i % 4 == 0 else b"") + (bytes.fromhex("c0ffee01")
                                                                         if i % 5 == 0 else b""))

    def scan(self, *more, **how):
        return sluice("scan", "-d", os.path.join(self.folder.name, "d.ndb"), "-z", "-r",
                      os.path.join(self.folder.name, "scanned"), "--no-summary", *more, **how)

    def test_a_scan_finds_the_same(self):
        expected = self.scan()
        self.assertEqual(expected.returncode, 1, expected.stderr)
        self.assertEqual(expected.stdout.count(b"FOUND"), 25)
        for threads in "1", "4":
            result = self.scan("--device", "cuda", "--threads", threads, gpus=1)
            self.assertEqual((result.returncode, result.stdout), (1, expected.stdout),
                             result.stderr)

    def test_a_scan_ends_where_the_gpu_fails(self):
        for fault in "pinned:2", "stage:3", "open:1", "upload:4", "submit:5", "wait:2":
            result = self.scan("--device", "cuda", gpus=1, faults="0:" + fault)
            self.assertEqual(result.returncode, 2, fault)
            self.assertIn(b"sluice: ", result.stderr)

    def test_auto_scans_on_a_gpu_what_is_long(self):
        expected = self.scan()
        for threads in ("0", "1"):
            result = self.scan("--device", "auto", "--threads", threads, gpus=1, faults="0:open:1")
            self.assertEqual(result.stdout, expected.stdout)
            self.assertEqual(result.returncode, expected.returncode)
        long = os.path.join(self.folder.name, "long")
        with open(long, "wb") as file:
            file.truncate(180 << 20)
        for threads, status in (("2", 1), ("1", 2)):
            result = self.scan(long, long, long, "--device", "auto", "--threads", threads, gpus=1,
                               faults="0:open:1")
            self.assertEqual(result.returncode, status, result.stderr)

    def test_auto_encodes_on_the_cpu(self):
        for device, status in ("cuda", 2), ("auto", 0):
            out = os.path.join(self.folder.name, device)
            result = sluice("encode", "-q", "--device", device, SAMPLE, out, gpus=1,
                            faults="0:open:1")
            self.assertEqual(result.returncode, status, result.stderr)

    def test_a_scan_ends_where_the_gpu_hangs(self):
        for nth, threads in (1, "1"), (3, "2"):
            result = self.scan("--device", "cuda", "--threads", threads, gpus=1,
                               faults=f"0:hang:{nth}")
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"sluice: the scan cannot go on", result.stderr)

    def test_rules_on_all_that_gpus_scan(self):
        """A GPU leaves out hits that no rule wants in a packet, across segments, in a value or in a
        body: the alerts are the CPU's."""
        rules = os.path.join(self.folder.name, "all.rules")
        with open(rules, "w", encoding="utf-8") as file:
            file.write(
                'alert tcp any any -> any any (content:"GET /index"; flow:to_server; sid:1;)\n'
                'alert tcp any any -> any any (content:"HTTP/1.1 200"; flow:to_client; sid:2;)\n'
                # the cut between the page's two segments is behind "index "
                'alert tcp any any -> any any (content:"aph 21 of the index page"; sid:3;)\n'
                'alert http any any -> any any (http.uri; content:"/index.html"; sid:4;)\n'
                'alert http any any -> any any (file.data; content:"Paragraph 15 of"; sid:5;)\n'
                'alert http any any -> any any (http.user_agent; content:"curl"; sid:6;)\n'
                'alert udp any any -> any any (content:"example"; nocase; sid:7;)\n')
        arguments = ["run", "-r", os.path.join(SAMPLES, "web.pcap"), SAMPLE, "--rules", rules,
                     "--alerts", "eve:" + self.eve, "--device"]
        self.assertEqual(sluice(*arguments, "cpu").returncode, 0)
        expected = self.take_events()
        events = [json.loads(line) for line in expected.splitlines()]
        found = {event["alert"]["signature_id"] for event in events if "alert" in event}
        self.assertEqual(found, set(range(1, 8)))
        self.assertEqual(sluice(*arguments, "cuda", gpus=1).returncode, 0)
        self.assertEqual(self.take_events(), expected)

    def test_devices_lists_them(self):
        names = sluice("devices", gpus=2).stdout.decode()
        self.assertEqual(len(re.findall(r"^cuda:[01] +simulated GPU [01]", names, re.M)), 2, names)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sluice tunnel: its file, what it refuses, and two boxes in network namespaces.

usage: test_tunnel.py SLUICE

SLUICE_TEST_KILLS lengthens the test of killed boxes, and SLUICE_TEST_SECONDS that of memory.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import case

SLUICE = sys.argv[1]
# Such boxes cannot keep up, so flows that repeat nothing pass by the encoder.
SANITIZED = case.is_sanitized(SLUICE)
KILLS = int(os.environ.get("SLUICE_TEST_KILLS", "4" if SANITIZED else "20"))
SECONDS = int(os.environ.get("SLUICE_TEST_SECONDS", "0"))
SEED = int(os.environ.get("SLUICE_TEST_SEED", "1"))
PORT = 8000
WHOLE = b"""# a box
[Tunnel]
Interface = sl0
Underlay = trusted

[Peer]
Endpoint = 192.0.2.1:5182
AllowedIPs = 198.51.100.0/24, 2001:db8::/32
"""


class File(case.Case):
    def check(self, text):
        return case.run(SLUICE, "tunnel", "check", self.path("t.conf", text))

    def test_check_lists_peers_and_memory(self):
        result = self.check(WHOLE + b"[Peer]\nName = far\nAllowedIPs = 10.0.0.0/8\nCache = 1G\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout.decode(), r"sl0 over trusted\n"
                         r"  peer peer1: [0-9.]+ MB of memory, .*rabin, 2 networks\n"
                         r"  peer far: 2\.[0-9]+ GB of memory, .*, calls first\n"
                         r"  all: [0-9.]+ GB of memory\n")

    def test_peers_of_a_tenant_share_memory(self):
        peer = b"[Peer]\nCache = 1G\nEndpoint = 192.0.2.%d:1\nAllowedIPs = 10.%d.0.0/16\n"
        tenant = b"Tenant = a\n"
        peers = [peer % (i, i) + tenant for i in (2, 3, 4)]
        told = []
        for text in (WHOLE + b"".join(peers), (WHOLE + b"".join(peers)).replace(tenant, b"")):
            result = self.check(text)
            self.assertEqual(result.returncode, 0, result.stderr)
            told.append(float(re.search(r"all: ([0-9.]+) GB", result.stdout.decode())[1]))
        self.assertLess(told[0] + 4, told[1])
        peers[1] = peers[1].replace(b"1G", b"2G")
        self.assert_refused(self.check(WHOLE + b"".join(peers)), "t.conf:14:", "tenant 'a'")

    def test_samplers_by_name(self):
        for name in ("rabin", "samplebyte", "dynabyte", "maxp", "every"):
            result = self.check(WHOLE + f"Sampler = {name}\n".encode())
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"{name}, 2 networks", result.stdout.decode())

    def test_errors_name_file_line_and_reason(self):
        for old, new, line, reason in (
                (b"[Tunnel]", b"[Tunel]", 2, "is no section"),
                (b"# a box", b"Interface = x", 1, "is in no section"),
                (b"Interface = sl0", b"Interface = a/b", 3, "a device's name"),
                (b"Interface = sl0", b"MTU = 1400", 2, "has no Interface"),
                (b"Underlay = trusted", b"", 2, "has no Underlay"),
                (b"Underlay = trusted", b"Underlay = trusted\nUnderlay = wg0", 5, "is there twice"),
                (b"Underlay = trusted", b"Underlay = trusted\nCache = 1G", 5, "belongs to [Peer]"),
                (b"Endpoint = 192.0.2.1:5182", b"Endpoint = 192.0.2.1", 7, "ADDRESS:PORT"),
                (b"Endpoint = 192.0.2.1:5182", b"Endpont = 1", 7, "is no key"),
                (b"Endpoint = 192.0.2.1:5182", b"Cache = 1", 7, "at least 1M"),
                (b"Endpoint = 192.0.2.1:5182", b"Cache = 99999999999G", 7, "at least 1M"),
                (b"Endpoint = 192.0.2.1:5182", b"Sampler = rabbit", 7, "rabin"),
                (b"Endpoint = 192.0.2.1:5182", b"Bypass = tcp/0", 7, "1 to 65535"),
                (b"Endpoint = 192.0.2.1:5182", b"nothing", 7, "KEY = VALUE"),
                (b"Endpoint = 192.0.2.1:5182", b"Rate = 5T", 7, "bits a second"),
                (b"Endpoint = 192.0.2.1:5182", b"Rate = 10", 7, "bits a second"),
                (b"Endpoint = 192.0.2.1:5182", b"Compress = 3", 7, "yes or no"),
                (b"Endpoint = 192.0.2.1:5182", b"CacheFile =", 7, "1 to 255 bytes"),
                (b"2001:db8::/32", b"2001:db8::/129", 8, "a network"),
                (b"AllowedIPs = 198.51.100.0/24, 2001:db8::/32", b"", 6, "no AllowedIPs")):
            self.assertIn(old, WHOLE)
            result = self.check(WHOLE.replace(old, new))
            self.assert_refused(result, f"t.conf:{line}:", reason)
        self.assert_refused(self.check(b""), "there is no [Tunnel]")
        self.assert_refused(self.check(WHOLE.replace(b"Endpoint", b"Period = 33\nEndpoint")),
                            "t.conf", "peer1", "power")
        self.assert_refused(case.run(SLUICE, "tunnel", "check", "/nonexistent"), "/nonexistent")

    def test_words(self):
        self.assert_refused(case.run(SLUICE, "tunnel"), "expected check, run or status")
        self.assert_refused(case.run(SLUICE, "tunnel", "chek", "x"), "did you mean check")
        self.assert_refused(case.run(SLUICE, "tunnel", "check"), "takes one FILE")
        self.assert_refused(case.run(SLUICE, "tunnel", "check", "x", "--json"), "tunnel status")
        conf = self.path("t.conf", WHOLE + b"[Peer]\nAllowedIPs = ::/0\n")
        with open(conf, "ab") as file:
            file.write(b"Endpoint = [::1]:1\n")
        self.assert_refused(case.run(SLUICE, "tunnel", "status", conf), "sl0.sock", "nobody")


def why_not():
    """Why there are no boxes here; None: they can be."""
    if not shutil.which("ip") or not shutil.which("curl"):
        return "ip or curl is not installed"
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun is not here"
    name = f"sluice-try-{os.getpid()}"
    result = case.run("ip", "netns", "add", name)
    if result.returncode != 0:
        return "no network namespace can be made: " + result.stderr.decode().strip()
    result = case.run("ip", "-n", name, "tuntap", "add", "dev", "try", "mode", "tun")
    case.run("ip", "netns", "del", name)
    return None if result.returncode == 0 else "no TUN device can be made"


WHY_NOT = why_not()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Boxes(case.Case):
    """Box 0 has 10.9.0.1, box 1 has 10.9.0.2 and a web server. A veth is between them."""

    def setUp(self):
        super().setUp()
        self.spaces = [f"sluice-{os.getpid()}-{i}" for i in range(2)]
        self.boxes = [None, None]
        for space in self.spaces:
            self.ip("netns", "add", space)
            self.addCleanup(case.run, "ip", "netns", "del", space)
        self.ip("link", "add", "v0", "netns", self.spaces[0], "type", "veth", "peer", "name", "v1",
                "netns", self.spaces[1])
        for i, space in enumerate(self.spaces):
            self.ip("-n", space, "addr", "add", f"10.0.0.{i + 1}/24", "dev", f"v{i}")
            self.ip("-n", space, "link", "set", f"v{i}", "up")
            self.ip("-n", space, "link", "set", "lo", "up")

    def ip(self, *words):
        result = case.run("ip", *words)
        self.assertEqual(result.returncode, 0, result.stderr)

    def conf(self, i, **more):
        keys = {"Interface": "sl0", "Address": f"10.9.0.{i + 1}/24", "Underlay": "trusted",
                "Control": self.path(f"{i}.sock"), "DeadAfter": 1, "Metrics": "127.0.0.1:9464",
                **more.get("tunnel", {})}
        peer = {"Endpoint": f"10.0.0.{2 - i}:5182", "AllowedIPs": f"10.9.0.{2 - i}/32",
                "Cache": "16M", **more.get("peer", {})}
        text = "[Tunnel]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
        text += "[Peer]\n" + "".join(f"{key} = {value}\n" for key, value in peer.items())
        return self.path(f"{i}.conf", text.encode())

    def start(self, i, conf=None):
        path = conf or os.path.join(self.folder.name, f"{i}.conf")
        with open(os.path.join(self.folder.name, f"{i}.log"), "ab") as log:
            self.boxes[i] = subprocess.Popen(["ip", "netns", "exec", self.spaces[i], SLUICE,
                                              "tunnel", "run", path], stderr=log)
        self.addCleanup(self.stop, self.boxes[i])

    @staticmethod
    def stop(box):
        if box.poll() is None:
            box.send_signal(signal.SIGCONT)
            box.terminate()
            box.wait(60)

    def log(self, i):
        with open(os.path.join(self.folder.name, f"{i}.log"), encoding="utf-8") as file:
            return file.read()

    def status(self, i):
        path = os.path.join(self.folder.name, f"{i}.conf")
        result = case.run(SLUICE, "tunnel", "status", "--json", path)
        return json.loads(result.stdout)["stats"]["tunnel"] if result.returncode == 0 else None

    def wait(self, what, seconds=30):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, self.log(0) + self.log(1))
            time.sleep(0.02)

    def carrier(self, i):
        result = case.run("ip", "-n", self.spaces[i], "link", "show", "sl0")
        return b"LOWER_UP" in result.stdout

    def serve(self, content, address="0.0.0.0"):
        os.mkdir(self.path("www"))
        self.path("www/file", content)
        server = subprocess.Popen(["ip", "netns", "exec", self.spaces[1], sys.executable, "-m",
                                   "http.server", str(PORT), "--bind", address, "--directory",
                                   self.path("www")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.stop, server)
        self.wait(lambda: self.fetch(100, host="10.0.0.2").returncode == 0)

    def fetch(self, seconds=60, host="10.9.0.2", rate=None):
        return case.run("ip", "netns", "exec", self.spaces[0], "curl", "-sf", "-m", str(seconds),
                        *(["--limit-rate", rate] if rate else []),
                        "-o", self.path("got"), f"http://{host}:{PORT}/file")

    def fetched(self):
        with open(self.path("got"), "rb") as file:
            return file.read()

    def sent_by_a_fetch(self, content):
        before = self.status(1)["peers"][0]["bytes_sent"]
        self.assertEqual(self.fetch().returncode, 0, self.log(0) + self.log(1))
        self.assertEqual(self.fetched(), content)
        return self.status(1)["peers"][0]["bytes_sent"] - before

    def begin(self, **more):
        for i in range(2):
            self.conf(i, **more)
            self.start(i)
        self.wait(lambda: self.carrier(0) and self.carrier(1))

    def test_an_underlay_that_is_not_wireguard_is_refused(self):
        conf = self.conf(0, tunnel={"Underlay": "v0"})
        result = case.run("ip", "netns", "exec", self.spaces[0], SLUICE, "tunnel", "run", conf)
        self.assert_refused(result, "Underlay = v0", "'veth' is not authenticated", "wireguard")
        conf = self.conf(0, tunnel={"Underlay": "none"})
        result = case.run("ip", "netns", "exec", self.spaces[0], SLUICE, "tunnel", "run", conf)
        self.assert_refused(result, "'none'", "No such device")

    def test_files_come_whole_and_the_second_time_as_references(self):
        content = random.Random(1).randbytes(4000000)
        self.begin()
        self.serve(content)
        first = self.sent_by_a_fetch(content)
        again = first
        for _ in range(10):  # a box that cannot keep up lets some bytes pass by the encoder
            again = min(again, self.sent_by_a_fetch(content))
            if again * 4 < first:
                break
        self.assertTrue(SANITIZED or again * 4 < first, (first, again))
        peer = self.status(0)["peers"][0]
        self.assertEqual((peer["frames"]["unresolved"], peer["frames"]["damaged"]), (0, 0))
        flows = case.run(SLUICE, "tunnel", "status", "--flows", self.path("1.conf"))
        self.assertIn(b"10.9.0.2:8000", flows.stdout)
        self.check_metrics()
        self.check_rights_and_memory()

    def check_metrics(self):
        result = case.run("ip", "netns", "exec", self.spaces[1], "curl", "-s",
                          "http://127.0.0.1:9464/metrics")
        text = result.stdout.decode()
        for name in re.findall(r"^(\w+){", text, re.M):
            self.assertIn(f"# TYPE {name} ", text)
        self.assertRegex(text, r'sluice_tunnel_bytes_in_total\{peer="peer1"\} [1-9]\d{6}')
        result = case.run("ip", "netns", "exec", self.spaces[1], "curl", "-s", "-o", "/dev/null",
                          "-w", "%{http_code}", "http://127.0.0.1:9464/other")
        self.assertEqual(result.stdout, b"404")

    def check_rights_and_memory(self):
        with open(f"/proc/{self.boxes[0].pid}/status", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        for kind in ("CapPrm", "CapEff", "CapBnd", "CapInh"):
            self.assertEqual(int(lines[kind], 16) & ~(1 << 12), 0, kind)
        self.assertEqual(lines["NoNewPrivs"].strip(), "1")
        told = case.run(SLUICE, "tunnel", "check", self.path("0.conf")).stdout.decode()
        told = float(re.search(r"all: ([0-9.]+) MB", told)[1]) * 1e6
        self.assertLess(int(lines["VmRSS"].split()[0]) << 10, told + 20e6)

    def resident(self, i):
        with open(f"/proc/{self.boxes[i].pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    @unittest.skipUnless(SECONDS, "SLUICE_TEST_SECONDS is not set")
    def test_memory_stays_flat(self):
        contents = random.Random(10)
        self.begin(peer={"Cache": "1M", "Compress": "yes"})
        self.serve(b"")
        told = []
        end = time.monotonic() + SECONDS
        while len(told) < 2 or time.monotonic() < end:
            content = contents.randbytes(4000000)
            self.path("www/file", content)
            self.assertEqual(self.fetch(rate="2M").returncode, 0)
            self.assertEqual(self.fetched(), content)
            told.append([self.resident(i) for i in range(2)])
            if len(told) % 30 == 0:
                print(f"{len(told)} files, bytes resident: {told[-1]}", flush=True)
        for i in range(2):  # in the first half tables are touched first
            after = [sizes[i] for sizes in told[len(told) // 2:]]
            self.assertLess(max(after), min(after) + (1 << 20))

    def test_a_silent_peer_takes_the_carrier_down(self):
        self.begin()
        self.boxes[1].send_signal(signal.SIGSTOP)
        self.wait(lambda: not self.carrier(0))
        self.wait(lambda: "is silent" in self.log(0))
        self.boxes[1].send_signal(signal.SIGCONT)
        self.wait(lambda: self.carrier(0))
        self.wait(lambda: "is back" in self.log(0))
        self.assertGreaterEqual(self.status(0)["peers"][0]["deaths"], 1)

    def kill_or_stop(self, sort):
        """Sorts 0 and 1 kill a box, which starts again. 2 and 3 stop one for a moment."""
        box = sort % 2
        if sort < 2:
            self.boxes[box].kill()
            self.boxes[box].wait()
            self.start(box)
        else:
            self.boxes[box].send_signal(signal.SIGSTOP)
            time.sleep(0.05)
            self.boxes[box].send_signal(signal.SIGCONT)

    def test_killed_and_stopped_boxes_under_load(self):
        content = random.Random(2).randbytes(2000000)
        self.begin()
        self.serve(content)
        for _ in range(KILLS // 2):
            done = []
            thread = threading.Thread(target=lambda done=done: done.append(self.fetch(rate="1M")))
            thread.start()
            for sort in (0, 1, 2, 3) * 2:
                time.sleep(0.15)
                self.kill_or_stop(sort)
            thread.join()
            self.assertEqual(done[0].returncode, 0, self.log(0) + self.log(1))
            self.assertEqual(self.fetched(), content)
        # The other box tells it, once both have long been there.
        self.wait(lambda: self.carrier(0) and self.carrier(1))
        self.kill_or_stop(0)
        self.wait(lambda: "has begun anew" in self.log(1))

    def test_caches_outlive_a_restart(self):
        content = random.Random(3).randbytes(3000000)
        for i in range(2):
            self.conf(i, peer={"CacheFile": self.path(f"{i}.cache")})
            self.start(i)
        self.wait(lambda: self.carrier(0) and self.carrier(1))
        self.serve(content)
        self.assertEqual(self.fetch().returncode, 0)
        for _ in range(5):  # a box that cannot keep up lets some bytes pass by the encoder
            sent = self.sent_after_a_restart(content)
            if sent * 4 < len(content):
                break
        self.assertTrue(SANITIZED or sent * 4 < len(content), sent)
        self.assertIn("the cache goes on", self.log(0))
        self.assertGreater(self.sent_after_a_restart(content, damages=True), len(content))
        self.assertIn("goes on, but for what comes: the kept cache is damaged", self.log(0))

    def sent_after_a_restart(self, content, damages=False):
        for i in range(2):
            self.stop(self.boxes[i])
            self.assertEqual(os.stat(self.path(f"{i}.cache")).st_mode & 0o777, 0o600)
        if damages:
            with open(self.path("0.cache"), "r+b") as file:
                file.seek(-100000, os.SEEK_END)
                file.write(b"damage")
        for i in range(2):
            self.start(i)
        self.wait(lambda: self.status(0) and self.status(0)["peers"][0]["alive"])
        time.sleep(1)  # both sides find the samples of what they kept
        return self.sent_by_a_fetch(content)

    def test_text_over_a_slow_link(self):
        words = [b"%x " % number for number in range(5000)]
        content = b"".join(random.Random(4).choices(words, k=300000))
        self.begin(peer={"Rate": "20M", "Compress": "yes"})
        self.serve(content)
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.fetched(), content)
        peer = self.status(1)["peers"][0]
        self.assertGreater(peer["packed"], 500)
        self.assertTrue(SANITIZED or peer["bytes_sent"] < len(content))
        self.assertEqual(peer["queue"]["overflow"], 0)
        self.assertGreater(peer["protocols"]["6"]["bytes"], len(content))
        text = case.run(SLUICE, "tunnel", "status", "--flows", self.path("1.conf")).stdout
        self.assertIn(b"proto 6", text)

    def test_ipv6_inside_and_outside(self):
        for i, space in enumerate(self.spaces):
            self.ip("-n", space, "addr", "add", f"fd00::{i + 1}/64", "dev", f"v{i}", "nodad")
            self.conf(i, tunnel={"Address": f"fd09::{i + 1}/64"},
                      peer={"Endpoint": f"[fd00::{2 - i}]:5182",
                            "AllowedIPs": f"fd09::{2 - i}/128"})
            self.start(i)
        self.wait(lambda: self.carrier(0) and self.carrier(1))
        content = random.Random(5).randbytes(2000000)
        self.serve(content, "::")
        self.assertEqual(self.fetch(host="[fd09::2]").returncode, 0, self.log(0) + self.log(1))
        self.assertEqual(self.fetched(), content)
        self.wait(lambda: self.status(1)["peers"][0]["datagram_max"] == 1452)

    def test_a_box_that_moves(self):
        content = random.Random(6).randbytes(3000000)
        self.begin()
        self.serve(content)
        got = os.path.join(self.folder.name, "got")
        os.remove(got)
        done = []
        thread = threading.Thread(target=lambda: done.append(self.fetch(rate="1M")))
        thread.start()
        self.wait(lambda: os.path.exists(got) and os.path.getsize(got) > 0)
        self.ip("-n", self.spaces[0], "addr", "del", "10.0.0.1/24", "dev", "v0")
        self.ip("-n", self.spaces[0], "addr", "add", "10.0.0.9/24", "dev", "v0")
        thread.join()
        self.assertEqual(done[0].returncode, 0, self.log(0) + self.log(1))
        self.assertEqual(self.fetched(), content)
        self.wait(lambda: "has another address" in self.log(1))

    def add_box_behind_the_hub(self):
        space = f"sluice-{os.getpid()}-2"
        self.ip("netns", "add", space)
        self.addCleanup(case.run, "ip", "netns", "del", space)
        self.ip("-n", space, "link", "set", "lo", "up")
        self.spaces.append(space)
        self.boxes.append(None)
        self.ip("link", "add", "w0", "netns", self.spaces[0], "type", "veth", "peer", "name", "w2",
                "netns", space)
        for space, device, address in ((self.spaces[0], "w0", "10.0.1.1/24"),
                                       (space, "w2", "10.0.1.2/24")):
            self.ip("-n", space, "addr", "add", address, "dev", device)
            self.ip("-n", space, "link", "set", device, "up")

    def test_a_hub_of_two_peers(self):
        content = random.Random(12).randbytes(2000000)
        self.add_box_behind_the_hub()
        hub = self.conf(0, peer={"Tenant": "both"})
        with open(hub, "a", encoding="ascii") as file:
            file.write("[Peer]\nEndpoint = 10.0.1.2:5182\nAllowedIPs = 10.9.0.3/32\n"
                       "Cache = 16M\nTenant = both\n")
        self.conf(1, peer={"AllowedIPs": "10.9.0.1/32, 10.9.0.3/32"})
        self.conf(2, peer={"AllowedIPs": "10.9.0.1/32, 10.9.0.2/32", "Endpoint": "10.0.1.1:5182"})
        self.assertEqual(case.run("ip", "netns", "exec", self.spaces[0], "sh", "-c",
                                  "echo 1 >/proc/sys/net/ipv4/ip_forward").returncode, 0)
        for i in range(3):
            self.start(i)
        self.wait(lambda: self.status(0) and all(peer["alive"] for peer in self.status(0)["peers"]))
        self.serve(content)
        for space in (0, 2):  # one peer's file to the hub, and through it to the other peer
            result = case.run("ip", "netns", "exec", self.spaces[space], "curl", "-sf", "-m", "60",
                              f"http://10.9.0.2:{PORT}/file")
            self.assertEqual(result.returncode, 0, self.log(0) + self.log(1) + self.log(2))
            self.assertEqual(result.stdout, content)
        one, two = self.status(0)["peers"]
        self.assertGreater(two["bytes_sent"], len(content))  # it is new to this peer
        self.assertGreater(one["bytes_out"], 2 * len(content))
        for i in range(3):
            for peer in self.status(i)["peers"]:
                self.assertEqual((peer["frames"]["unresolved"], peer["frames"]["damaged"]), (0, 0))

    # ---- bad paths

    def test_files_over_bad_paths(self):
        relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "udp_relay.py")
        content = random.Random(9).randbytes(1000000)
        for i in range(2):
            self.path(f"{i}.log", b"")
        self.conf(0, peer={"Endpoint": "10.0.0.2:7000"}, tunnel={"DeadAfter": 5})
        self.conf(1, peer={"Endpoint": "127.0.0.1:7001"}, tunnel={"DeadAfter": 5})
        self.serve(content)
        for seed, keys in enumerate((["loss=0.01", "delay=0.005"],
                                     ["loss=0.01", "burst=5", "delay=0.002"],
                                     ["repeat=0.05", "delay=0.002", "jitter=0.003"],
                                     ["rate=1500000", "delay=0.02"],
                                     ["mtu=1300", "shrink=400", "delay=0.001"])):
            with subprocess.Popen(["ip", "netns", "exec", self.spaces[1], sys.executable, relay,
                                   "7000", "7001", "5182", str(seed + SEED), *keys]) as process:
                for i in range(2):
                    self.start(i)
                try:
                    self.wait(lambda: self.carrier(0) and self.carrier(1))
                    for _ in range(2):
                        self.assertEqual(self.fetch(90).returncode, 0,
                                         f"{keys}: {self.log(0)}{self.log(1)}")
                        self.assertEqual(self.fetched(), content)
                    for i in range(2):
                        frames = self.status(i)["peers"][0]["frames"]
                        self.assertEqual((frames["unresolved"], frames["damaged"]), (0, 0), keys)
                finally:
                    process.kill()
                    for box in self.boxes:
                        self.stop(box)

    # ---- servers and clients that others wrote

    def need(self, *names):
        for name in names:
            path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
            if path is None:
                self.skipTest(f"{name} is not installed")
            yield path

    def serve_by(self, *words):
        log = self.path("server.log", b"")
        with open(log, "ab") as out:
            server = subprocess.Popen(["ip", "netns", "exec", self.spaces[1], *words], stdout=out,
                                      stderr=out, start_new_session=True)
        self.addCleanup(self.stop, server)

    def inside(self, *words):
        return case.run("ip", "netns", "exec", self.spaces[0], *words)

    def test_nginx(self):
        nginx, = self.need("nginx")
        content = random.Random(7).randbytes(3000000)
        os.mkdir(self.path("www"))
        os.chmod(self.folder.name, 0o755)
        self.path("www/file", content)
        conf = self.path("nginx.conf", f"""daemon off; pid {self.path("nginx.pid")};
            error_log {self.path("nginx.log")}; events {{}}
            http {{ access_log off; gzip off;
                server {{ listen 0.0.0.0:{PORT}; root {self.path("www")}; }} }}""".encode())
        self.begin()
        self.serve_by(nginx, "-c", conf)
        self.wait(lambda: self.fetch().returncode == 0)
        with open(self.path("ranges"), "wb") as out:  # in parts, at once
            parts = [f"{at}-{at + 499999}" for at in range(0, 3000000, 500000)]
            clients = [subprocess.Popen(["ip", "netns", "exec", self.spaces[0], "curl", "-sf", "-r",
                                         part, f"http://10.9.0.2:{PORT}/file"],
                                        stdout=subprocess.PIPE) for part in parts]
            for client in clients:
                out.write(client.communicate()[0])
        with open(self.path("ranges"), "rb") as file:
            self.assertEqual(file.read(), content)
        self.assertEqual(self.fetched(), content)

    def test_iperf3(self):
        iperf3, = self.need("iperf3")
        self.begin()
        self.serve_by(iperf3, "-s", "-B", "10.9.0.2")
        for words in (["-n", "20M"], ["-n", "20M", "-R"], ["-n", "8M", "-P", "4"],
                      ["-u", "-b", "30M", "-n", "3M", "-l", "1300"]):
            found = []

            def transfers(words=words, found=found):
                # Where the server goes away meanwhile, iperf3 succeeds with a report without sums.
                result = self.inside(iperf3, "-J", "-c", "10.9.0.2", *words)
                end = json.loads(result.stdout)["end"] if result.returncode == 0 else {}
                found[:] = [end[name] for name in ("sum", "sum_received") if name in end]
                return bool(found)
            self.wait(transfers, 60)
        self.assertLess(found[0]["lost_percent"], 20)
        for i in range(2):
            frames = self.status(i)["peers"][0]["frames"]
            self.assertEqual((frames["unresolved"], frames["damaged"]), (0, 0))

    def test_ssh(self):
        sshd, ssh, keygen = self.need("sshd", "ssh", "ssh-keygen")
        os.makedirs("/run/sshd", exist_ok=True)
        for name in ("host", "user"):
            self.assertEqual(case.run(keygen, "-q", "-t", "ed25519", "-N", "", "-f",
                                      self.path(name)).returncode, 0)
        content = random.Random(8).randbytes(2000000)
        source = self.path("source", content)
        conf = self.path("sshd.conf", f"""HostKey {self.path("host")}
            AuthorizedKeysFile {self.path("user.pub")}
            StrictModes no\nUsePAM no\nPermitRootLogin yes\n""".encode())
        self.begin(peer={"Bypass": "tcp/2222"})
        self.serve_by(sshd, "-D", "-e", "-p", "2222", "-f", conf)
        found = []

        def reads():
            found[:] = [self.inside(ssh, "-i", self.path("user"), "-p", "2222", "-o",
                                    "StrictHostKeyChecking=no", "-o", "BatchMode=yes", "-o",
                                    "UserKnownHostsFile=/dev/null", "10.9.0.2", "cat", source)]
            return found[0].returncode == 0
        self.wait(reads)
        self.assertEqual(found[0].stdout, content)
        self.assertGreater(self.status(1)["peers"][0]["bypassed"], 1000)

    def test_samba(self):
        smbd, smbclient = self.need("smbd", "smbclient")
        content = random.Random(11).randbytes(2000000)
        os.mkdir(self.path("share"))
        os.chmod(self.folder.name, 0o755)
        self.path("share/file", content)
        places = "".join(f"{name} = {self.folder.name}\n" for name in (
            "private dir", "lock directory", "state directory", "cache directory",
            "pid directory", "ncalrpc dir"))
        conf = self.path("smb.conf", f"""[global]
            {places}
            log file = {self.path("smb.log")}
            map to guest = Bad User
            disable netbios = yes
            smb ports = 445
            [share]
            path = {self.path("share")}
            guest ok = yes\n""".encode())
        self.begin()
        self.serve_by(smbd, "--foreground", "--no-process-group", f"--configfile={conf}")
        self.wait(lambda: self.inside(
            smbclient, f"--configfile={conf}", "-N", "//10.9.0.2/share", "-c",
            f"get file {self.path('got')}").returncode == 0)
        self.assertEqual(self.fetched(), content)

    def test_packets_of_other_networks_are_dropped(self):
        self.begin()
        self.ip("-n", self.spaces[1], "addr", "add", "10.77.0.1/32", "dev", "sl0")
        case.run("ip", "netns", "exec", self.spaces[1], "curl", "-s", "-m", "1", "--interface",
                 "10.77.0.1", "http://10.9.0.1:1/")
        self.wait(lambda: self.status(0)["peers"][0]["dropped"]["foreign_source"] > 0)


if __name__ == "__main__":
    case.main()

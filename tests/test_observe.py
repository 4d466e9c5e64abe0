#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counters of a run while it goes on: Prometheus' text over HTTP, stats events.

usage: test_observe.py SLUICE SAMPLES
"""
import contextlib
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import case

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
RULES = os.path.join(SAMPLES, "sample.rules")
SWITCHED_ON = ("--rules", RULES, "--header-checks", "--device", "cpu")

METRIC = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
HELP = re.compile(rf"# HELP ({METRIC}) ((?:[^\\\n]|\\\\|\\n)+)")
TYPE = re.compile(rf"# TYPE ({METRIC}) (counter|gauge|histogram|summary|untyped)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\\"\n]|\\\\|\\"|\\n)*)"')
SAMPLE = re.compile(rf"({METRIC})(?:\{{(.*)\}})? ([0-9]+(?:\.[0-9]+)?)")


def parse_labels(text):
    """name="value" pairs between commas, nothing else."""
    labels, at = [], 0
    while True:
        match = LABEL.match(text, at)
        assert match, text
        unescaped = re.sub(r'\\(.)', lambda m: "\n" if m[1] == "n" else m[1], match[2])
        labels.append((match[1], unescaped))
        at = match.end()
        if at == len(text):
            break
        assert text[at] == ",", text
        at += 1
    assert len({name for name, _ in labels}) == len(labels), text
    return tuple(labels)


def parse_exposition(body):
    """The text format 0.0.4, as strict as this writer is to be: each metric once, HELP, TYPE and at
    least one sample in a row, no series twice, counters named _total, no timestamps. Of a summary
    _count is a metric of its own here."""
    text = body.decode("utf-8")
    assert text.endswith("\n") and "\n\n" not in text and "\r" not in text
    metrics, lines = {}, iter(text.split("\n")[:-1])
    metric = None
    for line in lines:
        if line.startswith("#"):
            assert metric is None or metrics[metric], metric
            helped = HELP.fullmatch(line)
            assert helped, line
            metric = helped[1]
            assert metric not in metrics, line
            typed = TYPE.fullmatch(next(lines))
            assert typed and typed[1] == metric, line
            kind = typed[2]
            assert (kind == "counter") == metric.endswith("_total"), line
            assert kind in ("counter", "gauge", "summary"), line
            metrics[metric] = {}
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        name, labels = sample[1], parse_labels(sample[2]) if sample[2] is not None else ()
        assert name == metric or (kind == "summary" and name == metric + "_count"), line
        assert (kind == "summary" and name == metric) == ("quantile" in dict(labels)), line
        assert labels not in metrics.setdefault(name, {}), line
        metrics[name][labels] = float(sample[3]) if "." in sample[3] else int(sample[3])
    assert metrics[metric]
    return metrics


class Run:
    """sluice run on a pipe that stays open, with its metrics on a port that the system picks."""

    def __init__(self, *options, address="127.0.0.1:0", content=None):
        self.process = subprocess.Popen(
            [SLUICE, "run", "-r", "-", "--json", "--metrics", address, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = self.process.stderr.readline().decode()
        match = re.fullmatch(r"sluice: metrics at http://(.*):(\d+)/metrics\n", said)
        assert match, said
        self.host, self.port = match[1].strip("[]"), int(match[2])
        if content is None:
            with open(CAPTURE, "rb") as file:
                content = file.read()
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def request(self, method="GET", path="/metrics", **options):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        connection.request(method, path, **options)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response, body

    def metrics(self):
        response, body = self.request()
        assert response.status == 200
        return parse_exposition(body)

    def wait_until(self, holds):
        """Until it holds of the metrics."""
        for _ in range(1200):
            metrics = self.metrics()
            if holds(metrics):
                return self.metrics()  # counters are read one after another
            time.sleep(0.05)
        raise AssertionError(metrics)

    def wait_for(self, metric, value):
        """Until the metric without labels has the value."""
        return self.wait_until(lambda metrics: metrics[metric][()] == value)

    def refuses(self):
        try:
            socket.create_connection((self.host, self.port), timeout=5).close()
        except ConnectionRefusedError:
            return True
        return False

    def end(self, number=None):
        """Closes the pipe, or sends a signal; the exit status, the summary and what was said."""
        if number is not None:
            self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=60)
        return self.process.returncode, json.loads(out), errors.decode()

    def kill(self):
        self.process.kill()
        self.process.communicate()


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


class Observed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, *arguments, **options):
        run = Run(*arguments, **options)
        self.addCleanup(run.kill)
        return run

    def assert_refused(self, result, *words):
        text = result.stderr.decode()
        self.assertEqual(result.returncode, 2, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        for word in words:
            self.assertIn(word, text)

    # ---- metrics

    def test_the_text_is_strictly_parsed(self):
        good = b'# HELP a_total x\\\\y\n# TYPE a_total counter\na_total{l="\\"\\\\\\n"} 1\n'
        self.assertEqual(parse_exposition(good), {"a_total": {(("l", '"\\\n'),): 1}})
        for bad in (good[:-1], good + good, good + good.splitlines(True)[2], good + b"\n",
                    good.replace(b"counter", b"gauge"), good.replace(b"a_total{", b"b_total{"),
                    good.replace(b"l=", b"2="), good.replace(b'\\"', b'"'),
                    good.replace(b" 1", b" x"), good.replace(b" 1", b"  1"),
                    good.replace(b"\\\\\\n", b"\\t"), good.replace(b"} 1", b",} 1"),
                    good[:good.index(b"a_total{")], good[good.index(b"# TYPE"):]):
            with self.assertRaises((AssertionError, StopIteration, TypeError), msg=bad):
                parse_exposition(bad)

    def test_counters_are_those_of_the_summary(self):
        run = self.start(*SWITCHED_ON, "--stats")
        expected = json.loads(sluice("run", "-r", CAPTURE, "--json", *SWITCHED_ON).stdout)
        # Until the one batch has gone: the next is being filled, and the others are free.
        metrics = run.wait_until(lambda metrics: metrics["sluice_batches_total"][()] == 1 and all(
            value == (labels == (("stage", "fill"),))
            for labels, value in metrics["sluice_stage_batches"].items()) and all(
            (value > 0) == (labels == (("stage", "fill"),))
            for labels, value in metrics["sluice_queue_depth"].items()))
        status, summary, _ = run.end()
        self.assertEqual(status, 0)
        for name in ("packets", "bytes", "alerts_total"):
            self.assertEqual(summary[name], expected[name])
            self.assertEqual(metrics[f"sluice_{name.removesuffix('_total')}_total"][()],
                             summary[name])
        for labels, value in metrics["sluice_anomalies_total"].items():
            self.assertEqual(value, summary["anomalies"].get(labels[0][1], 0))
        self.assertEqual(sum(metrics["sluice_anomalies_total"].values()),
                         summary["anomalies_total"])
        for labels, value in metrics["sluice_protocol_packets_total"].items():
            self.assertEqual(value,
                             summary["protocols"].get(labels[0][1], {"packets": 0})["packets"])
        for labels, value in metrics["sluice_protocol_bytes_total"].items():
            self.assertEqual(value, summary["protocols"].get(labels[0][1], {"bytes": 0})["bytes"])
        self.assertEqual(sum(metrics["sluice_flows_total"].values()), summary["flows"]["total"])
        self.assertEqual(metrics["sluice_flows_active"][()], summary["flows"]["active"])
        self.assertEqual(metrics["sluice_rules"][(("state", "loaded"),)],
                         summary["rules"]["loaded"])
        engines = {entry["engine"]: entry for entry in summary["pipeline"]["engines"]}
        self.assertEqual({labels[0][1] for labels in metrics["sluice_engine_hits_total"]},
                         set(engines))
        for labels, value in metrics["sluice_engine_hits_total"].items():
            self.assertEqual(value, engines[labels[0][1]]["hits"])
        for labels, value in metrics["sluice_engine_seconds_total"].items():
            self.assertAlmostEqual(value, engines[labels[0][1]]["seconds"], 6)
        self.assertLess(abs(metrics["sluice_start_time_seconds"][()] - time.time()), 60)
        self.assertNotIn("sluice_kernel_drops_total", metrics)
        self.assertNotIn("sluice_interface_drops_total", metrics)

    def test_what_is_not_switched_on_is_not_there(self):
        run = self.start("--device", "cpu")
        metrics = run.wait_for("sluice_batches_total", 1)
        for absent in ("sluice_alerts_total", "sluice_anomalies_total", "sluice_engine_hits_total",
                       "sluice_latency_seconds"):
            self.assertNotIn(absent, metrics)
        self.assertEqual(run.end()[0], 0)

    def test_latency(self):
        eve = self.path("eve.json")
        run = self.start("--max-latency", "1000", "--stats=1", "--alerts", "eve:" + eve)
        packets = json.loads(sluice("run", "-r", CAPTURE, "--json").stdout)["packets"]
        metrics = run.wait_for("sluice_packets_total", packets)
        for _ in range(1200):
            if metrics.get("sluice_latency_seconds_count") == {(): packets}:
                break
            time.sleep(0.05)
            metrics = run.metrics()
        values = [metrics["sluice_latency_seconds"][("quantile", quantile),]
                  for quantile in ("0.5", "0.99", "0.999", "1")]
        self.assertGreater(values[0], 0)
        self.assertEqual(values, sorted(values))
        status, summary, _ = run.end()
        self.assertEqual(status, 0)
        latency = self.events(eve)[0][-1]["sluice"]["latency"]
        self.assertEqual(latency["packets"], packets)
        for name in ("p50", "p99", "p99.9", "max"):
            self.assertAlmostEqual(latency[name.replace(".", "") + "_ns"] / 1e3,
                                   summary["latency"][name + "_us"], 2)

    def test_devices(self):
        run = self.start("--device", "cpu")
        metrics = run.wait_for("sluice_batches_total", 1)
        device = ("device", "cpu")
        self.assertEqual(metrics["sluice_device_batches_total"], {(device,): 1})
        self.assertEqual(metrics["sluice_device_redone_total"], {(device,): 0})
        self.assertEqual(metrics["sluice_device_dropped"], {(device,): 0})
        (labels,) = metrics["sluice_device_info"]
        _, summary, _ = run.end()
        self.assertEqual(labels, (device, ("name", summary["devices"][0]["name"])))

    def test_requests(self):
        run = self.start()
        response, body = run.request()
        self.assertEqual(response.status, 200)
        self.assertEqual(response.getheader("Content-Type"),
                         "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(int(response.getheader("Content-Length")), len(body))
        self.assertEqual(run.request(path="/metrics?name=x")[0].status, 200)
        response, body = run.request("HEAD")
        self.assertEqual((response.status, body), (200, b""))
        for path in ("/", "/metric", "/metrics/", "/metrics/x", "/../metrics", "//metrics"):
            self.assertEqual(run.request(path=path)[0].status, 404, path)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "ODD"):
            response, _ = run.request(method, body=b"x" * 100)
            self.assertEqual(response.status, 405, method)
            self.assertEqual(response.getheader("Allow"), "GET, HEAD")
            self.assertEqual(run.request(method, "/x")[0].status, 404)
        self.assertEqual(run.request("GET", body=b"x" * 100000)[0].status, 200)

        connection = http.client.HTTPConnection(run.host, run.port, timeout=30)
        for _ in range(3):  # a connection each, as the answer says
            connection.request("GET", "/metrics")
            response = connection.getresponse()
            self.assertEqual(response.getheader("Connection"), "close")
            parse_exposition(response.read())
        connection.close()
        self.assertEqual(run.end()[0], 0)

    def raw(self, run, request):
        with socket.create_connection((run.host, run.port), timeout=30) as connection:
            answer = b""
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                while piece := connection.recv(65536):
                    answer += piece
            except OSError:  # it is refused before it is read
                pass
        return answer

    def test_bad_requests_cost_themselves(self):
        run = self.start()
        for request in (
            b"", b"\r\n", b"\0" * 1000, b"GET", b"GET /metrics\r\n\r\n", os.urandom(5000),
            b"GET /metrics HTTP/9.9\r\n\r\n", b"GET /metrics HTTP/1.1\r\n\r\n",
            b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 50000 + b"\r\n",
            b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nx",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            answer = self.raw(run, request)
            self.assertRegex(answer.split(b"\r\n")[0], rb"^(HTTP/1\.1 (4..|505) .+)?$",
                             request[:50])
            run.metrics()
        self.assertIn(b" 400 ", self.raw(run, b"GET /metrics HTTP/1.1\r\n\r\n").split(b"\r\n")[0])
        self.assertEqual(run.end()[0], 0)

    def test_idle_connections_are_bounded_and_end_with_the_run(self):
        run = self.start()
        before = len(os.listdir(f"/proc/{run.process.pid}/fd"))
        idle = [socket.create_connection((run.host, run.port), timeout=30) for _ in range(45)]
        self.addCleanup(lambda: [connection.close() for connection in idle])
        time.sleep(0.3)
        self.assertLessEqual(len(os.listdir(f"/proc/{run.process.pid}/fd")), before + 33)
        for connection in idle[:40]:
            connection.close()
        run.metrics()
        begin = time.monotonic()
        self.assertEqual(run.end()[0], 0)
        self.assertLess(time.monotonic() - begin, 9)  # they may be idle for ten seconds

    def scrape_among(self, run, source):
        """The seconds that a scrape takes among 1,000 connections that send a byte at a time, from
        addresses source(0), source(1), ..."""
        slow = []
        for i in range(1000):
            connection = socket.socket()
            self.addCleanup(connection.close)
            connection.bind((source(i), 0))
            connection.setblocking(False)
            connection.connect_ex((run.host, run.port))
            slow.append(connection)
        ended = threading.Event()

        def drip():
            for byte in b"GET /metrics HTTP/1.1" * 99:
                for connection in slow:
                    with contextlib.suppress(OSError):
                        connection.send(bytes([byte]))
                if ended.wait(0.05):
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            took = []
            for _ in range(5):
                begin = time.monotonic()
                run.metrics()
                took.append(time.monotonic() - begin)
                time.sleep(0.1)
        finally:
            ended.set()
            dripping.join()
        return max(took)

    def test_a_scrape_among_slow_connections_is_answered(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 1200:
            self.skipTest(f"{hard} open files are too few")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for source in (lambda i: "127.0.0.1", lambda i: f"127.1.{i // 250}.{i % 250 + 1}"):
            run = self.start()
            run.metrics()
            self.assertLess(self.scrape_among(run, source), 9)  # a slow one may take ten
            self.assertEqual(run.end()[0], 0)

    def test_a_scrape_behind_requests_ahead_is_answered(self):
        """A thousand clients ask for fifty answers each, and read none."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 1200:
            self.skipTest(f"{hard} open files are too few")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        run = self.start()
        run.metrics()
        for i in range(1000):
            connection = socket.socket()
            self.addCleanup(connection.close)
            connection.bind((f"127.1.{i // 250}.{i % 250 + 1}", 0))
            with contextlib.suppress(OSError):
                connection.connect((run.host, run.port))
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        begin = time.monotonic()
        run.metrics()
        # Those clients have ten seconds; a sanitized server needs more time for what comes before.
        self.assertLess(time.monotonic() - begin, 60 if case.is_sanitized(SLUICE) else 9)
        self.assertEqual(run.end()[0], 0)

    def test_a_request_has_a_whole_time(self):
        """A byte now and then does not lengthen it."""
        run = self.start()
        begin = time.monotonic()
        with socket.create_connection((run.host, run.port), timeout=30) as connection:
            with contextlib.suppress(OSError):
                while time.monotonic() - begin < 30:
                    connection.send(b"G")
                    time.sleep(0.1)
        self.assertGreater(time.monotonic() - begin, 9)
        self.assertLess(time.monotonic() - begin, 28)
        self.assertEqual(run.end()[0], 0)

    def test_a_run_ends_and_so_does_its_server(self):
        for number in (None, signal.SIGINT, signal.SIGTERM):
            run = self.start(*SWITCHED_ON)
            run.wait_for("sluice_batches_total", 1)
            self.assertFalse(run.refuses())
            status, summary, errors = run.end(number)
            self.assertEqual((status, errors), (0, ""))
            self.assertGreater(summary["packets"], 0)
            self.assertTrue(run.refuses())

    def test_a_failing_run_ends(self):
        run = self.start(content=b"hello, world" * 9)
        out, errors = run.process.communicate(timeout=60)
        self.assertEqual((run.process.returncode, out), (2, b""))
        self.assertIn(b"not a pcap", errors)

    def test_scrapes_of_a_busy_run_only_grow(self):
        with open(CAPTURE, "rb") as file:
            whole = file.read()
        run = self.start(*SWITCHED_ON, "--alerts", "eve:/dev/null", content=whole[:24])
        before, seen, sent = {}, set(), 0
        while len(seen) < 20 and sent < 2000:
            run.process.stdin.write(whole[24:] * 4)
            sent += 4
            metrics = run.metrics()
            for name, samples in metrics.items():
                for labels, value in samples.items() if name.endswith("_total") else ():
                    self.assertGreaterEqual(value, before.get((name, labels), 0), (name, labels))
                    before[name, labels] = value
            batches = sum(metrics["sluice_queue_depth"].values()) + sum(
                metrics["sluice_stage_batches"].values())
            self.assertGreaterEqual(batches, metrics["sluice_workers"][()] + 3)
            seen.add(metrics["sluice_packets_total"][()])
        self.assertGreaterEqual(len(seen), 20)
        status, summary, _ = run.end()
        self.assertEqual(status, 0)
        alone = json.loads(sluice("run", "-r", CAPTURE, "--json").stdout)
        self.assertEqual(summary["packets"], sent * alone["packets"])
        self.assertEqual(summary["bytes"], sent * alone["bytes"])

    # ---- addresses

    def test_addresses(self):
        for address, host in ((":0", "127.0.0.1"), ("0", "127.0.0.1"), ("localhost:0", "127.0.0.1"),
                              ("127.0.0.2:0", "127.0.0.2"), ("0.0.0.0:0", "0.0.0.0"),
                              ("[::1]:0", "::1")):
            if ":" in host and not os.path.exists("/proc/net/if_inet6"):
                continue
            run = self.start(address=address)
            self.assertEqual(run.host, host)
            self.assertIn("sluice_packets_total", run.metrics())
            self.assertEqual(run.end()[0], 0)

    def test_a_port_may_be_named(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([SLUICE, "run", "-r", "-", "--json", "--metrics", str(port)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        with open(CAPTURE, "rb") as file:
            process.stdin.write(file.read())
        process.stdin.flush()
        for _ in range(1200):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                connection.request("GET", "/metrics")
                parse_exposition(connection.getresponse().read())
                connection.close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        else:
            self.fail("nobody listens")
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, b""))

    def test_bad_addresses_are_quoted(self):
        for address in ("", "x", "1.2.3.4", "1.2.3.4:", "1.2.3.4:x", "1.2.3.4:65536", "1.2.3.4:-1",
                        "1.2.3.4: 1", "1.2.3.4:1:2", "::1:80", "::1", "[::1]", "[::1]80", "[::1:80",
                        "[]:80", "[127.0.0.1]:80", "example.org:80", "0:80", "127.1:80", "*:80",
                        "300.1.1.1:80", "123456", "+1", "x" * 99 + ":1", "[" + "1:" * 50 + "]:80",
                        "[::1%no-such-if]:80"):
            self.assert_refused(sluice("run", "-r", CAPTURE, "--metrics", address), f"'{address}'",
                                "[ADDR]:PORT")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--metrics"), "--metrics")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--metrics", "192.0.2.1:9999"),
                            "'192.0.2.1:9999'", "Cannot assign")

    def test_a_port_in_use_is_said(self):
        run = self.start()
        self.assert_refused(sluice("run", "-r", CAPTURE, "--metrics", str(run.port)),
                            f"'{run.port}'", "in use")
        run.metrics()
        self.assertEqual(run.end()[0], 0)

    # ---- events

    def events(self, path):
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return [line["stats"] for line in lines if line["event_type"] == "stats"], lines

    def check_totals(self, stats, summary):
        self.assertEqual(stats["decoder"]["pkts"], summary["packets"])
        self.assertEqual(stats["decoder"]["bytes"], summary["bytes"])
        self.assertEqual(stats["decoder"]["invalid"], sum(summary["defects"].values()))
        for name, protocol in (("ipv4", "IPv4"), ("ipv6", "IPv6"), ("tcp", "TCP"), ("udp", "UDP"),
                               ("icmpv4", "ICMP"), ("ethernet", "Ethernet"), ("arp", "ARP")):
            self.assertEqual(stats["decoder"][name],
                             summary["protocols"].get(protocol, {"packets": 0})["packets"])
        flows = summary["flows"]
        self.assertEqual(stats["flow"],
                         {name: flows[name] for name in ("total", "active", "tcp", "udp")})
        self.assertEqual(stats["sluice"]["flow"],
                         {name: flows[name] for name in ("other", "evicted", "timed_out",
                                                    "reused")})
        self.assertEqual(stats["tcp"]["midstream_pickups"], flows["midstream"])
        self.assertEqual(stats["detect"]["alert"], summary["alerts_total"])
        self.assertEqual(stats["sluice"]["anomaly"], summary["anomalies_total"])
        self.assertEqual(stats["sluice"]["anomalies"], summary["anomalies"])
        self.assertEqual(stats["sluice"]["failed_sources"], summary["failed_sources"])
        self.assertEqual(stats["sluice"]["batches"], summary["pipeline"]["batches"])
        for entry in summary["pipeline"]["engines"]:
            engine = stats["sluice"]["engines"][entry["engine"]]
            self.assertEqual((engine["backend"], engine["hits"]), (entry["backend"], entry["hits"]))
            self.assertAlmostEqual(engine["busy_ns"] / 1e9, entry["seconds"], 8)

    def test_the_last_event_has_the_summarys_totals(self):
        eve = self.path("eve.json")
        cut, large = self.path("cut.pcap"), self.path("large.pcap")
        with open(CAPTURE, "rb") as file:
            whole = file.read()
        with open(cut, "wb") as out:
            out.write(whole[:-3])
        times = 40 if case.is_sanitized(SLUICE) else 100
        with open(large, "wb") as out:  # read in parts
            out.write(whole + whole[24:] * (times - 1))
        for files in ([CAPTURE], [CAPTURE] * (times // 2), [large, CAPTURE],
                      [CAPTURE, cut, self.path("none")]):
            result = sluice("run", "-r", *files, *SWITCHED_ON, "--stats=3600", "--json", "--alerts",
                            "eve:" + eve)
            summary = json.loads(result.stdout)
            stats, lines = self.events(eve)
            self.assertEqual(len(stats), 1)
            self.assertEqual(lines[-1]["stats"], stats[0])
            self.check_totals(stats[0], summary)
            self.assertEqual(len(lines) - 1, summary["alerts_total"] + summary["anomalies_total"])
            self.assertNotIn("capture", stats[0])
            os.remove(eve)

    def test_events_come_while_the_source_is_quiet(self):
        eve = self.path("eve.json")
        run = self.start(*SWITCHED_ON, "--stats", "1", "--alerts", "eve:" + eve)
        run.wait_for("sluice_batches_total", 1)
        n_before = len(self.events(eve)[0])
        for _ in range(600):
            time.sleep(0.1)
            if len(self.events(eve)[0]) >= n_before + 2:
                break
        status, summary, errors = run.end()
        self.assertEqual((status, errors), (0, ""))
        stats, _ = self.events(eve)
        self.assertGreaterEqual(len(stats), n_before + 3)
        self.assertGreaterEqual(stats[0]["uptime"], 1)
        # a second each, or more where the machine is busy
        for before, after in zip(stats, stats[1:-1]):
            self.assertLess(before["uptime"], after["uptime"])
        for before, after in zip(stats, stats[1:]):
            self.assertLessEqual(before["uptime"], after["uptime"])
            self.assertLessEqual(before["decoder"]["pkts"], after["decoder"]["pkts"])
        self.check_totals(stats[-1], summary)
        queues = stats[n_before + 1]["sluice"]["queues"]
        self.assertEqual(queues["fill"]["busy"], 1)
        self.assertEqual(set(queues), {"fill", "load", "work", "drain"})

    def test_stats_on_the_console(self):
        line = (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}  STATS  \d+ s  "
                r"(\d+) packets  \d+ bytes  .* (\d+) alerts  \d+ rules loaded  "
                r"\d+ skipped  \d+ bad\n")
        result = sluice("run", "-r", CAPTURE, *SWITCHED_ON, "--stats=60")
        found = re.findall(line, result.stdout.decode())
        summary = json.loads(sluice("run", "-r", CAPTURE, *SWITCHED_ON, "--json").stdout)
        self.assertEqual(found, [(str(summary["packets"]), str(summary["alerts_total"]))])
        self.assertIn(b"\npipeline ", result.stdout)
        self.assertNotIn(b"STATS", sluice("run", "-r", CAPTURE, *SWITCHED_ON, "--stats").stdout)

    def test_bad_intervals_are_quoted(self):
        for seconds in ("", "0", "-1", "x", "1s", "1.5", " 1", "86401", "99999999999999999999"):
            self.assert_refused(sluice("run", "-r", CAPTURE, "--stats=" + seconds), f"'{seconds}'",
                                "86400")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--stats", "0"), "'0'")
        self.assertEqual(sluice("run", "--stats", "-r", CAPTURE).returncode, 0)
        self.assert_refused(sluice("run", "-r", CAPTURE, "--stats=5", "--json"), "every 5 s",
                            "eve:FILE")
        database = "sqlite:" + self.path("a.db")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--stats=5", "--alerts", database),
                            "every 5 s")
        eve = self.path("eve.json")
        self.assertEqual(sluice("run", "-r", CAPTURE, "--stats=5", "--alerts", database, "--alerts",
                                "eve:" + eve).returncode, 0)
        self.assertEqual(len(self.events(eve)[0]), 1)

    def test_events_that_cannot_be_written_are_said(self):
        result = sluice("run", "-r", CAPTURE, "--stats=60", "--alerts", "eve:/dev/full")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"No space left", result.stderr)
        self.assertEqual(result.stderr.count(b"No space left"), 1)

    # ---- live

    def test_live(self):
        eve = self.path("eve.json")
        udp_port = case.own_port(self)
        process = subprocess.Popen([SLUICE, "run", "-i", "lo", "-f", f"udp port {udp_port}",
                                    "--json", "--stats=1", "--metrics", ":0", "--alerts",
                                    "eve:" + eve], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        said = process.stderr.readline().decode()
        port = re.search(r":(\d+)/metrics", said)
        if not case.serves(said):
            self.skipTest("cannot capture on lo: " + process.stderr.read().decode())
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(5):
                sender.sendto(b"hello", ("127.0.0.1", udp_port))
        for _ in range(600):
            time.sleep(0.1)
            connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=30)
            connection.request("GET", "/metrics")
            metrics = parse_exposition(connection.getresponse().read())
            connection.close()
            packets, kernel = (metrics[f"sluice_{name}packets_total"][()]
                               for name in ("", "kernel_"))
            if packets == 5 and kernel == 5:
                break
        else:
            self.fail(
                f"{metrics['sluice_packets_total']}, {metrics['sluice_kernel_packets_total']}")
        for _ in range(600):
            if self.events(eve)[0]:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        summary = json.loads(process.communicate(timeout=60)[0])
        self.assertEqual(process.returncode, 0)
        stats, _ = self.events(eve)
        self.assertGreaterEqual(len(stats), 2)
        self.assertEqual(stats[-1]["decoder"]["pkts"], summary["packets"])
        self.assertEqual(stats[-1]["capture"]["kernel_packets"], 5)
        self.assertEqual(stats[-1]["capture"]["kernel_drops"], summary["kernel_drops"])
        self.assertEqual(stats[-1]["capture"]["kernel_ifdrops"], summary["interface_drops"])


if __name__ == "__main__":
    case.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sluice run --names as a person starts it: names in packets, events, counts, bad input.

usage: test_run_names.py SLUICE SAMPLES
"""
import json
import os
import sqlite3
import struct
import sys

import case

SLUICE, SAMPLES = sys.argv[1:3]
SIMULATED = "SIMULATED_GPUS" in os.environ


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


def ethernet(ethertype, payload):
    return b"\x02\0\0\0\0\1\x02\0\0\0\0\2" + struct.pack(">H", ethertype) + payload


def ip(protocol, payload):
    return ethernet(0x0800, struct.pack(">BBHIBBH4s4s", 0x45, 0, 20 + len(payload), 0, 64, protocol,
                                        0, b"\x0a\0\0\1", b"\x0a\0\0\2") + payload)


def udp(source, target, payload):
    return ip(17, struct.pack(">HHHH", source, target, 8 + len(payload), 0) + payload)


def fragment(payload, field):
    """Of a datagram of UDP. Field: flags and offset."""
    packet = ip(17, payload)
    return packet[:14 + 4] + struct.pack(">HH", 7, field) + packet[14 + 8:]


def tcp(source, target, payload, number=1):
    return ip(6, struct.pack(">HHIIBBHHH", source, target, number, 1, 0x50, 0x18, 1000, 0, 0)
              + payload)


def question(name):
    return b"".join(bytes([len(label)]) + label for label in name.split(b".")) + b"\0\0\1\0\1"


def dns(flags, *names):
    return struct.pack(">HHHHHH", 7, flags, len(names), 0, 0, 0) + b"".join(map(question, names))


def vector(size, content):
    return len(content).to_bytes(size, "big") + content


def hello(name):
    server = b"\0\0" + vector(2, vector(2, b"\0" + vector(2, name)))
    body = b"\3\3" + bytes(32) + b"\0" + vector(2, b"\x13\1") + vector(1, b"\0") + vector(2, server)
    return b"\x16\3\1" + vector(2, b"\1" + vector(3, body))


def interest(*components):
    name = b"".join(b"\x08" + vector(1, component) for component in components)
    return b"\5" + vector(1, b"\7" + vector(1, name))


def capture(*packets):
    head = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(struct.pack("<IIII", number, 0, len(packet), len(packet)) + packet
                           for number, packet in enumerate(packets))


PACKETS = [
    udp(40000, 53, dns(0x0100, b"WWW.ads.test")),
    udp(53, 40000, dns(0x8180, b"www.ads.test")),
    udp(5353, 5353, dns(0, b"printer.local", b"ads.test")),
    tcp(40001, 53, vector(2, dns(0x0100, b"other.test"))),
    tcp(40002, 8080, b"GET /a/b?c HTTP/1.1\r\nHost: news.test:8080\r\n\r\n"),
    tcp(40003, 443, hello(b"fine.ads.test")),
    tcp(40003, 443, hello(b"cut.test")[:-2]),
    udp(40004, 6363, interest(b"com", b"parc", b"www")),
    ethernet(0x8624, interest(b"com", b"other")),
    tcp(40005, 80, b"GET / HTTP/1.0\r\n\r\n"),
]


class RunNames(case.Case):
    def setUp(self):
        super().setUp()
        self.capture = self.path("names.pcap", capture(*PACKETS))
        self.filters = self.path("filters", b"! a list\n||ads.test^\n@@||fine.ads.test^\n")
        self.urls = self.path("urls", b"http://news.test/a\tnews,press\n")
        self.routes = self.path("routes", b"/com\t1\n/com/parc\t2,3\nnonsense\n")

    def run_names(self, *arguments):
        result = sluice("run", "-r", self.capture, "--device", "cuda" if SIMULATED else "cpu",
                        "--names", self.filters, self.urls, self.routes, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def events(self, *arguments):
        path = self.path("events.json")
        self.run_names("--alerts", "eve:" + path, *arguments)
        with open(path, "rb") as file:
            return [json.loads(line) for line in file]

    # ---- what is found

    def test_events(self):
        events = self.events()
        self.assertEqual([(event["pcap_cnt"], event["event_type"], event["names"]["name"],
                           event["names"]["action"], event["names"]["line"]) for event in events],
                         [(1, "dns", "www.ads.test", "block", 2),
                          (2, "dns", "www.ads.test", "block", 2),
                          (3, "dns", "ads.test", "block", 2),
                          (5, "http", "news.test/a/b?c", "category", 1),
                          (6, "tls", "fine.ads.test", "allow", 3),
                          (8, "ndn", "/com/parc/www", "forward", 2),
                          (9, "ndn", "/com/other", "forward", 1)])
        self.assertEqual(events[0]["dns"], {"version": 2, "type": "query", "id": 7, "opcode": 0,
                                            "rrname": "www.ads.test", "rrtype": "A"})
        self.assertEqual(events[1]["dns"]["rcode"], "NOERROR")
        self.assertEqual(events[3]["http"],
                         {"hostname": "news.test", "http_port": 8080, "url": "/a/b?c",
                          "http_method": "GET", "protocol": "HTTP/1.1"})
        self.assertEqual(events[4]["tls"], {"sni": "fine.ads.test", "version": "TLS 1.2"})
        self.assertEqual(events[5]["ndn"], {"type": "interest", "name": "/com/parc/www"})
        self.assertEqual(events[0]["names"]["verdict"], "blocked")
        self.assertEqual(events[4]["names"]["verdict"], "allowed")
        self.assertEqual(events[3]["names"]["values"], ["news", "press"])
        self.assertEqual(events[5]["names"]["next_hops"], [{"hop": "2"}, {"hop": "3"}])
        self.assertEqual(events[5]["names"]["prefix"], "/com/parc")
        self.assertNotIn("src_ip", events[6])

    def test_types_of_events(self):
        # Of a packet with DNS first the name that has a rule, then the message.
        self.assertEqual([event["pcap_cnt"] for event in self.events("--events", "ndn,dns")],
                         [1, 1, 2, 2, 3, 3, 4, 8, 9])

    def test_summary(self):
        summary = json.loads(self.run_names("--json").stdout)["names"]
        self.assertEqual(summary["protocols"], {"dns": {"names": 5, "matched": 3},
                                                "http": {"names": 1, "matched": 1},
                                                "tls": {"names": 1, "matched": 1},
                                                "ndn": {"names": 2, "matched": 2}})
        self.assertEqual(summary["missed"], {"tls-cut": 1, "http-no-host": 1})
        self.assertEqual((summary["packets"], summary["matched"]), (8, 7))
        self.assertEqual(summary["by_action"][0], {"count": 3, "action": "block"})
        self.assertIn({"count": 1, "action": "forward", "next_hops": ["2", "3"]},
                      summary["by_action"])
        self.assertEqual({entry["list"]: entry["count"] for entry in summary["by_list"]},
                         {self.filters: 4, self.urls: 1, self.routes: 2})
        self.assertEqual(summary["by_line"][0], {"count": 3, "prefix": "ads.test", "line": 2,
                                                 "list": self.filters, "action": "block"})
        text = self.run_names().stdout.decode()
        self.assertIn("names      9 in 8 packets, 7 matched of a table of 5", text)
        self.assertIn(f"3  {self.filters}:2  ads.test  block", text)
        self.assertIn("forward 2,3", text)
        self.assertIn("no name: a request without a Host, 1 packets", text)
        self.assertIn("NAME  dns query A www.ads.test  block", text)

    def test_fragments_and_segments(self):
        """A name is found, too, and once, where it lies in two fragments, or two segments."""
        query = dns(0x0100, b"www.ads.test")
        whole = struct.pack(">HHHH", 40000, 53, 8 + len(query), 0) + query
        request = b"GET /a HTTP/1.1\r\nHost: news.test\r\n\r\n"
        packets = [fragment(whole[:24], 0x2000), fragment(whole[24:], 3),
                   tcp(40006, 80, request[:20]), tcp(40006, 80, request[20:], 21),
                   tcp(40006, 80, request[30:], 31)]
        self.capture = self.path("cut.pcap", capture(*packets))
        self.assertEqual([(event["pcap_cnt"], event["src_port"], event["names"]["name"])
                          for event in self.events()],
                         [(2, 40000, "www.ads.test"), (4, 40006, "news.test/a")])
        viruses = self.path("cut.ndb", b"Cut:0:*:%s\n" % whole[20:30].hex().encode())
        result = sluice("run", "-r", self.capture, "--scan", viruses, "--json")
        self.assertEqual(json.loads(result.stdout)["viruses"]["matches"], 1)

    def test_sqlite(self):
        path = self.path("events.db")
        self.run_names("--alerts", "sqlite:" + path)
        with sqlite3.connect(path) as database:
            rows = database.execute(
                "SELECT packet, protocol, kind, name, verdict, value FROM names")
            self.assertEqual(rows.fetchall()[3:5],
                             [(5, "http", "GET", "news.test/a/b?c", None, "news,press"),
                              (6, "tls", None, "fine.ads.test", "allowed", None)])

    def test_the_answers_are_those_of_lookup(self):
        """A table with a rule for each name of the samples gives what sluice lookup gives."""
        root = self.path("root", b"/\t1\n/com\t2\n/192.0.2.1\t3\n")
        path = self.path("all.json")
        captures = [os.path.join(SAMPLES,
                                 name) for name in sorted(os.listdir(SAMPLES)) if "pcap" in name]
        result = sluice("run", "-r", self.capture, *captures, "--names", self.filters, root,
                        "--alerts", "eve:" + path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, "rb") as file:
            events = [event["names"] for event in map(json.loads, file)
                      if event["event_type"] in ("dns", "http", "tls", "ndn")]
        self.assertGreater(len(events), 20)
        looked_up = sluice("lookup", "--table", self.filters, "--table", root, "--json",
                           "--explain", "-", stdin=None,
                           input="\n".join(event["name"] for event in events).encode())
        answers = [json.loads(line) for line in looked_up.stdout.splitlines()]
        self.assertEqual(len(answers), len(events))
        for event, answer in zip(events, answers):
            event.pop("verdict", None)
            self.assertEqual(event, answer)

    def test_beside_other_engines(self):
        """Events come in packet order, whatever finds them."""
        rules = self.path("rules",
                          b'alert udp any any -> any any (msg:"m"; content:"ads"; sid:1;)\n')
        events = self.events("--rules", rules,
                             "--header-checks=udp-checksum,tcp-checksum,ipv4-checksum")
        self.assertEqual({"alert", "anomaly", "dns", "tls", "http", "ndn"},
                         {event["event_type"] for event in events})
        numbers = [event["pcap_cnt"] for event in events]
        self.assertEqual(numbers, sorted(numbers))

    def test_many_batches_and_threads(self):
        """Counts do not depend on how packets were split."""
        many = self.path("many.pcap", capture(*PACKETS * 5000))
        result = sluice("run", "-r", many, "--names", self.filters, self.urls, self.routes,
                        "--json", "--stats", "--device", "cuda" if SIMULATED else "cpu")
        summary = json.loads(result.stdout)
        self.assertEqual(summary["names"]["matched"], 7 * 5000)
        self.assertEqual(summary["names"]["missed"], {"tls-cut": 5000, "http-no-host": 5000})
        engine = summary["pipeline"]["engines"][-1]
        self.assertEqual((engine["engine"], engine["backend"], engine["hits"]),
                         ("names", "simulated" if SIMULATED else "batched", 7 * 5000))

    # ---- tables

    def test_a_saved_table(self):
        saved = self.path("table")
        result = sluice("lookup", "--table", self.filters, "--table", self.urls, "--build", saved)
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads(sluice("run", "-r", self.capture, "--names", saved, "--json").stdout)
        self.assertEqual(summary["names"]["matched"], 5)
        self.assert_refused(sluice("run", "-r", self.capture, "--names", saved, self.urls), saved,
                            "cannot be put together")

    def test_ignored_lines_are_reported(self):
        result = self.run_names("--json")
        self.assertIn(b"1 of 6 lines ignored", result.stderr)

    def test_a_format_for_the_tables_behind_it(self):
        plain = self.path("plain", b"ads.test\n")
        for format_name, matched in (("domains", 1), ("subdomains", 4)):
            result = sluice("run", "-r", self.capture, "--names-format", format_name, "--names",
                            plain, "--json")
            self.assertEqual(json.loads(result.stdout)["names"]["matched"], matched)

    def test_bad_input(self):
        self.assert_refused(sluice("run", "-r", self.capture, "--names", self.path("none")), "none",
                            "No such file")
        self.assert_refused(sluice("run", "-r", self.capture, "--names", self.filters,
                                   "--names-format", "adblock"), "has no effect")
        self.assert_refused(sluice("run", "-r", self.capture, "--names-format", "what", "--names",
                                   self.filters), "'what'", "adblock")
        self.assert_refused(sluice("run", "-r", self.capture, "--names"), "--names")
        damaged = self.path("damaged")
        sluice("lookup", "--table", self.filters, "--build", damaged)
        with open(damaged, "r+b") as file:
            file.seek(100)
            file.write(b"\xff\xff\xff")
        self.assert_refused(sluice("run", "-r", self.capture, "--names", damaged), damaged)

    def test_an_empty_table_matches_nothing(self):
        empty = self.path("empty", b"# nothing\n0.0.0.0 x.invalid\n")
        summary = json.loads(sluice("run", "-r", self.capture, "--names", empty, "--json").stdout)
        self.assertEqual(summary["names"]["matched"], 0)
        self.assertEqual(summary["names"]["by_line"], [])


if __name__ == "__main__":
    case.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sluice run --events flow as a person starts it: when flows end, and the events of them.

usage: test_run_flows.py SLUICE
"""
import base64
import hashlib
import json
import os
import sqlite3
import struct
import sys

import case

SLUICE = sys.argv[1]
SIMULATED = "SIMULATED_GPUS" in os.environ
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT, SERVER = b"\x0a\0\0\1", b"\x0a\0\0\2"
RULE = b'alert tcp any any -> any any (msg:"found"; content:"needle"; sid:1;)\n'


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


def ip(protocol, source, target, payload):
    header = struct.pack(">BBHIBBH4s4s", 0x45, 0, 20 + len(payload), 0, 64, protocol, 0, source,
                         target)
    return b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0" + header + payload


def udp(port, payload=b"", back=False):
    ports = (53, port) if back else (port, 53)
    ends = (SERVER, CLIENT) if back else (CLIENT, SERVER)
    return ip(17, *ends, struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload)


def tcp(port, flags, seq=1, ack=1, payload=b"", back=False):
    ports = (80, port) if back else (port, 80)
    ends = (SERVER, CLIENT) if back else (CLIENT, SERVER)
    header = struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 1000, 0, 0)
    return ip(6, *ends, header + payload)


def capture(packets):
    head = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(struct.pack("<IIII", time, 0, len(packet), len(packet)) + packet
                           for time, packet in packets)


def community_id(port):
    """Of a connection: the end of the lower address is first, which is the client."""
    ends = b"\0\0" + CLIENT + SERVER + b"\6\0" + struct.pack(">HH", port, 80)
    return "1:" + base64.b64encode(hashlib.sha1(ends).digest()).decode()


def connection(port, time, payload):
    """A connection of eight packets from its SYN to the last ACK."""
    end = 1 + len(payload)
    return [(time, tcp(port, SYN, 0, 0)), (time, tcp(port, SYN | ACK, 0, 1, back=True)),
            (time, tcp(port, ACK)), (time, tcp(port, PSH | ACK, 1, 1, payload)),
            (time + 1, tcp(port, FIN | ACK, end, 1)),
            (time + 1, tcp(port, ACK, 1, end + 1, back=True)),
            (time + 2, tcp(port, FIN | ACK, 1, end + 1, back=True)),
            (time + 2, tcp(port, ACK, end + 1, 2))]


class RunFlows(case.Case):
    def run_flows(self, packets, sink, *arguments):
        path = self.path("flows.pcap", capture(packets))
        result = sluice("run", "-q", "-r", path, "--device", "cuda" if SIMULATED else "cpu",
                        "--alerts", sink, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout

    def events(self, packets, *arguments):
        arguments = arguments or ("--events", "flow")
        return [json.loads(line)
                for line in self.run_flows(packets, "eve:-", *arguments).splitlines()]

    def test_a_connection(self):
        packets = connection(4000, 100, b"x" * 10)
        event, = self.events(packets)
        self.assertEqual(event.pop("flow_id") > 0, True)
        self.assertEqual(event.pop("pcap_filename"), self.path("flows.pcap"))
        self.assertEqual(event.pop("community_id"), community_id(4000))
        self.assertEqual(event, {
            "timestamp": "1970-01-01T00:01:42.000000+0000", "event_type": "flow",
            "src_ip": "10.0.0.1", "src_port": 4000, "dest_ip": "10.0.0.2", "dest_port": 80,
            "proto": "TCP",
            "ip_v": 4,
            "flow": {"pkts_toserver": 5, "pkts_toclient": 3, "bytes_toserver": 5 * 54 + 10,
                     "bytes_toclient": 3 * 54, "start": "1970-01-01T00:01:40.000000+0000",
                     "end": "1970-01-01T00:01:42.000000+0000", "age": 2, "state": "closed",
                     "reason": "shutdown", "alerted": False},
            "tcp": {"tcp_flags": "1b", "tcp_flags_ts": "1b", "tcp_flags_tc": "13", "syn": True,
                    "fin": True, "psh": True, "ack": True, "state": "closed"}})
        keys = list(self.events(packets)[0])
        self.assertEqual(keys[-4:], ["flow", "community_id", "tcp", "pcap_filename"])

    def test_a_flow_ends_before_the_packet_that_is_behind_its_timeout(self):
        packets = [(100, udp(1000)), (101, udp(2000)), (101, udp(2000, back=True)),
                   (131, udp(3000)), (132, udp(3000, b"needle" * 9)), (500, udp(4000))]
        events = self.events(packets)
        self.assertEqual([(event["src_port"], event["flow"]["state"], event["flow"]["reason"],
                           event["timestamp"][14:19]) for event in events],
                         [(1000, "new", "timeout", "02:11"), (2000, "established", "timeout",
                                                              "08:20"),
                          (3000, "new", "timeout", "08:20"), (4000, "new", "shutdown", "08:20")])
        self.assertEqual(events[2]["flow"]["pkts_toserver"], 2)
        rules = self.path("udp.rules", RULE.replace(b"alert tcp", b"alert udp"))
        mixed = self.events(packets, "--events", "flow,alert", "--rules", rules)
        self.assertEqual([event["event_type"] for event in mixed],
                         ["flow", "alert", "flow", "flow", "flow"])
        self.assertEqual([event["flow"]["alerted"] for event in mixed if "reason" in
                          event.get("flow", {})], [False, False, True, False])

    def test_many_flows_at_the_end(self):
        packets = [(100 + port % 7, udp(port)) for port in range(1, 20001)]
        packets.sort(key=lambda packet: packet[0])
        events = self.events(packets)
        order = [(event["flow"]["start"], event["flow_id"]) for event in events]
        self.assertEqual(order, sorted(order))
        self.assertEqual({event["src_port"] for event in events}, set(range(1, 20001)))
        self.assertEqual(len(events), 20000)
        lines = self.run_flows(packets, "console", "--events", "flow").splitlines()
        self.assertEqual(len(lines), 20000)

    def test_alerts_mark_their_flow_alone(self):
        packets = connection(4000, 100, b"a needle") + connection(4001, 100, b"no nee dle")
        rules = self.path("a.rules", RULE)
        events = self.events(packets, "--rules", rules, "--events", "flow")
        self.assertEqual({event["src_port"]: event["flow"]["alerted"] for event in events},
                         {4000: True, 4001: False})

    def test_alerts_show_the_flow_so_far(self):
        packets = connection(4000, 100, b"a needle")
        rules = self.path("flow.rules", RULE + RULE.replace(b"needle", b"none"))
        alert, _ = self.events(packets, "--rules", rules, "--events", "alert,flow")
        self.assertEqual(alert["flow"], {
            "pkts_toserver": 3, "pkts_toclient": 1, "bytes_toserver": 3 * 54 + 8,
            "bytes_toclient": 54, "start": "1970-01-01T00:01:40.000000+0000",
            "src_ip": "10.0.0.1", "dest_ip": "10.0.0.2", "src_port": 4000, "dest_port": 80})
        alert, = self.events(packets, "--rules", rules, "--events", "alert")
        self.assertNotIn("flow", alert)

    def test_flows_that_a_rule_passed_and_that_began_midstream(self):
        packets = (connection(4000, 100, b"a needle") + connection(4001, 100, b"none") +
                   connection(4002, 100, b"a needle")[3:])
        rules = self.path("pass.rules", RULE.replace(b"alert", b"pass"))
        events = self.events(packets, "--rules", rules, "--events", "flow")
        midstream = [{"target": "stream_midstream", "policy": "ignore"}]
        self.assertEqual({event["src_port"]: (event["flow"].get("action"),
                                              event["flow"].get("exception_policy"))
                          for event in events},
                         {4000: ("pass", None), 4001: (None, None), 4002: ("pass", midstream)})

    def test_flows_that_a_rule_dropped(self):
        """A rule on a stream drops its flow: what comes behind it in the flow meets no rule."""
        packets = connection(4000, 100, b"a needle") + connection(4001, 100, b"none")
        for action in b"drop", b"reject":
            rules = self.path("drop.rules", RULE.replace(b"alert", action) +
                              b"alert tcp any any -> any any (flags:F+; sid:2;)\n")
            events = self.events(packets, "--rules", rules, "--events", "flow,alert")
            self.assertEqual({event["src_port"]: event["flow"].get("action") for event in events
                              if event["event_type"] == "flow"}, {4000: "drop", 4001: None})
            self.assertEqual([(event["src_port"], event["alert"]["signature_id"])
                              for event in events if event["event_type"] == "alert"],
                             [(4000, 1), (4001, 2), (80, 2)])

    def test_flows_that_a_rate_filter_dropped(self):
        """The alert over the rate is raised, and its flow ends with it."""
        packets = connection(4000, 100, b"a needle") + connection(4001, 100, b"a needle")
        rules = RULE + b"alert tcp any any -> any 80 (flags:F+; sid:2;)\n"
        rate = (b"rate_filter gen_id 1, sig_id 1, track by_src, count 1, seconds 60, "
                b"new_action %s, timeout 60\n")
        both = [(4000, 1), (4000, 2), (4001, 1), (4001, 2)]
        for action, expected in ((b"alert", both), (b"drop", both[:3]), (b"reject", both[:3]),
                                 (b"pass", both[:2] + both[3:])):
            path = self.path("rate.rules", rules + rate % action)
            self.assertEqual([(event["src_port"], event["alert"]["signature_id"]) for event in
                              self.events(packets, "--rules", path, "--events", "alert")],
                             expected, action)

    def test_rules_of_addresses_are_judged_once_a_side(self):
        packets = connection(4000, 100, b"x" * 10) + [(103, udp(1000)), (103, udp(1000))]
        rules = self.path("ip.rules", b"alert ip any any -> any any (sid:1;)\n")
        self.assertEqual([(event["proto"], event["pcap_cnt"]) for event in
                          self.events(packets, "--rules", rules, "--events", "alert")],
                         [("TCP", 1), ("TCP", 2), ("UDP", 9)])

    def test_a_payload_before_the_rest_of_a_body(self):
        """A content of the payload is in the stream, not in the packet that ends the body."""
        packets = self.download(b"needle" + b"." * 1500)
        rules = self.path("body.rules", b'alert tcp any any -> any any (content:"needle"; '
                                        b'file.data; content:"needle."; sid:1;)\n')
        alert, = self.events(packets, "--rules", rules, "--events", "alert")
        self.assertEqual(alert["alert"]["signature_id"], 1)

    def test_a_response_comes_first(self):
        """Whatever the ports are, the sender of a status line is the server."""
        said = b"HTTP/1.1 200 OK\r\nServer: sluice\r\nContent-Length: 0\r\n\r\n"
        rules = self.path("first.rules", b'alert http any any -> any any (flow:to_client; '
                                         b'http.server; content:"sluice"; sid:1;)\n')
        segment = struct.pack(">HHIIBBHHH", 5000, 80, 1, 1, 0x50, PSH | ACK, 1000, 0, 0) + said
        alert, = self.events([(1, ip(6, SERVER, CLIENT, segment))], "--rules", rules, "--events",
                             "alert")
        self.assertEqual((alert["src_ip"], alert["src_port"]), ("10.0.0.2", 5000))

    def test_numbers_of_a_call(self):
        """A call of DCERPC says which byte of its numbers comes first."""
        rule = (b"alert tcp any any -> any any (dce_stub_data; byte_jump:2,0,dce; "
                b"byte_test:2,=,258,0,relative,dce; sid:1;)\n")
        rules = self.path("dce.rules", rule)
        for order, of_numbers, found in (">", ">", 1), ("<", "<", 1), (">", "<", 0), ("<", ">", 0):
            stub = struct.pack(of_numbers + "H3xH", 3, 258)
            call = struct.pack("BBBBBxxx", 5, 0, 0, 3, 0x10 if order == "<" else 0)
            call += struct.pack(order + "HHIIHH", 24 + len(stub), 0, 1, 0, 0, 0) + stub
            packets = [(1, tcp(4000, SYN, 0, 0)), (1, tcp(4000, SYN | ACK, 0, 1, back=True)),
                       (1, tcp(4000, PSH | ACK, 1, 1, call)),
                       (1, tcp(4000, ACK, 1, 1 + len(call), back=True))]
            events = self.events(packets, "--rules", rules, "--events", "alert")
            self.assertEqual(len(events), found, (order, of_numbers))

    def test_files_of_any_protocol(self):
        """Rules of TCP look at the files of SMTP as at those of HTTP."""
        lines = [(True, b"220 a\r\n"), (False, b"EHLO b\r\n"), (True, b"250 a\r\n"),
                 (False, b"MAIL FROM:<a@b>\r\n"), (True, b"250 ok\r\n"),
                 (False, b"RCPT TO:<c@d>\r\n"), (True, b"250 ok\r\n"), (False, b"DATA\r\n"),
                 (True, b"354 go\r\n"),
                 (False, b"Content-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n"
                         b"Content-Disposition: attachment; filename=a.zip\r\n\r\n" +
                         base64.b64encode(b"a needle") + b"\r\n.\r\n"), (True, b"250 ok\r\n")]
        at = {False: 1, True: 1}
        packets = [(1, tcp(4000, SYN, 0, 0)), (1, tcp(4000, SYN | ACK, 0, 1, back=True)),
                   (1, tcp(4000, ACK))]
        for back, line in lines:
            packets.append((1, tcp(4000, PSH | ACK, at[back], at[not back], line, back)))
            at[back] += len(line)
        packets += [(2, packet[1]) for packet in self.download(b"a needle", 4001)]
        rules = self.path("files.rules", b"".join(
            b"alert %s any any -> any any (%s sid:%d;)\n" % rule for rule in (
                (b"tcp", b'file.data; content:"needle"; endswith;', 1),
                (b"tcp", b'file.name; content:"a.zip";', 2),
                (b"tcp", b'file.data; content:"needle"; http.stat_code; content:"200";', 3),
                (b"smtp", b'file.data; content:"needle";', 4),
                (b"http", b'file.data; content:"needle";', 5))))
        events = self.events(packets, "--rules", rules, "--events", "alert")
        self.assertEqual({(event["app_proto"], event["alert"]["signature_id"])
                          for event in events},
                         {("smtp", 1), ("smtp", 2), ("smtp", 4), ("http", 1), ("http", 3),
                          ("http", 5)})

    def test_a_port_that_is_used_again(self):
        events = self.events(connection(4000, 100, b"x") + connection(4000, 103, b"yy"))
        self.assertEqual([(event["flow"]["reason"], event["flow"]["bytes_toserver"])
                          for event in events], [("tcp_reuse", 271), ("shutdown", 272)])
        self.assertEqual(events[0]["community_id"], events[1]["community_id"])
        self.assertNotEqual(events[0]["flow_id"], events[1]["flow_id"])

    def test_which_flows_give_way_depends_on_the_seed_alone(self):
        packets = [(100, udp(port)) for port in range(1, 6001)]

        def ways(*arguments):
            events = self.events(packets, "--events", "flow", "--flow-memory", *arguments)
            self.assertEqual(len(events), len(packets))
            return [(event["src_port"], event["flow"]["reason"]) for event in events]

        first = ways("840K", "--seed", "1")
        self.assertEqual(ways("840K", "--seed", "1"), first)
        self.assertNotEqual(ways("840K", "--seed", "18446744073709551615"), first)
        n_forced = [reason for _, reason in first].count("forced")
        self.assertTrue(2800 < n_forced < 3500, n_forced)
        self.assertEqual(sorted(ways("4M")), [(port, "shutdown") for port in range(1, 6001)])
        summary = json.loads(sluice("run", "-r", self.path("flows.pcap"), "--json", "--seed", "1",
                                    "--flow-memory", "840K", "--events", "flow", "--alerts",
                                    "eve:/dev/null").stdout)
        self.assertEqual((summary["flows"]["evicted"], summary["flows"]["active"]),
                         (n_forced, 6000 - n_forced))

    def test_a_flow_counts_its_messages(self):
        question = b"\1\0\0\1\0\0\0\0\0\0\4test\0\0\1\0\1"
        packets = [(100, udp(1000, b"\0\1" + question)), (100, udp(2000, b"\0\2" + question)),
                   (100, udp(1000, b"no message")), (101, udp(1000, b"\0\3" + question)),
                   (101, udp(1000, b"\0\1\x81" + question[1:], back=True)),
                   (500, udp(1000, b"\0\4" + question)), (500, udp(1000, b"\0\5" + question))]
        rules = self.path("dns.rules", b'alert dns any any -> any any (dns.query; content:"test";'
                                       b' sid:1;)\n')
        events = self.events(packets, "--events", "dns,alert", "--rules", rules)
        messages = [(event["dns"]["id"], event["dns"]["tx_id"]) for event in events
                    if event["event_type"] == "dns"]
        self.assertEqual(messages, [(1, 0), (2, 0), (3, 1), (1, 2), (4, 0), (5, 1)])
        alerts = [event for event in events if event["event_type"] == "alert"]
        self.assertEqual([(event["dns"]["id"], event["tx_id"]) for event in alerts],
                         [(1, 0), (2, 0), (3, 1), (4, 0), (5, 1)])
        for event in alerts:
            self.assertEqual(event["dns"]["tx_id"], event["tx_id"])
        alert, = self.events(packets[:1], "--rules", rules)  # messages are counted for events
        self.assertNotIn("tx_id", alert)

    def test_messages_in_a_tunnel_belong_to_the_flow_in_it(self):
        name = b"\3www\7example\0"
        question = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + name + b"\0\1\0\1"
        inner = udp(1000, question)
        tunnel = ip(47, SERVER, CLIENT, b"\0\0\x08\0" + inner[14:])
        dns, flow = self.events([(1, inner), (2, tunnel)], "--events", "dns,flow")[1:]
        self.assertEqual((dns["dns"]["queries"][0]["rrname"], dns["src_ip"], dns["pcap_cnt"]),
                         ("www.example", "10.0.0.1", 2))
        self.assertEqual((flow["flow"]["pkts_toserver"], flow["flow_id"]), (2, dns["flow_id"]))

    def test_console_and_database(self):
        packets = connection(4000, 100, b"x" * 10)
        line = self.run_flows(packets, "console", "--events", "flow").decode()
        self.assertEqual(line, "1970-01-01 00:01:42.000000  FLOW  closed, shutdown  "
                               "to server 5 packets, 280 bytes  to client 3 packets, 162 bytes  "
                               "2 s  TCP 10.0.0.1:4000 -> 10.0.0.2:80\n")
        path = self.path("flows.db")
        self.run_flows(packets, "sqlite:" + path, "--events", "all")
        with sqlite3.connect(path) as database:
            rows = database.execute("SELECT src_port, state, reason, alerted, pkts_toserver, "
                                    "tcp_flags_tc, tcp_state, age FROM flows").fetchall()
        self.assertEqual(rows, [(4000, "closed", "shutdown", 0, 5, "13", "closed", 2)])

    def test_messages_and_files_of_http(self):
        form = (b"--b\r\nContent-Disposition: form-data; name=f; filename=\"x.txt\"\r\n\r\nabc\r\n"
                b"--b--\r\n")
        sent = (b"POST /up?q HTTP/1.1\r\nHost: a.test:81\r\nContent-Length: %d\r\n"
                b"Content-Type: multipart/form-data; boundary=b\r\n\r\n" % len(form)) + form
        got = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html; a=b\r\nContent-Length: 5\r\n\r\n"
               b"hello")
        packets = [(1, tcp(4000, SYN, 0, 0)), (1, tcp(4000, SYN | ACK, 0, 1, back=True)),
                   (1, tcp(4000, PSH | ACK, 1, 1, sent)),
                   (1, tcp(4000, PSH | ACK, 1, 1 + len(sent), got, back=True)),
                   (1, tcp(4000, ACK, 1 + len(sent), 1 + len(got)))]
        events = self.events(packets, "--events", "http,fileinfo,flow")
        self.assertEqual([(event["event_type"], event["src_port"]) for event in events],
                         [("fileinfo", 4000), ("fileinfo", 80), ("http", 4000), ("flow", 4000)])
        upload, page, http, flow = events
        self.assertEqual(http["http"], {
            "hostname": "a.test", "http_port": 81, "url": "/up?q", "http_content_type": "text/html",
            "http_method": "POST", "protocol": "HTTP/1.1", "status": 200, "length": 5})
        self.assertEqual((http["tx_id"], flow["app_proto"], page["app_proto"]), (0, "http", "http"))
        for event, name, content in ((upload, "x.txt", b"abc"), (page, "/up", b"hello")):
            self.assertEqual(event["fileinfo"], {
                "filename": name, "gaps": False, "state": "CLOSED", "stored": False,
                "sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "tx_id": 0})
        self.assertEqual(self.events(packets, "--header-checks", "-k", "none"), [])
        page = self.events(packets, "--events", "fileinfo", "--file-info", "md5,magic")[1]
        self.assertEqual(list(page["fileinfo"]), ["filename", "magic", "gaps", "state", "md5",
                                                  "sha256", "stored", "size", "tx_id"])
        self.assertEqual((page["fileinfo"]["md5"], page["fileinfo"]["magic"]),
                         (hashlib.md5(b"hello").hexdigest(),
                          "ASCII text, with no line terminators"))
        rule = b'alert http any any -> any any (fileext:"txt"; filemagic:"text"; filesize:3; ' \
               b'http.uri; content:"/up"; sid:7;)\n'
        alert, = self.events(packets, "--events", "alert", "--rules", self.path("f.rules", rule))
        self.assertEqual([(file["filename"], file["magic"][:5], "sha256" in file)
                          for file in alert["files"]], [("x.txt", "ASCII", False)])
        self.assertEqual((alert["http"]["url"], alert["tx_id"], alert["app_proto"]),
                         ("/up?q", 0, "http"))
        for words, *told in (("md5,sha2", "'sha2' is nothing of files"), ("", "nothing of files"),
                             ("md5", "needs --events fileinfo", "--events", "http")):
            self.assert_refused(sluice("run", "-r", "x", "--file-info", words, "--events",
                                       *(told[2:] or ["fileinfo"])), told[0])

    def test_anomalies_of_protocols(self):
        """They come with the events of a protocol, once for each transaction."""
        packets = connection(4000, 100, b"GET /\r\nHost: a\r\n\r\n")
        anomaly, http = self.events(packets, "--events", "anomaly,http")
        self.assertEqual(anomaly["anomaly"], {
            "app_proto": "http", "type": "applayer", "event": "REQUEST_LINE_MISSING_PROTOCOL",
            "layer": "proto_parser"})
        self.assertEqual((anomaly["tx_id"], anomaly["src_port"], http["event_type"]),
                         (0, 4000, "http"))
        rule = b'alert http any any -> any any (app-layer-event:' \
               b'http.request_line_missing_protocol; sid:7;)\n'
        events = self.events(packets, "--rules", self.path("e.rules", rule))
        self.assertEqual([event["event_type"] for event in events], ["alert"])

    def test_rules_with_state_beside_what_a_flow_says_at_its_end(self):
        packets = connection(4000, 100, b"GET / HTTP/1.1\r\nHost: needle\r\n\r\n")[:4]
        rule = RULE.replace(b"sid", b"threshold:type limit, track by_src, count 1, seconds 9; sid")
        events = self.events(packets, "--events", "alert,http", "--set", "X=1", "--rules",
                             self.path("state.rules", rule))
        self.assertEqual([event["event_type"] for event in events], ["alert", "http"])
        self.assertEqual(events[1]["pkt_src"], "stream (flow timeout)")
        self.assertEqual(self.events(packets, "--events", "http", "--set", "X=1"), events[1:])

    def download(self, content, port=4000, length=None):
        """A page of this content, in segments of 1,400 bytes."""
        got = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (length or len(content)) + content
        sent = b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n"
        end = 1 + len(sent)
        return [(1, tcp(port, SYN, 0, 0)), (1, tcp(port, SYN | ACK, 0, 1, back=True)),
                (1, tcp(port, PSH | ACK, 1, 1, sent)),
                *((1, tcp(port, ACK, 1 + at, end, got[at:at + 1400], back=True))
                  for at in range(0, len(got), 1400)),
                (1, tcp(port, ACK, end, 1 + len(got)))]

    def test_files_are_stored(self):
        large = bytes(range(256)) * 2000
        packets = [packet for port, content in ((4000, large), (4001, b"small"), (4002, large))
                   for packet in self.download(content, port)]
        folder, hashes = self.path("files"), [hashlib.sha256(content).hexdigest()
                                              for content in (large, b"small")]
        asked = ("--events", "fileinfo", "--filestore", folder)
        events = self.events(packets, *asked)
        self.assertEqual([event["fileinfo"]["stored"] for event in events], [True] * 3)
        for name, content in zip(hashes, (large, b"small")):
            with open(os.path.join(folder, name[:2], name), "rb") as file:
                self.assertEqual(file.read(), content)
        self.assertEqual(sorted(os.listdir(folder)), sorted(["tmp", *(h[:2] for h in hashes)]))
        self.assertEqual(os.listdir(os.path.join(folder, "tmp")), [])
        path = self.path("again.pcap", capture(packets))
        result = sluice("run", "--json", "-r", path, "--filestore", folder, "--device", "cpu")
        self.assertEqual(json.loads(result.stdout)["stored_files"],
                         {"files": 0, "bytes": 0, "known": 3})
        folder = self.path("by-rule")
        rules = self.path("store.rules", b'alert http any any -> any any (filesize:<9; filestore; '
                                         b'sid:1;)\nalert http any any -> any any (sid:2; '
                                         b'http.uri; content:"passwd"; filestore; noalert;)\n')
        events = self.events(packets[len(packets) // 2 - 10:], "--events", "alert,fileinfo",
                             "--rules", rules, "--filestore", folder)
        self.assertEqual([event["event_type"] for event in events if event["src_port"] != 0],
                         ["alert", "fileinfo", "fileinfo"])
        self.assertEqual(events[0]["files"][0]["stored"], True)
        self.assertEqual([event["fileinfo"]["stored"] for event in events[1:]], [True, True])

    def test_runs_share_a_folder_of_files(self):
        """What another run of this number writes at the moment is left alone."""
        folder = self.path("files")
        os.makedirs(os.path.join(folder, "tmp"))
        path = self.path("small.pcap", capture(self.download(b"small")))
        case.run("/bin/sh", "-c",
                 'echo half >"$1/tmp/$$"; exec "$0" run -q -r "$2" --filestore "$1"',
                 SLUICE, folder, path)
        self.assertEqual(len(os.listdir(os.path.join(folder, "tmp"))), 1)
        name = hashlib.sha256(b"small").hexdigest()
        with open(os.path.join(folder, name[:2], name), "rb") as file:
            self.assertEqual(file.read(), b"small")

    def test_a_file_that_cannot_be_stored(self):
        name = hashlib.sha256(b"small").hexdigest()
        os.makedirs(self.path("files"))
        self.path("files/" + name[:2], b"no folder")
        path = self.path("small.pcap", capture(self.download(b"small")))
        result = sluice("run", "-r", path, "--filestore", self.path("files"), "--events",
                        "fileinfo", "--alerts", "eve:-", "--device", "cpu")
        self.assertEqual(result.returncode, 0)
        self.assertIn(name[:2].encode() + b"/" + name.encode() + b" cannot be stored: Not a dir",
                      result.stderr)
        self.assertRegex(result.stderr, rb"left out\n +1  files not stored\n")
        self.assertFalse(json.loads(result.stdout)["fileinfo"]["stored"])
        self.assertEqual(os.listdir(self.path("files/tmp")), [])
        self.assert_refused(sluice("run", "-r", path, "--filestore", path), "small.pcap",
                            "cannot be used")

    def test_files_are_scanned_whole(self):
        content = b"x" * 1350 + b"a-virus-in-two-segments" + b"y" * 300000
        packets = self.download(content)
        self.path("a.ndb", b"Cut:0:*:" + b"a-virus-in-two-segments".hex().encode() + b"\n")
        self.path("b.hdb", hashlib.md5(content).hexdigest().encode() + b":%d:Whole\n" %
                  len(content))
        for end in (len(packets), -1):  # the last is sent when the flow ends
            alerts = self.events(packets[:end], "--events", "alert,flow", "--scan",
                                 self.path("a.ndb"), "--scan", self.path("b.hdb"))
            self.assertEqual([alert["alert"]["signature"] for alert in alerts[:-1]],
                             ["Cut.UNOFFICIAL", "Cut.UNOFFICIAL", "Whole.UNOFFICIAL"])
            self.assertTrue(alerts[-1]["flow"]["alerted"])
            self.assertNotIn("files", alerts[0])  # it is the packet's, and others are the file's
            for alert in alerts[1:-1]:
                self.assertEqual((alert["files"][0]["filename"], alert["files"][0]["sha256"]),
                                 ("/etc/passwd", hashlib.sha256(content).hexdigest()))
                self.assertEqual(alert["http"]["hostname"], "a")

    def test_captures_of_alerts(self):
        found, other = connection(4000, 100, b"a needle"), connection(5000, 100, b"nothing")
        packets = [packet for pair in zip(found, other) for packet in pair]
        folder = self.path("captures")
        alert, = self.events(packets, "--rules", self.path("a.rules", RULE), "--events", "alert",
                             "--pcap-of-alerts", folder)
        self.assertEqual(os.listdir(folder), [f"{alert['flow_id']}.pcap"])
        path = os.path.join(folder, f"{alert['flow_id']}.pcap")
        result = sluice("run", "-q", "-r", path, "--events", "flow", "--alerts", "eve:-",
                        "--device", "cpu")
        flow, = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual((flow["src_port"], flow["flow"]["pkts_toserver"],
                          flow["flow"]["pkts_toclient"], flow["flow"]["start"]),
                         (4000, 5, 3, "1970-01-01T00:01:40.000000+0000"))
        with open(path, "rb") as file:
            records = file.read()[24:]
        self.assertEqual(records, capture(found)[24:])
        self.assert_refused(sluice("run", "-r", path, "--pcap-of-alerts", folder), folder,
                            "needs --rules or --scan")

    def test_a_machine_that_refuses_sha1(self):
        config = self.path("openssl.cnf", b"openssl_conf = a\n[a]\nalg_section = b\n[b]\n"
                                          b"default_properties = none=such\n")
        path = self.path("one.pcap", capture([(1, udp(1))]))
        run = ("run", "-q", "-r", path, "--events", "flow", "--device", "cpu", "--alerts")
        environment = dict(os.environ, OPENSSL_CONF=config)
        result = sluice(*run, "eve:" + self.path("eve.json"), env=environment)
        self.assert_refused(result, "OpenSSL refuses SHA-1", "community_id")
        result = sluice(*run, "console", env=environment)  # which shows no community_id
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertIn(b"  FLOW  ", result.stdout)

    def test_without_it_no_flow_is_an_event(self):
        self.assertEqual(self.events(connection(4000, 100, b"x"), "--header-checks", "-k", "none"),
                         [])


if __name__ == "__main__":
    case.main()

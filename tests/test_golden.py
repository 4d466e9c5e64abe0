#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden runs: the events of the sample captures are those that tshark's fields give.

usage: test_golden.py SLUICE SAMPLES
"""
import csv
import json
import os
import subprocess
import sys
import unittest

SLUICE, SAMPLES = sys.argv[1:3]
HOME = "192.0.2.0/24,2001:db8:2::/64"


def expected(name, columns):
    with open(os.path.join(SAMPLES, name), encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        rows = list(csv.reader(lines, delimiter="\t"))
    if rows and rows[0] == columns:
        rows = rows[1:]
    assert rows, name
    return {(file, int(packet), what) for file, packet, what in rows}


def captures():
    return sorted(name for name in os.listdir(SAMPLES) if ".pcap" in name)


def events(arguments):
    result = subprocess.run([SLUICE, "run", *arguments, "--home", HOME, "--alerts", "eve:-"],
                            capture_output=True, check=True, timeout=120)
    return [json.loads(line) for line in result.stdout.splitlines()]


class Golden(unittest.TestCase):
    maxDiff = None

    def check_alerts(self, rules):
        wanted = expected("expected-alerts.tsv", ["file", "packet", "sid"])
        for name in captures():
            if name == "snapped.pcap":  # tshark cannot say what its cut payloads held
                continue
            found = [(name, event["pcap_cnt"], str(event["alert"]["signature_id"]))
                     for event in events(["-r", os.path.join(SAMPLES, name), "--rules",
                                          os.path.join(SAMPLES, rules)])]
            self.assertEqual(len(found), len(set(found)), "an alert a packet and signature")
            yield name, set(found), {row for row in wanted if row[0] == name}

    def test_alerts(self):
        for name, found, wanted in self.check_alerts("sample.rules"):
            self.assertEqual(found, wanted, name)

    def test_snort3_rules_give_the_same_alerts(self):
        with open(os.path.join(SAMPLES, "sample-snort3.rules"), encoding="utf-8") as file:
            text = file.read()
        sids = {part.split(";")[0].strip() for part in text.split("sid:")[1:]}
        self.assertTrue(sids)
        for name, found, wanted in self.check_alerts("sample-snort3.rules"):
            self.assertEqual(found, {row for row in wanted if row[2] in sids}, name)

    def test_anomalies(self):
        wanted = expected("expected-anomalies.tsv", ["file", "packet", "check"])
        for name in captures():
            found = {(name, event["pcap_cnt"], event["anomaly"]["event"])
                     for event in events(["-r", os.path.join(SAMPLES, name), "--header-checks"])}
            self.assertEqual(found, {row for row in wanted if row[0] == name}, name)

    def test_batches_do_not_matter(self):
        """Two files in one run give each file's events, but for flow ids, as flows go on."""
        paths = [os.path.join(SAMPLES, name) for name in ("sample.pcap", "odd.pcap")]
        rules = ["--rules", os.path.join(SAMPLES, "sample.rules"), "--header-checks"]

        def without_flows(list_of_events):
            return [{key: value for key, value in event.items() if key != "flow_id"}
                    for event in list_of_events]

        together = without_flows(events(["-r", *paths, *rules]))
        apart = [event for path in paths for event in without_flows(events(["-r", path, *rules]))]
        self.assertEqual({event["event_type"] for event in apart}, {"alert", "anomaly"})
        self.assertEqual(together, apart)

    def test_flow_ids(self):
        """They differ between flows and between sensors, and are those of every run."""
        arguments = ["-r", os.path.join(SAMPLES, "sample.pcap"), "--rules",
                     os.path.join(SAMPLES, "sample.rules"), "--header-checks"]
        ids = {}
        for event in events(arguments):
            ends = {(event["src_ip"], event.get("src_port")), (event["dest_ip"],
                                                                event.get("dest_port"))}
            if "flow_id" in event:
                ids.setdefault(event["flow_id"], set()).add((frozenset(ends), event["proto"]))
        self.assertGreater(len(ids), 10)
        for flow, tuples in ids.items():
            self.assertEqual(len(tuples), 1)
            self.assertLess(0, flow)
            self.assertLess(flow, 2**51)
        again = [event.get("flow_id") for event in events(arguments)]
        other = [event.get("flow_id") for event in events([*arguments, "--sensor-id", "7"])]
        self.assertEqual([event.get("flow_id") for event in events(arguments)], again)
        self.assertEqual(len(again), len(other))
        self.assertFalse({flow for flow in again if flow} & {flow for flow in other if flow})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

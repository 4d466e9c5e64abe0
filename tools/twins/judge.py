# SPDX-License-Identifier: MIT
"""Writes cases into a capture, lets sluice judge it, and compares."""
import collections
import ipaddress
import json
import os
import re
import subprocess

from twins import ranges
from twins.packets import Capture

PAUSE = 100_000  # seconds between rounds, so that flows and counters of the one before have ended


class Round:
    """Cases of one capture. The first case of each rule comes first, then the second of each."""

    def __init__(self):
        self.by_rule = collections.defaultdict(list)
        self.last_of = {}  # the packets of flows, which a flow's end is after

    def add(self, case):
        self.by_rule[case.key].append(case)

    def write(self, path):
        """The packets that are judged: their number, the rule, what is asked, and the answer."""
        capture, asked = Capture(path), []
        for i in range(max(map(len, self.by_rule.values()), default=0)):
            for cases in self.by_rule.values():
                if i < len(cases):
                    case = cases[i]
                    for packet, alerts in zip(case.packets, case.alerts):
                        number = capture.write(packet)
                        self.last_of[ends_of(packet)] = number
                        if alerts is not None:
                            asked.append((number, case.key, case.label, alerts))
            capture.pause(PAUSE)
        capture.close()
        return asked


def ends_of(packet):
    """Both ends of a packet's flow."""
    return frozenset(((packet.source, packet.source_port), (packet.target, packet.target_port)))


def event_ends(event):
    return frozenset((int(ipaddress.ip_address(event[f"{side}_ip"])), event.get(f"{side}_port"))
                     for side in ("src", "dest"))


def variables():
    """Options of sluice that set the variables of rules as the generator has them."""
    return [word for name, value in ranges.VARIABLES.items()
            for word in ("--set", f"{name}={value}")]


def listed(sluice, files):
    """What `sluice rules` says of the files: its JSON object."""
    result = subprocess.run([sluice, "rules", "--json", "--list", *variables(), *files],
                            capture_output=True, check=False)
    if result.returncode:
        raise SystemExit(result.stderr.decode())
    return json.loads(result.stdout)


def alerts_of(sluice, capture, files, events, last_of):
    """The alerts of a run, pairs of packet number and rule, and how often it stopped a rule. An
    alert at a flow's end is one of its last packet."""
    if os.path.exists(events):
        os.remove(events)
    result = subprocess.run([sluice, "run", "-r", capture, "--rules", *files, *variables(),
                             "--alerts", "eve:" + events, "--events", "alert", "--flow-memory",
                             "512M", "--device", "cpu"], capture_output=True, check=False)
    if result.returncode:
        raise SystemExit(result.stderr.decode())
    found = collections.Counter()
    with open(events, encoding="utf-8", errors="replace") as file:
        for line in file:
            event = json.loads(line)
            alert = event["alert"]
            number = event["pcap_cnt"] if "pcap_cnt" in event else last_of[event_ends(event)]
            found[number, (alert["gid"], alert["signature_id"])] += 1
    said = re.search(rb"([\d,]+)  rules on packets that took too many steps",
                     result.stdout + result.stderr)
    return found, int(said[1].replace(b",", b"")) if said else 0

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of rules: which are refused, and what stands for several of them.

usage: test_rule_files.py SLUICE SAMPLES
"""
import json
import os
import signal
import subprocess
import sys
import unittest

import case

SLUICE, SAMPLES = sys.argv[1:3]
CAPTURE = os.path.join(SAMPLES, "sample.pcap")
HEAD = b"alert tcp any any -> any any "
GOOD = HEAD + b'(msg:"good"; content:"GET"; sid:1;)\n'
SKIPPED = HEAD + b'(msg:"skipped"; lua:"/a/"; sid:2;)\n'
BAD = HEAD + b'(msg:"oops; content:"x"; sid:3;)\n'


def sluice(*arguments, **options):
    return case.run(SLUICE, *arguments, **options)


class RuleFiles(case.Case):
    def counts(self, *paths):
        """Of a run: (loaded, skipped, bad)."""
        result = sluice("run", "-r", CAPTURE, "--rules", *paths, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rules = json.loads(result.stdout)["rules"]
        return rules["loaded"], rules["skipped"], rules["bad"]

    def test_a_file_without_a_usable_rule_is_refused(self):
        """Where one of its rules is bad; the first is named with its line and column."""
        good = self.path("good.rules", GOOD)
        bad = self.path("bad.rules", b"# comment\n" + SKIPPED + BAD + BAD)
        place = bad + ":3:35: no '\"' ends the text of the option msg (none of its rules"
        for files in ((bad,), (good, bad), (bad, good)):
            self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", *files), place,
                                "2 bad, 1 skipped")
            result = sluice("rules", *files)
            self.assertEqual(result.returncode, 2)
            self.assertIn(place.encode(), result.stderr)
            self.assertEqual(result.stderr.count(b"\n"), 1)
            self.assertIn(b"2 bad", result.stdout)
            self.assertIn(bad.encode() + b":4:35: ", result.stdout)
        table = self.path("table")
        self.assertEqual(sluice("rules", "--compile", table, good, bad).returncode, 2)
        self.assertFalse(os.path.exists(table))

    def test_sets_of_data_are_saved(self):
        """What one run sets the next one knows. A file that cannot be written is an error."""
        rules = self.path("data.rules", b"alert ip any any -> any any (ip.src; "
                                        b"dataset:set,hosts,type ip,state hosts.lst; sid:1;)\n")
        folder = os.path.join(os.path.dirname(rules), "data")
        run = ["run", "-r", CAPTURE, "--rules", rules, "--json"]
        lost = sluice(*run)
        self.assertIn(b"sets of data that rules save are lost at the end (--data-dir", lost.stderr)
        self.assert_refused(sluice(*run, "--data-dir", folder), folder + ": cannot be used: No")
        self.assert_refused(sluice(*run, "--data-dir", rules), rules + ": is no folder")
        os.mkdir(folder)
        first, second = (json.loads(sluice(*run, "--data-dir", folder).stdout) for _ in range(2))
        with open(os.path.join(folder, "hosts.lst"), encoding="ascii") as file:
            hosts = file.read().split()
        self.assertGreater(len(hosts), 1)
        self.assertEqual(len(set(hosts)), len(hosts))
        self.assertEqual(first["alerts_total"], len(hosts))
        self.assertEqual(second["alerts_total"], 0)
        saves = self.path("save.rules", b"alert ip any any -> any any (ip.src; "
                                        b"dataset:set,hosts,type ip,save a/hosts.lst; sid:1;)\n")
        failed = sluice("run", "-r", CAPTURE, "--rules", saves, "--data-dir", folder)
        self.assertEqual(failed.returncode, 2)
        self.assertIn(folder.encode() + b"/a/hosts.lst: ", failed.stderr)

    def test_other_files_are_not(self):
        good = self.path("good.rules", GOOD + BAD)
        skipped = self.path("skipped.rules", SKIPPED)
        empty = self.path("empty.rules", b"# nothing\n")
        self.assertEqual(self.counts(good), (1, 0, 1))
        self.assertEqual(self.counts(good, skipped, empty), (1, 1, 1))
        result = sluice("rules", good, skipped, empty)
        self.assertEqual(result.returncode, 0)
        counts = b" 3 rules read\n           1 understood\n           0 with the gid"
        self.assertIn(counts, result.stdout)
        for files in ((skipped,), (empty,), (skipped, empty)):
            self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", *files),
                                "no rule was loaded")
            result = sluice("rules", *files)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"no rule was loaded", result.stderr)

    def test_explain_says_how_a_rule_is_evaluated(self):
        rules = self.path("a.rules", HEAD + b'(msg:"a\x1bb"; content:"evil"; sid:7;)\n' +
                          HEAD + b"(gid:3; sid:8;)\n")
        result = sluice("rules", "--explain", "7", rules)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b'1:7:0 a\\x1bb\nfound by the literal "evil" in the payload: ', result.stdout)
        result = sluice("rules", "--explain", "3:8", rules)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertIn(b"order: 2 of 2 rules", result.stdout)
        for sid in ("8", "3:7", "x", "7x", "1:", ":7", "-7", "1:4294967303", ""):
            result = sluice("rules", "--explain", sid, rules)
            self.assertEqual((result.returncode, result.stdout), (2, b""), sid)

    def assert_times(self, rule):
        """The times of a rule that was checked, and their averages."""
        self.assertGreater(rule["checks"], 0)
        self.assertGreater(rule["ticks_max"], 0)
        self.assertLessEqual(rule["ticks_max"], rule["ticks_total"])
        self.assertAlmostEqual(rule["ticks_avg"] * rule["checks"] / rule["ticks_total"], 1, 4)
        matched = rule["ticks_avg_match"] * rule["matches"]
        other = rule["ticks_avg_nomatch"] * (rule["checks"] - rule["matches"])
        self.assertAlmostEqual((matched + other) / rule["ticks_total"], 1, 4)
        self.assertEqual(matched > 0, rule["matches"] > 0)

    def test_a_profile_counts_the_same_on_any_number_of_cores(self):
        rules = os.path.join(SAMPLES, "sample.rules")
        cores = sorted(os.sched_getaffinity(0))
        counts = []
        for core in ({cores[0]}, set(cores)):
            profile = self.path("profile.json", b"")
            os.unlink(profile)
            result = sluice("run", "-r", CAPTURE, "--rules", rules, "--json",
                            "--profile-rules=" + profile,
                            preexec_fn=lambda core=core: os.sched_setaffinity(0, core))
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(profile, encoding="utf-8") as file:
                told = json.load(file)["rules"]
            by_ticks = sorted((rule["ticks_total"] for rule in told), reverse=True)
            self.assertEqual([rule["ticks_total"] for rule in told], by_ticks)
            self.assertAlmostEqual(sum(rule["percent"] for rule in told), 100, 3)
            summary = json.loads(result.stdout)
            self.assertEqual(summary["rule_profile"], told[:10])
            alerts = {rule["signature_id"]: rule["count"] for rule in summary["alerts"]}
            self.assertEqual(alerts, {rule["signature_id"]: rule["alerts"] for rule in told
                                      if rule["alerts"] != 0})
            for rule in told:  # no rule of the sample has state
                self.assertEqual(rule["matches"], rule["alerts"])
                self.assertLessEqual(rule["matches"], rule["checks"])
                self.assert_times(rule)
            counts.append({rule["signature_id"]: (rule["checks"], rule["matches"])
                           for rule in told})
        self.assertEqual(counts[0], counts[1])
        result = sluice("run", "-r", CAPTURE, "--rules", rules, "--profile-rules=3")
        lines = result.stdout.split(b"\nprofile ")[1].split(b"\n")
        self.assertEqual([line.startswith(b" " * 11) for line in lines[:5]],
                         [True, True, True, True, False])
        self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", rules,
                                   "--profile-rules=" + profile), "not overwritten")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", rules, "--force",
                                   "--profile-rules=" + CAPTURE), CAPTURE)
        self.assert_refused(sluice("run", "-r", CAPTURE, "--profile-rules"), "needs --rules")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--rules", rules, "--profile-rules", "5"),
                            "(expected --profile-rules=5)")

    def test_a_configuration_names_rules_and_variables(self):
        self.path("a.rules", b'alert tcp $MINE any -> any any (msg:"a"; content:"GET"; '
                             b'classtype:own; reference:b,1; sid:1;)\n')
        self.path("all.config", b"config classification: own,My Class,4\n"
                                b"config reference: b https://b.example/\n")
        config = self.path("suricata.yaml", b"vars: {address-groups: {MINE: '!203.0.113.0/24'}}\n"
                                            b"rule-files: ['*.rules']\nstream: {}\noutputs: []\n"
                                            b"classification-file: all.config\n")
        alerts = self.path("alerts.json", b"")
        result = sluice("run", "-r", CAPTURE, "--from-config", config, "--alerts",
                        "eve:" + alerts)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b": 1 variables, 1 rule files, 1 files of configuration\n", result.stderr)
        self.assertIn(b"and 1 that may change alerts: stream\n", result.stderr)
        with open(alerts, encoding="utf-8") as file:
            alert = json.loads(file.readline())["alert"]
        self.assertEqual((alert["category"], alert["severity"], alert["references"]),
                         ("My Class", 4, ["https://b.example/1"]))
        result = sluice("rules", "--from-config", config, "--list")
        self.assertIn(f"{config}:3: stream has no effect here\n".encode(), result.stdout)
        told = json.loads(sluice("rules", "--from-config", config, "--json").stdout)["from_config"]
        self.assertEqual(told["variables"], ["MINE=!203.0.113.0/24"])
        self.assertEqual(told["left_out"], [{"file": config, "line": 3, "key": "stream"}])
        self.assertEqual(told["other"], [{"file": config, "line": 4, "key": "outputs"}])
        result = sluice("rules", "--from-config", config, "--set", "MINE=!any", "--strict")
        self.assertIn(b"--set 'MINE=!any'", result.stderr)

    def test_a_configuration_orders_actions(self):
        rules = self.path("a.rules", b'alert tcp any any -> any any (content:"GET"; sid:1;)\n'
                                     b'drop tcp any any -> any any (content:"GET"; sid:2;)\n'
                                     b'pass tcp any any -> any any (content:"GET"; sid:3;)\n')
        for order, expected in ((b"", set()), (b"action-order: [drop, pass, reject, alert]\n", {2}),
                                (b"action-order: [alert, drop, reject, pass]\n", {1, 2})):
            config = self.path("suricata.yaml", order)
            result = sluice("run", "-r", CAPTURE, "--rules", rules, "--from-config", config,
                            "--alerts", "eve:-")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual({json.loads(line)["alert"]["signature_id"]
                              for line in result.stdout.splitlines()}, expected)

    def test_a_wrong_configuration_is_refused(self):
        rules = self.path("a.rules", GOOD)
        for number, (text, reason) in enumerate((
                (b"a: [\n", ": is no YAML: "),
                (b"rule-files: {a: b}\n", ":1: rule-files is no list"),
                (b"rule-files: [none.rules]\n", "none.rules: cannot be opened"),
                (b"rule-files: [a.rules]\nthreshold-file: none\n", "none: cannot be opened"),
                (b"\naction-order: [pass]\n", ":2: action-order: 'pass' is no order of "),
                (b"vars:\n  port-groups:\n    P: x\n", ":3: P is 'x', no list"))):
            config = self.path(f"{number}.yaml", text)
            for command in (("run", "-r", CAPTURE, "--rules"), ("rules",)):
                self.assert_refused(sluice(*command, rules, "--from-config", config), reason)
        self.assert_refused(sluice("run", "-r", CAPTURE, "--from-config",
                                   self.path("empty.yaml", b"")), "names no rule file")
        self.assert_refused(sluice("run", "-r", CAPTURE, "--threshold-file", rules),
                            "needs --rules")

    def test_strict_fails_on_bad_rules_alone(self):
        good = self.path("good.rules", GOOD + SKIPPED)
        mixed = self.path("mixed.rules", GOOD.replace(b"sid:1", b"sid:4") + SKIPPED + BAD)
        bad = self.path("bad.rules", BAD)
        table = self.path("table")
        for arguments, status in (((good,), 0), ((mixed,), 1), ((good, mixed), 1), ((bad,), 2),
                                  ((good, bad), 2), (("--compile", table, mixed), 1)):
            result = sluice("rules", "--strict", *arguments)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn(b" skipped", result.stdout)
            self.assertEqual(result.stdout.count(b"no '\"' ends"), int(status != 0))
            self.assertEqual(result.stderr != b"", status == 2)
        self.assertFalse(os.path.exists(table))
        self.assertEqual(sluice("rules", "--strict", "--compile", table, good).returncode, 0)
        self.assertTrue(os.path.exists(table))
        self.assertEqual(sluice("rules", "--json", mixed).returncode, 0)
        result = sluice("rules", "--json", "--strict", mixed)
        self.assertEqual((result.returncode, json.loads(result.stdout)["bad"]), (1, 1))

    def test_strict_fails_on_misspellings(self):
        """What Suricata or Snort know is skipped, and what none of them knows is wrong."""
        for number, (rule, place) in enumerate((
                (HEAD + b'(contnet:"x"; sid:5;)\n', ":2:31: 'contnet' is no option"),
                (HEAD + b'(pcre:"/a/"; contnet:"x"; sid:5;)\n', ":2:43: 'contnet' is no option"),
                (b'alert tcpp any any -> any any (sid:5;)\n', ":2:7: 'tcpp' is no protocol"),
                (HEAD + b'(classtype:trojan-actvity; sid:5;)\n', ":2:41: trojan-actvity"))):
            rules = self.path(f"{number}.rules", GOOD + rule)
            result = sluice("rules", "--strict", rules)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn((rules + place).encode(), result.stdout)
            self.assertEqual(sluice("rules", rules).returncode, 0)
        listed = json.loads(sluice("rules", "--json", rules).stdout)["unknown_classes"]
        self.assertEqual(listed, [{"file": rules, "line": 2, "column": 41,
                                   "class": "trojan-actvity"}])

    def test_a_live_run_begins_with_what_was_understood(self):
        rules = self.path("a.rules", GOOD + SKIPPED + BAD)
        process = subprocess.Popen([SLUICE, "run", "-i", "lo", "-f", "udp port 1", "--json",
                                    "--metrics", "0", "--rules", rules], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        if not case.serves(process.stderr.readline().decode()):
            self.skipTest("cannot capture on lo: " + process.communicate(timeout=60)[1].decode())
        self.assertIn(b"a.rules:3:35: ", process.stderr.readline())
        self.assertEqual(process.stderr.readline(), b"sluice: rules: 1 loaded, 1 skipped, 1 bad "
                                                    b"(sluice rules FILE... says why)\n")
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(json.loads(text)["rules"], {"loaded": 1, "skipped": 1, "bad": 1})
        result = sluice("run", "-r", CAPTURE, "--rules", rules, "--json")
        self.assertNotIn(b"loaded", result.stderr)  # the summary is near

    def test_a_capture_without_the_home_network_is_named(self):
        notice = b"no packet has an address of HOME_NET (private networks): --home sets yours"
        home = self.path("home.rules", b'alert ip any any -> $HOME_NET any (sid:1;)\n')
        good = self.path("good.rules", GOOD)
        for rules, options, said in ((home, (), True), (good, (), False),
                                     (home, ("--home", "192.0.2.0/24"), False),
                                     (home, ("--set", "HOME_NET=198.18.0.0/15"), False)):
            run = ("run", "-r", CAPTURE, "--rules", rules, *options)
            self.assertEqual(notice in sluice(*run).stdout, said)
            report = json.loads(sluice(*run, "--json").stdout)["rules"]
            self.assertEqual("home_missed" in report, said)

    def test_folders_and_patterns(self):
        folder = self.path("set")
        os.mkdir(folder)
        empty = self.path("empty")
        os.mkdir(empty)
        self.path("set/b.rules", GOOD)
        self.path("set/a.rules", SKIPPED + GOOD.replace(b"sid:1", b"sid:4"))
        self.path("set/notes.txt", BAD)
        self.assertEqual(self.counts(folder), (2, 1, 0))
        self.assertEqual(self.counts(folder + "/"), (2, 1, 0))
        self.assertEqual(self.counts(self.path("set/[ab].rules")), (2, 1, 0))
        self.assertEqual(self.counts(self.path("set/b*")), (1, 0, 0))
        listed = json.loads(sluice("rules", "--json", "--list", folder).stdout)
        self.assertEqual(listed["skipped_rules"][0]["file"], self.path("set/a.rules"))
        os.mkdir(self.path("empty/below"))
        self.path("empty/below/c.rules", GOOD)
        for command in (["rules"], ["run", "-r", CAPTURE, "--rules"]):
            self.assert_refused(sluice(*command, empty), empty, "no file that ends in .rules",
                                "folders in it are not searched")
            self.assert_refused(sluice(*command, self.path("set/c*.rules")), "matches no file")
        os.mkfifo(self.path("set/c.rules"))  # nobody ever writes into it
        self.assert_refused(sluice("rules", folder), "set/c.rules: is no regular file")

    def test_a_rule_with_a_zero_byte_is_bad(self):
        for rule in (b'alert tcp any any -> any any (msg:"a\0b"; content:"GET"; sid:1;)\n',
                     b'alert tcp any any -> any any (content:"A\0B"; sid:1;)\n'):
            self.assertEqual(self.counts(self.path("a.rules", GOOD.replace(b"sid:1", b"sid:4")
                                                   + rule)), (1, 0, 1))

    def test_an_endless_file_is_refused(self):
        self.assert_refused(sluice("rules", "/dev/zero"), "/dev/zero: is longer than 256 MiB")


if __name__ == "__main__":
    case.main()

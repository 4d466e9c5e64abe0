# SPDX-License-Identifier: MIT
"""Saved results of benchmarks, as `sluice bench --save` writes them."""
import json

MACHINE = {"sluice": "0.1.0", "time": "2026-11-21T00:00:00Z", "cpu": "Test CPU", "level": "AVX2",
           "cores": 2, "memory_bytes": 1000000000}


def saved_row(variant, median, spread=0.01, **more):
    """A row whose middle half of runs is `spread` of the median wide."""
    return {"bench": "header", "variant": variant, "data": "some", "unit": "GB/s",
            "median": median, "min": median * (1 - spread), "q1": median * (1 - spread / 2),
            "q3": median * (1 + spread / 2), "max": median * (1 + spread), "runs": 11, **more}


def saved_file(rows, command=("bench",), **machine):
    return json.dumps({"format": "sluice bench", "version": 1, "machine": {**MACHINE, **machine},
                       "rows": rows, "timelines": [], "command": command}).encode()

# SPDX-License-Identifier: MIT
"""A command that is killed before each of its steps that change a file, one run a step."""
import os
import signal
import subprocess


def at_each_step(preload, command, **options):
    """Runs the command, killed before step 1, 2, ...; yields the step after each kill. Nothing
    kills the last run, which must succeed. `preload`: the library of killed_preload.c."""
    for step in range(1, 10000):
        environment = dict(os.environ, LD_PRELOAD=preload, SLUICE_KILL_AT=str(step))
        status = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, timeout=120, **options).returncode
        if status == 0:
            return
        assert status == -signal.SIGKILL, (step, status)
        yield step
    raise AssertionError("more steps than a command has")

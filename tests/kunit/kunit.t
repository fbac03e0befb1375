#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Loads the KUnit suites into the debug kernel and passes on what each case said;
then asks kmemleak, and looks for splats of KASAN, lockdep and the like.
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vm"))
from tap import main
from vm import Guest, script, shell_values


def cases(ktap):
    """(passed, name, directive) of each result that has none nested in it."""
    suite, depth_of_last = "", 0
    results = []
    for line in ktap.splitlines():
        header = re.match(r"\s*# Subtest: (\S+)", line)
        result = re.match(r"(\s*)(not )?ok \d+ -? ?([^#]*)(#.*)?", line)
        if header:
            name = header.group(1)
            suite = name if len(line) - len(line.lstrip()) <= 4 else suite
        elif result:
            depth = len(result.group(1))
            # A line less deep than the one before sums up what was nested.
            if depth >= depth_of_last and depth:
                results.append((not result.group(2), f"{suite}: {result.group(3).strip()}",
                                result.group(4) or ""))
            depth_of_last = depth
    return results


def test(tap):
    built = shell_values(script("scripts/debug-module.sh"))["BUILT"]
    with Guest(kernel="debug", cmdline="cma=64M kunit.enable=1", device=None, boot_timeout=240,
               modules=[f"{built}/tide_kunit.ko"], log=os.environ.get("TIDE_CONSOLE_LOG")) as g:
        g.run("modprobe tide_kunit", timeout=900)
        suites = g.run("ls /sys/kernel/debug/kunit").split()
        tap.at_least(len(suites), 3, "the suites ran")
        for suite in suites:
            ktap = g.run(f"cat /sys/kernel/debug/kunit/{suite}/results")
            found = cases(ktap)
            tap.ok(found, f"{suite} has results", ktap)
            for passed, name, directive in found:
                tap.ok(passed and "SKIP" not in directive, name, ktap)
        g.run("rmmod tide_kunit", timeout=120)
        # The first scan sees objects that are still too young to tell.
        g.run("sleep 6; echo scan >/sys/kernel/debug/kmemleak; sleep 6; "
              "echo scan >/sys/kernel/debug/kmemleak", timeout=300)
        tap.equal(g.run("cat /sys/kernel/debug/kmemleak"), "", "kmemleak found nothing")
        # One case makes an illegal move to see that the kernel warns of it.
        meant = [line for line in g.splats() if " tide_extent_move+" in line]
        splats = [line for line in g.splats() if line not in meant]
        tap.equal(len(meant), 1, "the illegal move of an extent was warned of")
        tap.ok(not splats, "the kernel log has no splat", "\n".join(splats))


main(test)

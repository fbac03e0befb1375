#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 7.3
"""tidectl against the real module: status, and reports on another's arena."""
import json

from common import *
from tap import main


def test(tap):
    with guest(tap) as g:
        status = json.loads(g.run("tidectl status --json"))
        tap.equal(status["schema"], "tidectl-status/1", "status")
        tap.has(g.run("tidectl status"), "cma" if KERNEL == "7.3" else "contig", "names the backend")
        a = Owner(g, "a", "64M")
        a.do("alloc 0 64M")
        a.do("fill 0 64M 1")
        before = g.memory().rss
        report = json.loads(g.run(f"tidectl report --pid {a.pid} --intent cold --json"))
        tap.equal(report["schema"], "tidectl-report/1", "another's arena can be reported cold")
        tap.equal(a.do("verify 0 64M 1"), [0], "which changes nothing")
        output, code = g.call(f"tidectl report --pid {a.pid} --intent discard")
        tap.ok(code == 2 and "--yes-discard" in output, "discarding it takes a deliberate option",
               f"{code}: {output}")
        tap.equal(a.do("verify 0 64M 1"), [0], "without it nothing happens")
        fd = g.run(f"basename $(grep -l tide-arena /proc/{a.pid}/fdinfo/*)").strip()
        g.run(f"tidectl report --pid {a.pid} --fd {fd} --offset 0 --length 32M --intent discard --yes-discard")
        tap.at_least(before - g.memory().rss, mib(28), "with it the host has the memory back")
        tap.equal(a.do("verify 32M 32M 1"), [0], "just of the range named")
        report = json.loads(g.run("tidectl report --pid 1 --intent cold --json"))
        tap.equal(report["arenas"], [], "a process without an arena has nothing to report")
        output, code = g.call(f"tidectl report --pid {a.pid} --fd {fd} --offset 4096 --length 2M --intent cold")
        tap.ok(code and "4096" in output, "an unaligned range is named", f"{code}: {output}")


main(test)

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 7.3
# slow
"""
tidectl against the real module: status, reports on another's arena, and the
replay of a recording, with not one wrong byte and the host following it.
"""
import json

from common import *
from tap import main

TRAJECTORY = TOP / "bench/trajectories/glm-pydicom__pydicom-2065-1.traj"
# Its peak of 2 GB has to fit the smallest pool.
SCALE = 0.15
SPEED = 40


def status_and_report(tap, g):
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
    a.kill()
    settle(g)


def replay(tap, g):
    before = g.memory().rss
    g.send(f"tidectl replay --scale={SCALE} --speed={SPEED} --events=/dev/ttyS1 --json /trajectory "
           "2>/tmp/err >/tmp/summary")
    events, excess = [], []
    for _, line in g.lines(timeout=500):
        events.append(json.loads(line))
        memory = g.memory()
        excess.append(memory.huge != memory.rss)
    summary = json.loads(g.run("cat /tmp/summary; cat /tmp/err >/dev/ttyS0"))
    tap.equal(g.status, 0, "tidectl succeeds")
    tap.equal(summary["schema"], "tidectl-replay/1", "and sums up")
    tap.equal((summary["wrong_bytes"], summary["errors"]), (0, 0), "no wrong byte, no error")
    tap.at_least(summary["verified_bytes"], mib(100), "much was verified")
    tap.at_least(summary["reports"]["total"], summary["tool_phases"], "each tool's end was reported")
    tap.equal((events[0]["event"], events[-1]["event"]), ("start", "end"), "every event was told")
    tap.ok(not any(excess), "no huge page was split at any of them")
    settle(g)
    tap.at_most(g.memory().rss - before, mib(8), "at the end the host has everything back")
    output, status = g.call(f"tidectl replay --speed={SPEED} --scale=3 /trajectory")
    tap.ok(status and "--scale" in output, "a recording too large for the pool is refused",
           f"{status}: {output}")


def test(tap):
    with guest(tap, files={TRAJECTORY: "/trajectory"}) as g:
        status_and_report(tap, g)
        replay(tap, g)


main(test)

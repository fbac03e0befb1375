#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# kernels: 6.1 6.12 7.3
"""A recorded trajectory replays with not one wrong byte, and the host follows it."""
import json

from common import *
from tap import main

TRAJECTORY = TOP / "bench/trajectories/glm-pydicom__pydicom-2065-1.traj"
# Its peak of 2 GB has to fit the smallest pool.
SCALE = 0.15
SPEED = 10 if KERNEL == "debug" else 40


def test(tap):
    with guest(tap, files={TRAJECTORY: "/trajectory"}) as g:
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


main(test)

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# slow
"""
The ABI from inside, by programs in the guest: every ioctl with every size and
bad argument, mappings, and that no process reads what another wrote.
"""
from common import *
from tap import main

# In the debug kernel a round takes many times as long.
ROUNDS = 1000 if KERNEL == "debug" else 10000


def nothing_owned(tap, g, after):
    settle(g)
    tap.equal(attribute(g, "tide_extents/owned"), 0, f"{after}: no extent is left owned")
    tap.equal(attribute(g, "tide_extents/quarantined"), 0, f"{after}: none is lost")


def fork(tap, g):
    a = Owner(g, "a", "8M")
    a.do("alloc 0 4M")
    a.do("fill 0 4M 1")
    tap.equal(a.do("fork 0 4M 1"), [0], "a child finds every byte, and writes all anew")
    tap.equal(a.do("verify 0 4M 2"), [0], "its parent finds every one of those")
    fdinfo = g.run(f"cat /proc/{a.pid}/fdinfo/*")
    tap.has(fdinfo, "tide-committed-bytes:\t4194304", "fdinfo tells what is committed")
    tap.has(fdinfo, "tide-name:\ttest", "and whose it is")
    a.kill()


def test(tap):
    with guest(tap) as g:
        tap.relay(*g.call("abi", timeout=300))
        nothing_owned(tap, g, "after the ioctls")
        tap.relay(*g.call("mapping", timeout=120))
        fork(tap, g)
        nothing_owned(tap, g, "after the mappings")
        tap.relay(*g.call(f"rounds {ROUNDS}", timeout=400))
        nothing_owned(tap, g, f"after {ROUNDS} rounds")
        # How fast that is kill.t asks of stock kernels; how clean, this one.
        for _ in range(10 if KERNEL == "debug" else 0):
            g.run("sh /bin/kill-cycle 8")
        nothing_owned(tap, g, "after owners were killed")


main(test)

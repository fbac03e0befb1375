#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest keeps its memory: what arenas do not own serves everybody."""
from common import *
from tap import main


def meminfo(g, field):
    return int(g.run(f"awk '/^{field}:/ {{print $2}}' /proc/meminfo")) * 1024


def test(tap):
    with guest(tap, load=False) as g:
        # Pages on lists of single CPUs are free, but not in MemAvailable.
        g.run("echo 1000 >/proc/sys/vm/percpu_pagelist_high_fraction")
        total = meminfo(g, "MemTotal")
        available = meminfo(g, "MemAvailable")
        g.run("modprobe tide")
        tap.equal(meminfo(g, "MemTotal"), total, "MemTotal is unchanged")
        tap.at_most(available - meminfo(g, "MemAvailable"), mib(8), "loading costs next to nothing")
        pool = attribute(g, "tide_pool/size_bytes")
        tap.at_least(pool, mib(256), "there is a pool")

        # A file in memory as large as all that is available without the pool
        # and half of the pool must find room in the pool.
        size = (available - pool + pool // 2) // mib(1)
        g.run("mount -o remount,size=100% /tmp")
        g.run(f"dd if=/dev/zero of=/tmp/big bs=1M count={size} 2>/dev/null", timeout=120)
        tap.ok(True, f"{size} MiB of the guest's own fit while nothing is carved")
        a = Owner(g, "a")
        got = a.do("alloc 0 1024M partial")[0] if pool > mib(1024) else a.do(f"alloc 0 {pool} partial")[0]
        tap.note(f"{got // mib(1)} MiB can be carved beside it")
        floor = attribute(g, "tide_pool/floor_bytes")
        tap.at_least(meminfo(g, "MemAvailable"), floor - mib(8), "carving stops before the guest has nothing left")
        tap.equal(meminfo(g, "MemTotal"), total, "MemTotal is still unchanged")
        a.kill()
        settle(g)
        tap.equal(g.run(f"dd if=/tmp/big bs=1M 2>/dev/null | tr -d '\\0' | wc -c", timeout=120).strip(), "0",
                  "moved pages kept their bytes")
        g.run("rm /tmp/big")
        b = Owner(g, "b")
        want = min(pool // 2, pool - mib(64)) // mib(2) * mib(2)
        tap.equal(b.do(f"alloc 0 {want}"), [want], "freed memory can be carved at once")
        b.kill()


main(test)

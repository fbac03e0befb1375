#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# kernels: 6.1 6.12 7.3
"""The guest keeps its memory: what arenas do not own serves everybody."""
from common import *
from tap import main


# A small guest is filled sooner; its pool of CMA has to fit.
CMDLINE = "cma=256M" if KERNEL == "7.3" else ""


def meminfo(g, field):
    return int(g.run(f"awk '/^{field}:/ {{print $2}}' /proc/meminfo")) * 1024


def test(tap):
    with guest(tap, load=False, memory=mib(640), cmdline=CMDLINE) as g:
        # Pages on lists of single CPUs are free, but not in MemAvailable.
        g.run("echo 1000 >/proc/sys/vm/percpu_pagelist_high_fraction")
        total = meminfo(g, "MemTotal")
        available = meminfo(g, "MemAvailable")
        g.run("modprobe tide")
        tap.equal(meminfo(g, "MemTotal"), total, "MemTotal is unchanged")
        tap.at_most(available - meminfo(g, "MemAvailable"), mib(8), "loading costs next to nothing")
        pool = attribute(g, "tide_pool/size_bytes")
        tap.at_least(pool, mib(256), "the pool is a good part of it")

        # A file in memory as large as all that is available without the pool
        # and half of the pool must find room in the pool.
        size = (available - pool + pool // 2) // mib(16)
        g.run("mount -o remount,size=100% /tmp; dd if=/dev/urandom of=/tmp/block bs=1M count=16 2>/dev/null; "
              f"for i in $(seq {size}); do cat /tmp/block || exit 1; done >/tmp/big", timeout=120)
        tap.equal(int(g.run("stat -c %s /tmp/big")), size * mib(16),
                  "the guest's own fill part of the pool while nothing is carved")
        checksum = g.run("md5sum </tmp/big", timeout=120)
        a = Owner(g, "a")
        got = a.do(f"alloc 0 {pool} partial")[0]
        tap.note(f"{got // mib(1)} MiB can be carved beside it")
        floor = attribute(g, "tide_pool/floor_bytes")
        tap.at_least(meminfo(g, "MemAvailable"), floor - mib(8), "carving stops before the guest has nothing left")
        tap.equal(meminfo(g, "MemTotal"), total, "MemTotal is still unchanged")
        a.kill()
        settle(g)
        tap.equal(g.run("md5sum </tmp/big", timeout=120), checksum, "moved pages kept their bytes")
        g.run("rm /tmp/big")
        b = Owner(g, "b")
        want = min(pool // 2, pool - mib(64)) // mib(2) * mib(2)
        tap.equal(b.do(f"alloc 0 {want}"), [want], "freed memory can be carved at once")
        b.kill()


main(test)

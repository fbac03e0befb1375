#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 7.3
"""Loading and unloading; a guest without the module, a guest without the device."""
from common import *
from tap import main


def without_module(tap, g):
    output, status = g.call("tidectl status")
    tap.ok(status == 3 and "modprobe tide" in output, "without the module tidectl says what to do",
           f"{status}: {output}")


def unloading(tap, g):
    a = Owner(g, "a", "64M")
    a.do("alloc 0 64M")
    output, status = g.call("rmmod tide 2>&1")
    tap.ok(status, "the module stays while an arena is open", output)
    tap.equal(a.do("zero 0 64M"), [0], "and its memory with it")
    a.kill()
    settle(g)
    tap.at_least(attribute(g, "tide_pool/cached_bytes"), mib(2), "idle extents are kept for the next spike")
    g.run("rmmod tide")
    tap.ok(g.call("test -e /dev/tide")[1], "unloaded, its device node is gone")


def reloading(tap, g):
    """Whatever unloading forgot would be missing, five times over."""
    free = []
    for _ in range(6):
        g.run("modprobe tide")
        a = Owner(g, "a", "64M")
        a.do("alloc 0 64M")
        a.kill()
        settle(g)
        g.run("rmmod tide")
        free.append(int(g.run("awk '/^MemFree/ {print $2}' /proc/meminfo")) * 1024)
    tap.at_most(free[0] - free[-1], mib(48), "loaded and unloaded again and again, nothing is missing")


def test(tap):
    with guest(tap, load=False) as g:
        without_module(tap, g)
        g.run("modprobe tide")
        tap.equal(g.run("stat -c %a /dev/tide"), "660", "the device node is for a group")
        tap.equal(attribute(g, "tide_device/state"), "ok", "the device is well")
        tap.equal(attribute(g, "tide_pool/backend"), "cma" if KERNEL == "7.3" else "contig",
                  "the backend is that of this kernel")
        unloading(tap, g)
        reloading(tap, g)
    with guest(tap, load=False, device=None) as g:
        g.run("modprobe tide")
        tap.ok(g.call("test -e /dev/tide")[1], "without a device the module loads and offers nothing")
        output, status = g.call("tidectl status")
        tap.ok(status == 3, "and tidectl says so", f"{status}: {output}")
        tap.note(output)
        g.run("rmmod tide")


main(test)

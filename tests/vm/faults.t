#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A device that falls silent, one that stays silent, one that goes away while
arenas are open: no memory is lost, no wait is endless, owners go on.
"""
import time

from common import *
from tap import main

NO_ANSWER = 65


def owner_of_a_silent_device(g):
    """
    An owner of 64 MiB, and a device that answers nothing any more: behind the
    driver's back bus mastering is switched off, which resets it, and on again.
    """
    a = Owner(g, "a", "64M")
    a.do("alloc 0 64M")
    a.do("fill 0 64M 1")
    command = int(g.run(f"od -An -tu2 -j4 -N2 {SYSFS}/config"))
    for value in (command & ~4, command | 4):
        g.run(f"printf '\\{value & 0xff:03o}\\{value >> 8:03o}' | "
              f"dd of={SYSFS}/config bs=1 seek=4 count=2 conv=notrunc 2>/dev/null")
    return a


def silent(tap, g):
    """The watchdog resets it, and life goes on."""
    a = owner_of_a_silent_device(g)
    start = time.monotonic()
    status, done, _ = a.do(f"report 0 16M {COLD}")
    tap.equal((status, done), (NO_ANSWER, 0), "a report to a silent device is answered for it")
    tap.at_most(time.monotonic() - start, 30, "before long")
    tap.equal(attribute(g, "tide_reports/device_resets"), 1, "the device was reset")
    status, done, _ = a.do(f"report 16M 16M {DISCARD}")
    tap.equal((status, done), (0, mib(16)), "and works again")
    tap.equal(attribute(g, "tide_device/state"), "ok", "it is well")
    tap.equal(a.do("verify 0 16M 1"), [0], "what was to survive did")
    tap.equal(a.do("verify 32M 32M 1"), [0], "and so did the rest")
    a.kill()
    settle(g)
    tap.equal(attribute(g, "tide_extents/owned"), 0, "nothing is left owned")


def silent_at_release(tap, g):
    """Extents whose discard nobody answered come back, and read zero."""
    before = attribute(g, "tide_reports/device_resets")
    owner_of_a_silent_device(g).kill()
    settle(g, 30)
    tap.equal(attribute(g, "tide_reports/device_resets"), before + 1, "killed while it is silent: reset once more")
    tap.equal(attribute(g, "tide_extents/quarantined"), 0, "no extent is lost")
    b = Owner(g, "b", "64M")
    b.do("alloc 0 64M")
    tap.equal(b.do("zero 0 64M"), [0], "the next owner reads only zeros")
    b.kill()
    settle(g)


def unbound(tap, g):
    name = g.run(f"basename $(readlink -f {SYSFS})").strip()
    a = Owner(g, "a", "128M")
    a.do("alloc 0 32M")
    a.do("fill 0 32M 7")
    g.run(f"echo {name} >/sys/bus/pci/drivers/tide/unbind")
    tap.ok(g.call("test -e /dev/tide")[1], "unbound, there is no /dev/tide")
    tap.equal(a.do("verify 0 32M 7"), [0], "an open arena keeps its memory")
    status, done, _ = a.do(f"report 0 8M {DISCARD}")
    tap.equal((status, done), (NO_ANSWER, 0), "its reports reach nobody, and say so")
    tap.equal(a.do("alloc 32M 32M"), [mib(32)], "it can have more")
    tap.equal(a.do("zero 32M 32M"), [0], "which reads zero")
    tap.equal(a.do("free 32M 32M"), [mib(32)], "and free it")
    tap.ok(g.call("rmmod tide 2>&1")[1], "the module stays as long as it is open")
    a.kill()
    g.run(f"echo {name} >/sys/bus/pci/drivers/tide/bind")
    b = Owner(g, "b", "64M")
    b.do("alloc 0 64M")
    tap.equal(b.do("zero 0 64M"), [0], "bound again, all is as ever")
    b.kill()
    settle(g)
    g.run("rmmod tide")


def test(tap):
    with guest(tap, load=False) as g:
        g.run("modprobe tide device_timeout_ms=1000")
        silent(tap, g)
        silent_at_release(tap, g)
        unbound(tap, g)


main(test)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of this folder share: the kernel they are asked to boot, the
guest programs, owners of arenas, a guest with the module loaded."""
import contextlib
import os
import re
import subprocess
import sys

from vm import MIB, PAGE, TOP, Guest, GuestError

KERNEL = sys.argv[1] if len(sys.argv) > 1 else "6.12"
SYSFS = "/sys/class/misc/tide/device"

DISCARD, DISCARD_LAZY, COLD, PAGEOUT, WILLNEED = 1, 2, 3, 4, 5
ZEROED = 1

# What a guest needs so that this kernel has a pool to carve from.
POOL_CMDLINE = {"7.3": "cma=512M"}


def programs():
    """{host path: guest path} of the programs of tests/vm/guest, and tidectl."""
    build = TOP / "build"
    for command in (["make", "-s", "-C", str(TOP / "tests/vm/guest")],
                    ["make", "-s", "-C", str(TOP / "libtidectl"), "tidectl-static"]):
        subprocess.run(["flock", str(build / "lib.lock"), *command], check=True,
                       stdin=subprocess.DEVNULL, stdout=sys.stderr)
    files = {p: f"/bin/{p.name}" for p in (build / "guest").iterdir() if os.access(p, os.X_OK)}
    files[build / "lib/tidectl-static"] = "/bin/tidectl"
    files[TOP / "tests/vm/guest/kill-cycle.sh"] = "/bin/kill-cycle"
    return files


@contextlib.contextmanager
def guest(tap, load=True, cmdline="", files=None, **options):
    """A guest for one test; its kernel log has to be clean at the end."""
    (TOP / "build").mkdir(exist_ok=True)
    cmdline = f"{POOL_CMDLINE.get(KERNEL, '')} {cmdline}"
    with Guest(kernel=KERNEL, cmdline=cmdline, files={**programs(), **(files or {})},
               log=os.environ.get("TIDE_CONSOLE_LOG"), **options) as g:
        if load:
            g.run("modprobe tide")
        yield g
        splats = g.splats()
        tap.ok(not splats, "the kernel log has no splat", "\n".join(splats))


class Owner:
    """A process in the guest that owns one arena: tests/vm/guest/arena.c."""

    def __init__(self, g, name, max_bytes="0"):
        self.guest, self.name = g, name
        g.run(f"mkfifo /run/{name}.in /run/{name}.out; "
              f"arena <>/run/{name}.in 1<>/run/{name}.out 2>/dev/ttyS0 & echo $! >/run/{name}.pid")
        self.pid = int(g.run(f"cat /run/{name}.pid"))
        self.do(f"create {max_bytes}")

    def ask(self, command, timeout=120):
        """The answer as it came: ["ok", …] or ["err", NAME]."""
        return self.guest.run(f"echo '{command}' >/run/{self.name}.in; "
                              f"read -r answer </run/{self.name}.out; echo $answer", timeout).split()

    def do(self, command, timeout=120):
        """A command that has to succeed: the numbers of its answer."""
        answer = self.ask(command, timeout)
        if answer[:1] != ["ok"]:
            raise GuestError(f"{self.name}: {command}: {' '.join(answer)}")
        return [int(word) for word in answer[1:]]

    def kill(self):
        """SIGKILL; returns when the process is gone."""
        self.guest.run(f"kill -9 {self.pid}; while [ -d /proc/{self.pid} ]; do sleep 0.01; done; "
                       f"rm /run/{self.name}.*")


@contextlib.contextmanager
def owned_addresses(g):
    """{index: guest-physical address} of the extents that arenas get hold of
    meanwhile, as the module's trace point tells them; filled at the end."""
    addresses = {}
    g.run("cd /sys/kernel/tracing; echo >trace; echo 1 >events/tide/tide_extent/enable")
    yield addresses
    trace = g.run("cd /sys/kernel/tracing; echo 0 >events/tide/tide_extent/enable; cat trace")
    for pfn, index in re.findall(r"pfn=(?:0x)?([0-9a-f]+) index=(\d+) from=\d+ to=1\b", trace):
        addresses[int(index)] = int(pfn, 16) * PAGE


def attribute(g, path):
    """An attribute of the device in sysfs; a number where it is one."""
    text = g.run(f"cat {SYSFS}/{path}").strip()
    return int(text, 0) if text.replace("0x", "", 1).isalnum() and text[0].isdigit() else text


def settle(g, timeout=10):
    """Waits until nothing is on its way between arenas, device and pool."""
    g.run(f"for i in $(seq {timeout * 20}); do "
          f"set -- $(cat {SYSFS}/tide_extents/draining {SYSFS}/tide_extents/reported); "
          f'[ "$1$2" = 00 ] && exit 0; sleep 0.05; done; exit 1', timeout + 10)


def mib(n):
    return n * MIB

# SPDX-License-Identifier: GPL-2.0-or-later
"""
Boots a guest and asks it and its host questions: the harness of tests/vm and
of bench/demo.

The console (ttyS0) goes to a log. The second serial port is the channel: the
host sends one line of shell, the guest's init runs it and answers with its
output and its exit status. So a test is one program, here on the host, that
tells the guest what to do and then looks at what the host sees of it: smaps of
the RAM mapping, QOM properties of the device.

    with Guest(kernel="6.12") as guest:
        guest.run("modprobe tide")
        before = guest.memory()
        guest.run("tidectl status")

Leaving the block powers the guest off; whatever happens, the process is gone.
"""
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
MIB = 1 << 20
EXTENT = 2 * MIB
PAGE = 4096
RECORD_SEPARATOR = b"\x1e"

# What a kernel prints when something is broken, whatever the test thinks of it.
SPLAT = re.compile(
    r"WARNING:|BUG:|kernel BUG|KASAN|UBSAN|KCSAN|Oops|[Uu]nable to handle"
    r"|general protection|blocked for more than|possible recursive locking"
    r"|bad page state|Bad page map|leaked|kmemleak: \d+ new|Kernel panic")

# Machines that boot a stock kernel in seconds; the own firmware of q35 would not.
MACHINES = {
    "q35": ["-M", "q35", "-bios", "qboot.rom", "-smp", "2"],
    "pc": ["-M", "pc", "-smp", "2"],
    "microvm": ["-M", "microvm,isa-serial=on,pcie=on", "-smp", "2"],
}

# TCG emulates "fast" string instructions byte by byte: without these flags the
# guest clears and copies memory with others, about ten times as fast.
CPU = "max,-erms,-fsrm"


class GuestError(Exception):
    """The guest died, hung, or answered what was not expected."""


def script(*command):
    """Output of one of the tree's scripts; its progress goes to our stderr."""
    return subprocess.run(command, cwd=TOP, check=True, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout.strip()


def shell_values(text):
    """{name: value} of NAME=value lines that are quoted for a shell."""
    pairs = (line.split("=", 1) for line in text.splitlines())
    return {name: shlex.split(value)[0] for name, value in pairs}


def kernel_files(series):
    """(release, image, tide.ko) of a stock kernel, or of the debug kernel."""
    prepared = os.environ.get("TIDE_KERNEL_" + series.replace(".", "_"))
    if prepared:
        return tuple(prepared.split())
    if series == "debug":
        values = shell_values(script("scripts/debug-module.sh"))
        return values["RELEASE"], values["VMLINUZ"], values["BUILT"] + "/tide.ko"
    values = shell_values(script("scripts/kernel.sh", series))
    return values["RELEASE"], values["VMLINUZ"], script("scripts/module.sh", series)


def qemu_prefix():
    return os.environ.get("TIDE_QEMU") or script("qemu-device/qemu/build.sh").splitlines()[-1]


class Memory:
    """What the host holds for the guest's RAM, in bytes, from smaps."""

    FIELDS = {"Rss": "rss", "AnonHugePages": "huge", "LazyFree": "lazy", "Swap": "swap"}

    def __init__(self, smaps, start, size):
        self.rss = self.huge = self.lazy = self.swap = 0
        covered = start
        # Far from all of smaps: it is read many times a second.
        lines = iter(smaps[smaps.find(f"\n{start:x}-") + 1:].splitlines())
        while covered < start + size:
            head = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", next(lines))
            if not head or int(head.group(1), 16) != covered:
                raise GuestError("the RAM mapping is not where it was, or has merged")
            covered = int(head.group(2), 16)
            self._add(lines)
        if covered > start + size:
            raise GuestError("the RAM mapping has merged with another one")

    def _add(self, lines):
        for line in lines:
            name, _, rest = line.partition(":")
            if name in self.FIELDS:
                field = self.FIELDS[name]
                setattr(self, field, getattr(self, field) + int(rest.split()[0]) * 1024)
            elif name == "VmFlags":
                return

    def __repr__(self):
        return f"rss {self.rss} huge {self.huge} lazy {self.lazy} swap {self.swap}"


def clock_arguments(machine):
    """
    microvm has no timer but the PIT to measure the TSC with; on a busy host that
    fails and the kernel waits for ever. Under TCG the TSC is the host's.
    """
    if machine != "microvm":
        return ""
    mhz = re.search(r"^cpu MHz\s*: ([0-9.]+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"tsc_early_khz={int(float(mhz.group(1)) * 1000)}"


class Qmp:
    """One QMP connection."""

    def __init__(self, sock):
        self.file = sock.makefile("rw")
        self.file.readline()
        self.execute("qmp_capabilities")

    def execute(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        for line in self.file:
            answer = json.loads(line)
            if "error" in answer:
                raise GuestError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise GuestError(f"{command}: QEMU has gone")


class Guest:
    """
    A running guest.

    kernel: series of a stock kernel, or "debug"; device: arguments of -device
    tide, or None for a machine without one; files: {host path: guest path};
    modules: paths of more modules; extra: more arguments of QEMU.
    """

    def __init__(self, kernel="6.12", memory=1024 * MIB, machine="q35", cmdline="",
                 device="", files=None, modules=(), log=None, extra=(), boot_timeout=120):
        self.size = memory
        self.dir = Path(tempfile.mkdtemp(prefix="tide-vm-"))
        self.console_log = Path(log) if log else self.dir / "console.log"
        self.process = None
        self.buffer = b""
        try:
            initrd, image = self._image(kernel, files or {}, modules)
            self._start(machine, device, [
                "-kernel", image, "-initrd", str(initrd),
                "-append", f"console=ttyS0 panic=-1 loglevel=5 {clock_arguments(machine)} {cmdline}", *extra])
            self._wait_ready(boot_timeout)
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.poweroff()
        self.kill()

    # ---- life ----

    def _image(self, kernel, files, modules):
        release, image, module = kernel_files(kernel)
        initrd = self.dir / "initramfs"
        arguments = []
        for path in [module, *modules]:
            arguments += ["-m", release, path]
        script("scripts/initramfs.sh", str(initrd), *arguments,
               *(f"{host}:{inside}" for host, inside in files.items()))
        return initrd, image

    def _start(self, machine, device, arguments):
        prefix = qemu_prefix()
        command = [
            f"{prefix}/qemu-system-x86_64", *MACHINES[machine],
            "-L", "/usr/share/qemu", "-L", "/usr/share/seabios",
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-accel", "tcg", "-cpu", CPU, "-m", f"{self.size // MIB}M",
            "-serial", f"file:{self.console_log}",
            "-chardev", f"socket,id=channel,path={self.dir}/channel,server=on,wait=off",
            "-device", "isa-serial,chardev=channel,index=1,iobase=0x2f8,irq=3",
            "-qmp", f"unix:{self.dir}/qmp,server=on,wait=off", *arguments]
        if device is not None:
            command += ["-device", "tide,id=tide0" + (f",{device}" if device else "")]
        self.stderr = open(self.dir / "qemu.err", "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=self.stderr, stderr=self.stderr)
        self.channel = self._connect("channel")
        self.qmp = Qmp(self._connect("qmp"))

    def _connect(self, name, timeout=20):
        """A socket that QEMU is about to open."""
        deadline = time.monotonic() + timeout
        while True:
            sock = socket.socket(socket.AF_UNIX)
            try:
                sock.connect(str(self.dir / name))
                return sock
            except OSError:
                sock.close()
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise GuestError(f"QEMU did not start\n{self._why()}")
            time.sleep(0.02)

    def _wait_ready(self, timeout):
        output, _ = self._answer(timeout)
        if "ready" not in output:
            raise GuestError(f"the guest began with {output!r}")
        answer = self.hmp("gpa2hva 0")
        self.ram_start = int(re.search(r"is (0x[0-9a-f]+)", answer).group(1), 16)

    def poweroff(self, timeout=30):
        """Ends the guest in good order; a hang is the caller's to hear of."""
        self.channel.sendall(b"poweroff -f\n")
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise GuestError(f"the guest did not power off\n{self._why()}") from None

    def kill(self):
        """Ends QEMU if it still runs; keeps nothing but a log named by the caller."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def _why(self):
        self.stderr.flush()
        tail = []
        if self.console_log.exists():
            tail = self.console_log.read_text(errors="replace").splitlines()[-15:]
        return (self.dir / "qemu.err").read_text() + "\n".join(tail)

    # ---- the channel ----

    def lines(self, timeout):
        """Yields (arrival, line) of the answer under way, at last (…, None) with self.status set."""
        deadline = time.monotonic() + timeout
        while True:
            line, newline, rest = self.buffer.partition(b"\n")
            if newline:
                self.buffer = rest
                before, mark, status = line.partition(RECORD_SEPARATOR)
                if not mark or before:
                    yield time.monotonic(), before.decode(errors="replace").rstrip("\r")
                if mark:
                    self.status = int(status)
                    return
                continue
            self._receive(deadline)

    def _receive(self, deadline):
        self.channel.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            data = self.channel.recv(65536)
        except TimeoutError:
            raise GuestError(f"no answer from the guest in time\n{self._why()}") from None
        if not data:
            raise GuestError(f"the guest has gone\n{self._why()}")
        self.buffer += data

    def _answer(self, timeout):
        output = [line for _, line in self.lines(timeout)]
        return "\n".join(output), self.status

    def send(self, command):
        """Starts a command; its answer is read with lines()."""
        if "\n" in command:
            raise ValueError("one line a command")
        self.channel.sendall(command.encode() + b"\n")

    def call(self, command, timeout=60):
        """Runs a command in the guest: (output, exit status)."""
        self.send(command)
        return self._answer(timeout)

    def run(self, command, timeout=60):
        """Runs a command that has to succeed: its output."""
        output, status = self.call(command, timeout)
        if status:
            raise GuestError(f"{command}: exit status {status}: {output}")
        return output

    # ---- what the host sees ----

    def memory(self):
        smaps = Path(f"/proc/{self.process.pid}/smaps").read_text()
        return Memory(smaps, self.ram_start, self.size)

    def resident(self, addresses):
        """Bytes resident on the host of the extents at these guest-physical addresses."""
        present = 0
        with open(f"/proc/{self.process.pid}/pagemap", "rb", buffering=0) as pagemap:
            for address in addresses:
                pagemap.seek((self.ram_start + address) // PAGE * 8)
                entries = memoryview(pagemap.read(EXTENT // PAGE * 8)).cast("Q")
                present += sum(entry >> 63 for entry in entries)
        return present * PAGE

    def settled_rss(self, below, timeout=10):
        """Rss once it is at most `below`, or as it is after the time-out."""
        deadline = time.monotonic() + timeout
        while True:
            rss = self.memory().rss
            if rss <= below or time.monotonic() > deadline:
                return rss
            time.sleep(0.05)

    def hmp(self, command):
        return self.qmp.execute("human-monitor-command", **{"command-line": command})

    def qom(self, name, path="/machine/peripheral/tide0"):
        return self.qmp.execute("qom-get", path=path, property=name)

    def splats(self):
        """Lines of the kernel log that no healthy kernel prints."""
        text = self.console_log.read_text(errors="replace")
        return [line for line in text.splitlines() if SPLAT.search(line)]

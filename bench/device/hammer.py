#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hammer.py [SECONDS [ROUNDS]]: what a guest that hammers the device costs others.

One vCPU hammers; another one counts how far it gets, and the host measures how
long the monitor takes to answer. All ways to hammer take turns, and beside them
plain computing and another device's register, because a busy vCPU costs a small
host something whatever it is busy with. Prints medians over the rounds; every
sample goes to build/bench/hammer.csv.
"""
import csv
import pathlib
import statistics
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/vm"))
from vm import Guest  # noqa: E402

MODES = ("nothing", "compute", "port", "doorbell", "registers", "descriptors")
PROBES_A_SECOND = 50


def monitor_ms(guest, seconds):
    """How long answers of the monitor took, at a steady pace."""
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = time.monotonic()
        guest.qmp.execute("query-status")
        times.append((time.monotonic() - before) * 1000)
        time.sleep(1 / PROBES_A_SECOND)
    return times


def cpu_seconds(guest):
    """Processor time of the device's worker so far."""
    for task in pathlib.Path(f"/proc/{guest.process.pid}/task").iterdir():
        if (task / "comm").read_text().strip() == "tide":
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / 100
    raise RuntimeError("QEMU has no thread of the device's")


def find_device(guest):
    """The device's folder in the guest's sysfs; on, and allowed to answer."""
    path = guest.run("for d in /sys/bus/pci/devices/*; do "
                     "[ $(cat $d/vendor)$(cat $d/device) = 0x1af40x10f7 ] && echo $d; done; true")
    guest.run(f"echo 1 >{path}/enable; "
              f"printf '\\006' | dd of={path}/config bs=1 seek=4 conv=notrunc 2>/dev/null")
    return path


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    out = TOP / "build/bench"
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "-s", "-C", TOP / "tests/vm/guest"], check=True)
    samples = {mode: [] for mode in MODES}
    with Guest(files={TOP / "build/guest/hammer": "/bin/hammer"},
               extra=("-name", "tide-hammer,debug-threads=on")) as guest:
        path = find_device(guest)
        for number in range(rounds):
            for mode in MODES:
                print(f"\rround {number + 1} of {rounds}: {mode:12}", end="", file=sys.stderr)
                cpu = cpu_seconds(guest)
                guest.send(f"hammer {path}/resource0 {path}/resource2 {mode} {seconds}")
                time.sleep(0.2)
                waits = monitor_ms(guest, seconds - 0.4)
                progress, blows = map(float, next(guest.lines(60))[1].split())
                list(guest.lines(60))
                samples[mode].append((progress, blows, statistics.median(waits), max(waits),
                                      (cpu_seconds(guest) - cpu) / seconds))
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)

    with open(out / "hammer.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("mode", "progress", "blows", "monitor_ms", "monitor_max_ms", "worker_cpu"))
        rows.writerows((mode, *sample) for mode in MODES for sample in samples[mode])
    medians = {mode: [statistics.median(column) for column in zip(*samples[mode])]
               for mode in MODES}
    print(f"{'':12} {'progress':>9} {'blows/s':>10} {'monitor ms':>11} {'worst ms':>9} {'worker':>7}")
    for mode, (progress, blows, wait, worst, cpu) in medians.items():
        print(f"{mode:12} {progress / medians['compute'][0]:8.2f}x {blows:10.0f} {wait:11.2f} "
              f"{worst:9.2f} {cpu:6.1%}")


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""core_rate.py [MIB [ROUNDS]]: build core_rate.c, run it, print medians and ratios.

The raw data go to build/bench/core_rate.csv.
"""
import csv
import pathlib
import platform
import statistics
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
OUT = TOP / "build/bench"


def build():
    subprocess.run(["make", "-s", "-C", TOP / "qemu-device/core", f"O={OUT}/core"], check=True)
    program = OUT / "core_rate"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-D_GNU_SOURCE",
                    "-I", TOP / "qemu-device/core", "-I", TOP / "uapi",
                    TOP / "bench/device/core_rate.c", OUT / "core/libtide-core.a",
                    "-o", program, "-lpthread"], check=True)
    return program


def commit():
    return subprocess.run(["git", "-C", TOP, "describe", "--always", "--dirty"],
                          capture_output=True, text=True, check=True).stdout.strip()


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    program = build()
    raw = subprocess.run([program, *sys.argv[1:]], stdout=subprocess.PIPE, text=True, check=True).stdout
    (OUT / "core_rate.csv").write_text(raw)
    times = {}
    for what, _, us in csv.reader(raw.splitlines()):
        times.setdefault(what, []).append(float(us))
    median = {what: statistics.median(values) for what, values in times.items()}

    print(f"{' '.join(['core_rate.py', *sys.argv[1:]])}: Linux {platform.release()}, commit {commit()}")
    print(f"{'':32} {'median us':>10} {'best us':>10} {'raw/core':>9}")
    for what, us in median.items():
        base = median.get(what.replace("core", "raw"))
        ratio = f"{base / us:9.2f}" if " core " in what else ""
        print(f"{what:32} {us:10.1f} {min(times[what]):10.1f} {ratio}")


main()

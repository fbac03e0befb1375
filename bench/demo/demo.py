#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Replays one trajectory in a guest without and with Tide and measures, from the
host, what the guest's memory costs.

Rss is the guest RAM mapping's Rss in smaps of QEMU, above its value just before
the replay. Live is what the recording says is in use: the guest writes a line
at the moment it begins each change, and the host takes the time when the line
arrives; so both are on the host's clock. Means are over the time of the
recording: each sample counts for the recorded time that it stands for, so that
a spike which takes an emulated guest long to write weighs what it weighed.

Both guests run at the same time, so that both meet the same host; where there
is not the memory for it, one after the other.
"""
import argparse
import concurrent.futures
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/vm"))
from vm import EXTENT, MIB, Guest, GuestError  # noqa: E402

GIB = 1 << 30
OUT = TOP / "build/demo"
MODES = ("none", "tide")
SAMPLES_A_SECOND = 30


def say(text):
    print(f"demo: {text}", file=sys.stderr, flush=True)


def host_splits():
    """Huge pages split on this host so far, by anybody; None where unknown."""
    for line in Path("/proc/vmstat").read_text().splitlines():
        if line.startswith("thp_split_page "):
            return int(line.split()[1])
    return None


class Sampler(threading.Thread):
    """Looks at the guest's memory at a steady pace."""

    def __init__(self, guest):
        super().__init__(daemon=True)
        self.guest, self.samples, self.stopped = guest, [], threading.Event()

    def run(self):
        due = time.monotonic()
        while not self.stopped.is_set():
            memory = self.guest.memory()
            self.samples.append((time.monotonic(), memory.rss, memory.huge))
            due += 1 / SAMPLES_A_SECOND
            self.stopped.wait(max(0, due - time.monotonic()))

    def stop(self):
        self.stopped.set()
        self.join()


def follow(guest, mode, length_s):
    """The events of the replay under way: [(arrival, trajectory seconds, live bytes)]."""
    events, told = [], 0
    for arrival, line in guest.lines(timeout=20 * 60):
        try:
            event = json.loads(line)
            events.append((arrival, event["t_ms"] / 1000, event["live_bytes"]))
        except (ValueError, KeyError, TypeError):
            raise GuestError(f"not an event: {line}") from None
        if arrival - told > 10:
            told = arrival
            say(f"mode {mode}: {events[-1][1]:.0f} of {length_s:.0f} s replayed, "
                f"{guest.memory().rss / MIB:.0f} MiB resident")
    return events


def replay(mode, options, length_s):
    """Boots a guest and replays in it: (samples, events, summary, Rss before)."""
    trajectory = options.trajectory
    say(f"mode {mode}: booting a stock guest of {options.memory} MiB")
    files = {TOP / "build/lib/tidectl-static": "/bin/tidectl", trajectory: "/trajectory"}
    with Guest(kernel="6.12", memory=options.memory * MIB, files=files,
               log=OUT / f"console-{mode}.log") as guest:
        guest.run("modprobe tide")
        time.sleep(1)
        before = guest.memory().rss
        sampler = Sampler(guest)
        sampler.start()
        guest.send(f"tidectl replay --mode={mode} --speed={options.speed} --scale={options.scale} "
                   "--events=/dev/ttyS1 --json /trajectory >/tmp/summary 2>/dev/ttyS0")
        events = follow(guest, mode, length_s)
        status = guest.status
        sampler.stop()
        text = guest.run("cat /tmp/summary")
        if status:
            raise GuestError(f"the replay ended with status {status}: {text}\n"
                             + (OUT / f"console-{mode}.log").read_text(errors="replace")[-1000:])
        if guest.splats():
            raise GuestError("the guest's kernel complained: " + guest.splats()[0])
    return sampler.samples, events, json.loads(text), before


def line_up(samples, events, before):
    """Rows of (host s, trajectory s, Rss above before, huge, whole Rss, live), one a sample."""
    rows, i = [], 0
    start, end = events[0][0], events[-1][0]
    for when, rss, huge in samples:
        if not start <= when <= end:
            continue
        while i + 1 < len(events) and events[i + 1][0] <= when:
            i += 1
        arrival, at, live = events[i]
        after, until, _ = events[min(i + 1, len(events) - 1)]
        share = (when - arrival) / (after - arrival) if after > arrival else 0
        rows.append((when - start, at + share * (until - at), rss - before, huge, rss, live))
    return rows


def measure(rows, summary):
    """The figures of one mode; a sample stands for the recorded time until the next."""
    spans = [b[1] - a[1] for a, b in zip(rows, rows[1:])]
    length = sum(spans)

    def mean(column):
        return sum(row[column] * span for row, span in zip(rows, spans)) / length

    return {
        "mean_rss": round(mean(2)),
        "peak_rss": max(row[2] for row in rows),
        "gib_s": round(mean(2) * length / GIB, 3),
        "mean_live": round(mean(5)),
        "rss_over_live": round(mean(2) / mean(5), 3),
        "thp_split": max(-(-(row[4] - row[3]) // EXTENT) for row in rows),
        "thp_share": round(mean(3) / mean(4), 6),
        "wrong_bytes": summary["wrong_bytes"],
        "reports": summary["reports"]["total"],
        "report_p99_us": summary["report_us"]["p99"],
    }


def write_samples(mode, rows):
    with open(OUT / f"samples-{mode}.csv", "w") as out:
        out.write("host_s,trajectory_s,rss_bytes,anon_huge_bytes,whole_rss_bytes,live_bytes\n")
        for row in rows:
            out.write(f"{row[0]:.4f},{row[1]:.3f},{row[2]},{row[3]},{row[4]},{row[5]}\n")


def plot(options, length_s, modes):
    for terminal, name in (("pngcairo size 1280,640 font 'Sans,12'", "rss.png"),
                           ("svg size 1280,640 font 'Sans,12' background 'white'", "rss.svg")):
        subprocess.run(["gnuplot", "-e", f"set terminal {terminal}", "-e", f"out='{OUT / name}'",
                        "-e", f"dir='{OUT}'", "-e", f"name='{options.trajectory.stem}'",
                        "-e", f"length={length_s}",
                        "-e", f"factor={modes['none']['mean_rss'] / modes['tide']['mean_rss']:.1f}",
                        str(TOP / "bench/demo/rss.gp")], check=True)


def print_table(modes, summaries, splits):
    def amount(value, unit, scale=1.0, digits=0):
        return "unknown" if value is None else f"{value / scale:.{digits}f} {unit}".strip()

    table = [("", "without Tide", "with Tide")]
    for label, key, arguments in (
            ("mean host Rss", "mean_rss", ("MiB", MIB)),
            ("peak host Rss", "peak_rss", ("MiB", MIB)),
            ("host memory x time", "gib_s", ("GiB*s", 1, 1)),
            ("mean live bytes", "mean_live", ("MiB", MIB)),
            ("Rss / live", "rss_over_live", ("", 1, 2)),
            ("THP share of Rss", "thp_share", ("%", 0.01, 2)),
            ("huge pages split", "thp_split", ("",)),
            ("wrong bytes", "wrong_bytes", ("",)),
            ("reports", "reports", ("",)),
            ("report latency, p99", "report_p99_us", ("us",))):
        table.append((label, *(amount(modes[m][key], *arguments) for m in MODES)))
    table.append(("report latency, worst",
                  *(amount(summaries[m]["report_us"]["max"], "us") for m in MODES)))
    table.append(("slowdown of the replay",
                  *(amount(summaries[m]["slowdown"], "%", 0.01, 1) for m in MODES)))
    for label, *values in table:
        print(f"  {label:<24}" + "".join(f"{value:>16}" for value in values))
    whole = "unknown" if None in splits else splits[1] - splits[0]
    print(f"  Split huge pages are told by AnonHugePages of the guest's RAM being less than\n"
          f"  its Rss in any sample; thp_split_page of the whole host moved by {whole} meanwhile.")


def recorded_seconds(trajectory):
    for line in trajectory.read_text().splitlines():
        if line.startswith("# duration_ms "):
            return int(line.split()[2]) / 1000
    raise SystemExit(f"demo: {trajectory} has no duration_ms line")


def available_mib():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    return 0


def parse_options():
    parser = argparse.ArgumentParser(prog="demo.sh")
    parser.add_argument("--trajectory", type=Path,
                        default=TOP / "bench/trajectories/glm-pydicom__pydicom-2065-1.traj")
    parser.add_argument("--speed", type=float, default=12)
    parser.add_argument("--scale", type=float)
    options = parser.parse_args()
    # The whole recording, where this machine has the memory for its 2 GB peak.
    if options.scale is None:
        options.scale = 1 if available_mib() > 5000 else 0.25
    options.memory = 3072 if options.scale > 0.25 else 1024
    options.jobs = 2 if available_mib() > 2 * options.memory + 512 else 1
    if available_mib() < options.memory + 512:
        raise SystemExit(f"tide: {available_mib()} MiB of memory are available, "
                         f"{options.memory + 512} MiB are needed; free some")
    return options


def main():
    options = parse_options()
    length_s = recorded_seconds(options.trajectory)
    splits = [host_splits()]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {mode: pool.submit(replay, mode, options, length_s) for mode in MODES}
        modes, summaries = {}, {}
        for mode, run in runs.items():
            samples, events, summaries[mode], before = run.result()
            rows = line_up(samples, events, before)
            write_samples(mode, rows)
            modes[mode] = measure(rows, summaries[mode])
    splits.append(host_splits())
    result = {"schema": "tide-demo/1", **modes}
    (OUT / "result.json").write_text(json.dumps(result, indent=2) + "\n")
    say("drawing build/demo/rss.png")
    plot(options, length_s, modes)
    print(f"\n{options.trajectory.stem}, {length_s:.0f} s replayed {options.speed:g} times as fast, "
          f"bytes x {options.scale:g}\n")
    print_table(modes, summaries, splits)
    print("\n  build/demo/rss.png  build/demo/result.json  build/demo/samples-*.csv")


if __name__ == "__main__":
    try:
        main()
    except (GuestError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"tide: demo: {error}") from None

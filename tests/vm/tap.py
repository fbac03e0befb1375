# SPDX-License-Identifier: GPL-2.0-or-later
"""
TAP for the tests of this folder. A test is a function of a Tap; main() runs it
and turns whatever goes wrong into a failure that says what.
"""
import re
import sys
import traceback


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def ok(self, condition, name, detail=""):
        self.count += 1
        self.failed += not condition
        print(f"{'ok' if condition else 'not ok'} {self.count} - {name}")
        if not condition and detail != "":
            self.note(detail)
        sys.stdout.flush()
        return bool(condition)

    def equal(self, got, want, name):
        return self.ok(got == want, name, f"got {got!r}, want {want!r}")

    def at_most(self, got, limit, name):
        return self.ok(got <= limit, name, f"got {got}, at most {limit}")

    def at_least(self, got, limit, name):
        return self.ok(got >= limit, name, f"got {got}, at least {limit}")

    def has(self, text, part, name):
        return self.ok(part in text, name, f"no {part!r} in {text!r}")

    def note(self, text):
        for line in str(text).splitlines():
            print(f"# {line}")
        sys.stdout.flush()

    def relay(self, output, status=0):
        """Takes over the results of a TAP program that ran in the guest."""
        planned, seen = None, 0
        for line in output.splitlines():
            result = re.match(r"(not )?ok \d+ - (.*)", line)
            plan = re.match(r"1\.\.(\d+)", line)
            if result:
                seen += 1
                self.ok(not result.group(1), result.group(2))
            elif plan:
                planned = int(plan.group(1))
            elif line.strip():
                self.note(line)
        self.ok(planned == seen and seen, "the program in the guest ran all its tests",
                f"planned {planned}, seen {seen}, exit status {status}")


def main(test):
    tap = Tap()
    try:
        test(tap)
    except BaseException:
        tap.ok(False, "the test ran to its end", traceback.format_exc())
    print(f"1..{tap.count}", flush=True)
    sys.exit(1 if tap.failed else 0)

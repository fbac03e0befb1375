#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tidectl replay on plain memory, and what it says of bad input.
. "$(dirname "$0")/lib.sh"

data=$TOP/tests/unit/lib/data
spike=$data/spike.traj

run replay --mode=none --speed=1000 "$spike"
ok 'a replay' [ "$code" = 0 ]
ok 'says that nothing was wrong' grep -Eq '^wrong bytes +0$' "$TMP/out"
ok 'unknown latency is not 0' grep -Eq '^  median +unknown$' "$TMP/out"

run replay --mode=none --speed=1000 --json --events="$TMP/events" "$spike"
ok 'JSON' json '.schema == "tidectl-replay/1" and .trajectory == "spike" and
	.mode == "none" and .completed and .wrong_bytes == 0 and .errors == 0 and
	.tools == 2 and .tool_phases == 2 and .peak_live_bytes == 41943040 and
	.asked_bytes == 62914560 and .reports.total == 0 and
	.report_us == {p50: null, p99: null, max: null} and
	(.error | not) and .recorded_s == 0.5 and .slowdown >= .slowdown_without_verify'
ok 'events' jq -es 'length == 13 and .[0].event == "start" and
	.[12] == {t_ms: 500, event: "end", live_bytes: 8388608, mono_us: .[12].mono_us} and
	([.[].mono_us] | . == sort)' "$TMP/events"
run replay --mode=none --speed=1000 --scale=0.5 --json "$spike"
ok '--scale' json '.peak_live_bytes == 20971520 and .scale == 0.5'
run replay --mode=none --speed=1 --json "$spike"
ok 'time as recorded' json '.actual_s >= 0.5 and .nominal_s == 0.5'

# A serial port, by way of a pseudo terminal: nothing may change on the way.
/usr/bin/python3 - "$TIDECTL" "$spike" >"$TMP/pty" <<'PY'
import os, pty, subprocess, sys
master, slave = pty.openpty()
child = subprocess.Popen([sys.argv[1], 'replay', '--mode=none', '--speed=1000',
                          '--events=' + os.ttyname(slave), sys.argv[2]],
                         stdout=subprocess.DEVNULL)
text = b''
while b'"end"' not in text:
    text += os.read(master, 4096)
child.wait()
sys.stdout.buffer.write(text)
PY
ok 'events to a terminal come raw' [ "$(grep -c $'}$' "$TMP/pty")" = 13 ]

# refused NAME TEXT CONTENTS: a file of that is refused with exit 2.
refused()
{
	printf '%b' "$3" >"$TMP/bad.traj"
	run replay --mode=none --speed=1e6 "$TMP/bad.traj"
	ok "$1" fails 2 "$2"
}

h='# tide-trajectory 1\n'
refused 'empty file' 'bad.traj: empty file' ''
refused 'wrong header' 'bad.traj:1: not a trajectory' 'hello\n'
refused 'garbage' 'bad.traj:1: a NUL byte' '\0177ELF\0000\0001'
refused 'unsorted' 'bad.traj:3: sample at 1 ms after one at 2 ms' "${h}M 2 1\nM 1 1\n"
refused 'negative' 'bad.traj:2: size "-5" is not' "${h}M 0 -5\n"
refused 'overflow' 'bad.traj:2: size 18446744073709551617 is too large' "${h}M 0 18446744073709551617\n"
refused 'tool ends before it starts' 'bad.traj:3: tool ends' "${h}M 0 1\nT 9 8 Bash\n"
refused 'no samples' 'bad.traj: no samples' "$h"
refused 'more than the machine has' 'use --scale=' "${h}M 0 4000000000000000\n"

run replay --mode=none "$TMP/nothing.traj"
ok 'missing file' fails 2 'nothing.traj: No such file or directory'
run replay --mode=none "$TMP"
ok 'a folder' fails 2 'Is a directory'

# A gigabyte of garbage: the first bad line ends it, at once.
truncate -s 1G "$TMP/zeros.traj"
run replay --mode=none "$TMP/zeros.traj"
ok '1 GiB of zeros' fails 2 'zeros.traj:1: a NUL byte'
rm "$TMP/zeros.traj"
{ printf '%b' "${h}M 0 1\n"; head -c 100M /dev/zero | tr '\0' x; } >"$TMP/long.traj"
run replay --mode=none "$TMP/long.traj"
ok 'an endless line' fails 2 'long.traj:3: neither a sample'
rm "$TMP/long.traj"
{ printf '%b' "$h"; yes 'M 0 1' | head -n 1000001; } >"$TMP/many.traj"
run replay --mode=none "$TMP/many.traj"
ok 'too many records' fails 2 'many.traj:1000002: more than 1000000 records'
rm "$TMP/many.traj"

run replay --mode=none
ok 'no file' fails 2 'no trajectory file given'
run replay --mode=none "$spike" "$spike"
ok 'two files' fails 2 'one trajectory at a time'
run replay --mode=fast "$spike"
ok 'bad --mode' fails 2 '"fast" is neither tide nor none'
for speed in nan inf 0 -1 1e9 x ''; do
	run replay --mode=none --speed="$speed" "$spike"
	ok "bad --speed '$speed'" fails 2 '--speed:'
done
for scale in nan inf 0 -1 x; do
	run replay --mode=none --scale="$scale" "$spike"
	ok "bad --scale '$scale'" fails 2 '--scale:'
done
run replay --mode=none --scale=1e-9 "$spike"
ok 'scaled to nothing' fails 2 'nothing to replay'
for idle in discard lazy willneed x; do
	run replay --idle=$idle "$spike"
	ok "bad --idle '$idle'" fails 2 'must survive'
done
run replay --mode=none --events="$TMP/no/such" "$spike"
ok 'events cannot be opened' fails 2 'No such file or directory'
run replay --mode=none --speed=1e6 --events=/dev/full --json "$spike"
ok 'events cannot be written' json '.completed == false and .errors == 1 and
	(.error | test("writing events: No space left")) and .slowdown == null'
ok 'and that is a failure' [ "$code" = 1 ]

done_testing

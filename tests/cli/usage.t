#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Options, exit codes, and what is said without module or device.
. "$(dirname "$0")/lib.sh"

run
ok 'no verb' fails 2 'no verb given; start with tidectl status'
run nonsense
ok 'unknown verb' fails 2 'no verb "nonsense"; see tidectl --help'
run --nonsense status
ok 'unknown option before the verb' fails 2 'bad option --nonsense'
run status --nonsense
ok 'unknown option of a verb' fails 2 'bad option --nonsense; see tidectl status --help'
run --device
ok 'option without its value' fails 2 'needs a value'
run replay --speed
ok 'option of a verb without its value' fails 2 'needs a value'
run status extra
ok 'status takes no arguments' fails 2 'got "extra"'

run --version
ok '--version' [ "$code:$out" = "0:tidectl $(cat "$TOP/VERSION")" ]
run --help
ok '--help' [ "$code" = 0 ]
ok '--help explains the intents' has "$out" 'contents are dead; the host takes the memory back now'
ok '--help says where to start' has "$out" 'tidectl status'
ok '--help lists the exit codes' has "$out" 'Exit codes: 0 done'
run report --help
ok 'help of report says why --yes-discard' has "$out" 'reads zeros where its data was'

run --root "$TMP/empty" status
ok 'status without module' fails 3 "/dev/tide: module not loaded; run modprobe tide"
run status --root "$TMP/empty" --json
ok 'the same in JSON' json '.schema == "tidectl-status/1" and (.error | test("modprobe"))'
ok 'with its exit code' [ "$code" = 3 ]
mkdir -p "$TMP/loaded/sys/module/tide"
run --root "$TMP/loaded" status
ok 'status with module, without device' fails 3 'start the VM with -device tide'
run --root "$TMP/empty" replay "$TOP/tests/unit/lib/data/spike.traj"
ok 'replay without module' fails 3 'modprobe tide'
run --device /dev/null status
ok 'a node that is not Tide' fails 1 'not a Tide device'
run --device "$TMP" status
ok 'a folder as node' fails 1 'Is a directory'

run --json nonsense
ok 'errors are JSON when JSON is wanted' json '.error'

code=0
"$TIDECTL" --root "$TMP/loaded" replay --mode=none --speed=1e6 \
	"$TOP/tests/unit/lib/data/spike.traj" >/dev/full 2>"$TMP/err" || code=$?
err=$(cat "$TMP/err")
ok 'a full disk under the output is an error' has "$code $err" 'cannot write the output'

run report --pid=1
ok 'report without intent' fails 2 '--intent is missing'
run report --intent=cold
ok 'report without pid' fails 2 '--pid is missing'
run report --pid=1 --intent=warm
ok 'report with an unknown intent' fails 2 '"warm" is not discard, lazy, cold, pageout or willneed'
run report --pid=x --intent=cold
ok 'report with a bad pid' fails 2 '--pid: "x" is not a number'
run report --pid=1 --intent=cold --offset=2M
ok 'a range needs an arena' fails 2 'add --fd'
run report --pid=1 --intent=cold --fd=3 --length=2X
ok 'a bad length' fails 2 '--length: "2X" is not'
run report --pid=$$ --intent=discard
ok 'discard is refused' fails 2 'if that is meant, add --yes-discard'
run report --pid=$$ --intent=lazy
ok 'lazy is refused' fails 2 '--yes-discard'
run report --pid=999999999 --intent=cold
ok 'no such process' fails 1 'no process 999999999'
run report --pid=$$ --fd=99 --intent=cold
ok 'no such descriptor' fails 1 'has no descriptor 99'
run report --pid=$$ --fd=1 --intent=cold
ok 'a descriptor that is no arena' fails 1 "descriptor 1 of process $$ is not a Tide arena"
run report --pid=$$ --intent=cold --json
ok 'a process without arenas' json '.schema == "tidectl-report/1" and .arenas == []'

done_testing

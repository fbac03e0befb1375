#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# one.sh DIR SECONDS TEST [ARGUMENT]...: runs one test program for prove, with a
# time limit, and keeps what it said in DIR: NAME.tap, NAME.err, NAME.status.
dir=$1 limit=$2
shift 2
name=$(basename "$1" .t)
export TIDE_CONSOLE_LOG=$dir/$name.console.log
timeout --kill-after=20 "$limit" "$@" 2>"$dir/$name.err" </dev/null | tee "$dir/$name.tap"
status=${PIPESTATUS[0]}
[ "$status" != 124 ] || echo "# no end after $limit seconds" | tee -a "$dir/$name.tap"
echo "$status" >"$dir/$name.status"
exit "$status"

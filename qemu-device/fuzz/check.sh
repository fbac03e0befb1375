#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh FUZZER SECONDS: the corpus, then a short run of new inputs. TAP.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
fuzzer=$1
seconds=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

result()
{
	local rc=$1
	shift
	if [ "$rc" = 0 ]; then
		echo "ok $*"
	else
		echo "not ok $*"
		sed 's/^/# /' "$tmp/log" | tail -n 40
	fi
}

echo 1..2
"$fuzzer" -runs=0 corpus >"$tmp/log" 2>&1
result $? 1 - "every input of the corpus runs without a finding"
mkdir "$tmp/found"
"$fuzzer" -max_total_time="$seconds" -max_len=4096 -artifact_prefix="$tmp/" \
	"$tmp/found" corpus >"$tmp/log" 2>&1
result $? 2 - "$seconds seconds of new inputs bring no finding"

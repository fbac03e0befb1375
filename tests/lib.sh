# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# TAP for the tests that are shell scripts.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$TOP/scripts/lib.sh"
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
tests=0

# ok NAME COMMAND...: one result, from the command's exit status; what it wrote
# is shown when it fails.
ok()
{
	local name=$1
	shift
	tests=$((tests + 1))
	if "$@" >"$TMP/ok.out" 2>&1; then
		echo "ok $tests - $name"
	else
		echo "not ok $tests - $name"
		{ echo "failed: $*"; tail -n 30 "$TMP/ok.out"; } | sed 's/^/# /'
	fi
}

done_testing()
{
	echo "1..$tests"
}

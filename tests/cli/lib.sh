# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the tests of the command share: building it, running it, TAP.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$TOP/scripts/lib.sh"
apt_need gcc make pkg-config libjson-c-dev scdoc jq

# One build for tests that run side by side.
mkdir -p "$TOP/build"
flock "$TOP/build/lib.lock" make -s -C "$TOP/libtidectl" >&2 || {
	echo 'Bail out! libtidectl does not build'
	exit 1
}
TIDECTL=${TIDECTL:-$TOP/build/lib/tidectl}
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
# A root without Tide, so that a real one on this machine does not matter.
mkdir "$TMP/empty"

tests=0

# ok NAME COMMAND...: one result, from the command's exit status.
ok()
{
	local name=$1
	shift
	tests=$((tests + 1))
	if "$@"; then
		echo "ok $tests - $name"
	else
		echo "not ok $tests - $name"
		printf '# %s\n' "failed: $*" "exit $code" "stdout: ${out:0:500}" "stderr: ${err:0:500}" | sed '2,$s/^[^#]/# &/'
	fi
}

done_testing()
{
	echo "1..$tests"
}

# run ARGUMENT...: tidectl's exit code, stdout and stderr in $code $out $err.
run()
{
	code=0
	"$TIDECTL" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null || code=$?
	out=$(tr -d '\0' <"$TMP/out")
	err=$(tr -d '\0' <"$TMP/err")
}

has()
{
	[[ $1 == *"$2"* ]]
}

# fails CODE TEXT: the last run ended so, with one line on stderr that holds it.
fails()
{
	[ "$code" = "$1" ] && has "$err" "$2" && [ "$(wc -l <"$TMP/err")" = 1 ]
}

# json FILTER: the last output is JSON, and the filter is true of it.
json()
{
	jq -e "$1" "$TMP/out" >/dev/null
}

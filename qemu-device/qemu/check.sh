#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh [--asan] [--qemu RELEASE] [ARGS]: the device's qtests, TAP on stdout,
# for prove. ARGS go to the test program, e.g. -p /x86_64/tide/ring.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

build=()
while :; do
	case ${1:-} in
	--asan) build+=("$1") ;;
	--qemu) build+=("$1" "${2:-}"); shift ;;
	*) break ;;
	esac
	shift || break
done
prefix=$("$here/build.sh" "${build[@]}")
export QTEST_QEMU_BINARY=$prefix/qemu-system-x86_64
exec "$prefix/tide-test" --tap "$@"

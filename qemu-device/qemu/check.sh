#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh [--asan] [ARGS]: the device's qtests, TAP on stdout, for prove. ARGS
# go to the test program, e.g. -p /x86_64/tide/ring.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

variant=()
if [ "${1:-}" = --asan ]; then
	variant=(--asan)
	shift
fi
prefix=$("$here/build.sh" "${variant[@]}")
export QTEST_QEMU_BINARY=$prefix/qemu-system-x86_64
exec "$prefix/tide-test" --tap "$@"

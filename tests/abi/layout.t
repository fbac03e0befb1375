#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sizes, offsets and numbers of the ABI are those of layout.golden, on 64 and 32
# bit. A change that is meant: layout.t --update, and say so in the change log.
. "$(dirname "$0")/../lib.sh"

golden=$TOP/tests/abi/layout.golden

# layout FLAG: every struct as the compiler lays it out, then every constant.
layout()
{
	local header
	for header in tide tide_pci; do
		{
			printf '#include <linux/%s.h>\n' "$header"
			sed -n 's/^struct \([a-z_]*\) {$/struct \1 use_\1;/p' "$TOP/uapi/linux/$header.h"
		} >"$TMP/$header.c"
		gcc "$1" -isystem "/usr/include/$(gcc -print-multiarch)" -g -c -I "$TOP/uapi" -o "$TMP/$header.o" "$TMP/$header.c" || return 1
		pahole "$TMP/$header.o" | sed 's/[[:space:]]*$//' | grep -v '^$'
		gcc "$1" -isystem "/usr/include/$(gcc -print-multiarch)" -E -dM -I "$TOP/uapi" "$TMP/$header.c" | grep -E '^#define TIDE_' | LC_ALL=C sort
	done
}

layout -m64 >"$TMP/layout64" || exit 1
if [ "${1:-}" = --update ]; then
	cp "$TMP/layout64" "$golden"
	exit
fi
layout -m32 >"$TMP/layout32" || exit 1
ok 'layout is what it was' diff -u "$golden" "$TMP/layout64"
ok 'layout is the same on 32 bit' diff -u "$golden" "$TMP/layout32"
done_testing

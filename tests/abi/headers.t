#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The headers of the ABI compile alone, in every dialect a user may have.
. "$(dirname "$0")/../lib.sh"

for header in linux/tide.h linux/tide_pci.h; do
	source=$TMP/only.c
	printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$source"
	cp "$source" "$TMP/only.cc"
	common=(-Wall -Wextra -Werror -fsyntax-only -I "$TOP/uapi")
	ok "$header is C90" gcc -std=c90 -pedantic "${common[@]}" "$source"
	ok "$header is C17" gcc -std=c17 "${common[@]}" "$source"
	ok "$header is C++" g++ -std=c++11 "${common[@]}" "$TMP/only.cc"
	ok "$header works on 32 bit" gcc -m32 -isystem "/usr/include/$(gcc -print-multiarch)" "${common[@]}" "$source"
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every source file names its licence in its first lines, the one of its folder.
. "$(dirname "$0")/../lib.sh"

# licence_of FILE: what files of that folder have to say, as a pattern.
licence_of()
{
	case $1 in
	uapi/*) echo 'GPL-2\.0 WITH Linux-syscall-note' ;;
	module/* | kunit/* | Kbuild) echo 'GPL-2\.0-only' ;;
	libtidectl/cli/* | libtidectl/completions/*) echo 'GPL-2\.0-or-later' ;;
	libtidectl/src/* | libtidectl/include/*) echo 'LGPL-2\.1-or-later' ;;
	*) echo '(L?GPL-2\.[01]-or-later)' ;;
	esac
}

cd "$TOP" || exit 1
while read -r file; do
	ok "$file" grep -Eq "SPDX-License-Identifier: .*$(licence_of "$file")" <(head -n 3 "$file")
done < <(git ls-files -- '*.c' '*.h' '*.sh' '*.py' '*.t' '*.pl' '*Makefile' '*Kbuild')
done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is installed can be used: library, header, pkg-config, symbols.
. "$(dirname "$0")/lib.sh"
apt_need g++ binutils file

code=0 out='' err=''
dest=$TMP/dest
flock "$TOP/build/lib.lock" make -s -C "$TOP/libtidectl" install DESTDIR="$dest" prefix=/usr O="$TMP/build" >&2
export PKG_CONFIG_PATH=$dest/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest

cat >"$TMP/user.c" <<'EOC'
#include <stdio.h>
#include <tidectl/libtidectl.h>
int main(void)
{
	struct tide_ctx *ctx;
	struct tide_info info;
	char text[256];

	if (tide_ctx_new(&ctx) || tide_ctx_set_root(ctx, "/nonexistent"))
		return 1;
	if (tide_info(ctx, &info) == 0)
		return 1;
	tide_ctx_error(ctx, text, sizeof(text));
	puts(text);
	tide_ctx_unref(ctx);
	return 0;
}
EOC
# shellcheck disable=SC2046
gcc -std=c99 -Wall -Wextra -Werror -pedantic -o "$TMP/user" "$TMP/user.c" $(pkg-config --cflags --libs libtidectl)
ok 'a program builds with pkg-config' [ -x "$TMP/user" ]
out=$(LD_LIBRARY_PATH=$dest/usr/lib "$TMP/user")
ok 'and runs with the shared library' has "$out" '/nonexistent/dev/tide: module not loaded'
ok 'which it names by soname' grep -q 'libtidectl.so.0' <(readelf -d "$TMP/user")
ok 'pkg-config has the version' [ "$(pkg-config --modversion libtidectl)" = "$(cat "$TOP/VERSION")" ]

cp "$TMP/user.c" "$TMP/user.cc"
# shellcheck disable=SC2046
ok 'the header is C++ too' g++ -Wall -Wextra -Werror -fsyntax-only "$TMP/user.cc" $(pkg-config --cflags libtidectl)

exported()
{
	nm -D --defined-only "$dest/usr/lib/libtidectl.so.0" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort
}
ok 'all symbols are of the map' diff <(exported) <(grep -oE '^	tide_[a-z0-9_]+' "$TOP/libtidectl/libtidectl.map" | tr -d '\t' | sort)
ok 'all symbols are of the header' diff <(exported) <(grep -oE '\btide_[a-z0-9_]+\(' <(sed '/^ \*/d; /^\/\*/d' "$dest/usr/include/tidectl/libtidectl.h") | tr -d '(' | sort -u)
ok 'each with its version' [ -z "$(nm -D --defined-only "$dest/usr/lib/libtidectl.so.0" | awk '$2 == "T"' | grep -v '@@LIBTIDECTL_0.1')" ]
ok 'each documented, with Since' [ "$(grep -c 'Since: ' "$dest/usr/include/tidectl/libtidectl.h")" = "$(grep -cE '^ \* tide_[a-z0-9_, ]+ -' "$dest/usr/include/tidectl/libtidectl.h")" ]
ok 'the library needs libc only' [ "$(readelf -d "$dest/usr/lib/libtidectl.so.0" | grep -c NEEDED)" = 1 ]
for page in tidectl.8 tidectl-status.8 tidectl-report.8 tidectl-replay.8 libtidectl.3; do
	ok "man page $page" [ -s "$dest/usr/share/man/man${page##*.}/$page" ]
done
flock "$TOP/build/lib.lock" make -s -C "$TOP/libtidectl" tidectl-static >&2
ok 'the static command needs no library' grep -q 'statically linked' <(file -L "$TOP/build/lib/tidectl-static")
ok 'and runs' "$TOP/build/lib/tidectl-static" --version

done_testing

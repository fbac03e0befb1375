#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tables, help, man pages and completion say the same.
. "$(dirname "$0")/lib.sh"

man=$TOP/libtidectl/man
common=$("$TIDECTL" --list-opts)
verbs=$("$TIDECTL" --list-cmds)

ok 'there are verbs' [ -n "$verbs" ]
for verb in $verbs; do
	page=$man/tidectl-$verb.8.scd
	ok "$verb: has a man page" [ -f "$page" ]
	ok "$verb: in tidectl(8)" grep -q "^\*$verb\*$" "$man/tidectl.8.scd"
	ok "$verb: in the help" grep -Eq "^  $verb " <("$TIDECTL" --help)
	ok "$verb: its page and its help have one summary" grep -qiF \
		"tidectl-$verb - $("$TIDECTL" --help | sed -n "s/^  $verb  *//p" | head -n 1)" "$page"
	for opt in $("$TIDECTL" --list-opts="$verb"); do
		ok "$verb: $opt in its page" grep -qF -- "*${opt%=}*" "$page"
		ok "$verb: $opt in its help" grep -qF -- "  $opt" <("$TIDECTL" "$verb" --help)
	done
	# And the other way round: no page promises what there is not.
	for opt in $(grep -oE '^\*--[a-z-]+' "$page" | tr -d '*'); do
		ok "$verb: $opt of the page exists" grep -qE -- "^$opt=?$" <("$TIDECTL" --list-opts="$verb")
	done
done
for opt in $common; do
	ok "$opt in tidectl(8)" grep -qF -- "*${opt%=}*" "$man/tidectl.8.scd"
	ok "$opt in the help" grep -qF -- "  $opt" <("$TIDECTL" --help)
done
for page in "$man"/tidectl-*.scd; do
	verb=$(basename "$page" .8.scd)
	ok "${verb#tidectl-} of a man page exists" grep -qx "${verb#tidectl-}" <<<"$verbs"
done

# JSON members, from one run that has them all but errors.
"$TIDECTL" replay --mode=none --speed=1e6 --json "$TOP/tests/unit/lib/data/spike.traj" >"$TMP/out" 2>/dev/null
for key in $(jq -r 'keys[] | select(. != "schema")' "$TMP/out"); do
	ok "replay: member $key in its page" grep -q "_${key}_" "$man/tidectl-replay.8.scd"
done

# complete WORD...: completions of the last word, as bash would ask for them.
. "$TOP/libtidectl/completions/tidectl"
complete_words()
{
	COMP_WORDS=("$TIDECTL" "$@")
	COMP_CWORD=$#
	_tidectl
	echo "${COMPREPLY[*]}"
}

ok 'completion of verbs' [ "$(complete_words '')" = "$(echo $verbs)" ]
ok 'completion of a verb' [ "$(complete_words stat)" = status ]
ok 'completion of options' [ "$(complete_words replay --sp)" = --speed= ]
ok 'completion after other options' [ "$(complete_words --json repor)" = report ]
ok 'completion of values' [ "$(complete_words replay --mode = n)" = none ]
ok 'completion right after the sign' [ "$(complete_words replay --idle =)" = 'cold pageout none' ]
ok 'completion of intents' [ "$(complete_words report --intent = dis)" = discard ]
ok 'completion of files' [ "$(cd "$TOP/tests/unit/lib/data" && complete_words replay spi)" = spike.traj ]
ok 'completion of global options' has "$(complete_words --)" '--version --list-cmds --list-opts --json'

done_testing

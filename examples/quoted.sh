#!/bin/sh
# Each piece of C in README.md and in the guides to threads, async, tame, the four styles and
# the sealed files is a piece of one of the examples or apps, which are compiled and run.
cd "$(dirname "$0")" || exit 2
guide=../docs/guide

awk '
function check(   i) {
	pieces++
	for (i = 1; i <= examples; i++)
		if (index(text[i], piece) > 0)
			return
	print guide ": in none of the examples:\n" piece
	failed++
}
FILENAME !~ /\.md$/ {
	if (FNR == 1)
		examples++
	text[examples] = text[examples] $0 "\n"
	next
}
/^```$/ { if (inside) check(); inside = 0 }
inside { piece = piece $0 "\n" }
/^```c$/ { inside = 1; piece = ""; guide = FILENAME }
END {
	print pieces - failed " passed, " failed + 0 " failed"
	exit failed > 0 || pieces == 0
}' ./*.[ch] four-styles/*.c ../apps/sealed-files/*.c $guide/threads.md $guide/waiting.md \
	$guide/synchronising.md $guide/stacks.md $guide/async.md $guide/tame.md \
	$guide/four-styles.md $guide/sealed-files.md ../README.md

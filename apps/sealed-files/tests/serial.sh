#!/bin/sh
# The difference between the serial server and the parallel one is what the guide shows, and
# the serial one compiles.
# usage: serial.sh INCLUDE_DIRECTORY COMPILER...
include=$1
shift
cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
guide=../../docs/guide/sealed-files.md
failed=0

mkdir "$work/a"
cp ./*.h "$work/a"
for file in session.h server.c session.c; do
	grep -v 'weft_hop\|weft_color\|weft_workers' $file >"$work/a/$file"
	diff -U3 "$work/a/$file" $file | sed -e "s|^--- .*|--- a/$file|" -e "s|^+++ .*|+++ b/$file|" \
		-e 's/^@@.*/@@/'
done >"$work/real"
sed -n '/^```diff$/,/^```$/{/^```/!p}' $guide >"$work/shown"
if ! diff "$work/shown" "$work/real"; then
	echo "the guide shows another difference (<) than there is (>)"
	failed=$((failed + 1))
fi
if ! test "$(grep -c '^+[^+]' "$work/real")" = 9 || ! grep -q '^# Nine lines ' $guide; then
	echo "there are not nine lines"
	failed=$((failed + 1))
fi
for file in server.c session.c; do
	"$@" -std=gnu11 -D_GNU_SOURCE= -fsyntax-only -Wall -Werror -I"$work/a" -I.. -I"$include" \
		"$work/a/$file" || failed=$((failed + 1))
done
echo "$((4 - failed)) passed, $failed failed"
test $failed -eq 0

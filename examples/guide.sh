#!/bin/sh
# The program in docs/guide/callbacks.md compiles as it is shown, and after each of
# the changes shown.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
guide=$root/docs/guide/callbacks.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# block LANGUAGE N: the Nth piece of code in that language.
block() {
	awk -v start="\`\`\`$1" -v n="$2" '
	/^```$/ { inside = 0 }
	inside && seen == n { print }
	$0 == start { inside = 1; seen++ }' "$guide"
}

compile() {
	test -s lines.c
	${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only "-I$root/include" lines.c
}

block c 1 >lines.c
compile
for n in 1 2 3; do
	block diff $n >change
	git apply change
	compile
done
echo "1 passed, 0 failed"

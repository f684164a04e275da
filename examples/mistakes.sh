#!/bin/sh
# Each wrong program in docs/guide/tame-mistakes.md gets the message that is shown below it: when it
# is translated, or else when it runs.
# usage: mistakes.sh WEFT_TAME LIBRARY...
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
guide=$root/docs/guide/tame-mistakes.md
tool=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0
failed=0

# block N KIND: the Nth piece of code of that kind: c, or what is told.
block() {
	awk -v wanted="$1" -v kind="$2" '
	/^```/ && inside { inside = 0; next }
	/^```c$/ { seen++; inside = 1; now = "c"; next }
	/^```$/ { inside = 1; now = "told"; next }
	inside && seen == wanted && now == kind' "$guide"
}

# told: what translating says, and running if that says nothing.
told() {
	"$tool" -o mistake.c mistake.tame.c -- "-I$root/include" 2>&1 || return
	${CC:-cc} -std=gnu11 -g "-I$root/include" mistake.c "$@" -pthread -o mistake 2>&1 || return
	WEFT_STALL_MS=-1 timeout 100 ./mistake 2>&1
}

count=$(grep -c '^```c$' "$guide")
n=1
while test $n -le "$count"; do
	block $n c >mistake.tame.c
	block $n told >expected
	told "$@" >got
	if test -s expected && cmp -s expected got; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED program $n of $guide: what it shows, and what is told:"
		diff expected got
	fi
	n=$((n + 1))
done
echo "$passed passed, $failed failed"
test $failed -eq 0 && test $passed -gt 0

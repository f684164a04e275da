#!/bin/sh
# Runs the examples and compares what they print with NAME.out; the last line is
# `N passed, N failed`, with `, N skipped` if some were not built.
# usage: run-all.sh DIRECTORY [NAME...] (of the programs; all that were built)
here=$(cd "$(dirname "$0")" && pwd)
programs=${1:?usage: run-all.sh DIRECTORY [NAME...]}
shift
test $# -gt 0 || set -- $(cd "$here" && ls ./*.out | sed 's,^\./\(.*\)\.out$,\1,')
got=$(mktemp) || exit 2
trap 'rm -f "$got"' EXIT
passed=0
failed=0
skipped=0

for name; do
	if ! test -x "$programs/example_$name"; then
		echo "skipped $name: it was not built"
		skipped=$((skipped + 1))
		continue
	fi
	timeout 60 "$programs/example_$name" >"$got"
	status=$?
	if test $status -eq 0 && cmp -s "$here/$name.out" "$got"; then
		passed=$((passed + 1))
		continue
	fi
	failed=$((failed + 1))
	echo "FAILED $name: status $status; what it should print and what it did:"
	diff "$here/$name.out" "$got"
done
test $skipped -gt 0 && skipped=", $skipped skipped" || skipped=
echo "$passed passed, $failed failed$skipped"
test $failed -eq 0 && test $passed -gt 0

#!/bin/sh
# The numbers of lines in docs/guide/four-styles.md are those of the programs, without
# comments and empty lines.
cd "$(dirname "$0")" || exit 2
guide=../../docs/guide/four-styles.md
failed=0
for file in callbacks.c tamed.tame.c threads.c async.c keys.c; do
	lines=$(sed -e 's,/\*.*\*/,,' -e '/\/\*/,/\*\//d' -e '/^[[:space:]]*$/d' $file | wc -l)
	if ! grep -q "^| \[$file\](.*) | $lines |" $guide; then
		echo "$file has $lines lines; the guide says something else"
		failed=$((failed + 1))
	fi
done
echo "$((5 - failed)) passed, $failed failed"
test $failed -eq 0

#!/bin/sh
# The programs as people use them: their flags are those of the manuals, wrong ones are
# refused, and files go there and back.
# usage: programs.sh DIRECTORY_OF_THE_PROGRAMS
programs=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d) || exit 2
pid=
trap 'test -z "$pid" || kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
failed=0

# say NAME COMMAND...: one check.
say() {
	name=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		echo "ok $name"
	else
		echo "FAILED $name"
		sed 's/^/    /' "$work/out" | head -n 20
		failed=1
	fi
}

wrong() {
	program=$1
	shift
	for words; do
		"$programs/$program" $words >/dev/null 2>&1 </dev/null
		test $? -eq 2 || { echo "taken: $words"; return 1; }
	done
}
for program in weft-sealed-files weft-sealed; do
	say "the manual of $program has its flags" \
		../../tests/checks/flags "$programs/$program" $program.1
done
say "the server refuses wrong flags" wrong weft-sealed-files x --root "--root / --keys" \
	"--root /" "--root / --keys / --max-clients 0"
say "the client refuses wrong words" wrong weft-sealed nonsense "get x" \
	"--key x nonsense" "--key x get" "--key x rm" "--key x get a b c"

mkdir "$work/root" "$work/keys"
"$programs/weft-sealed" key "$work/keys/ann" || failed=1
"$programs/weft-sealed-files" --listen 127.0.0.1:0 --root "$work/root" --keys "$work/keys" \
	>"$work/server" 2>&1 &
pid=$!
until address=$(sed -n 's/^weft-sealed-files: \([^ ]*\) .*/\1/p' "$work/server") && test -n "$address"; do
	kill -0 $pid 2>/dev/null || { cat "$work/server"; exit 1; }
done
sealed() { "$programs/weft-sealed" --server "$address" --key "$work/keys/ann" "$@"; }
head -c 1000000 /dev/urandom >"$work/large"
there_and_back() { sealed put "$work/large" && sealed get large "$work/back" && cmp "$work/large" "$work/back"; }
by_pipes() { sealed put - copy <"$work/large" && sealed get copy - | cmp - "$work/large"; }
listed() { test "$(sealed ls | sort | tr '\n' ' ')" = "copy large "; }
removed() { sealed rm copy && ! sealed get copy -; }
nothing_left() { ! sealed get none "$work/none" && ! test -e "$work/none"; }
no_file() { ln -s /dev/null "$work/null" && sealed get large "$work/null" && ! sealed get none "$work/null" && test -c "$work/null"; }
kept() {
	echo mine >"$work/mine" && chmod 640 "$work/mine"
	! sealed get none "$work/mine" && test "$(cat "$work/mine")" = mine || return 1
	sealed get large "$work/mine" && cmp "$work/large" "$work/mine" &&
		test "$(stat -c %a "$work/mine")" = 640 && test "$(ls "$work" | grep -c mine)" = 1
}
blamed() {
	! sealed put "$work/large" none/large && ! sealed put "$work/large" "$(printf '%01100d' 0)" &&
		test "$(grep -c "^weft-sealed: [n0]" "$work/out")" = 2 &&
		! sealed put "$work/root" new && grep -q "^weft-sealed: $work/root: Is a directory" "$work/out"
}
# It waits for a line of the one that has a lease.
leased() {
	mkfifo "$work/in" "$work/said"
	sealed lease large <"$work/in" >"$work/said" &
	holder=$!
	exec 4>"$work/in" 3<"$work/said"
	read -r line <&3
	! sealed --wait 0 rm large
	kept=$?
	exec 4>&- 3<&-
	wait $holder
	test "$line" = "large is leased" && test $kept -eq 0 && sealed rm large
}
unknown() { ! sealed --name bob ls; }
open_key() { chmod 644 "$work/keys/ann"; ! sealed ls; }
stopped() { kill -TERM $pid; wait $pid; }
say "a file goes there and back" there_and_back
say "and by pipes" by_pipes
say "names are listed" listed
say "a file is removed" removed
say "a file that is not there is not made here" nothing_left
say "a device stays what it is" no_file
say "a file that is here is replaced by a whole one only" kept
say "an error names the file that it is about" blamed
say "a lease keeps others from changing a file" leased
say "who is not known is turned away" unknown
say "a key that others may read is refused" open_key
say "the server ends well" stopped
pid=
exit $failed

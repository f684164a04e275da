#!/bin/sh
# The first program that README.md shows is server.c, and it has not changed.
here=$(cd "$(dirname "$0")" && pwd)
sed -n '/^```c$/,/^```$/p' "$here/../README.md" | sed '1d; /^```$/,$d' | diff - "$here/server.c"

#!/bin/bash
# A client of server.c gets back what it sends, and so does a second one beside it.
# usage: server.sh PROGRAM
program=${1:?usage: server.sh PROGRAM}
server=
trap 'test -n "$server" && kill "$server" 2>/dev/null' EXIT

# Listens at a port that nobody else has: others are tried if one is taken. Scripts that run at the
# same time try different ones.
start() {
	for try in 0 1 2 3 4 5 6 7 8 9; do
		port=$((20000 + ($$ * 10 + try) % 12000))
		"$program" "127.0.0.1:$port" &
		server=$!
		until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
			kill -0 $server 2>/dev/null || continue 2
		done
		kill -0 $server 2>/dev/null && return
	done
	echo "the server does not start"
	exit 1
}

# echoes FD TEXT
echoes() {
	printf '%s\n' "$2" >&"$1"
	read -r -t 100 line <&"$1" && test "$line" = "$2"
}

start
exec 3<>"/dev/tcp/127.0.0.1/$port" 4<>"/dev/tcp/127.0.0.1/$port"
if echoes 3 hello && echoes 4 "hello from another" && echoes 3 again; then
	echo "1 passed, 0 failed"
else
	echo "0 passed, 1 failed"
	exit 1
fi

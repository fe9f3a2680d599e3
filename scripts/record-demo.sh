#!/usr/bin/env bash
# Records `relo demo` on a real terminal (tmux, 100×26) into docs/demo.txt: a frame
# whenever the screen changed, at most two a second. Needs tmux and a built bin/relo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=docs/demo.txt
home=$(mktemp -d)
socket=relo-record-$$
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$home"' EXIT
tmux -L "$socket" -f /dev/null new-session -d -x 100 -y 26 \
	"env -u NO_COLOR HOME=$home TERM=xterm-256color bin/relo demo >$home/result.txt; echo \$? >$home/exit; sleep 5"
{
	echo '$ relo demo'
	last=
	began=$(date +%s)
	while [ ! -e "$home/exit" ]; do
		frame=$(tmux -L "$socket" capture-pane -p | sed -e 's/[[:space:]]*$//' | cat -s)
		if [ -n "$frame" ] && [ "$frame" != "$last" ]; then
			printf '\n--- after %d s\n%s\n' "$(($(date +%s) - began))" "$frame"
			last=$frame
		fi
		sleep 0.5
	done
	printf '\n--- the result, on standard output\n'
	cat "$home/result.txt"
} | sed -E 's#[^ ]*/(relo-demo)-[0-9]+#DEMO#g' >"$out"
[ "$(cat "$home/exit")" = 0 ]
echo "wrote $out"

#!/bin/sh
# Shows a pool of two hosts on one machine: each has a home and a ralph of its own, and reaches the
# other by nothing but the pool's server. A loop is submitted on one host and runs on the other, which
# then dies at once. The first host takes the loop over and tells its agent what it waits for. No
# model is needed. Nothing outside a scratch folder is touched, and it is removed at the end.
#
#	tools/demo-pool.sh [BIN]
#
# BIN has ralph and ralph-pool; bin if none is given.
set -eu

bin=$(CDPATH='' cd -- "${1:-bin}" && pwd)
scratch=$(mktemp -d)
pids=
unset RALPH_LOOP RALPH_LOOP_DIR RALPH_ITERATION TASK_FOLDER

cleanup() {
	status=$?
	trap - EXIT INT TERM
	for pid in $pids; do kill "$pid" 2>/dev/null || :; done
	for host in mill kiln; do
		for project in "$scratch/mill/project" "$scratch"/kiln/ralph/pool/loops/*/work; do
			[ ! -d "$project/.ralph/colour" ] || (cd "$project" && on "$host" ralph kill colour) >/dev/null 2>&1 || :
		done
	done
	rm -rf "$scratch"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# on HOST COMMAND… runs a command as a host; with exec, so that a host's processes have the pid of
# the shell that began them.
on() {
	host=$1
	shift
	(export PATH="$bin:$PATH" HOME="$scratch/$host" RALPH_HOME="$scratch/$host/ralph" && exec "$@")
}
show() {
	printf '\n%s$ %s\n' "$1" "$(shift && echo "$@")"
	on "$@"
}
# begin HOST COMMAND… leaves a command running, and sets pid.
begin() {
	host=$1
	shift
	printf '\n%s$ %s &\n' "$host" "$*"
	(export PATH="$bin:$PATH" HOME="$scratch/$host" RALPH_HOME="$scratch/$host/ralph" && exec "$@") >"$scratch/$host/$3.out" 2>&1 &
	pid=$!
	pids="$pids $pid"
}
# until_shown TEXT COMMAND… waits until a command on mill prints a text.
until_shown() {
	text=$1 tries=0
	shift
	until on mill "$@" 2>&1 | grep -q -- "$text"; do
		tries=$((tries + 1))
		if [ "$tries" -gt 240 ]; then
			echo "demo-pool: error: '$*' did not show '$text' within two minutes:" >&2
			on mill "$@" >&2 || :
			exit 1
		fi
		sleep 0.5
	done
}

mkdir -p "$scratch/mill" "$scratch/kiln" "$scratch/project"
for host in mill kiln; do
	printf '[user]\n\tname = %s\n\temail = %s@localhost\n[init]\n\tdefaultBranch = main\n' "$host" "$host" >"$scratch/$host/.gitconfig"
done
cd "$scratch/project"
on mill git init -q --bare ../origin.git
on mill git init -q .
# The agent works a little in each iteration, and is done once a person has told it the colour.
cat >agent.sh <<'AGENT'
#!/bin/sh
echo "iteration $RALPH_ITERATION" >>work.txt
case $(cat) in
*'the blue one'*) echo blue >colour.txt && echo '<promise>COMPLETE</promise>' ;;
*) sleep 2 ;;
esac
AGENT
chmod +x agent.sh
on mill git add -A
on mill git commit -q -m 'Begin'
on mill git remote add origin "$scratch/origin.git"
on mill git push -q -u origin main

begin mill ralph pool serve --listen 127.0.0.1:0
until_shown '^ralph+nats' cat "$scratch/mill/serve.out"
line=$(grep '^ralph+nats' "$scratch/mill/serve.out")
echo "$line" | show mill ralph pool join - --host mill
echo "$line" | show kiln ralph pool join - --host kiln
begin mill ralph pool mirror
begin kiln ralph pool mirror
dying=$pid
begin kiln ralph pool worker -n 1
dying="$dying $pid"
show mill ralph pool submit --name colour -p 'Paint it.' -a ./agent.sh -m 200
until_shown 'pool trust' ralph pool list
show mill ralph pool list
show kiln ralph pool trust "$(on mill ralph pool key | grep -oE '[0-9a-f]{64}' | head -n 1)"
until_shown 'running.*kiln' ralph pool list
show mill ralph pool list

# The host dies: its mirror, its worker and its runner, and so the agent. SIGKILL lets none of them end in order.
work=$(echo "$scratch"/kiln/ralph/pool/loops/*/work)
runner=$(cd "$work" && on kiln ralph status colour --json | grep -oE '"pid": *[0-9]+' | head -n 1 | grep -oE '[0-9]+')
printf '\nkiln dies: kill -9 %s\n' "$dying $runner"
# shellcheck disable=SC2086 # several pids
kill -9 $dying "$runner"

show mill ralph pool take colour --into "$scratch/mill/project" --trust --now
until_shown 'mill  *2 ' ralph pool list
show mill ralph pool list
show mill ralph pool steer colour 'Take the blue one.'
until_shown 'completed' ralph pool list
show mill ralph pool list
show mill ralph pool check
cd "$scratch/mill/project"
show mill ralph status colour
printf '\nwhat it painted: %s, after %s iterations on two hosts\n' "$(cat colour.txt)" "$(wc -l <work.txt)"
[ "$(cat colour.txt)" = blue ]

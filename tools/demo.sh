#!/bin/sh
# Shows ralph on itself: a loop in a scratch project, detached, with the built-in agent that needs no
# model, followed until its work is proved done. Nothing outside the scratch folder is touched, and it
# is removed at the end.
#
#	tools/demo.sh [RALPH]
#
# RALPH is the program to show, bin/ralph if none is given. Works with and without a terminal.
set -eu

program=${1:-bin/ralph}
bin=$(CDPATH='' cd -- "$(dirname -- "$program")" && pwd)
scratch=$(mktemp -d)

cleanup() {
	status=$?
	trap - EXIT INT TERM
	# A loop that is still alive here was left by an error or by ctrl-c.
	if [ -d "$scratch/project/.ralph/demo" ]; then
		(cd "$scratch/project" && ralph kill demo) >/dev/null 2>&1 || :
	fi
	rm -rf "$scratch"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }
run() {
	say "$@"
	"$@"
}

PATH=$bin:$PATH
RALPH_HOME=$scratch/home
export PATH RALPH_HOME
# Variables of the person's own shell are about another loop.
unset RALPH_LOOP RALPH_LOOP_DIR RALPH_ITERATION TASK_FOLDER

mkdir "$scratch/project"
cd "$scratch/project"
git -c init.defaultBranch=main init -q .
git -c user.name=demo -c user.email=demo@localhost commit -q --allow-empty -m 'Begin'

run ralph start demo --detach --agent 'ralph rehearse demo' --protocol rehearsal \
	-p 'Make a greeting script, test it, and describe it.'
run ralph attach demo
run ralph status demo
run ralph journal verify demo

# The loop has to be proved done, not only to have ended.
case $(ralph status demo --json | grep -Eo '"status": *"[a-z]*"' | head -n 1 | cut -d '"' -f 4) in
completed) ;;
stopped | failed | '')
	echo 'demo: error: the loop did not complete' >&2
	exit 1
	;;
*) echo 'demo: left before it was done; the loop is ended with its folder' ;;
esac

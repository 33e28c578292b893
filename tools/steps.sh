# Steps with a time limit, a log and a line in a summary; for scripts that name CI_LOGS, or a folder of their own.

logs=${CI_LOGS:-$(mktemp -d)}
mkdir -p "$logs"
summary=()

# step NAME SECONDS COMMAND… runs a command, prints and keeps its output, and returns its status: 124
# or 137 where the time was over.
step() {
	local name=$1 seconds=$2 start=$SECONDS status result
	shift 2
	printf '\n== %s: %s\n' "$name" "$*"
	# A step gets its own process group from timeout, so that nothing it started outlives its limit.
	timeout --kill-after=20s "$seconds" "$@" </dev/null 2>&1 | tee "$logs/$name.log"
	status=${PIPESTATUS[0]}
	case $status in
	0) result=passed ;;
	124 | 137) result="not done after $seconds s" ;;
	*) result="FAILED: exit $status from $*" ;;
	esac
	summary+=("$(printf '%-14s %5d s  %s' "$name" $((SECONDS - start)) "$result")")
	return "$status"
}

# excerpt NAME prints what a step's log says of its failure, and its end.
excerpt() {
	printf '\n== %s failed; the end of its log:\n' "$1"
	grep -E '(^|[[:space:]])(--- FAIL|FAIL|panic:|error:|Error:|DATA RACE)' "$logs/$1.log" | head -n 20
	printf '   …\n'
	tail -n 30 "$logs/$1.log"
}

# finish WORD prints the summary, and exits with 0 if the word is "passed".
finish() {
	printf '\n== summary\n'
	printf '%s\n' "${summary[@]}"
	printf '%-14s %5d s in all; logs in %s\n' "$1" "$SECONDS" "$logs"
	[ "$1" = passed ]
	exit
}

#!/bin/bash
# Plays the failure tests of a pool, which docs/past-one-machine.md lists, and prints what each has
# counted. One that finds a fault does not end the run. The exit code is 1 if one did.
#
#	tools/failures.sh [NUMBER…]
#
# Without numbers, all of them are played: half an hour on two cores.
set -uo pipefail
cd "$(dirname "$0")/.."

wanted=" ${*:-1 2 3 4 5 6 7 8 9 10 11} " failed=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# failure NUMBER COMMAND… plays a test, if it is wanted: its log has a line for each count.
failure() {
	local number=$1 start=$SECONDS
	shift
	[[ $wanted == *" $number "* ]] || return 0
	printf '\n%s: %s\n' "$number" "$*"
	if "$@" </dev/null >"$log" 2>&1; then
		sed -nE 's/^ +[a-z0-9_]+_test\.go:[0-9]+: (.*)/  \1/p' "$log" | cut -c 1-600 | tail -n 30
		echo "  $(grep -c -- '--- PASS' "$log") tests and parts of tests passed"
		grep -q -- '--- PASS' "$log" || failed+=("$number")
	else
		tail -n 60 "$log"
		failed+=("$number")
	fi
	printf '%s: %d s\n' "$number" $((SECONDS - start))
}

# pool TESTS PACKAGE… [-args ARGUMENT…] runs tests of the module pool.
pool() {
	local tests=$1
	shift
	"${GO:-go}" -C pool test -count=1 -v -timeout 60m -run "^($tests)\$" "$@"
}

failure 1 pool 'TestKilledMirrorGoesOn|TestKilledWorkerGoesOn|TestKilledTakeOverGoesOn|TestEachWriteMayFail' ./mirror ./worker ./takeover ./schedule
failure 1 "${GO:-go}" test -trimpath -count=1 -v -run TestSoak ./cmd/ralph -args -soak.seconds=30
failure 2 pool 'TestStoppedHostIsFenced|TestNight' ./mirror ./night
failure 3 make test-network
failure 4 pool 'TestContract|Test.*Answer.*|TestBusyServerIsWaitedFor|TestUnknownOutcomeIsNotHidden|TestTruncatedBodiesAreErrors|TestOwnSuccessIsNoRefusal|TestMirrorFindsItsLostAnswer' ./store/... ./mirror/decide
failure 5 pool 'TestProbe.*|TestBrokenEnginesAreFound|TestHistoriesFindDefects' ./store/...
failure 6 pool 'TestBitFlipsAreFound|TestDamage.*' ./mirror ./check ./store/... ./takeover
failure 7 make power-store
failure 8 pool TestHostIsGone ./takeover
failure 9 pool 'TestWrongClocks|TestNight' ./takeover ./night
failure 10 pool TestNightOfKills ./worker -args -loops=1000 -kills=200
failure 11 pool TestNewerChunkIsRefused ./check
failure 11 "${GO:-go}" test -trimpath -count=1 -v -run 'TestScript/ssh' ./cmd/ralph

if [ ${#failed[@]} -gt 0 ]; then
	printf '\nfaults in: %s\n' "${failed[*]}"
	exit 1
fi

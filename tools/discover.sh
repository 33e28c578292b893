#!/bin/bash
# Looks for faults that no test knows yet: with chance, with load, with real agents, for hours. The
# gate (.ci/run) has none of that.
#
#	tools/discover.sh [MINUTES] [SEED]
#
# Without MINUTES each part is played in full, which takes seven hours on two cores.
# With fewer, the parts take turns: SEED says which one is first and what is drawn, and the next SEED
# begins with the next part. A fault does not end the run. The exit code is 1 if there was one.
#
# What was found belongs into testdata, from where the gate runs it. Inputs of fuzz targets and of
# property tests are written there at once, and so are seeds of the simulation; the summary lists
# them. For the other parts the log says how to repeat it: mend it with a story or a test.
set -uo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-} seed=${2:-}
seed=${seed:-$(date +%j | sed 's/^0*//')}
if ! [[ $minutes =~ ^[0-9]*$ && $seed =~ ^[1-9][0-9]*$ ]]; then
	echo "discover: error: MINUTES and SEED are whole numbers, SEED from 1 on" >&2
	exit 2
fi
export RALPH_TEST_SEED=$seed
export RALPH_TEST_AGENTS=${RALPH_TEST_AGENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/ralph-test-agents}
. tools/steps.sh

# The parts, and how many minutes each takes in full.
parts=(fuzz:25 agents:20 soak:5 race:20 long:5 strength:10 power:10 power-store:8 sim:15 night:7 stores:15 network:10 failures:10 demo-pool:4 image:6 release:3 packages:6 reproducible:10 manifests:10 kubernetes:30 workers:40 lost:25 durability:6 interface:5 neighbours:60 mutate:10 floors:8 scale:6 experiment:5)
found=() unfinished=()

# part NAME SECONDS plays a part. Those that could go on for ever end within the time.
part() {
	local targets
	case $1 in
	fuzz)
		targets=$(grep -rhE --include='*_test.go' '^func Fuzz' . | wc -l)
		# Building a target, and trying what is in testdata, takes some seconds.
		step fuzz "$2" make fuzz FUZZTIME=$(($2 / targets > 15 ? $2 / targets - 10 : 5))s
		;;
	agents) step agents "$2" make test-agents ;;
	soak) step soak "$2" make soak SOAK=$(($2 > 90 ? $2 - 60 : 30)) SEED="$seed" ;;
	race) step race "$2" make race-all ;;
	long) step long "$2" make long ;;
	strength) step strength "$2" make strength PART=1 ;;
	power) step power "$2" make power CUTS=$(($2 / 2)) SEED="$seed" ;;
	power-store) step power-store "$2" make power-store CUTS=$(($2 / 8)) SEED="$seed" ;;
	sim) step sim "$2" make sim SEEDS=$(($2 > 600 ? 10000 : 2000)) FIRST=$((seed * 10000)) ;;
	night) step night "$2" make night SEEDS=$(($2 > 400 ? 10000 : 2000)) FIRST=$((seed * 10000)) ;;
	stores) step stores "$2" make test-stores HISTORIES=$(($2 > 600 ? 100 : 20)) SEED="$seed" ;;
	workers) step workers "$2" make workers LOOPS=$(($2 > 2000 ? 1000 : 200)) KILLS=$(($2 > 2000 ? 200 : 40)) ;;
	network) step network "$2" make test-network ROUNDS=$(($2 / 60)) SEED="$seed" ;;
	failures) step failures "$2" make failures ONLY='1 2 4 5 6 8 9 11' ;; # power-store, network and workers are the others
	demo-pool) step demo-pool "$2" make demo-pool ;;
	image) step image "$2" make test-image ;;
	release) step release "$2" make test-release ;;
	packages) step packages "$2" make test-packages ;;
	reproducible) step reproducible "$2" make reproducible ;;
	manifests) step manifests "$2" make test-manifests ;;
	kubernetes) step kubernetes "$2" make test-kubernetes ;;
	lost) step lost "$2" make lost SEQUENCES=$(($2 > 1200 ? 2000 : $2)) SEED="$seed" ;;
	durability) step durability "$2" make mutate-durability ;;
	interface) step interface "$2" make interface ;;
	neighbours) step neighbours "$2" make neighbours ;;
	mutate) step mutate "$2" make mutate-sample WITHIN=$(($2 > 180 ? $2 - 120 : 60))s SEED="$seed" ;;
	floors) step floors "$2" make floors ;;
	experiment) step experiment "$2" make bench-loop OUT="$logs/experiment" MINUTES=$(($2 > 180 ? ($2 - 120) / 60 : 1)) ;;
	scale) step scale "$2" make scale AT_ONCE=100 ITERATIONS=50 HISTORY=256 ;;
	esac
}

# keep writes the seed of a simulation that failed where the tests play it again.
keep() {
	local file=internal/core/loop/testdata/sim/found_by_discovery.txt
	sed -nE 's/.*-sim\.seed=([0-9]+) -sim\.edition=([0-9]+).*/edition \2, seed \1/p' "$logs/sim.log" | sort -u >>"$file"
	[ -s "$file" ] || rm -f "$file"
}

full=0
for p in "${parts[@]}"; do full=$((full + ${p#*:})); done
end=$((${minutes:-$full} * 60))
before=$(git status --porcelain -- '*testdata*')
for ((i = 0; i < ${#parts[@]}; i++)); do
	p=${parts[(seed + i) % ${#parts[@]}]}
	left=$((end - SECONDS)) wanted=$((${p#*:} * 60))
	if [ "$left" -lt 60 ]; then
		summary+=("$(printf '%-14s          not begun: its turn is with another SEED' "${p%%:*}")")
		unfinished+=("${p%%:*}")
		continue
	fi
	part "${p%%:*}" $((left < wanted ? left : wanted))
	case $? in
	0) ;;
	124 | 137) unfinished+=("${p%%:*}") ;;
	*)
		excerpt "${p%%:*}"
		found+=("${p%%:*}")
		;;
	esac
	[ "${p%%:*}" != sim ] || keep
done
new=$(comm -13 <(sort <<<"$before") <(git status --porcelain -- '*testdata*' | sort))
printf '\nseed %s; ' "$seed"
[ -z "$new" ] || printf 'new in testdata, to be committed with the mend:\n%s\n' "$new"
if [ ${#found[@]} -gt 0 ]; then
	echo "faults in: ${found[*]}"
	finish FAILED
fi
if [ ${#unfinished[@]} -gt 0 ]; then
	echo "no fault was found, but these were not played to their end: ${unfinished[*]}"
else
	echo 'no fault was found'
fi
finish passed

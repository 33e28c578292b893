# A host of a pool in one container: a mirror and a worker, which gets the arguments. What they share
# is files, locks and processes, so neither may live without the other.
set -u
mkdir -p "$HOME" "$RALPH_HOME"
# The files of a Secret are links. ralph follows none out of its home for pool.json, so this one is
# copied. A key that is added to pool.trust counts in pods that run.
[ ! -e "$RALPH_POD_POOL/pool.json" ] || cp -f "$RALPH_POD_POOL/pool.json" "$RALPH_HOME/pool.json"
[ ! -e "$RALPH_POD_POOL/pool.trust" ] || ln -sf "$RALPH_POD_POOL/pool.trust" "$RALPH_HOME/pool.trust"

# A mirror that dies is started again: it goes on where the store says that it was.
mirror() {
	child=
	trap 'kill "$child" 2>/dev/null; wait "$child"; exit' TERM
	while :; do
		ralph-pool mirror &
		child=$!
		wait "$child"
		sleep 1
	done
}
mirror &
mirror=$!

ralph-pool worker "$@" &
worker=$!
ending=
trap 'ending=1; kill "$worker" 2>/dev/null' TERM INT
while :; do
	wait "$worker"
	code=$?
	kill -0 "$worker" 2>/dev/null || break
done
trap '' TERM INT

# The worker claims nothing more. Loops may end within the time; another host takes the rest over.
# That is no success, so that a Job goes on with its loop.
if [ -n "$ending" ]; then
	timeout "$RALPH_POD_DRAIN" ralph-pool worker --drain
	code=143
fi
kill "$mirror"
wait "$mirror"
timeout "$RALPH_POD_LAST" ralph-pool mirror --once
exit "$code"

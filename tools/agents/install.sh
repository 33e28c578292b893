#!/bin/sh
# Installs the real agents, at the versions of package.json beside this file, for the tests marked
# "realagents". Needs Node 20 or newer with npm on PATH, about 1.4 GB of disk and one to two minutes.
#
#	tools/agents/install.sh [FOLDER]
#
# FOLDER is $RALPH_TEST_AGENTS or, without it, .agents at the root of the repository; the tests look in
# the same two places. FOLDER/bin then holds `pi`, `claude` and `codex`, ready to be put first on PATH, and in old/ a `codex` whose
# app-server is too old for ralph.
# A second call sees that nothing changed and ends at once.
set -eu

say() { printf 'agents: %s\n' "$*"; }
fail() {
	printf 'agents: error: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf 'agents: hint: %s\n' "$2" >&2
	exit 1
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
dest=${1:-${RALPH_TEST_AGENTS:-$(dirname -- "$(dirname -- "$here")")/.agents}}
started=$(date +%s)

pinned() { sed -n "s|^ *\"$1\": \"\([0-9][^\"]*\)\".*|\1|p" "$here/package.json"; }
claude_version=$(pinned @anthropic-ai/claude-code)
pi_version=$(pinned @earendil-works/pi-coding-agent)
codex_version=$(pinned @openai/codex)
old_version=$(sed -n 's|.*"npm:@openai/codex@\([0-9.]*\)".*|\1|p' "$here/package.json")
node_version=$(pinned node)

# The stamp is written last, so it is there only after a complete installation of these very versions on
# this kind of machine.
stamp() {
	uname -sm
	cat "$here/install.sh" "$here/package.json"
}
if [ -x "$dest/bin/pi" ] && [ -x "$dest/bin/claude" ] && [ -x "$dest/bin/codex" ] && stamp | cmp -s - "$dest/installed"; then
	say "pi $pi_version, claude $claude_version and codex $codex_version are in $dest/bin already"
	exit 0
fi

command -v npm >/dev/null || fail "npm is not on PATH" "install Node 20 or newer"

mkdir -p "$dest/bin/old"
dest=$(CDPATH='' cd -- "$dest" && pwd)
rm -f "$dest/installed"
cp "$here/package.json" "$dest/package.json"

say "installing claude $claude_version, codex $codex_version, pi $pi_version and node $node_version into $dest (about 1.4 GB)"

# npm shows no progress when its output is no terminal; a silent minute looks like a hang.
(while sleep 5 >/dev/null 2>&1; do say "  $(du -sm "$dest" 2>/dev/null | cut -f1) MB after $(($(date +%s) - started)) s"; done) &
ticker=$!
trap 'kill $ticker 2>/dev/null || :' EXIT
trap 'exit 130' INT TERM

# Versions come from package.json alone: a lock file would name the registry it was made from.
# engine-strict stays off because the agents run on the Node installed with them, not on the one that
# runs npm; loglevel=error hides npm's warnings about just that.
npm install --prefix "$dest" --no-package-lock --no-audit --no-fund --engine-strict=false --loglevel=error ||
	fail "npm install ended with an error" "run it again: what is downloaded already is kept"
kill $ticker 2>/dev/null || :
trap - EXIT

# pi starts with "env node" and needs Node 22.19 or newer; so do the node programs it starts.
cat >"$dest/bin/pi" <<'EOF'
#!/bin/sh
root=$(CDPATH='' cd -P -- "$(dirname -- "$0")/.." && pwd)
PATH=$root/node_modules/node/bin:$PATH
export PATH
exec "$root/node_modules/.bin/pi" "$@"
EOF
# claude is a native program: only its place has to be known.
cat >"$dest/bin/claude" <<'EOF'
#!/bin/sh
root=$(CDPATH='' cd -P -- "$(dirname -- "$0")/.." && pwd)
exec "$root/node_modules/.bin/claude" "$@"
EOF
chmod 755 "$dest/bin/pi" "$dest/bin/claude"
# codex is npm's link: through it ralph finds the native program, which a script would hide.
ln -sf ../node_modules/@openai/codex/bin/codex.js "$dest/bin/codex"
ln -sf ../../node_modules/codex-old/bin/codex.js "$dest/bin/old/codex"

# npm may take an older version that fits the running Node, or leave out an optional platform package,
# without an error: ask the programs themselves.
check() {
	got=$("$dest/bin/$1" --version 2>&1) || fail "$1 does not start: $got"
	case "$got" in
	"$2" | "$2 "*) say "$1 $2 runs" ;;
	*) fail "$1 says it is '$got', not $2" "remove $dest and run this again" ;;
	esac
}
check claude "$claude_version"
check pi "$pi_version"
check codex "codex-cli $codex_version"
check old/codex "codex-cli $old_version"

stamp >"$dest/installed"
say "done in $(($(date +%s) - started)) s; $(du -sm "$dest" | cut -f1) MB; put $dest/bin first on PATH"

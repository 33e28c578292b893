#!/bin/sh
# Installs the real agents that speak the Agent Client Protocol, at the versions of package.json beside this file, for the
# tests marked "realagents": about 900 MB and one to two minutes. Run ../install.sh first: they run on the Node that it installs.
#
#	tools/agents/acp/install.sh [FOLDER]
#
# FOLDER is as for ../install.sh. FOLDER/bin then holds `opencode`, `gemini`, `copilot` and `qwen` as well, and what speaks ACP for
# the agents of ../install.sh: `claude-agent-acp`, `codex-acp` and `pi-acp`, at the versions of bridges/package.json.
# A second call sees that nothing changed and ends at once.
set -eu

say() { printf 'agents: %s\n' "$*"; }
fail() {
	printf 'agents: error: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf 'agents: hint: %s\n' "$2" >&2
	exit 1
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
dest=${1:-${RALPH_TEST_AGENTS:-$(dirname -- "$(dirname -- "$(dirname -- "$here")")")/.agents}}
[ -x "$dest/node_modules/node/bin/node" ] || fail "no Node in $dest" "run tools/agents/install.sh first"
dest=$(CDPATH='' cd -- "$dest" && pwd)
mkdir -p "$dest/acp" "$dest/bin"

# The stamp is written last, so it is there only after a complete installation of these very versions on
# this kind of machine.
stamp() {
	uname -sm
	cat "$here/install.sh" "$here/package.json" "$here/bridges/package.json"
}
if stamp | cmp -s - "$dest/acp/installed"; then
	say "the agents that speak ACP are in $dest/bin already"
	exit 0
fi
rm -f "$dest/acp/installed"
cp "$here/package.json" "$dest/acp/package.json"

say "installing opencode, gemini, copilot and qwen into $dest/acp (about 800 MB)"
npm install --prefix "$dest/acp" --no-package-lock --no-audit --no-fund --engine-strict=false --loglevel=error ||
	fail "npm install ended with an error" "run it again: what is downloaded already is kept"

# npm may take an older version that fits the running Node, or leave out an optional platform package,
# without an error: ask the programs themselves.
for agent in opencode gemini copilot qwen; do
	cat >"$dest/bin/$agent" <<EOF
#!/bin/sh
root=\$(CDPATH='' cd -P -- "\$(dirname -- "\$0")/.." && pwd)
PATH=\$root/node_modules/node/bin:\$PATH
export PATH
exec "\$root/acp/node_modules/.bin/$agent" "\$@"
EOF
	chmod 755 "$dest/bin/$agent"
	got=$("$dest/bin/$agent" --version 2>&1) || fail "$agent does not start: $got"
	# Copilot may say first how long it took to unpack itself.
	version=$(printf '%s\n' "$got" | grep -oE '[0-9]+(\.[0-9]+){2,}' | head -n 1)
	grep -q "\"[^\"]*$agent[^\"]*\": \"$version\"" "$here/package.json" ||
		fail "$agent says it is '$got', which is not the version asked for" "remove $dest/acp and run this again"
	say "$agent $version runs"
done

# The bridges' optional packages contain claude and codex, another 700 MB: they get the installed ones.
say "installing claude-agent-acp, codex-acp and pi-acp into $dest/bridges (about 90 MB)"
mkdir -p "$dest/bridges"
cp "$here/bridges/package.json" "$dest/bridges/package.json"
npm install --prefix "$dest/bridges" --omit=optional --no-package-lock --no-audit --no-fund --engine-strict=false --loglevel=error ||
	fail "npm install ended with an error" "run it again: what is downloaded already is kept"
for package in @agentclientprotocol/claude-agent-acp @agentclientprotocol/codex-acp pi-acp; do
	bridge=${package#*/}
	cat >"$dest/bin/$bridge" <<EOF
#!/bin/sh
root=\$(CDPATH='' cd -P -- "\$(dirname -- "\$0")/.." && pwd)
PATH=\$root/bin:\$root/node_modules/node/bin:\$PATH
: "\${CLAUDE_CODE_EXECUTABLE:=\$root/bin/claude}" "\${CODEX_PATH:=\$root/bin/codex}"
export PATH CLAUDE_CODE_EXECUTABLE CODEX_PATH
exec "\$root/bridges/node_modules/.bin/$bridge" "\$@"
EOF
	chmod 755 "$dest/bin/$bridge"
	version=$(sed -n 's/^  "version": "\(.*\)",*$/\1/p' "$dest/bridges/node_modules/$package/package.json")
	grep -q "\"$package\": \"$version\"" "$here/bridges/package.json" ||
		fail "$bridge is '$version', which is not the version asked for" "remove $dest/bridges and run this again"
	say "$bridge $version is there"
done

stamp >"$dest/acp/installed"
say "done; put $dest/bin first on PATH"

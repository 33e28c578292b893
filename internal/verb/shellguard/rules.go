package shellguard

import (
	"strings"
	"sync"
)

// fill fills the tables at the first use: most processes of the program judge no command. The
// tables cannot be literals, because their functions use them.
var fill = sync.OnceFunc(func() {
	systemFolders = words2set(systemNames)
	harmlessPrograms = words2set(harmlessNames)
	languages = words2set(languageNames)
	fillRules()
	fillRunners()
	fillPrinters()
})

// A judge reports what is dangerous about a simple command.
type judge func(*command)

// rules are the judges of commands by name. See [fill].
var rules map[string]judge

// judges are the rules that are code. See [groups] for the others.
func judges() []struct {
	names string
	judge judge
} {
	return []struct {
		names string
		judge judge
	}{
		{"rm unlink rmdir srm trash", judgeRemove},
		{"shred wipe scrub", judgeShred},
		{"mv git-mv", judgeMove},
		{"cp install ln", judgeCopy},
		{"truncate touch", judgeTruncate},
		{"dd", judgeDD},
		{"sed gsed", judgeSed},
		{"rsync", judgeRsync},
		{"scp", judgeSCP},
		{"zip", judgeZip},
		{"make gmake", judgeMake},
		{"chmod chown chgrp setfacl icacls", judgePermissions},
		{"bat more nl tac strings xxd od hexdump hd sort uniq cut paste fold rev head tail " +
			"view nano emacs pr column jq yq diff comm zip 7z 7za gzip bzip2 xz bzcat iconv fmt cat base64 base32 less vim vi nvim ex", judgeReader},
		{"less more man vim vi nvim ex", judgePager},
		{"tar", judgeTar},
		{"grep egrep fgrep rg ag ack zgrep", judgeGrep},
		{"awk gawk mawk", judgeAwk},
		{"curl wget aria2c http https xh fetch", judgeTransfer},
		{"nc ncat netcat telnet openssl cryptcat", judgeSocket},
		{"mail mailx sendmail mutt", judgeMail},
		{"dig nslookup host ping", judgeLookup},
		{"kubectl oc k", judgeKubectl},
		{"psql mysql mariadb mongosh mongo sqlite3 sqlcmd cqlsh clickhouse-client duckdb usql pgcli mycli cockroach bq influx", judgeSQL},
		{"kill", judgeKill},
		{"at batch", judgeAt},
		{"apply_patch applypatch", judgePatch},
		{"test [ [[ : true false uuencode sz", func(*command) {}},
		{"git-reset", gitReset}, {"git-clean", gitClean}, {"git-checkout git-restore git-switch", gitDiscard},
		{"git-stash", gitStash}, {"git-config", gitConfig},
		{"git-push git-clone git-fetch git-pull git-ls-remote git-remote", gitRemote}, {"git-submodule", gitForeach}, {"git-bisect", gitBisect},
		{"git-rm", gitRemove}, {"docker-run docker-create", judgeMounts},
		{"git-diff git-show git-archive", gitShows},
	}
}

func fillRules() {
	rules = map[string]judge{}
	add := func(names string, judge judge) {
		for _, name := range strings.Fields(names) {
			if before := rules[name]; before != nil {
				rules[name] = func(c *command) { before(c); judge(c) }
				continue
			}
			rules[name] = judge
		}
	}
	for _, row := range judges() {
		add(row.names, row.judge)
	}
	for _, row := range textRows {
		add(row.names, func(c *command) { judgeTexts(c, strings.Fields(row.options), row.parts) })
	}
	for i := range groups {
		for _, row := range groups[i].rows {
			add(row.names, groups[i].rule(row).judge)
		}
	}
}

package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// judgeKubectl judges what is changed in a cluster, and what runs in it.
func judgeKubectl(c *command) {
	if i := slices.Index(c.args, "--"); i > 0 && slices.Contains(c.args[:i], "exec") {
		inner := c.fork()
		inner.dir = ""
		inner.simple(c.args[i+1:], c.in)
		return
	}
	o := c.options("n", "namespace", "context", "kubeconfig", "f", "filename", "l", "o", "c", "output")
	if len(o.operands) == 0 || c.hasWord(strings.Split(looks, "|")...) {
		return
	}
	switch verb := o.operands[0]; {
	case verb == "rollout" && (slices.Contains(o.operands, "status") || slices.Contains(o.operands, "history")):
	case words2set("delete drain cordon apply replace patch scale rollout edit annotate taint evict create set")[verb]:
		c.deny(Cloud, "it changes or removes what runs in a cluster. Write the manifests and let the person apply them.")
	case verb == "get" && len(o.operands) > 1 && strings.HasPrefix(o.operands[1], "secret") && !words2set("name wide")[strings.Join(append(o.of("o", "output"), "name")[:1], "")],
		verb == "config" && c.hasWord("--raw"):
		c.deny(Credentials, "it prints the secrets of a cluster. Use them where they are.")
	}
}

var (
	sqlLoss   = units.Pattern(`(?is)\b(drop\s+(database|schema|table|keyspace|index|user|role|tablespace|view|collection)|truncate\s+(table\s+)?["\x60\w.]+|alter\s+table\s+\S+\s+drop|dropdatabase\s*\(|\.drop\s*\(\s*\)|deletemany\s*\(\s*\{\s*\}|drop\s+owned|reset\s+master|dropAllUsers)`)
	sqlDelete = units.Pattern(`(?is)\bdelete\s+from\s+[^;]*`)
	sqlUpdate = units.Pattern(`(?is)\bupdate\s+\S+\s+set\s+[^;]*`)
	sqlWhere  = units.Pattern(`(?is)\b(where|limit|using)\b`)
	// Statements of a database for tests that reach beyond its tables.
	beyondTables = units.Pattern(`(?is)\b(attach|copy|database|keyspace|owned|user|role|tablespace|master|dropdatabase|dropAllUsers|system|shell|connect|use)\b|\\`)
	scratchName  = units.Pattern(`(?i)(^|[^a-z])(test|tests|testing|tmp|temp|scratch)([^a-z]|$)`)

	sqlShell = units.Pattern(`(?is)(\\!\s*|copy\s+.*\bto\s+program\s+'|copy\s+.*\bfrom\s+program\s+'|\bsystem\s+|\.shell\s+|\.system\s+)([^']*)`)
)

// judgeSQL judges the statements that a client of a database gets.
func judgeSQL(c *command) {
	o := c.options("c", "e", "d", "h", "U", "p", "u", "P", "f", "H", "q", "Q", "command", "execute", "eval", "host", "port", "username", "dbname", "query", "D", "S", "cmd")
	texts := append(o.of("c", "e", "q", "Q", "command", "execute", "eval", "query", "cmd"), o.operands...)
	if c.in.given {
		texts = append(texts, c.orders())
	}
	if slices.ContainsFunc(o.operands, func(w string) bool { return w == ":memory:" || c.place(w) == inTemp && strings.Contains(w, "/") }) && c.name == "sqlite3" {
		return
	}
	dbs := append(o.of("d", "D", "dbname"), o.operands[:min(1, len(o.operands))]...)
	if slices.ContainsFunc(dbs, isScratch) && !slices.ContainsFunc(texts, beyondTables().MatchString) {
		return
	}
	for _, text := range texts {
		c.statements(text)
	}
}

// isScratch reports whether a database is for tests by its name, such as test.db or app_test.
func isScratch(db string) bool {
	return scratchName().MatchString(path.Base(db)) && !strings.ContainsAny(db, " \t\n"+unknowns)
}

// statements judges statements of SQL and of MongoDB's shell.
func (c *command) statements(text string) {
	if m := sqlLoss().FindString(text); m != "" {
		c.deny(Database, "\""+strings.Join(strings.Fields(m), " ")+"\" destroys data. Write a migration, or use a database of your own for tests.")
	}
	for _, statement := range append(sqlDelete().FindAllString(text, 8), sqlUpdate().FindAllString(text, 8)...) {
		if !sqlWhere().MatchString(statement) {
			c.deny(Database, "without WHERE it changes or removes all rows. Name the rows, or use a database of your own for tests.")
		}
	}
	if m := sqlShell().FindStringSubmatch(text); m != nil && c.name != "mongosh" && c.name != "mongo" {
		c.nested(m[2], nil, input{})
	}
}

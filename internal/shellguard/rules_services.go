package shellguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/units"
)

// publishVerbs are the words by which programs publish, separated by commas. A verb may be several
// words.
var publishVerbs = map[string]string{
	"npm": "publish,unpublish,deprecate,dist-tag add,access,owner add,token create", "yarn": "publish,npm publish,npm tag add", "pnpm": "publish", "bun": "publish",
	"cargo": "publish,yank,owner,release", "twine": "upload", "twine3": "upload", "poetry": "publish", "uv": "publish", "hatch": "publish", "flit": "publish", "gem": "push,yank,owner",
	"mvn": "deploy,release:perform,nexus-staging:release", "mvnw": "deploy,release:perform", "gradle": "publish,publishPlugins,uploadArchives,publishToSonatype,closeAndReleaseRepository,publishAllPublicationsToMavenRepository",
	"gradlew": "publish,publishPlugins,uploadArchives,publishToSonatype", "dotnet": "nuget push,nuget delete", "nuget": "push,delete", "helm": "push,cm-push",
	"docker": "push,image push,manifest push,compose push", "podman": "push,image push,manifest push", "vsce": "publish,unpublish", "ovsx": "publish", "goreleaser": "release", "lerna": "publish",
	"nx": "release,release publish", "semantic-release": "", "pod": "trunk push,repo push", "dart": "pub publish", "flutter": "pub publish", "hex": "publish",
	"mix": "hex.publish", "jsr": "publish", "deno": "publish", "crane": "push,copy,delete", "skopeo": "copy,delete,sync", "changeset": "publish", "np": "", "release-it": "",
	"setup": "upload", "luarocks": "upload", "anaconda": "upload", "cpan-upload": "", "sbt": "publish,publishSigned", "lein": "deploy", "stack": "upload", "cabal": "upload",
	"opam": "publish", "charmcraft": "upload,release", "snapcraft": "upload,push,release", "rush": "publish", "oras": "push", "cosign": "sign", "ansible-galaxy": "collection publish,role import", "gh": "release create,release upload,release edit,gist create,workflow run",
	"glab": "release create,release upload,snippet create", "nerdctl": "push",
}

func judgePublish(c *command) {
	if c.hasWord("--dry-run", "--dryrun", "-n", "--help", "--snapshot", "--skip=publish", "--skip-publish") {
		return
	}
	verbs, ok := publishVerbs[c.name]
	if !ok {
		return
	}
	if verbs == "" || c.verbIs(verbs) {
		c.deny(Publish, "it publishes for others, and that cannot be taken back. Prepare the release and let the person publish it.")
	}
}

// verbIs reports whether the words of a command that are no options begin with one of the verbs.
func (c *command) verbIs(verbs string) bool {
	o := c.options("prefix", "C", "cwd", "dir", "workspace", "w", "filter", "F", "manifest-path", "p", "package", "directory", "D", "R", "repo")
	all := strings.Join(o.operands, " ") + " "
	for _, verb := range strings.Split(verbs, ",") {
		if verb = strings.TrimSpace(verb); strings.HasPrefix(all, verb+" ") {
			return true
		}
	}
	// mvn clean deploy, gradle build publish: any word is a verb of its own.
	return words2set("mvn mvnw gradle gradlew sbt setup")[c.name] && slices.ContainsFunc(c.subcommand(), func(w string) bool {
		return slices.Contains(strings.Split(verbs, ","), w[strings.LastIndexByte(w, ':')+1:]) || slices.Contains(strings.Split(verbs, ","), w)
	})
}

// cloudVerbs are the words by which programs remove or change what runs elsewhere. Each is a
// pattern for one word of the command.
var cloudVerbs map[string]func() *regexp.Regexp

// cloudWords lists them as one pattern for each group of programs.
var cloudWords = []struct{ names, pattern string }{
	{"aws", `(delete|terminate|remove|deregister|purge|disable|revoke|detach|stop|put-bucket-policy|schedule-key-deletion|reboot|cancel)(-.*)?|rb|rm|create-access-key|create-user|attach-user-policy|put-bucket-acl|modify-.*`},
	{"gcloud gsutil bq", `delete|remove|rm|rb|destroy|disable|reset|stop|remove-iam-policy-binding|add-iam-policy-binding|setIamPolicy|deploy`},
	{"az", `delete|purge|remove|deallocate|stop|restart|revoke`},
	{"terraform tofu terragrunt", `destroy|apply|taint|state-rm|force-unlock|import|apply-all|destroy-all|run-all`},
	{"pulumi", `destroy|up|rm|cancel`},
	{"kubectl oc k", `delete|drain|cordon|apply|replace|patch|scale|rollout|edit|annotate|taint|evict|create|set`},
	{"helm helmfile", `uninstall|delete|rollback|upgrade|install|destroy|apply|sync`},
	{"eksctl kops", `delete|drain|create|upgrade`},
	{"heroku", `.*:(destroy|delete|remove|reset|kill|stop|unset|transfer|restart)|destroy`},
	{"fly flyctl", `destroy|delete|remove|deploy|suspend|restart|unset|detach`},
	{"vercel netlify", `rm|remove|delete|.*:delete|deploy|--prod|promote|rollback`},
	{"firebase", `.*:(delete|remove|disable)|deploy|delete`},
	{"supabase railway render amplify copilot", `delete|down|remove|reset|push|deploy|up`},
	{"doctl linode-cli hcloud vultr-cli scw ovhcloud openstack oci ibmcloud cf rancher", `delete|destroy|remove|rm|rebuild|reset|poweroff|power-off|shutdown|terminate|delete-.*`},
	{"cdk serverless sls sam eb wrangler", `destroy|remove|delete|deploy|terminate|rollback`},
	{"gh", `delete|archive|transfer|remove`},
	{"glab", `delete|archive|transfer`},
	{"s3cmd mc", `rb|rm|del|rmdir|--recursive-delete`},
	{"nomad consul", `stop|purge|delete|force-leave|drain`},
	{"argocd flux crossplane", `delete|sync|rollback|uninstall|suspend`},
	{"minikube", `never`},
}

func fillCloudVerbs() {
	cloudVerbs = map[string]func() *regexp.Regexp{}
	for _, row := range cloudWords {
		pattern := units.Pattern(`^(?:` + row.pattern + `)$`)
		for _, name := range strings.Fields(row.names) {
			cloudVerbs[name] = pattern
		}
	}
}

func judgeCloud(c *command) {
	lazy := cloudVerbs[c.name]
	if lazy == nil || c.hasWord("--help", "-h", "--dry-run", "--dry-run=client", "--dry-run=server", "--dryrun", "help", "-dry-run") {
		return
	}
	pattern := lazy()
	words := c.subcommand()
	all := strings.Join(words, " ")
	switch c.name {
	case "kubectl", "oc", "k":
		if i := slices.Index(c.args, "--"); i > 0 && slices.Contains(c.args[:i], "exec") {
			inner := c.fork()
			inner.dir = ""
			inner.simple(c.args[i+1:], c.in)
			return
		}
		if words := c.kubeVerb(); words != nil && pattern.MatchString(words[0]) && !(words[0] == "rollout" && slices.Contains(words, "status") || words[0] == "rollout" && slices.Contains(words, "history")) {
			c.deny(Cloud, "it changes or removes what runs in a cluster. Write the manifests and let the person apply them.")
		}
		c.kubeSecrets()
		return
	case "aws":
		c.awsSecrets(all)
		if strings.HasPrefix(all, "s3 rm") && c.isLocalEndpoint() {
			return
		}
		if strings.HasPrefix(all, "s3 cp") || strings.HasPrefix(all, "s3 sync") || strings.HasPrefix(all, "s3 mv") {
			if len(words) > 3 && strings.HasPrefix(words[3], "s3://") && !strings.HasPrefix(words[2], "s3://") {
				c.deny(Upload, "it copies files to a storage elsewhere. Leave that to the person.")
			}
			if c.hasWord("--delete") {
				c.deny(Cloud, "it removes files from a storage elsewhere. Leave that to the person.")
			}
			return
		}
	case "gcloud", "gsutil":
		if strings.HasPrefix(all, "auth print") || strings.HasPrefix(all, "auth application-default print") || strings.Contains(all, "secrets versions access") {
			c.deny(Credentials, "it prints credentials. Use the program that needs them, without printing them.")
		}
		if last := firstOf(words[max(0, len(words)-1):]); words2set("cp rsync mv")[firstOf(words)] && strings.HasPrefix(last, "gs://") || strings.HasPrefix(all, "storage cp") && strings.HasPrefix(last, "gs://") {
			c.deny(Upload, "it copies files to a storage elsewhere. Leave that to the person.")
		}
	case "az":
		if strings.Contains(all, "get-access-token") || strings.Contains(all, "keyvault secret show") || strings.Contains(all, "keys list") {
			c.deny(Credentials, "it prints credentials. Use the program that needs them, without printing them.")
		}
	case "gh", "glab":
		if strings.HasPrefix(all, "auth token") || strings.HasPrefix(all, "auth status") && c.hasWord("--show-token", "-t") {
			c.deny(Credentials, "it prints a token. gh uses it by itself.")
		}
		if firstOf(words) == "api" {
			if method := strings.ToUpper(strings.Join(c.options("X", "method", "f", "F", "H", "q", "jq", "t").of("X", "method"), "")); method == "DELETE" {
				c.deny(Cloud, "it removes something of the project elsewhere. Leave that to the person.")
			}
			return
		}
		if len(words) > 1 && words2set("repo release issue secret variable ssh-key gpg-key codespace cache run label ruleset project deploy-key")[words[0]] && pattern.MatchString(words[1]) {
			c.deny(Cloud, "it removes something of the project elsewhere. Leave that to the person.")
		}
		return
	case "terraform", "tofu", "terragrunt":
		if len(words) > 1 && words[0] == "state" && (words[1] == "rm" || words[1] == "push" || words[1] == "mv") || len(words) > 1 && words[0] == "workspace" && words[1] == "delete" {
			c.deny(Cloud, "it changes what is known of the infrastructure. Leave that to the person.")
		}
		words = words[:min(1, len(words))]
	case "helm", "pulumi", "helmfile", "vercel", "cdk", "serverless", "sls", "sam":
		words = words[:min(1, len(words))]
		if c.name == "vercel" && c.hasWord("--prod") {
			words = append(words, "--prod")
		}
	default:
		words = words[:min(4, len(words))]
	}
	if slices.ContainsFunc(words, func(word string) bool { return pattern.MatchString(word) }) {
		c.deny(Cloud, "it removes or changes what runs elsewhere. Prepare the change and let the person carry it out.")
	}
}

func (c *command) isLocalEndpoint() bool {
	for _, url := range c.options("endpoint-url").of("endpoint-url") {
		return isLocal(hostOf(url))
	}
	return false
}

func (c *command) kubeVerb() []string {
	if words := c.options("n", "namespace", "context", "kubeconfig", "f", "filename", "l", "o", "c").operands; len(words) > 0 {
		return words
	}
	return nil
}

func (c *command) kubeSecrets() {
	o := c.options("n", "namespace", "context", "kubeconfig", "f", "l", "o", "output")
	if len(o.operands) > 1 && o.operands[0] == "get" && (strings.HasPrefix(o.operands[1], "secret")) && len(o.of("o", "output")) > 0 && o.of("o", "output")[0] != "name" && o.of("o", "output")[0] != "wide" {
		c.deny(Credentials, "it prints the secrets of a cluster. Use them where they are.")
	}
	if strings.HasPrefix(strings.Join(o.operands, " "), "config view") && c.hasWord("--raw") {
		c.deny(Credentials, "it prints the credentials of clusters. kubectl uses them by itself.")
	}
}

func (c *command) awsSecrets(all string) {
	for _, verb := range []string{"secretsmanager get-secret-value", "configure get", "configure export-credentials", "sts get-session-token", "sts assume-role", "ecr get-login-password", "ssm get-parameter", "kms decrypt", "iam create-access-key"} {
		if strings.HasPrefix(all, verb) && (verb != "ssm get-parameter" || c.hasWord("--with-decryption")) {
			c.deny(Credentials, "it prints credentials. Use the program that needs them, without printing them.")
		}
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

// judgeDatabase judges tools that reset databases.
func judgeDatabase(c *command) {
	all := strings.ToLower(strings.Join(c.args, " ")) + " "
	harmful := false
	begins := func(verbs ...string) bool {
		words := strings.ToLower(strings.Join(c.subcommand(), " ")) + " "
		return slices.ContainsFunc(verbs, func(verb string) bool { return strings.HasPrefix(words, verb+" ") })
	}
	contains := func(verbs ...string) bool {
		return slices.ContainsFunc(verbs, func(verb string) bool { return strings.Contains(" "+all, " "+verb) })
	}
	switch c.name {
	case "dropdb", "dropuser":
		harmful = len(c.args) > 0 && !c.hasWord("--help")
	case "mysqladmin":
		harmful = contains("drop")
	case "redis-cli", "valkey-cli":
		text := all
		if c.in.given {
			text += strings.ToLower(c.orders())
		}
		harmful = strings.Contains(text, "flushall") || strings.Contains(text, "flushdb") || contains("shutdown", "config set dir", "debug sleep")
	case "rails", "rake":
		harmful = contains("db:drop", "db:reset", "db:migrate:reset", "db:schema:load", "db:purge", "db:truncate_all")
	case "prisma":
		harmful = begins("migrate reset", "db push") && contains("migrate reset", "db push --force-reset", "db push --accept-data-loss")
	case "sequelize", "sequelize-cli":
		harmful = contains("db:drop", "db:migrate:undo:all")
	case "typeorm":
		harmful = contains("schema:drop")
	case "knex":
		harmful = contains("migrate:rollback --all")
	case "mix":
		harmful = contains("ecto.drop", "ecto.reset")
	case "artisan", "php":
		harmful = contains("migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe", "doctrine:database:drop", "doctrine:schema:drop")
	case "manage.py", "django-admin":
		harmful = contains("flush", "reset_db", "sqlflush")
	case "alembic":
		harmful = contains("downgrade base")
	case "flyway":
		harmful = contains("clean")
	case "liquibase":
		harmful = contains("drop-all", "dropall")
	case "dbmate":
		harmful = contains("drop")
	case "etcdctl":
		harmful = begins("del") && contains("del", "--prefix")
	case "drizzle-kit":
		harmful = contains("drop")
	case "migrate":
		harmful = contains("drop")
	case "goose":
		harmful = contains("reset", "down-to 0")
	}
	if harmful {
		c.deny(Database, "it drops or empties a database. Use a database of your own for tests, or ask the person.")
	}
}

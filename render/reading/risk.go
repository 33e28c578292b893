package reading

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
)

// Risk is why a person should read a changed file.
type Risk struct {
	Name  string // such as "security"
	About string // what says so; may be empty
	rank  int
}

func (r Risk) String() string {
	if r.About == "" {
		return r.Name
	}
	return r.Name + ": " + r.About
}

// A rule finds one risk. It returns what says so, and whether there is one.
type rule struct {
	name  string
	means string // for the page of the guide
	find  func(c *Change, tests []string) (about string, found bool)
}

// rules are all risks, the most severe first. A file has each of them that fits.
var rules = []rule{
	{"security", "a path with a word such as auth, crypto, secret, password or permission; keys and certificates; workflows of CI and hooks; " +
		"a changed line of a program about secrets, permissions, encryption or starting other programs; a file that can be run now", security},
	{"migration", "a folder migrations, migrate or alembic; SQL; a changed line that creates, alters or drops a table", migration},
	{"dependencies", "go.mod, package.json, pyproject.toml, Cargo.toml, pom.xml and their like, lock files, and folders such as vendor", dependencies},
	{"public interface", "a changed line that declares what other programs use: an exported name of Go outside of internal, " +
		"def and class of Python without an underscore, export, pub, public; files such as .proto, .graphql, .d.ts and openapi.yaml", publicInterface},
	{"configuration", "YAML, TOML, INI and their like, Dockerfile, Makefile, .env, a file whose name begins with a dot or has the word config", configuration},
	{"deleted", "the file is gone", deleted},
	{"size", "200 or more changed lines, or a binary file", size200},
	{"no test", "a program whose tests did not change with it: neither one of its name nor one in its folder", untested},
}

// Table is the table of risks for the guide.
func Table() string {
	var t strings.Builder
	t.WriteString("| risk | what says so |\n|---|---|\n")
	for _, r := range rules {
		t.WriteString("| " + r.name + " | " + r.means + " |\n")
	}
	return t.String()
}

// risks are those of a change, the most severe first. tests are the paths of the changed tests.
func (c *Change) risks(tests []string) (all []Risk) {
	for rank, r := range rules {
		if about, found := r.find(c, tests); found {
			all = append(all, Risk{r.name, render.Clean(units.Cut(about, reasonKept)), rank})
		}
	}
	return all
}

var (
	securityWords = words("auth authn authz authenticate authentication authenticator authorize authorization authorizer oauth oidc saml sso login " +
		"signin jwt crypto cryptography cipher encrypt encryption decrypt decryption secret secrets password passwords passwd credential " +
		"credentials permission permissions acl rbac sudo sudoers tls ssl cert certs certificate certificates keyring csrf cors security")
	securityEndings = words(".pem .key .p12 .pfx .crt .jks .npmrc .netrc .pypirc")
	securityNames   = words("codeowners jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml .gitlab-ci.yml .drone.yml .travis.yml .pre-commit-config.yaml")
	securityFolders = words(".github/workflows .github/actions .circleci .buildkite .woodpecker .husky .claude .codex .ralph")
	securityLine    = units.Pattern(`(?i)password|passwd|secret|api[_-]?key|private[_-]?key|credential|\bbearer\b|authori[sz]|authenticat|` +
		`permission|\bchmod\b|0o?777\b|insecureskipverify|verify\s*=\s*false|rejectunauthorized|\beval\(|\bos/exec\b|exec\.command|subprocess|` +
		`child_process|shell\s*=\s*true|pickle\.loads?|innerhtml|\bunsafe\b|\bcrypto\b`)

	migrationFolders = words("migrations migrate alembic")
	migrationLine    = units.Pattern(`(?i)\b(create|alter|drop)\s+table\b`)

	dependencyNames = words("go.mod go.work package.json pyproject.toml pipfile setup.py cargo.toml gemfile composer.json pom.xml " +
		"build.gradle build.gradle.kts package.swift mix.exs flake.nix .gitmodules")
	dependencyEndings = words(".csproj .gemspec")
	requirements      = units.Pattern(`^requirements.*\.(txt|in)$`)

	interfaceEndings = words(".proto .graphql .gql .thrift .avsc .d.ts")
	interfaceWords   = words("openapi swagger")
	interfaceLines   = map[string]func() *regexp.Regexp{
		".go": units.Pattern(`^.\s*(func (\([^)]*\) )?[A-Z]|type [A-Z]|(var|const) [A-Z])`),
		".py": units.Pattern(`^.(async )?(def|class) [A-Za-z]`),
		".rs": units.Pattern(`^.\s*pub `), ".java": publicLine, ".kt": publicLine, ".cs": publicLine, ".swift": publicLine, ".php": publicLine,
		".ts": exportLine, ".tsx": exportLine, ".js": exportLine, ".jsx": exportLine, ".mjs": exportLine,
	}
	publicLine = units.Pattern(`^.\s*public `)
	exportLine = units.Pattern(`^.(export |module\.exports|exports\.)`)

	configEndings = words(".yml .yaml .toml .ini .cfg .conf .properties .env .tf .tfvars .hcl .xcconfig .service")
	configNames   = words("dockerfile containerfile makefile justfile procfile tsconfig.json conftest.py settings.json")
)

func words(text string) []string { return strings.Fields(text) }

func security(c *Change, _ []string) (about string, found bool) {
	name, ending := nameOf(c.Path)
	switch {
	case inFolder(c.Path, securityFolders), slices.Contains(securityNames, name), slices.Contains(securityEndings, ending):
		return "", true
	case c.Executable:
		return "the file can be run now", true
	case classOf(c.Path) == fileclass.Docs:
		return "", false
	}
	for _, word := range pathWords(c.Path) {
		if slices.Contains(securityWords, word) {
			return `its path has the word "` + word + `"`, true
		}
	}
	if classOf(c.Path) != fileclass.Program {
		return "", false
	}
	return matching(c, securityLine())
}

func migration(c *Change, _ []string) (about string, found bool) {
	_, ending := nameOf(c.Path)
	switch {
	case inFolder(c.Path, migrationFolders), ending == ".sql":
		return "", true
	case classOf(c.Path) != fileclass.Program:
		return "", false
	}
	return matching(c, migrationLine())
}

func dependencies(c *Change, _ []string) (about string, found bool) {
	name, ending := nameOf(c.Path)
	class := classOf(c.Path)
	return "", class == fileclass.Lock || class == fileclass.Vendored || slices.Contains(dependencyNames, name) ||
		slices.Contains(dependencyEndings, ending) || requirements().MatchString(name)
}

func publicInterface(c *Change, _ []string) (about string, found bool) {
	name, ending := nameOf(c.Path)
	if slices.ContainsFunc(interfaceEndings, func(end string) bool { return strings.HasSuffix(name, end) }) {
		return "", true
	}
	for _, word := range pathWords(c.Path) {
		if slices.Contains(interfaceWords, word) {
			return "", true
		}
	}
	declares := interfaceLines[ending]
	if declares == nil || classOf(c.Path) != fileclass.Program || inFolder(c.Path, []string{"internal"}) {
		return "", false
	}
	return matching(c, declares())
}

func configuration(c *Change, tests []string) (about string, found bool) {
	name, ending := nameOf(c.Path)
	if _, isDependency := dependencies(c, tests); isDependency {
		return "", false
	}
	return "", slices.Contains(configEndings, ending) || slices.Contains(configNames, name) || strings.HasPrefix(name, ".") ||
		classOf(c.Path) != fileclass.Docs && slices.Contains(pathWords(path.Base(c.Path)), "config")
}

func deleted(c *Change, _ []string) (about string, found bool) { return "", c.Deleted }

// largeFrom is how many changed lines make a file large.
const largeFrom = 200

func size200(c *Change, _ []string) (about string, found bool) {
	if c.Binary {
		return "a binary file", true
	}
	return units.Quantity(c.Added+c.Removed, "line"), c.Added+c.Removed >= largeFrom
}

func untested(c *Change, tests []string) (about string, found bool) {
	if _, ending := nameOf(c.Path); c.Deleted || c.Added+c.Removed == 0 || ending == ".sql" || classOf(c.Path) != fileclass.Program {
		return "", false
	}
	return "no test of it changed", !slices.ContainsFunc(tests, func(test string) bool {
		return path.Dir(test) == path.Dir(c.Path) || strings.Contains(strings.ToLower(path.Base(test)), strings.ToLower(stem(c.Path)))
	})
}

// testsAmong are the paths of the tests that changed and still exist.
func testsAmong(changes []Change) (tests []string) {
	for i := range changes {
		if c := &changes[i]; classOf(c.Path).IsForTests() && !c.Deleted {
			tests = append(tests, c.Path)
		}
	}
	return tests
}

// classOf is what a file is for, as far as its path says it.
func classOf(file string) fileclass.Class { return fileclass.Classify(file, nil) }

// matching returns the first changed line that a pattern finds.
func matching(c *Change, pattern *regexp.Regexp) (line string, found bool) {
	for _, line := range c.Lines {
		if pattern.MatchString(line) {
			return units.Cut(strings.TrimSpace(line[1:]), lineShown), true
		}
	}
	return "", false
}

// lineShown is how much of a line a reason has.
const lineShown = 80

// nameOf returns the name of a file and its ending, in lower case.
func nameOf(file string) (name, ending string) {
	name = strings.ToLower(path.Base(file))
	return name, path.Ext(name)
}

func stem(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	return name
}

// inFolder reports whether a file is in one of the folders, wherever that is.
func inFolder(file string, folders []string) bool {
	dir := "/" + strings.ToLower(path.Dir(file)) + "/"
	return slices.ContainsFunc(folders, func(folder string) bool { return strings.Contains(dir, "/"+folder+"/") })
}

// pathWords are the words of a path in lower case: "webAuth/user_login.go" has web, auth, user,
// login and go.
func pathWords(file string) (all []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			all = append(all, strings.ToLower(string(word)))
		}
		word = nil
	}
	for _, r := range file {
		switch {
		case !unicode.IsLetter(r):
			end()
			continue
		case unicode.IsUpper(r) && len(word) > 0 && !unicode.IsUpper(word[len(word)-1]):
			end()
		}
		word = append(word, r)
	}
	end()
	return all
}

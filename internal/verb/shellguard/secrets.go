package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// secretFile matches the names of files and folders that contain credentials, and secretPath those
// for which the folder matters. What is public in .ssh is none.
var (
	secretFile = units.Pattern(`(?:^|/)(?:[._]netrc|\.git-credentials|\.pypirc|\.vault-token|\.pgpass|\.my\.cnf|\.s3cfg|\.boto|key4\.db|logins\.json|` +
		`credentials\.json|service-account\.json|[^/]*\.kdbx|id_(?:rsa|dsa|ecdsa|ed25519|ed25519_sk|ecdsa_sk)|\.gnupg|\.password-store|\.ssh)$`)
	secretPath = units.Pattern(`(?:^|/)(?:\.aws/credentials|\.config/(?:git/credentials|` +
		`gh/hosts\.yml|glab-cli/config\.yml|pip/pip\.conf|op/config|hub|rclone/rclone\.conf|doctl/config\.yaml|` +
		`gcloud/(?:credentials\.db|application_default_credentials\.json|access_tokens\.db))|` +
		`\.docker/config\.json|\.kube/config|\.azure/(?:accessTokens|msal_token_cache)\.json|` +
		`\.terraform\.d/credentials\.tfrc\.json|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.composer/auth\.json|` +
		`\.m2/settings\.xml|\.claude/\.credentials\.json|\.codex/auth\.json|` +
		`\.local/share/(?:opencode/auth\.json|keyrings)|\.gemini/oauth_creds\.json|config/master\.key|Library/Keychains)$|` +
		`^/etc/(?:shadow|gshadow|sudoers|krb5\.keytab)$|^/proc/(?:.*/)?environ$|\.config/google-chrome/.*(?:Login Data|Cookies)$|\.gnupg/|(?:^|/)\.ssh/`)
	publicFile = units.Pattern(`(?:^|/)\.ssh/(?:.*\.pub|(?:.*/)?(?:config|known_hosts|authorized_keys|known_hosts\.old|environment|rc))$`)
)

// credential describes a file that contains credentials; empty for others.
func (s *shell) credential(word string) string {
	file := word
	if at, all, ok := s.target(word); ok && at != "" {
		file = at
		if all && words2set(".aws .kube .docker .gnupg .ssh")[path.Base(at)] {
			return "credentials"
		}
	}
	if strings.ContainsAny(file, "*?[") {
		for known := range strings.FieldsSeq("~/.ssh/id_rsa ~/.ssh/id_ed25519 ~/.aws/credentials ~/.netrc /etc/shadow ~/.git-credentials ~/.kube/config") {
			if ok, _ := path.Match(file, strings.Replace(known, "~", s.Home, 1)); ok {
				return "credentials"
			}
		}
	}
	switch {
	case dotenv(path.Base(file)):
		return "the secrets of the project"
	case secretFile().MatchString(file), secretPath().MatchString(file) && !publicFile().MatchString(file), s.Home != "" && file == s.Home+"/.npmrc":
		return "credentials"
	}
	return ""
}

// dotenv reports whether a name is that of a file with a project's secrets. Examples are none.
func dotenv(base string) bool {
	rest, ok := strings.CutPrefix(base, ".env")
	if !ok || rest != "" && rest[0] != '.' {
		return false
	}
	return !slices.ContainsFunc(strings.Split(rest, "."), func(part string) bool {
		return words2set("example examples sample template tmpl dist default defaults schema test testing ci vault d bak")[part]
	})
}

// read judges that a file is shown to the model.
func (s *shell) read(word string) {
	if s.network(word) {
		return
	}
	what := s.credential(word)
	if what == "" || s.quiet && dotenv(path.Base(word)) {
		return
	}
	s.deny(Credentials, "it reads "+word+", which contains "+what+". Use the program that needs them, without reading them yourself, or ask the person.")
}

// copyOf judges that a file is copied. Copies of .env are part of setting up a work tree.
func (s *shell) copyOf(word string) {
	if !dotenv(path.Base(word)) {
		s.read(word)
	}
}

func (c *command) readAll(files []string) {
	for _, file := range files {
		c.read(file)
	}
}

// judgeReader judges commands that print the files that they name.
func judgeReader(c *command) {
	c.readAll(c.options("n", "c", "w", "f", "d", "k", "t").operands)
}

// judgeGrep is judgeReader for commands that may print only whether or where a file matches.
func judgeGrep(c *command) {
	o := c.options("e", "f", "m", "A", "B", "C", "include", "exclude", "exclude-dir", "g", "t", "type", "glob")
	if o.has("q", "c", "l", "L", "quiet", "silent", "count", "files-with-matches") {
		return
	}
	for i, file := range o.operands {
		if i > 0 || len(o.of("e", "f")) > 0 {
			c.read(file)
		}
	}
}

package shellguard

import (
	"path"
	"slices"
	"strings"
)

// secretFiles are endings of paths that contain credentials.
var secretFiles = strings.Fields(`
.aws/credentials .netrc _netrc .git-credentials .config/git/credentials .config/gh/hosts.yml .config/glab-cli/config.yml .docker/config.json .kube/config
.pypirc .config/pip/pip.conf /etc/shadow /etc/gshadow /etc/sudoers /etc/krb5.keytab .config/gcloud/credentials.db .config/gcloud/application_default_credentials.json
.config/gcloud/access_tokens.db .azure/accessTokens.json .azure/msal_token_cache.json .terraform.d/credentials.tfrc.json .cargo/credentials .cargo/credentials.toml
.gem/credentials .composer/auth.json .m2/settings.xml .vault-token .pgpass .my.cnf .claude/.credentials.json .codex/auth.json .local/share/opencode/auth.json
.gemini/oauth_creds.json .config/op/config .config/hub config/master.key key4.db logins.json .config/rclone/rclone.conf .s3cfg .boto .config/doctl/config.yaml
.local/share/keyrings .gnupg .password-store Library/Keychains .ssh`)

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
		for _, known := range []string{s.Home + "/.ssh/id_rsa", s.Home + "/.ssh/id_ed25519", s.Home + "/.aws/credentials", s.Home + "/.netrc", "/etc/shadow", s.Home + "/.git-credentials", s.Home + "/.kube/config"} {
			if ok, _ := path.Match(file, known); ok {
				return "credentials"
			}
		}
	}
	base := path.Base(file)
	switch {
	case dotenv(base):
		return "the secrets of the project"
	case strings.HasPrefix(base, "id_") && !strings.HasSuffix(base, ".pub") && strings.Contains(base, "_") && slices.Contains([]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ed25519_sk", "id_ecdsa_sk"}, base),
		strings.HasSuffix(base, ".kdbx"), base == "credentials.json" || base == "service-account.json":
		return "a private key"
	case strings.HasPrefix(file, "/proc/") && strings.HasSuffix(file, "/environ"):
		return "the variables of a process, with its keys"
	case s.Home != "" && file == s.Home+"/.npmrc":
		return "tokens of package registries"
	case strings.Contains(file, ".config/google-chrome/") && (base == "Login Data" || base == "Cookies"), strings.Contains(file, ".gnupg/"):
		return "passwords"
	}
	for _, ending := range secretFiles {
		if file == ending || strings.HasSuffix(file, "/"+ending) || ending[0] == '/' && file == ending {
			return "credentials"
		}
	}
	if strings.Contains("/"+file, "/.ssh/") && !strings.HasSuffix(base, ".pub") && !slices.Contains([]string{"config", "known_hosts", "authorized_keys", "known_hosts.old", "environment", "rc"}, base) {
		return "a private key"
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

// judgeEditor judges the commands that an editor runs.
func judgeEditor(c *command) {
	o := c.options("c", "cmd", "S", "u")
	for _, text := range o.of("c", "cmd") {
		if _, run, ok := strings.Cut(text, "!"); ok {
			c.nested(run, nil, input{})
		}
	}
	c.commandsOf(`!`)
	c.readAll(o.operands)
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

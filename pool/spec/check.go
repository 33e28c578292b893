package spec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/registry"
)

// Limits of a specification: a hostile one costs a worker no more than reading it.
const (
	MaxPrompt = 256 << 10 // bytes
	maxWords  = 100       // of Start, Labels and Needs, each
	maxWord   = 4096      // bytes of one of them, and of the repository's address
)

// Encode returns a specification as the queue has it.
func Encode(s Spec) ([]byte, error) {
	text, err := json.Marshal(s)
	if err == nil && len(text) > store.MaxValue {
		err = fmt.Errorf("it has %d bytes, and %d are possible", len(text), store.MaxValue)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the specification of %.80q: %w", s.Name, err)
	}
	return text, nil
}

// Decode reads a specification, and refuses one that no worker may run: it may be from anyone who
// can write into the store.
func Decode(text []byte) (Spec, error) {
	var s Spec
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("it is no specification: %w", err)
	}
	return s, s.Check()
}

// Check says in words what a worker refuses. What runs programs is not judged here: see [Verify].
func (s Spec) Check() error {
	if s.Version != Version {
		return fmt.Errorf("the specification has version %d, and this program reads %d", s.Version, Version)
	}
	if _, err := ulid.ParseStrict(s.ID); err != nil {
		return fmt.Errorf("the id %.40q is no ULID", s.ID)
	}
	if s.Priority < 0 || s.Priority > 9 {
		return fmt.Errorf("the priority %d is not one of 0 to 9", s.Priority)
	}
	return cmp.Or(registry.CheckName(s.Name), checkBy(s.By), CheckRepository(s.Repository), checkBranch(s.Branch), checkInside(s.Inside),
		s.checkPrompt(), CheckStart(s.Start), checkWords("label", s.Labels), s.checkNeeds(), s.checkMoney())
}

// checkBy refuses a name of a person that is more than a name: screens and journals show it.
func checkBy(name string) error {
	if len(name) > 200 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%.200q is no name of who submitted it", name)
	}
	return nil
}

func (s Spec) checkPrompt() error {
	switch {
	case len(s.Prompt) > MaxPrompt:
		return fmt.Errorf("the prompt has %d bytes, and %d are possible: put it into a file of the repository, and name that file", len(s.Prompt), MaxPrompt)
	case !utf8.ValidString(s.Prompt) || strings.ContainsRune(s.Prompt, 0):
		return errors.New("the prompt is no text in UTF-8")
	case strings.TrimSpace(s.Prompt) == "" && !slices.Contains(s.Start, "--tasks"):
		return errors.New("there is no prompt")
	}
	return nil
}

func (s Spec) checkNeeds() error {
	for _, id := range s.Needs {
		if _, err := ulid.ParseStrict(id); err != nil || id == s.ID {
			return fmt.Errorf("it needs %.40q, which is no id of another specification", id)
		}
	}
	if len(s.Needs) > maxWords {
		return fmt.Errorf("it needs %d others, and %d are possible", len(s.Needs), maxWords)
	}
	return nil
}

func (s Spec) checkMoney() error {
	switch {
	case !(s.Budget >= 0 && s.Budget < 1e9): // also no NaN
		return fmt.Errorf("the budget %v is no amount of dollars", s.Budget)
	case s.Account != "" && s.Budget == 0:
		return fmt.Errorf("it counts against account %.40q, and has no budget: give one with --budget, which is what is reserved there", s.Account)
	case s.Account != "":
		return CheckWord("account", s.Account)
	}
	return nil
}

var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._=-]{0,62}$`)

// CheckWord refuses what is not a label, an account or a host's name.
func CheckWord(kind, text string) error {
	if !word.MatchString(text) || store.CheckKey(keys.Account(text)) != nil {
		return fmt.Errorf("%.70q is no name of %s: 1 to 63 letters, digits and ._=- are possible, the first a letter or digit", text, kind)
	}
	return nil
}

func checkWords(kind string, all []string) error {
	if len(all) > maxWords {
		return fmt.Errorf("it has %d %ss, and %d are possible", len(all), kind, maxWords)
	}
	for _, text := range all {
		if err := CheckWord(kind, text); err != nil {
			return err
		}
	}
	return nil
}

var (
	helper = regexp.MustCompile(`^[A-Za-z0-9_+.-]*::`)
	token  = regexp.MustCompile(`^(gh[opsur]_|github_pat_|glpat-)|^.{40}`) // as a user, without a password
	short  = regexp.MustCompile(`^([A-Za-z0-9_.][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^-:]`)
)

// CheckRepository refuses an address that git would take for an option or for the name of a
// program, and one with a secret.
func CheckRepository(address string) error {
	refused := func(why string) error { return fmt.Errorf("the repository %.200q %s", address, why) }
	switch {
	case address == "" || len(address) > maxWord:
		return fmt.Errorf("the address of the repository has %d bytes: 1 to %d are possible", len(address), maxWord)
	case strings.HasPrefix(address, "-"):
		return refused("begins with a dash, and git would take it for an option")
	case helper.MatchString(address):
		return refused("has ::, with which git runs a program of that name")
	case strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }):
		return refused("has a space or a control character")
	case filepath.IsAbs(address):
		return nil
	case !strings.Contains(address, "://"):
		if !short.MatchString(address) {
			return refused("is neither a URL, nor HOST:PATH, nor the absolute path of a folder")
		}
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return refused("is no URL")
	}
	if _, secret := u.User.Password(); secret {
		return fmt.Errorf("the repository at %.80q has a password in its address, which every host of the pool could read: "+
			"leave it out, each host uses its own credentials", u.Hostname())
	}
	switch {
	case strings.HasPrefix(u.Scheme, "http") && token.MatchString(u.User.Username()):
		return fmt.Errorf("the repository at %.80q has a token in its address, which every host of the pool could read: "+
			"leave it out, each host uses its own credentials", u.Hostname())
	case !slices.Contains([]string{"https", "http", "ssh", "git", "file"}, u.Scheme):
		return refused("has a scheme that is none of https, http, ssh, git and file")
	case strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-"):
		return refused("has a host or user that begins with a dash")
	case u.Host == "" && u.Scheme != "file":
		return refused("has no host")
	}
	return nil
}

var branch = regexp.MustCompile(`^[\pL\pN_][\pL\pN_./+@#=-]*$`)

func checkBranch(name string) error {
	if name != "" && (!branch.MatchString(name) || len(name) > 200 || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.Contains(name, "//") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock")) {
		return fmt.Errorf("%.200q is no name of a branch", name)
	}
	return nil
}

func checkInside(folder string) error {
	if folder == "" {
		return nil
	}
	parts := strings.Split(folder, "/")
	text := utf8.ValidString(folder) && !strings.ContainsFunc(folder, unicode.IsControl)
	if !filepath.IsLocal(folder) || !text || len(folder) > maxWord || slices.ContainsFunc(parts, func(part string) bool {
		return strings.EqualFold(part, ".git") || strings.EqualFold(part, ".ralph")
	}) {
		return fmt.Errorf("%.200q is no folder of a repository", folder)
	}
	return nil
}

package spec_test

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/spec"
)

func valid() spec.Spec {
	return spec.Spec{
		Version: 1, ID: "01JD0000000000000000000009", Name: "fix-login", Repository: "git@git.example.com:team/app.git", Branch: "main",
		Prompt: "do it", Start: []string{"--agent", "claude", "--set=limits.idle=5m"}, By: "ada@mill",
	}
}

func TestHostileSpecificationsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*spec.Spec){
		"would take it for an option":             func(s *spec.Spec) { s.Repository = "--upload-pack=touch /tmp/x" },
		"git runs a program":                      func(s *spec.Spec) { s.Repository = "ext::sh -c touch% /tmp/x" },
		"has ::":                                  func(s *spec.Spec) { s.Repository = "fd::17" },
		"none of https, http":                     func(s *spec.Spec) { s.Repository = "ftp://git.example.com/a" },
		"begins with a dash":                      func(s *spec.Spec) { s.Repository = "ssh://-oProxyCommand=touch/a" },
		"neither a URL":                           func(s *spec.Spec) { s.Repository = "../other" },
		"a control character":                     func(s *spec.Spec) { s.Repository = "https://git.example.com/a\nb" },
		"has a password":                          func(s *spec.Spec) { s.Repository = "https://ada:secret@git.example.com/a" },
		"has a token":                             func(s *spec.Spec) { s.Repository = "https://ghp_x9@git.example.com/a" },
		"0 bytes: 1 to":                           func(s *spec.Spec) { s.Repository = "" },
		`loop name "../x"`:                        func(s *spec.Spec) { s.Name = "../x" },
		`loop name "a/b"`:                         func(s *spec.Spec) { s.Name = "a/b" },
		`"--all" is no name of a branch`:          func(s *spec.Spec) { s.Branch = "--all" },
		`"a..b" is no name of a branch`:           func(s *spec.Spec) { s.Branch = "a..b" },
		`"../up" is no folder`:                    func(s *spec.Spec) { s.Inside = "../up" },
		`"a/.GIT/hooks" is no folder`:             func(s *spec.Spec) { s.Inside = "a/.GIT/hooks" },
		"the prompt has 10485760 bytes":           func(s *spec.Spec) { s.Prompt = strings.Repeat("x", 10<<20) },
		"there is no prompt":                      func(s *spec.Spec) { s.Prompt = " " },
		"no text in UTF-8":                        func(s *spec.Spec) { s.Prompt = "a\xff" },
		`"--trust" is not allowed`:                func(s *spec.Spec) { s.Start = []string{"--trust"} },
		`"--project" is not allowed`:              func(s *spec.Spec) { s.Start = []string{"--project=/etc"} },
		`"-p" is not allowed`:                     func(s *spec.Spec) { s.Start = []string{"-p", "x"} },
		`"--no-sandbox" is not allowed`:           func(s *spec.Spec) { s.Start = []string{"--no-sandbox"} },
		"--agent has no value":                    func(s *spec.Spec) { s.Start = []string{"--agent"} },
		"--tasks has no value":                    func(s *spec.Spec) { s.Start = []string{"--tasks=x"} },
		`the setting "sandbox.mode" is not`:       func(s *spec.Spec) { s.Start = []string{"--set", "sandbox.mode=off"} },
		"--sandbox=none is not allowed":           func(s *spec.Spec) { s.Start = []string{"--sandbox", "none"} },
		"--sandbox={":                             func(s *spec.Spec) { s.Start = []string{`--sandbox={"mode":"bwrap","write":["/"]}`} },
		"5000 arguments":                          func(s *spec.Spec) { s.Start = make([]string, 5000) },
		"is no name of label":                     func(s *spec.Spec) { s.Labels = []string{"a/b"} },
		"is no name of account":                   func(s *spec.Spec) { s.Account, s.Budget = "../a", 1 },
		"has no budget":                           func(s *spec.Spec) { s.Account = "team" },
		"is no amount":                            func(s *spec.Spec) { s.Budget = -1 },
		"which is no id of another specification": func(s *spec.Spec) { s.Needs = []string{"01JD0000000000000000000009"} },
		"runs a program of that name":             func(s *spec.Spec) { s.Repository = "::touch" },
		"git would take it for an option":         func(s *spec.Spec) { s.Repository = "-cprotocol.ext.allow=always" },
		"a host or user that begins with a dash":  func(s *spec.Spec) { s.Repository = "ssh://-oProxyCommand=touch@git.example.com/a" },
		"neither a URL, nor HOST:PATH":            func(s *spec.Spec) { s.Repository = "git.example.com:-x" },
		"has no host":                             func(s *spec.Spec) { s.Repository = "https:///etc" },
		`"a\x1b]0;b" is no name of a branch`:      func(s *spec.Spec) { s.Branch = "a\x1b]0;b" },
		`"main\n--all" is no name of a branch`:    func(s *spec.Spec) { s.Branch = "main\n--all" },
		`"HEAD@{1}" is no name of a branch`:       func(s *spec.Spec) { s.Branch = "HEAD@{1}" },
		`"a\x1b[2J" is no folder`:                 func(s *spec.Spec) { s.Inside = "a\x1b[2J" },
		`"/etc" is no folder`:                     func(s *spec.Spec) { s.Inside = "/etc" },
		`"a/.ralph" is no folder`:                 func(s *spec.Spec) { s.Inside = "a/.ralph" },
		`"--fix" must begin`:                      func(s *spec.Spec) { s.Name = "--fix" },
		`"gpu\n" is no name of label`:             func(s *spec.Spec) { s.Labels = []string{"gpu\n"} },
		`"--all" is no name of label`:             func(s *spec.Spec) { s.Labels = []string{"--all"} },
		"no name of who submitted it":             func(s *spec.Spec) { s.By = "ada\x1b]0;owned\a" },
		`"--resume" is not allowed`:               func(s *spec.Spec) { s.Start = []string{"--resume=other"} },
		`"--accept-changes" is not allowed`:       func(s *spec.Spec) { s.Start = []string{"--accept-changes"} },
		`"--env" is not allowed`:                  func(s *spec.Spec) { s.Start = []string{"--env=LD_PRELOAD=x"} },
		`"--sandbox.mode" is not allowed`:         func(s *spec.Spec) { s.Start = []string{"--sandbox.mode", "none"} },
		`"fix.md" is not allowed`:                 func(s *spec.Spec) { s.Start = []string{"fix.md"} },
		`the setting "guard" is not`:              func(s *spec.Spec) { s.Start = []string{"--set=guard=false"} },
		"without zeros":                           func(s *spec.Spec) { s.Start = []string{"--model=a\x00b"} },
		"is no ULID":                              func(s *spec.Spec) { s.ID = "../../x" },
		"not one of 0 to 9":                       func(s *spec.Spec) { s.Priority = -1 },
		"has version 2":                           func(s *spec.Spec) { s.Version = 2 },
	} {
		s := valid()
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestOrdinaryRepositories(t *testing.T) {
	for _, address := range []string{
		"https://git.example.com/team/app.git", "ssh://git@[::1]:2222/app", "git@git.example.com:app", "host:app", "/srv/git/app.git", "file:///srv/app",
		"https://ada.lovelace@git.example.com/app",
	} {
		s := valid()
		s.Repository = address
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestSignature(t *testing.T) {
	_, key, _ := ed25519.GenerateKey(nil)
	s := valid()
	if err := s.Verify(); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("without a signature: %v", err)
	}
	if err := s.Sign(key); err != nil {
		t.Fatal(err)
	}
	text, err := spec.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	read, err := spec.Decode(text)
	if err != nil || read.Verify() != nil {
		t.Fatalf("%v, %v", err, read.Verify())
	}
	read.Prompt = "do something else"
	if err := read.Verify(); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("changed: %v", err)
	}
}

func TestFlagsHoldTheirValues(t *testing.T) {
	got, err := spec.Flags([]string{"--agent", "--trust", "--tasks", "--model=x=y"})
	if err != nil || strings.Join(got, " ") != "--agent=--trust --tasks --model=x=y" {
		t.Errorf("%q, %v", got, err)
	}
}

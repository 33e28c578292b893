package config

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// Validate checks settings that were made or changed in Go: every value against its row of the table, and the rules that join
// several keys. What Load and Thaw return has passed it. The error is an *Error without a file.
func Validate(s Settings) error {
	if err := checkValues(table(), reflect.ValueOf(s), ""); err != nil {
		return err
	}
	if err := checkTogether(s); err != nil {
		return err
	}
	return nil
}

// checkValues holds every value against the bounds and words of its field.
func checkValues(o *object, value reflect.Value, key string) *Error {
	for i := range o.fields {
		f := &o.fields[i]
		full, member := join(key, f.name), value.Field(f.position)
		var err *Error
		switch f.kind {
		case KindString:
			// The command of agent may be absent, those of a list may not: checkItem sees to the latter.
			if member.Len() > 0 || !f.optional {
				err = checkWord(f, full, member.String())
			}
		case KindInt:
			err = checkBounds(f, full, strconv.FormatInt(member.Int(), 10), float64(member.Int()))
		case KindFloat:
			err = parse(f, full, strconv.FormatFloat(member.Float(), 'g', -1, 64), reflect.New(member.Type()).Elem())
		case KindDuration:
			err = checkBounds(f, full, Duration(member.Int()).String(), float64(member.Int()))
		case KindPassed:
			err = parsePassed(full, member.String(), reflect.New(member.Type()).Elem())
		case KindStrings:
			for _, text := range member.Interface().([]string) {
				if err == nil {
					err = checkWord(f, full, text)
				}
			}
		case KindMap:
			for name := range member.Interface().(map[string]string) {
				if err == nil {
					err = checkVariable(join(full, name), name)
				}
			}
		case KindObject:
			err = checkValues(f.object, member, full)
		case KindObjects:
			err = checkItems(f.object, member, full)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkItems(o *object, list reflect.Value, key string) *Error {
	for i := range list.Len() {
		own := key + "[" + strconv.Itoa(i) + "]"
		if err := checkValues(o, list.Index(i), own); err != nil {
			return err
		}
		if err := checkItem(o, list.Index(i), own); err != nil {
			return err
		}
	}
	return nil
}

// checkItem checks one object of a list once all its keys are known.
func checkItem(o *object, item reflect.Value, key string) *Error {
	for i := range o.fields {
		if f := &o.fields[i]; f.required && item.Field(f.position).IsZero() {
			return &Error{Key: join(key, f.name), Problem: join(key, f.name) + ": is missing"}
		}
	}
	switch item := item.Interface().(type) {
	case Agent:
		return checkAgent(item, key)
	case Notify:
		return checkNotify(item, key)
	}
	return nil
}

func checkAgent(a Agent, key string) *Error {
	if _, err := commandWords(a.Command); err != nil {
		return &Error{Key: join(key, "command"), Problem: fmt.Sprintf("%s: %v", join(key, "command"), err)}
	}
	if _, err := SplitFlags(a.Flags); err != nil {
		return &Error{Key: join(key, "flags"), Problem: fmt.Sprintf("%s: %v", join(key, "flags"), err)}
	}
	return nil
}

func checkNotify(n Notify, key string) *Error {
	switch n.Type {
	case NotifyWebhook, NotifyNtfy:
		address, err := url.Parse(n.URL)
		if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
			return &Error{Key: join(key, "url"), Problem: fmt.Sprintf("%s: %s needs an http or https address", join(key, "url"), n.Type)}
		}
	case NotifyCommand:
		if n.Command == "" {
			return &Error{Key: join(key, "command"), Problem: join(key, "command") + ": is missing"}
		}
	}
	return nil
}

// checkTogether checks the rules that join several keys.
func checkTogether(s Settings) *Error {
	if s.Agent.Command != "" && len(s.Agents) > 0 {
		return &Error{Key: "agents", Problem: "agents: agent.command is set too", advice: "keep agent or agents, not both"}
	}
	if err := checkAgent(s.Agent, "agent"); err != nil {
		return err
	}
	if len(s.SCM.Tasks) > 0 && s.SCM.Command == "" {
		return &Error{Key: "scm.tasks", Problem: "scm.tasks: scm.command is missing", advice: "set scm.command, such as \"git\""}
	}
	if problem := branchProblem(s.Worktree); problem != "" {
		return &Error{Key: "worktree", Problem: fmt.Sprintf("worktree: %s is no branch name: %s", shorten(s.Worktree), problem)}
	}
	return nil
}

// branchProblem says why git would refuse the name of a branch (git-check-ref-format), or "".
func branchProblem(name string) string {
	switch {
	case name == "":
		return ""
	case strings.HasPrefix(name, "-"):
		return "it begins with a dash"
	case strings.ContainsAny(name, " \t\n\r\x7f~^:?*[\\"):
		return "it holds white space or one of ~^:?*[\\"
	case strings.Contains(name, ".."), strings.Contains(name, "@{"), strings.Contains(name, "//"), name == "@":
		return "it holds .., @{ or //, or is @"
	case strings.HasPrefix(name, "/"), strings.HasSuffix(name, "/"), strings.HasSuffix(name, "."):
		return "it begins or ends with a slash, or ends with a dot"
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return "a part of it begins with a dot or ends with .lock"
		}
	}
	return ""
}

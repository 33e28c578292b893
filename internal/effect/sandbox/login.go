package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/filewatch"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A login is a file with which an agent logs in. The agent's copy and the person's file are kept
// the same: a new login of the person's reaches the agent, and one that the agent refreshed comes
// back, since the old one may be worth nothing by then. The person's file wins where both have
// changed.
type login struct {
	mine string // the person's file, without links
	copy string // below the folder for temporary files
	// What both had when they were last compared; nil for none.
	base, seen []byte
	compared   bool
}

const maxLogin = 256 << 10 // bytes

func loginsOf(states []State) []*login {
	all := []*login{}
	for _, s := range states {
		for _, name := range s.Logins {
			l := &login{mine: s.source(name), copy: filepath.Join(s.Name, name)}
			if real, err := filepath.EvalSymlinks(l.mine); err == nil {
				l.mine = real
			}
			all = append(all, l)
		}
	}
	return all
}

// matchLogins compares all logins, and notes what a person should know. During a turn only what is
// complete counts: an agent may be writing the rest.
func (b *Box) matchLogins(during bool) error {
	if len(b.logins) == 0 {
		return nil
	}
	root, err := os.OpenRoot(b.Temp)
	if err != nil {
		return err
	}
	defer root.Close()
	var errs []error
	for _, l := range b.logins {
		note, err := l.match(root, during)
		if err != nil {
			errs = append(errs, fmt.Errorf("compare the agent's login with %s: %w", l.mine, err))
		}
		if note != "" {
			b.note("%s", note)
		}
	}
	return errors.Join(errs...)
}

// match makes both the same, and returns what it did, or why it did not.
func (l *login) match(root *os.Root, during bool) (note string, err error) {
	mine, err := safefile.Read(l.mine, maxLogin)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	theirs, failed := safefile.ReadIn(root, l.copy, maxLogin)
	if !l.compared {
		l.compared, l.base, l.seen = true, mine, mine
		if newer(l.mine, root, l.copy) { // or there is no copy yet
			l.base, l.seen = nil, theirs
		}
	}
	before := *l
	refuse := func(why error) (string, error) {
		if during {
			*l = before
			return "", nil
		}
		return fmt.Sprintf("left the login aside that the agent wrote, and %s as it is: %v", l.mine, why), nil
	}
	missing := errors.Is(failed, fs.ErrNotExist)
	changed := !missing && (failed != nil || !bytes.Equal(theirs, l.seen))
	l.seen = theirs
	switch {
	case !bytes.Equal(mine, l.base):
		if during && mine != nil && !json.Valid(mine) {
			*l = before
			return "", nil
		}
		l.base = mine
		if changed && !bytes.Equal(mine, theirs) {
			note = fmt.Sprintf("left the login aside that the agent wrote: %s has changed meanwhile, and stays", l.mine)
		}
		return note, l.give(root)
	case missing: // the agent logged out, or is about to begin
		if during {
			*l = before
			return "", nil
		}
		return "", l.give(root)
	case !changed || mine == nil:
		return "", nil
	case failed != nil:
		return refuse(failed)
	}
	refreshed, err := refreshedLogin(mine, theirs)
	if err != nil {
		return refuse(err)
	}
	if err := safefile.Replace(safefile.Dir(filepath.Dir(l.mine)), filepath.Base(l.mine), refreshed, 0o600); err != nil {
		return "", err
	}
	l.base = refreshed
	return fmt.Sprintf("took over the login that the agent refreshed, to %s", l.mine), nil
}

// watchLogins compares the logins when one of them changes, so that loops beside each other, and
// the person, do not work with one that was replaced. Where files cannot be watched they are
// compared before and after each turn alone.
func (b *Box) watchLogins() {
	ctx, cancel := context.WithCancel(context.Background())
	b.unwatch = cancel
	watched := map[string]bool{}
	for _, l := range b.logins {
		for _, path := range []string{l.mine, filepath.Join(b.Temp, l.copy)} {
			dir := filepath.Dir(path)
			if watched[dir] {
				continue
			}
			watched[dir] = true
			w, err := filewatch.New(dir)
			if err != nil {
				continue
			}
			b.watches.Go(func() { b.followLogins(ctx, w) }) // ends with Close
		}
	}
}

func (b *Box) followLogins(ctx context.Context, w *filewatch.Watch) {
	defer w.Close()
	for {
		names, err := w.Wait(ctx)
		if err != nil || ctx.Err() != nil {
			return
		}
		named := func(l *login) bool {
			return slices.Contains(names, filepath.Base(l.copy)) || slices.Contains(names, filepath.Base(l.mine))
		}
		b.mu.Lock()
		if slices.Contains(names, "") || slices.ContainsFunc(b.logins, named) {
			_ = b.matchLogins(true) // what stays wrong is reported after the turn
		}
		b.mu.Unlock()
	}
}

// give gives the agent the person's login.
func (l *login) give(root *os.Root) (err error) {
	switch {
	case l.base != nil:
		err = replaceIn(root, l.copy, l.base)
	case l.seen != nil:
		err = root.Remove(l.copy)
	}
	l.seen = l.base
	return err
}

// newer reports whether a person's file is newer than the copy.
func newer(mine string, root *os.Root, name string) bool {
	theirs, err := root.Lstat(name)
	if err != nil {
		return true
	}
	info, err := os.Stat(mine)
	return err != nil || info.ModTime().After(theirs.ModTime())
}

// renewed are the fields of a login that a refresh changes. Whose login it is, where it is valid
// and which program has the key stay as they are.
var renewed = []string{
	"accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt", // Claude Code
	"access_token", "refresh_token", "id_token", "last_refresh", "expiry_date", // Codex, Gemini, Qwen Code
	"access", "refresh", "expires", // pi, opencode
}

const maxField = 32 << 10 // bytes of a token

// refreshedLogin returns what a login becomes if an agent's is its refreshed one: the same keys
// with values of the same types, of which only tokens and times differ. It is encoded again, so
// that nothing but these values comes from the agent.
func refreshedLogin(mine, theirs []byte) ([]byte, error) {
	before, err := parseLogin(mine)
	if err != nil {
		return nil, fmt.Errorf("it was not JSON before: %w", err)
	}
	after, err := parseLogin(theirs)
	if err != nil {
		return nil, fmt.Errorf("the agent's is not JSON: %w", err)
	}
	if err := sameShape(before, after, ""); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(after)
	return text.Bytes(), err
}

func parseLogin(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&value); err == nil && d.More() {
		err = errors.New("text follows")
	}
	return value, err
}

// sameShape returns an error if a value differs in more than a refresh changes.
func sameShape(before, after any, name string) error {
	if was, ok := before.(map[string]any); ok {
		is, ok := after.(map[string]any)
		if !ok || len(is) != len(was) {
			return fmt.Errorf("the agent's has other keys%s", at(name))
		}
		for key, value := range was {
			next, ok := is[key]
			if !ok {
				return fmt.Errorf("the agent's has other keys%s", at(name))
			}
			if err := sameShape(value, next, strings.TrimPrefix(name+"."+key, ".")); err != nil {
				return err
			}
		}
		return nil
	}
	if reflect.DeepEqual(before, after) {
		return nil
	}
	field := name[strings.LastIndexByte(name, '.')+1:]
	text, isText := after.(string)
	switch {
	case !slices.Contains(renewed, field) || reflect.TypeOf(before) != reflect.TypeOf(after):
		return fmt.Errorf("the agent's has another value%s", at(name))
	case isText && (len(text) > maxField || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })):
		return fmt.Errorf("the agent's has no token%s", at(name))
	}
	return nil
}

func at(name string) string {
	if name == "" {
		return ""
	}
	return " at " + name
}

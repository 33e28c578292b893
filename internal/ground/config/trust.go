package config

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// trustFree is the word in the tag of a key that any repository may set. Keys without it need a
// person's trust.
const trustFree = "free"

// Part is a setting in the files of a repository that counts only once a person trusts it: it runs
// a program or changes its arguments or environment, writes outside the loop's folder, removes a
// lock, or replaces a value of the person's own settings.json.
type Part struct {
	Key    string // one of a list of objects has its place: guardrails[0]
	Value  string // as Text prints it
	Origin Origin
	// Own is the value in the person's own settings.json that this one replaces.
	Own string

	setting string // the key in Origins
}

// remember records the values of the person's own settings.json.
func (l *Loaded) remember(keys []string) {
	if l.own == nil {
		l.own = map[string]string{}
	}
	for _, key := range keys {
		l.own[key], _ = Text(l.Settings, key)
	}
}

// ask adds the values that a file of the repository gives to these keys. They replace those of an
// earlier file.
func (l *Loaded) ask(keys []string) {
	for _, key := range keys {
		l.Parts = slices.DeleteFunc(l.Parts, func(p Part) bool { return p.setting == key })
		f, _, entry := lookUp(key)
		if f.Kind == KindMap && entry == "" {
			continue // its entries have keys of their own
		}
		value, _ := Text(l.Settings, key)
		own, set := l.own[key]
		if own == value {
			own, set = "", false
		}
		if !f.Asked && !set {
			continue
		}
		part := Part{Key: key, Value: value, Origin: l.Origins[key], Own: own, setting: key}
		if f.Kind != KindObjects || value == "[]" {
			l.Parts = append(l.Parts, part)
			continue
		}
		list := reflect.ValueOf(l.Settings).FieldByIndex(f.index)
		for i := range list.Len() {
			one := part
			one.Key += "[" + strconv.Itoa(i) + "]"
			one.Value = inJSON(one.Key, list.Index(i).Interface())
			if i > 0 {
				one.Own = ""
			}
			l.Parts = append(l.Parts, one)
		}
	}
}

// Asked returns the Parts that are in force: a variable or a flag that replaces one comes from the
// person, and an agent that is not chosen does nothing, unless one that is chosen has its
// permissions. If none is chosen yet, any may be.
func (l Loaded) Asked() []Part {
	var used []string
	for _, a := range slices.Concat(l.Settings.Candidates(), l.Settings.Reviewers()) {
		used = append(used, strings.TrimPrefix(a.Key(), agentsKey+"."))
	}
	passedOn := func(p Part) bool {
		return slices.ContainsFunc(used, func(name string) bool {
			return l.Origins[join(join(agentsKey, name), "permissions")] == p.Origin
		})
	}
	return slices.DeleteFunc(slices.Clone(l.Parts), func(p Part) bool {
		_, name, _ := lookUp(p.setting)
		idle := name != "" && len(l.Settings.Agent) > 0 && !slices.Contains(used, name)
		return l.Origins[p.setting] != p.Origin || idle && !passedOn(p)
	})
}

// Fingerprint is the SHA-256 in hex of the parts as a JSON object with sorted keys. It does not
// depend on their place in the files.
func Fingerprint(parts []Part) string {
	values := map[string]string{}
	for _, p := range parts {
		values[p.Key] = p.Value
	}
	sum := sha256.Sum256([]byte(inJSON("settings", values)))
	return hex.EncodeToString(sum[:])
}

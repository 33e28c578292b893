package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A Kind is the type of a key as users see it; its text says what a value of it looks like.
type Kind string

// The kinds of keys.
const (
	KindString   Kind = "a string"
	KindBool     Kind = "true or false"
	KindInt      Kind = "a whole number"
	KindFloat    Kind = "a number"
	KindDuration Kind = "a duration such as \"10m\""
	KindStrings  Kind = "a list of strings"
	KindPassed   Kind = "auto, true, false or a list of names"
	KindMap      Kind = "an object of strings"
	KindNames    Kind = "a name, a command or a list of them"
	KindNamed    Kind = "an object of objects"
	KindObject   Kind = "an object"
	KindObjects  Kind = "a list of objects"
)

// A Key is one row of the settings table.
type Key struct {
	// dotted; the keys of a list's objects read guardrails[].command, those of a named agent
	// agents.NAME.command
	Name     string
	Env      string // the variable that sets it; empty for the keys of such objects
	Kind     Kind
	Default  string   // as Text prints it; empty for the keys of such objects
	Enum     []string // the words it takes, if it takes only some
	Min, Max float64  // bounds of a number; Max is +Inf where there is none
	Required bool     // not empty; in a list's objects it must be present
	None     bool     // null and "none" mean no limit
	Live     bool     // may change while a loop runs
	Asked    bool     // in the files of a repository it counts only once a person trusts it
	Doc      string   // one line
}

// Keys returns the settings table in the order of the structs, an object before its keys.
func Keys() []Key {
	keys := make([]Key, 0, len(table()))
	for _, f := range table() {
		keys = append(keys, f.Key)
	}
	return keys
}

// KeyOf returns the row of a dotted key, such as agents.claude.model.
func KeyOf(name string) (Key, bool) {
	f, _, entry := lookUp(name)
	if f == nil || entry != "" {
		return Key{}, false
	}
	return f.Key, true
}

// LiveKeys returns the keys that may change while a loop runs.
func LiveKeys() []string {
	var live []string
	for _, f := range table() {
		if f.Live {
			live = append(live, f.Name)
		}
	}
	return live
}

// field is a Key and where its value is in Go.
type field struct {
	Key
	parent string // the key of its object: "", "limits", "guardrails[]", "agents.NAME"
	index  []int  // from Settings, or from the object of a list or of agents
}

// table is all fields in the order of the structs, compiled at the first use.
var table = sync.OnceValue(func() []*field {
	return compile(reflect.TypeFor[Settings](), "", nil, reflect.ValueOf(Defaults()))
})

// compile returns the fields of a struct and of the objects in it. Below a list or a name, defaults
// is the zero Value: such keys have neither a default nor a variable.
func compile(typ reflect.Type, parent string, index []int, defaults reflect.Value) []*field {
	var fields []*field
	for member := range typ.Fields() {
		if member.Anonymous { // its keys are those of the struct around it
			fields = append(fields, compile(member.Type, parent, slices.Concat(index, member.Index), defaults)...)
			continue
		}
		tag := member.Tag.Get
		name, _, _ := strings.Cut(tag("json"), ",")
		if name == "-" {
			continue
		}
		kind := kindOf(member.Type)
		f := &field{parent: parent, index: slices.Concat(index, member.Index)}
		f.Key = Key{
			Name: join(parent, name), Kind: kind, Min: bound(tag("min"), 0), Max: bound(tag("max"), math.Inf(1)), Required: tag("required") != "",
			None: tag("none") != "", Live: tag("live") != "", Asked: kind != KindObject && tag("trust") != trustFree, Doc: tag("doc"),
		}
		if enum := tag("enum"); enum != "" {
			f.Enum = strings.Split(enum, ",")
		}
		if defaults.IsValid() {
			f.Env, f.Default = envName(f.Name), text(f, defaults.FieldByIndex(f.index))
		}
		fields = append(fields, f)
		switch kind {
		case KindObject:
			fields = append(fields, compile(member.Type, f.Name, f.index, defaults)...)
		case KindObjects:
			fields = append(fields, compile(member.Type.Elem(), f.Name+"[]", nil, reflect.Value{})...)
		case KindNamed:
			fields = append(fields, compile(member.Type.Elem(), anyAgent, nil, reflect.Value{})...)
		}
	}
	return fields
}

func bound(tag string, absent float64) float64 {
	if tag == "" {
		return absent
	}
	number, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic("config: bound of a key: " + err.Error())
	}
	return number
}

var kinds = map[reflect.Type]Kind{
	reflect.TypeFor[string]():            KindString,
	reflect.TypeFor[bool]():              KindBool,
	reflect.TypeFor[int]():               KindInt,
	reflect.TypeFor[int64]():             KindInt,
	reflect.TypeFor[float64]():           KindFloat,
	reflect.TypeFor[Duration]():          KindDuration,
	reflect.TypeFor[[]string]():          KindStrings,
	reflect.TypeFor[Passed]():            KindPassed,
	reflect.TypeFor[map[string]string](): KindMap,
	reflect.TypeFor[AgentNames]():        KindNames,
	reflect.TypeFor[map[string]Agent]():  KindNamed,
}

func kindOf(typ reflect.Type) Kind {
	switch kind, known := kinds[typ]; {
	case known:
		return kind
	case typ.Kind() == reflect.Struct:
		return KindObject
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
		return KindObjects
	}
	panic(fmt.Sprintf("config: no kind of key for Go type %v", typ))
}

// member returns the field of that name in an object, or nil.
func member(parent, name string) *field {
	for _, f := range table() {
		if f.parent == parent && f.Name == join(parent, name) {
			return f
		}
	}
	return nil
}

// lookUp returns the field of a dotted key, and for a key of agents the agent's name. For one entry
// of a map (telemetry.otlp.headers.X) it also returns the entry's name.
func lookUp(key string) (f *field, name, entry string) {
	if rest, ok := strings.CutPrefix(key, agentsKey+"."); ok {
		if name, rest, _ = strings.Cut(rest, "."); name == "" {
			return nil, "", "" // without a name it would be a setting of no agent
		}
		key = join(anyAgent, rest)
	}
	for _, f := range table() {
		if strings.Contains(f.Name, "[]") {
			continue
		}
		if key == f.Name {
			return f, name, ""
		}
		if entry, ok := strings.CutPrefix(key, f.Name+"."); ok && entry != "" && f.Kind == KindMap {
			return f, name, entry
		}
	}
	return nil, "", ""
}

var upperCase = units.Pattern("[A-Z]")

// envName is the variable of a dotted key: limits.exitGrace is RALPH_LIMITS_EXIT_GRACE.
func envName(key string) string {
	return "RALPH_" + strings.ToUpper(strings.ReplaceAll(upperCase().ReplaceAllString(key, "_$0"), ".", "_"))
}

var listIndex = units.Pattern(`\[\d+\]`)

// nearestKey returns the known key nearest to an unknown one, with its index in a list or the
// agent's name.
func nearestKey(unknown string) string {
	var names []string
	for _, f := range table() {
		names = append(names, f.Name)
	}
	general, own := "[]", listIndex().FindString(unknown)
	named := own
	if parts := strings.SplitN(unknown, ".", 3); len(parts) == 3 && parts[0] == agentsKey {
		general, own, named = anyAgent+".", join(agentsKey, parts[1])+".", join(agentsKey, cmp.Or(parts[1], "NAME"))+"."
	}
	if own == "" {
		return Nearest(unknown, names)
	}
	return strings.Replace(Nearest(strings.Replace(unknown, own, general, 1), names), general, named, 1)
}

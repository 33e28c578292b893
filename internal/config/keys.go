package config

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"
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
	KindObject   Kind = "an object"
	KindObjects  Kind = "a list of objects"
)

// A Key is one row of the settings table.
type Key struct {
	Name     string // dotted; the keys of a list's objects read guardrails[].command
	Env      string // the variable that sets it; empty for the keys of a list's objects
	Kind     Kind
	Default  string   // as Text prints it; empty for objects and the keys of a list's objects
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
	var keys []Key
	defaults := reflect.ValueOf(Defaults())
	var walk func(o *object, inList bool)
	walk = func(o *object, inList bool) {
		for i := range o.fields {
			f := &o.fields[i]
			key := Key{Name: f.key, Kind: f.kind, Enum: f.enum, Min: f.min, Max: f.max, Required: f.required, None: f.none, Live: f.live, Asked: f.asked, Doc: f.tag.Get("doc")}
			if !inList {
				key.Env = envName(f.key)
				key.Default = text(f, defaults.FieldByIndex(f.index))
			}
			keys = append(keys, key)
			if f.object != nil {
				walk(f.object, inList || f.kind == KindObjects)
			}
		}
	}
	walk(table(), false)
	return keys
}

// LiveKeys returns the keys that Set changes: those which may change while a loop runs.
func LiveKeys() []string {
	var live []string
	eachField(table(), func(f *field) {
		if f.live {
			live = append(live, f.key)
		}
	})
	return live
}

// object is the compiled form of one struct of settings.
type object struct {
	fields []field
	typ    reflect.Type
}

// field is the compiled form of one struct field and its tags.
type field struct {
	name     string // as in its object
	key      string // dotted from the root
	position int    // in its struct
	index    []int  // from Settings; meaningless below a list
	kind     Kind
	enum     []string
	min, max float64
	required bool
	none     bool
	live     bool
	asked    bool // see Part
	optional bool // Freeze leaves it out when empty, hence a value made in Go may be empty
	tag      reflect.StructTag
	object   *object // of KindObject and KindObjects
}

// table compiles Settings once, at the first need: a runner that never meets a setting pays nothing.
var table = sync.OnceValue(func() *object {
	return compile(reflect.TypeFor[Settings](), "", nil)
})

func compile(typ reflect.Type, prefix string, index []int) *object {
	o := &object{typ: typ, fields: make([]field, typ.NumField())}
	for i := range o.fields {
		member := typ.Field(i)
		f := field{position: i, index: append(index[:len(index):len(index)], i), kind: kindOf(member.Type), max: math.Inf(1), tag: member.Tag}
		f.asked = f.kind != KindObject
		f.readTag()
		f.key = prefix + f.name
		switch f.kind {
		case KindObject:
			f.object = compile(member.Type, f.key+".", f.index)
		case KindObjects:
			f.object = compile(member.Type.Elem(), f.key+"[].", nil)
		}
		o.fields[i] = f
	}
	return o
}

func kindOf(typ reflect.Type) Kind {
	switch typ {
	case reflect.TypeFor[Duration]():
		return KindDuration
	case reflect.TypeFor[Passed]():
		return KindPassed
	case reflect.TypeFor[[]string]():
		return KindStrings
	case reflect.TypeFor[map[string]string]():
		return KindMap
	}
	switch typ.Kind() {
	case reflect.String:
		return KindString
	case reflect.Bool:
		return KindBool
	case reflect.Int, reflect.Int64:
		return KindInt
	case reflect.Float64:
		return KindFloat
	case reflect.Struct:
		return KindObject
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Struct {
			return KindObjects
		}
	}
	panic(fmt.Sprintf("config: no kind of key for Go type %v", typ))
}

// readTag reads the tag in one pass, all but doc, which stands last: StructTag.Get would scan it once for each name, and that
// was most of the time the table took.
func (f *field) readTag() {
	rest, _, _ := strings.Cut(string(f.tag), " doc:")
	for rest != "" {
		name, after, _ := strings.Cut(rest, `:"`)
		value, tail, ok := strings.Cut(after, `"`)
		if !ok {
			panic("config: malformed tag " + string(f.tag))
		}
		rest = strings.TrimPrefix(tail, " ")
		switch name {
		case "json":
			var options string
			f.name, options, _ = strings.Cut(value, ",")
			f.optional = options != ""
		case "enum":
			f.enum = strings.Split(value, ",")
		case "min":
			f.min = bound(value)
		case "max":
			f.max = bound(value)
		case "required":
			f.required = true
		case "none":
			f.none = true
		case "live":
			f.live = true
		case "trust":
			f.asked = value != trustFree
		default:
			panic("config: unknown name in tag " + string(f.tag))
		}
	}
}

func bound(value string) float64 {
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		panic("config: bound of a key: " + err.Error())
	}
	return number
}

// find returns the field of that name, or nil. Objects are small: a scan beats a map that must be built first.
func (o *object) find(name string) *field {
	for i := range o.fields {
		if o.fields[i].name == name {
			return &o.fields[i]
		}
	}
	return nil
}

// lookUp returns the field of a dotted key. For one entry of a map (agent.env.HOME) it also returns the entry's name.
func lookUp(key string) (f *field, entry string) {
	o, rest := table(), key
	for o != nil {
		name, tail, deeper := strings.Cut(rest, ".")
		f = o.find(name)
		switch {
		case f == nil:
			return nil, ""
		case !deeper:
			return f, ""
		case f.kind == KindMap && tail != "":
			return f, tail
		case f.kind != KindObject:
			return nil, ""
		}
		o, rest = f.object, tail
	}
	return nil, ""
}

// eachField visits every key that a file, a variable or a flag can name from the root, an object before its keys.
func eachField(o *object, visit func(*field)) {
	for i := range o.fields {
		f := &o.fields[i]
		visit(f)
		if f.kind == KindObject {
			eachField(f.object, visit)
		}
	}
}

// envName is the variable of a dotted key: limits.afterResult is RALPH_LIMITS_AFTER_RESULT.
func envName(key string) string {
	var b strings.Builder
	b.WriteString("RALPH_")
	for _, r := range key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// nearestKey returns the known key nearest to an unknown one. Indexes in lists are given back as they were written.
func nearestKey(unknown string) string {
	var names []string
	for _, key := range Keys() {
		names = append(names, key.Name)
	}
	plain, indexes := plainKey(unknown)
	found := Nearest(plain, names)
	if indexes != "" && strings.Contains(plain, "[]") && strings.HasPrefix(found, plain[:strings.Index(plain, "[]")+2]) {
		return strings.Replace(found, "[]", indexes, 1)
	}
	return found
}

// plainKey replaces the index of guardrails[1].command by [], and returns the index with its brackets.
func plainKey(key string) (plain, index string) {
	open, end := strings.IndexByte(key, '['), strings.IndexByte(key, ']')
	if open < 0 || end < open {
		return key, ""
	}
	return key[:open] + "[]" + key[end+1:], key[open : end+1]
}

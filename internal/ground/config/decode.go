package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
)

// A node is one JSON value and its place in the text.
type node struct {
	key   string     // dotted from the root, with the index in lists
	token json.Token // the value; of an object or a list, the delimiter that opens it
	at    int        // its offset
	// of an object or a list
	nodes []node
	// of a member of an object
	name   string
	nameAt int
}

// decodeObject reads the text of a settings file over s. It calls seen with every key that was set
// and the value's offset: lists and scalars, but nothing in a list. given receives the settings of
// the command line that a frozen file has; if it is nil, their key is unknown.
func decodeObject(data []byte, s *Settings, given *map[string]string, seen func(key string, at int)) *Error {
	root, err := parseJSON(data, "")
	if err != nil {
		return err
	}
	if root.token != json.Delim('{') {
		return &Error{Problem: "the settings must be one JSON object", at: root.at}
	}
	d := decoder{seen: seen, given: given}
	return d.object("", root, reflect.ValueOf(s).Elem())
}

func parseJSON(data []byte, key string) (node, *Error) {
	if err := checkSyntax(data); err != nil {
		return node{}, err
	}
	p := parser{data: data, tokens: json.NewDecoder(bytes.NewReader(data))}
	p.tokens.UseNumber()
	return p.value(key)
}

// parser makes nodes of a text that has passed checkSyntax, so that no token is malformed.
type parser struct {
	data   []byte
	tokens *json.Decoder
}

func (p *parser) next() (token json.Token, at int) {
	at = int(p.tokens.InputOffset())
	for at < len(p.data) && bytes.IndexByte([]byte(" \t\r\n,:"), p.data[at]) >= 0 {
		at++
	}
	token, err := p.tokens.Token()
	if err != nil {
		panic(fmt.Sprintf("config: token at %d of a checked text: %v", at, err))
	}
	return token, at
}

func (p *parser) value(key string) (n node, err *Error) {
	n.key = key
	n.token, n.at = p.next()
	switch n.token {
	case json.Delim('{'):
		ends := map[string]int{} // where the name of a member ends
		for p.tokens.More() {
			token, at := p.next()
			name, _ := token.(string)
			full := join(key, name)
			if first := ends[name]; first > 0 {
				line, _ := locate(p.data, first)
				return n, &Error{Key: full, Problem: fmt.Sprintf("%q is set twice, first on line %d", full, line), advice: "keep one of them", at: at}
			}
			ends[name] = int(p.tokens.InputOffset())
			member, err := p.value(full)
			if err != nil {
				return n, err
			}
			member.name, member.nameAt = name, at
			n.nodes = append(n.nodes, member)
		}
		p.next()
	case json.Delim('['):
		for p.tokens.More() {
			item, err := p.value(fmt.Sprintf("%s[%d]", key, len(n.nodes)))
			if err != nil {
				return n, err
			}
			n.nodes = append(n.nodes, item)
		}
		p.next()
	}
	return n, nil
}

// decoder writes nodes over settings that earlier layers have filled.
type decoder struct {
	seen  func(key string, at int)
	given *map[string]string
}

// object reads the members of an object. parent is its key in the table.
func (d *decoder) object(parent string, n node, base reflect.Value) *Error {
	for _, m := range n.nodes {
		f := member(parent, m.name)
		switch {
		case m.key == "$schema":
			if _, ok := m.token.(string); !ok {
				return &Error{Key: m.key, Problem: "$schema: want a string", at: m.at}
			}
		case m.key == givenKey && d.given != nil:
			merged, err := entries(m, nil, func(string, int) {})
			if err != nil || m.token != json.Delim('{') {
				return wrongType(m, KindMap)
			}
			*d.given = merged
		case f == nil:
			if err := oldAgents(m); err != nil {
				return err
			}
			err := unknownKey(m.key)
			err.at = m.nameAt
			return err
		default:
			if err := d.value(f, m, base); err != nil {
				return err
			}
		}
	}
	return nil
}

// value reads the value of a field; base is the struct that the field's index begins at. An error
// that has no place yet gets that of the value.
func (d *decoder) value(f *field, n node, base reflect.Value) *Error {
	err := oldAgents(n)
	if err == nil {
		err = d.assign(f, n, base)
	}
	if err != nil && err.at == 0 {
		err.at = n.at
	}
	return err
}

func (d *decoder) assign(f *field, n node, base reflect.Value) *Error {
	place := base.FieldByIndex(f.index)
	switch {
	case f.Kind == KindObject && n.token == json.Delim('{'):
		return d.object(f.Name, n, base)
	case f.Kind == KindNamed && n.token == json.Delim('{'):
		return d.named(n, place)
	}
	d.seen(n.key, n.at)
	if n.token == nil && f.None {
		place.SetZero()
		return nil
	}
	switch f.Kind {
	case KindPassed:
		return decodePassed(f, n, place)
	case KindNames:
		return decodeNames(f, n, place)
	}
	switch n.token {
	case json.Delim('['):
		switch f.Kind {
		case KindObjects:
			return objects(f, n, place)
		case KindStrings:
			list, err := texts(f, n)
			if err != nil {
				return err
			}
			setList(place, reflect.ValueOf(list))
			return nil
		}
	case json.Delim('{'):
		if f.Kind == KindMap {
			merged, err := entries(n, place.Interface().(map[string]string), d.seen)
			if len(merged) > 0 {
				place.Set(reflect.ValueOf(merged))
			}
			return err
		}
	}
	return scalar(f, n, place)
}

func scalar(f *field, n node, place reflect.Value) *Error {
	var text string
	var fits bool
	switch token := n.token.(type) {
	case bool:
		text, fits = strconv.FormatBool(token), f.Kind == KindBool
	case json.Number:
		text, fits = token.String(), f.Kind == KindInt || f.Kind == KindFloat
	case string:
		text, fits = token, f.Kind == KindString || f.Kind == KindDuration || f.None && token == "none"
	}
	if fits {
		return parse(f, n.key, text, place)
	}
	err := wrongType(n, f.Kind)
	if number, ok := n.token.(json.Number); ok && f.Kind == KindDuration {
		err.advice = fmt.Sprintf("write %q for seconds", number.String()+"s")
	}
	return err
}

// objects replaces a list as a whole. Its keys have no origin of their own.
func objects(f *field, n node, place reflect.Value) *Error {
	list := reflect.MakeSlice(place.Type(), 0, len(n.nodes))
	d := decoder{seen: func(string, int) {}}
	for _, m := range n.nodes {
		if m.token != json.Delim('{') {
			return wrongType(m, KindObject)
		}
		item := reflect.New(place.Type().Elem()).Elem()
		if guardrail, ok := item.Addr().Interface().(*Guardrail); ok {
			guardrail.FailAction = FailAppend
		}
		err := d.object(f.Name+"[]", m, item)
		if err == nil {
			err = checkItem(f.Name+"[]", m.key, item)
		}
		if err != nil {
			err.at = max(err.at, m.at)
			return err
		}
		list = reflect.Append(list, item)
	}
	setList(place, list)
	return nil
}

func texts(f *field, n node) ([]string, *Error) {
	var list []string
	for _, m := range n.nodes {
		text, ok := m.token.(string)
		if !ok {
			return nil, wrongType(m, KindString)
		}
		if err := checkWord(f, n.key, text); err != nil {
			err.at = m.at
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// entries merges an object of strings into a copy of the map, since other Settings may share the
// map.
func entries(n node, old map[string]string, seen func(key string, at int)) (map[string]string, *Error) {
	merged := maps.Clone(old)
	for _, m := range n.nodes {
		if err := checkVariable(m.key, m.name); err != nil {
			err.at = m.nameAt
			return nil, err
		}
		text, ok := m.token.(string)
		if number, isNumber := m.token.(json.Number); isNumber && strings.HasPrefix(m.key, "limits.window.") { // dollars
			text, ok = number.String(), true
		}
		if !ok {
			return nil, wrongType(m, KindString)
		}
		if merged == nil {
			merged = map[string]string{}
		}
		seen(m.key, m.at)
		merged[m.name] = text
	}
	return merged, nil
}

// setList stores a list; an empty one is nil, so that equal settings are equal in Go.
func setList(place, list reflect.Value) {
	if list.Len() == 0 {
		place.SetZero()
		return
	}
	place.Set(list)
}

func wrongType(n node, want Kind) *Error {
	return &Error{Key: n.key, Problem: fmt.Sprintf("%s: want %s, got %s", n.key, want, describe(n.token)), at: n.at}
}

// describe names a value's type. It leaves out the text of a string, which may be a misplaced
// secret.
func describe(token json.Token) string {
	switch token := token.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(token)
	case json.Number:
		return "the number " + token.String()
	case string:
		return "a string"
	}
	if token == json.Delim('[') {
		return "a list"
	}
	return "an object"
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

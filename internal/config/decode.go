package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// decoder writes one JSON text over settings that earlier layers have filled. It goes from token to token and keeps no tree:
// the first thing that is wrong ends it, and the offset of every token gives the error its place.
type decoder struct {
	data   []byte
	tokens *json.Decoder
	seen   func(key string, offset int) // told of every key that was set, lists and scalars only; may be nil

	at int // offset of the last token
	// given receives what a frozen file says was given on the command line; nil in all others,
	// where that is an unknown key.
	given *map[string]string
}

// decodeObject reads a whole settings document over s. The error's offset is where it stands in data.
func decodeObject(data []byte, s *Settings, seen func(string, int)) (*Error, int) {
	return decodeFrozen(data, s, nil, seen)
}

// decodeFrozen is decodeObject of a file that Freeze wrote.
func decodeFrozen(data []byte, s *Settings, given *map[string]string, seen func(string, int)) (*Error, int) {
	if err, at := checkSyntax(data); err != nil {
		return err, at
	}
	d := newDecoder(data, seen)
	d.given = given
	if d.next() != json.Delim('{') {
		return &Error{Problem: "the settings must be one JSON object"}, d.at
	}
	err := d.object(table(), reflect.ValueOf(s).Elem(), "")
	return err, d.at
}

// decodeField reads the JSON value of one key over its place in the settings.
func decodeField(data []byte, f *field, place reflect.Value, seen func(string, int)) (*Error, int) {
	if err, at := checkSyntax(data); err != nil {
		return err, at
	}
	d := newDecoder(data, seen)
	err := d.value(f, f.key, place)
	return err, d.at
}

func newDecoder(data []byte, seen func(string, int)) *decoder {
	tokens := json.NewDecoder(bytes.NewReader(data))
	tokens.UseNumber()
	if seen == nil {
		seen = func(string, int) {}
	}
	return &decoder{data: data, tokens: tokens, seen: seen}
}

// next returns the next token and notes its offset. The text has passed checkSyntax, so that no token is malformed.
func (d *decoder) next() json.Token {
	d.at = int(d.tokens.InputOffset())
	for d.at < len(d.data) && bytes.IndexByte([]byte(" \t\r\n,:"), d.data[d.at]) >= 0 {
		d.at++
	}
	token, err := d.tokens.Token()
	if err != nil {
		panic(fmt.Sprintf("config: token at %d of a checked text: %v", d.at, err))
	}
	return token
}

// object reads the members of an object whose brace has been read. key is the object's own key, empty at the root.
func (d *decoder) object(o *object, place reflect.Value, key string) *Error {
	firsts := make([]int, len(o.fields)) // offset+1 of each member's name
	for {
		token := d.next()
		name, more := token.(string)
		if !more {
			return nil
		}
		if key == "" && name == "$schema" {
			if _, ok := d.next().(string); !ok {
				return &Error{Key: name, Problem: "$schema: want a string"}
			}
			continue
		}
		if key == "" && name == givenKey && d.given != nil {
			if err := d.tokens.Decode(d.given); err != nil {
				return &Error{Key: name, Problem: givenKey + ": want an object of strings"}
			}
			continue
		}
		full := join(key, name)
		f := o.find(name)
		if f == nil {
			return unknownKey(full)
		}
		if first := firsts[f.position]; first > 0 {
			line, _ := locate(d.data, first-1)
			return &Error{Key: full, Problem: fmt.Sprintf("%q is set twice, first on line %d", full, line), advice: "keep one of them"}
		}
		firsts[f.position] = d.at + 1
		if err := d.value(f, full, place.Field(f.position)); err != nil {
			return err
		}
	}
}

// value reads one value of the field f, whose full key is key, into place.
func (d *decoder) value(f *field, key string, place reflect.Value) *Error {
	token := d.next()
	at := d.at
	if token == nil && f.none {
		place.SetZero()
		d.seen(key, at)
		return nil
	}
	switch f.kind {
	case KindObject:
		if token != json.Delim('{') {
			return wrongType(f, key, token)
		}
		return d.object(f.object, place, key)
	case KindObjects:
		if token != json.Delim('[') {
			return wrongType(f, key, token)
		}
		d.seen(key, at)
		return d.objects(f, key, place)
	case KindStrings:
		if token != json.Delim('[') {
			return wrongType(f, key, token)
		}
		d.seen(key, at)
		return d.strings(f, key, place)
	case KindPassed:
		if token != json.Delim('[') {
			break
		}
		d.seen(key, at)
		var names []string
		if err := d.strings(f, key, reflect.ValueOf(&names).Elem()); err != nil {
			return err
		}
		return setPassed(key, names, place)
	case KindMap:
		if token != json.Delim('{') {
			return wrongType(f, key, token)
		}
		d.seen(key, at)
		return d.entries(f, key, place)
	}
	d.seen(key, at)
	return d.scalar(f, key, token, place)
}

func (d *decoder) scalar(f *field, key string, token json.Token, place reflect.Value) *Error {
	switch token := token.(type) {
	case bool:
		switch f.kind {
		case KindBool:
			place.SetBool(token)
			return nil
		case KindPassed:
			return parse(f, key, strconv.FormatBool(token), place)
		}
		return wrongType(f, key, token)
	case json.Number:
		if f.kind != KindInt && f.kind != KindFloat {
			return wrongType(f, key, token)
		}
		return parse(f, key, token.String(), place)
	case string:
		if f.kind == KindPassed && token == passedAuto {
			return parse(f, key, token, place)
		}
		if f.kind != KindString && f.kind != KindDuration && !(f.none && token == "none") {
			return wrongType(f, key, token)
		}
		return parse(f, key, token, place)
	}
	return wrongType(f, key, token)
}

func (d *decoder) objects(f *field, key string, place reflect.Value) *Error {
	// A list is replaced as a whole, so that its keys have no origin of their own.
	defer func(seen func(string, int)) { d.seen = seen }(d.seen)
	d.seen = func(string, int) {}

	list := reflect.MakeSlice(place.Type(), 0, 4)
	for i := 0; ; i++ {
		token := d.next()
		if token == json.Delim(']') {
			break
		}
		own := key + "[" + strconv.Itoa(i) + "]"
		if token != json.Delim('{') {
			return wrongItem(own, KindObject, token)
		}
		at := d.at
		item := newItem(f.object.typ)
		if err := d.object(f.object, item, own); err != nil {
			return err
		}
		if err := checkItem(f.object, item, own); err != nil {
			d.at = at
			return err
		}
		list = reflect.Append(list, item)
	}
	setList(place, list)
	return nil
}

func (d *decoder) strings(f *field, key string, place reflect.Value) *Error {
	var list []string
	for {
		token := d.next()
		if token == json.Delim(']') {
			break
		}
		text, ok := token.(string)
		if !ok {
			return wrongItem(key+"["+strconv.Itoa(len(list))+"]", KindString, token)
		}
		if err := checkWord(f, key, text); err != nil {
			return err
		}
		list = append(list, text)
	}
	setList(place, reflect.ValueOf(list))
	return nil
}

// entries merges an object of strings into a copy of the map, since the map may belong to another value of settings.
func (d *decoder) entries(f *field, key string, place reflect.Value) *Error {
	merged := map[string]string{}
	for name, text := range place.Interface().(map[string]string) {
		merged[name] = text
	}
	given := map[string]bool{}
	for {
		token := d.next()
		name, more := token.(string)
		if !more {
			break
		}
		full := join(key, name)
		if err := checkVariable(full, name); err != nil {
			return err
		}
		if given[name] {
			return &Error{Key: full, Problem: fmt.Sprintf("%q is set twice", full), advice: "keep one of them"}
		}
		given[name] = true
		token = d.next()
		text, ok := token.(string)
		if !ok {
			return wrongItem(full, KindString, token)
		}
		d.seen(full, d.at)
		merged[name] = text
	}
	if len(merged) > 0 {
		place.Set(reflect.ValueOf(merged))
	}
	return nil
}

// newItem returns the settable object that a list's entry is read into, with its defaults.
func newItem(typ reflect.Type) reflect.Value {
	item := reflect.New(typ).Elem()
	if guardrail, ok := item.Addr().Interface().(*Guardrail); ok {
		guardrail.FailAction = FailAppend
	}
	return item
}

// setList stores a list; an empty one is nil, so that equal settings are equal in Go.
func setList(place, list reflect.Value) {
	if list.Len() == 0 {
		place.SetZero()
		return
	}
	place.Set(list)
}

func wrongType(f *field, key string, token json.Token) *Error {
	err := wrongItem(key, f.kind, token)
	if number, ok := token.(json.Number); ok && f.kind == KindDuration {
		err.advice = fmt.Sprintf("write %q for seconds", number.String()+"s")
	}
	return err
}

func wrongItem(key string, want Kind, token json.Token) *Error {
	return &Error{Key: key, Problem: fmt.Sprintf("%s: want %s, got %s", key, want, describe(token))}
}

// describe says what a token is. The text of a string is not repeated: it might be somebody's key in the wrong place.
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

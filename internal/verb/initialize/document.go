package initialize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// document is a JSON object whose members keep their order, and their spelling until one
// is set: in a file that people keep under version control, nothing else may change.
type document []member

type member struct {
	name  string
	value json.RawMessage
}

// documentFile is a settings file; source is nil if there is none.
type documentFile struct {
	source []byte
	document
}

func readDocument(path string) (documentFile, error) {
	source, err := safefile.ReadLinked(path, config.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return documentFile{}, nil
	}
	if err != nil {
		return documentFile{}, err
	}
	d, err := parseDocument(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf")))
	if err != nil {
		return documentFile{}, fmt.Errorf("read %s: %w", path, err)
	}
	return documentFile{source, d}, nil
}

// parseDocument reads one JSON object.
func parseDocument(text []byte) (document, error) {
	tokens := json.NewDecoder(bytes.NewReader(text))
	if open, err := tokens.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.Join(errors.New("not a JSON object"), err)
	}
	var d document
	for tokens.More() {
		name, err := tokens.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := tokens.Decode(&value); err != nil {
			return nil, err
		}
		d = append(d, member{name.(string), value})
	}
	_, err := tokens.Token()
	return d, err
}

func (d document) at(name string) int {
	return slices.IndexFunc(d, func(m member) bool { return m.name == name })
}

// get returns the value of a member; nil where there is none.
func (d document) get(name string) json.RawMessage {
	if at := d.at(name); at >= 0 {
		return d[at].value
	}
	return nil
}

// set gives a member a value; a new one comes last.
func (d *document) set(name string, value any) { d.put(name, encode(value)) }

func (d *document) put(name string, value json.RawMessage) {
	if at := d.at(name); at >= 0 {
		(*d)[at].value = value
		return
	}
	*d = append(*d, member{name, value})
}

// setDefault adds a member that is missing.
func (d *document) setDefault(name string, value any) {
	if d.at(name) < 0 {
		d.set(name, value)
	}
}

// setList sets a list. An empty one is only written over another: if there is none, the person's
// own settings still count.
func (d *document) setList(name string, list []string) {
	if len(list) > 0 {
		d.set(name, list)
	} else if d.at(name) >= 0 {
		d.set(name, []string{})
	}
}

func (d *document) drop(name string) {
	*d = slices.DeleteFunc(*d, func(m member) bool { return m.name == name })
}

// objects returns a list of objects; none if there is no such member.
func (d document) objects(name string) ([]document, error) {
	var values []json.RawMessage
	if text := d.get(name); text != nil {
		if err := json.Unmarshal(text, &values); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	list := make([]document, len(values))
	for i, text := range values {
		var err error
		if list[i], err = parseDocument(text); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", name, i, err)
		}
	}
	return list, nil
}

// setObjects is setList for objects.
func (d *document) setObjects(name string, list []document) {
	if len(list) == 0 {
		d.setList(name, nil)
		return
	}
	text := []byte{'['}
	for i, one := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = one.appendTo(text)
	}
	d.put(name, append(text, ']'))
}

// object returns an object, for a missing one an empty one.
func (d document) object(name string) (document, error) {
	text := d.get(name)
	if text == nil {
		return document{}, nil
	}
	return parseDocument(text)
}

// setObject writes an object.
func (d *document) setObject(name string, object document) { d.put(name, object.appendTo(nil)) }

// decode reads the document into a Go value.
func (d document) decode(to any) error { return json.Unmarshal(d.appendTo(nil), to) }

// text is the document as a file contains it.
func (d document) text() []byte {
	var b bytes.Buffer
	// This cannot fail: the document was made from checked JSON.
	_ = json.Indent(&b, d.appendTo(nil), "", "  ")
	b.WriteByte('\n')
	return b.Bytes()
}

func (d document) appendTo(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range d {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, encode(m.name)...), ':')
		dst = append(dst, m.value...)
	}
	return append(dst, '}')
}

// overlay returns base with local over it, as the layers of settings are merged: objects
// member by member, everything else as a whole.
func overlay(base, local document) document {
	merged := slices.Clone(base)
	for _, m := range local {
		if below := merged.get(m.name); len(below) > 0 && below[0] == '{' && m.value[0] == '{' {
			under, errUnder := parseDocument(below)
			over, errOver := parseDocument(m.value)
			if errUnder == nil && errOver == nil {
				m.value = overlay(under, over).appendTo(nil)
			}
		}
		merged.put(m.name, m.value)
	}
	return merged
}

// encode is a plain value as JSON for people: & and < in a command stay what they are.
func encode(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // numbers, booleans, strings and lists of them always encode
	return bytes.TrimSpace(b.Bytes())
}

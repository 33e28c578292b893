package initialize

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestOverlay(t *testing.T) {
	for _, tt := range []struct{ name, base, local, want string }{
		{"objects are merged member by member", `{"a":{"x":1,"y":[1,2]},"b":1}`, `{"a":{"y":[3],"z":2}}`, `{"a":{"x":1,"y":[3],"z":2},"b":1}`},
		{"everything else is replaced", `{"a":{"x":1},"b":[1]}`, `{"a":null,"b":[],"c":"d"}`, `{"a":null,"b":[],"c":"d"}`},
		{"without a base the other is unchanged", `{}`, `{"a":{"b":{}}}`, `{"a":{"b":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, err := parseDocument([]byte(tt.base))
			local, more := parseDocument([]byte(tt.local))
			if err := errors.Join(err, more); err != nil {
				t.Fatal(err)
			}
			if got := string(overlay(base, local).appendTo(nil)); got != tt.want {
				t.Errorf("%s", got)
			}
			if got := string(base.appendTo(nil)); got != tt.base {
				t.Errorf("the base is now %s", got)
			}
		})
	}
}

// FuzzDocument: a document that was read is written as JSON of the same content and order, and
// writing it again changes nothing.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"a": {"b" : [1, 2e3, "\u00e4<&"]}, "c":null}`))
	f.Add([]byte("{\"a\":\n\t{ } , \"a\":[ ]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parseDocument(text)
		if err != nil {
			return
		}
		once := d.text()
		var back any
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatalf("%q became %q: %v", text, once, err)
		}
		again, err := parseDocument(once)
		if err != nil || string(again.text()) != string(once) || len(again) != len(d) {
			t.Errorf("%q became %q, then %q: %v", text, once, again.text(), err)
		}
		for i := range d {
			if again[i].name != d[i].name {
				t.Errorf("%q: member %d is %q, then %q", text, i, d[i].name, again[i].name)
			}
		}
	})
}

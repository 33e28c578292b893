package inbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const anID = "01JD0000000000000000000000"

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		title, content string
		refused        string // "" or what the reason is about
	}{
		{"a stop needs only version, id and kind", `{"v":1,"id":"` + anID + `","kind":"stop"}`, ""},
		{"keys of a later ralph are ignored", `{"v":1,"id":"` + anID + `","kind":"kill","later":{"x":[1]}}`, ""},
		{"an empty file is refused", ``, "not a command"},
		{"half a file is refused", `{"v":1,"id":"` + anID, "not a command"},
		{"two objects are refused", `{"v":1,"id":"` + anID + `","kind":"stop"}{}`, "not a command"},
		{"a list is refused", `[]`, "not a command"},
		{"a wrong type is refused", `{"v":1,"id":"` + anID + `","kind":"set","key":"k","value":3}`, "not a command"},
		{"a bad time is refused", `{"v":1,"id":"` + anID + `","kind":"stop","at":"yesterday"}`, "not a command"},
		{"a missing version is refused", `{"id":"` + anID + `","kind":"stop"}`, "version 0"},
		{"a later version is refused", `{"v":2,"id":"` + anID + `","kind":"stop"}`, "version 2"},
		{"another id is refused", `{"v":1,"id":"01JD0000000000000000000001","kind":"stop"}`, "not its file's name"},
		{"no id is refused", `{"v":1,"kind":"stop"}`, "not its file's name"},
		{"an unknown kind is refused", `{"v":1,"id":"` + anID + `","kind":"explode"}`, "unknown kind"},
		{"a steer without text is refused", `{"v":1,"id":"` + anID + `","kind":"steer","text":" \n"}`, "without text"},
		{"a follow-up without text is refused", `{"v":1,"id":"` + anID + `","kind":"follow-up"}`, "without text"},
		{"a set without key is refused", `{"v":1,"id":"` + anID + `","kind":"set","value":"3"}`, "without key"},
		{"a fence names a host and an epoch", `{"v":1,"id":"` + anID + `","kind":"fence","host":"kiln","epoch":2}`, ""},
		{"a fence without host is refused", `{"v":1,"id":"` + anID + `","kind":"fence","epoch":2}`, "without a host"},
		{"a fence of the first host is refused", `{"v":1,"id":"` + anID + `","kind":"fence","host":"kiln","epoch":1}`, "epoch above 1"},
		{"an epoch below 0 is refused", `{"v":1,"id":"` + anID + `","kind":"stop","epoch":-1}`, "not a command"},
		{"bytes that are not UTF-8 are refused", `{"v":1,"id":"` + anID + `","kind":"steer","text":"` + "\xff" + `"}`, "UTF-8"},
		{"JSON nested without end is refused", strings.Repeat("[", MaxSize/2), "not a command"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			c, err := decode(file{id: anID}, []byte(tt.content))
			if tt.refused == "" {
				if err != nil || c.ID != anID {
					t.Errorf("%+v, %v", c, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("got %v, want a reason about %q", err, tt.refused)
			}
		})
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	if _, err := encode(Command{ID: anID, Kind: Steer, Text: "\xff"}); !errors.Is(err, errNotUTF8) {
		t.Error(err)
	}
	if _, err := encode(Command{ID: anID, Kind: Steer, Text: strings.Repeat("x", MaxSize)}); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	b, err := encode(Command{ID: anID, Kind: Steer, Text: "<a> & b"})
	if want := `{"v":1,"id":"` + anID + `","kind":"steer","text":"<a> & b"}` + "\n"; err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, kind := range []Kind{Steer, FollowUp, Stop, StopNow, Pause, Resume, Set, Kill, Wait, Blocked, "explode"} {
		f.Add([]byte(fmt.Sprintf(`{"v":1,"id":"%s","kind":"%s","from":"cli:ada@mill","at":"2026-11-21T01:52:28.123456Z","text":"t","key":"k","value":"v"}`, anID, kind)))
	}
	f.Add([]byte(`{"V":1,"ID":"` + anID + `","Kind":"stop","at":"0000-01-01T00:00:00+23:59"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decode(file{id: anID}, b)
		if err != nil {
			if r := reason(refuse("%w", err)); r == "" || strings.ContainsAny(r, "\n\r") {
				t.Fatalf("reason %q", r)
			}
			return
		}
		if c.ID != anID || c.Check() != nil {
			t.Fatalf("accepted %+v", c)
		}
		c.At = c.At.UTC().Truncate(time.Microsecond)
		line, err := encode(c)
		if err != nil {
			if len(b) > MaxSize/8 || c.At.Year() < 0 || c.At.Year() > 9999 { // escapes may grow; UTC may leave the years that JSON has
				return
			}
			t.Fatalf("%+v cannot be written again: %v", c, err)
		}
		again, err := decode(file{id: anID}, line)
		if diff := cmp.Diff(c, again); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

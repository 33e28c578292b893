package jsonscan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Differences returns the keys in which two JSON values differ, each with the name of what they are
// in, and what have and want contain there.
func Differences(name string, have, want []byte) []string {
	var a, b any
	if err := errors.Join(json.Unmarshal(have, &a), json.Unmarshal(want, &b)); err != nil {
		return []string{name + ": " + err.Error()}
	}
	return differences(name, a, b)
}

func differences(at string, have, want any) []string {
	a, ok := have.(map[string]any)
	b, ok2 := want.(map[string]any)
	if !ok || !ok2 {
		if reflect.DeepEqual(have, want) {
			return nil
		}
		return []string{fmt.Sprintf("%s is %s, and the journal says %s", at, brief(have), brief(want))}
	}
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var found []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		found = append(found, differences(at+" "+key, a[key], b[key])...)
	}
	return found
}

// briefMost is how much of a value is shown, in characters.
const briefMost = 60

func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if r := []rune(string(text)); len(r) > briefMost {
		return string(r[:briefMost-1]) + "…"
	}
	return string(text)
}

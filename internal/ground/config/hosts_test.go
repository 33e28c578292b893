package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// The files of a repository name no host: ssh would reach it with the person's keys.
func TestHostsAreOnesOwn(t *testing.T) {
	const named = `{"hosts": ["farm", "mill"]}`
	loaded, err := Load(layers{home: named}.source(t))
	if err != nil || !slices.Equal(loaded.Settings.Hosts, []string{"farm", "mill"}) {
		t.Errorf("%v, %v", loaded.Settings.Hosts, err)
	}
	for _, given := range []layers{{project: named}, {local: named}, {home: named, project: `{"hosts": []}`}} {
		_, err := Load(given.source(t))
		if bad, ok := errors.AsType[*Error](err); !ok || !strings.Contains(bad.Error(), "hosts: is only for your own settings.json") || bad.Line != 1 {
			t.Errorf("the error is %v", err)
		}
	}
}

package main

import (
	"reflect"
	"testing"

	"github.com/alecthomas/kong"
)

// Each verb is understood alone just as it is within the whole, under the name that
// kong gives it there.
func TestGrammarOfOneVerbIsThatOfTheWhole(t *testing.T) {
	options := []kong.Option{kong.Name("ralph"), kong.Vars{"version": "test"}}
	whole, err := kong.New(&cli{}, options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range whole.Model.Children {
		t.Run(node.Name, func(t *testing.T) {
			shape := grammar([]string{node.Name, "--flag"})
			if _, all := shape.(*cli); all {
				t.Fatal("it is not found")
			}
			one, err := kong.New(shape, options...)
			if err != nil {
				t.Fatal(err)
			}
			if len(one.Model.Children) != 1 {
				t.Fatalf("%d verbs", len(one.Model.Children))
			}
			got := one.Model.Children[0]
			if got.Name != node.Name || got.Summary() != node.Summary() || got.Target.Type() != node.Target.Type() {
				t.Errorf("%s %s, want %s %s", got.Name, got.Target.Type(), node.Name, node.Target.Type())
			}
			if got, want := flagNames(one.Model.Node), flagNames(whole.Model.Node); !reflect.DeepEqual(got, want) {
				t.Errorf("flags of ralph %v, want %v", got, want)
			}
		})
	}
	for name, args := range map[string][]string{"nothing": nil, "a flag": {"--help"}, "an unknown word": {"attack"}} {
		if _, all := grammar(args).(*cli); !all {
			t.Errorf("%s: not the whole", name)
		}
	}
}

func flagNames(n *kong.Node) (names []string) {
	for _, f := range n.Flags {
		names = append(names, f.Name)
	}
	return names
}

package main

import (
	"bytes"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/config/schema"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
)

func TestPublishedSchemaIsCurrent(t *testing.T) {
	want, err := schema.Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "settings.schema.json", append(bytes.TrimSpace(want), '\n'))
}

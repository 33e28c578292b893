package main

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/config/schema"
)

func TestPublishedSchemaIsCurrent(t *testing.T) {
	want, err := schema.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if want = append(bytes.TrimSpace(want), '\n'); *update {
		if err := os.WriteFile("settings.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(settingsSchema, want) {
		t.Error("settings.schema.json is not the schema of today's settings: run make docs")
	}
}

var update = flag.Bool("update", false, "write settings.schema.json again")

package fence

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// An export of an older version has neither a host of a pool nor an epoch.
func TestFenceNamesWhereLoopWent(t *testing.T) {
	for text, want := range map[string]string{
		`{"file":"/d/x.ralph","host":"mill","at":"2026-11-26T01:02:03Z","complete":true}`:  "exported on 2026-11-26 01:02:03 UTC to /d/x.ralph",
		`{"file":"/d/x.ralph","host":"mill","at":"2026-11-26T01:02:03Z","complete":false}`: "an export to /d/x.ralph was cut off",
		`{"at":"2026-11-26T01:02:03Z","complete":true,"to":"ki\u0007ln","epoch":2}`:        "it continues on ki␇ln (epoch 2)",
	} {
		dir := t.TempDir()
		testfile.Write(t, filepath.Join(dir, loopfolder.Moved), text)
		f, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Text(); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
		if err := Write(dir, *f); err != nil {
			t.Fatal(err)
		}
		if again, err := Read(dir); err != nil || *again != *f || f.At != time.Date(2026, 11, 26, 1, 2, 3, 0, time.UTC) {
			t.Errorf("written and read again it is %+v, %v", again, err)
		}
	}
}

func TestClaimIsReadOrRefused(t *testing.T) {
	dir := t.TempDir()
	if c, err := ReadClaim(dir); c != nil || err != nil {
		t.Fatalf("without a file: %+v, %v", c, err)
	}
	if err := WriteClaim(dir, Claim{Epoch: 2, Host: "kiln", From: "mill"}); err != nil {
		t.Fatal(err)
	}
	if c, err := ReadClaim(dir); err != nil || *c != (Claim{Epoch: 2, Host: "kiln", From: "mill"}) {
		t.Errorf("%+v, %v", c, err)
	}
	name := filepath.Join(dir, loopfolder.Pool)
	testfile.Write(t, name, `{"epoch":-2}`)
	if _, err := ReadClaim(dir); err == nil {
		t.Error("an epoch below 0 is read")
	}
}

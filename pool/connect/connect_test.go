package connect_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/store"
)

func TestOpenFolder(t *testing.T) {
	s, err := connect.Open(t.Context(), connect.Pool{URL: "dir://" + t.TempDir(), Host: "mill"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Get(t.Context(), "loops/L/view"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
}

func TestWrongAddressesAreRefused(t *testing.T) {
	for address, want := range map[string]string{
		"":                      "none of",
		"http://localhost":      "none of",
		"dir://relative/folder": "dir:///FOLDER",
		"dir:///does/not/exist": "does not exist",
	} {
		s, err := connect.Open(t.Context(), connect.Pool{URL: address})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}

func TestPodsHaveNames(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "pool.json"), []byte(`{"url":"dir:///pool","host":"mill"}`), 0o400); err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{"": "mill", "ralph-workers-7": "ralph-workers-7"} {
		t.Setenv("RALPH_POOL_HOST", variable)
		if p, err := connect.Load(home); err != nil || p.Host != want {
			t.Errorf("%q: %+v, %v", variable, p, err)
		}
	}
	t.Setenv("RALPH_POOL_HOST", "../mill")
	if p, err := connect.Load(home); err == nil {
		t.Errorf("%+v is accepted", p)
	}
}

func TestSecretsInAddressesAreRefused(t *testing.T) {
	const secret = "wJalrXUtnFEMI"
	home := t.TempDir()
	for address, want := range map[string]string{
		"s3://AKIA:" + secret + "@bucket/team?endpoint=127.0.0.1:1":       "AWS_SECRET_ACCESS_KEY in the environment",
		"s3://AKIA:77/" + secret + "@bucket/team":                         "AWS_SECRET_ACCESS_KEY in the environment",
		"s3://bucket/team?endpoint=AKIA:" + secret + "@127.0.0.1:1":       "credentials are those of the environment",
		"s3://bucket/team?secret_key=" + secret + "&endpoint=127.0.0.1:1": "there is no such parameter",
		"nats://" + secret + "@127.0.0.1:1":                               "parameter token of the join line",
		"s3://AKIA:" + secret + "%zz@bucket":                              "is none",
	} {
		_, err := connect.Open(t.Context(), connect.Pool{URL: address, Host: "mill"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("open %s: %v, want %q", address, err, want)
		}
		if _, err := connect.ParseLine("ralph+" + address); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("join %s: %v", address, err)
		}
		if err := os.WriteFile(connect.Path(home), []byte(`{"url":"`+address+`","host":"mill"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := connect.Load(home); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("load %s: %v", address, err)
		}
	}
}

func TestReadersOfFoldersWriteNothing(t *testing.T) {
	folder := t.TempDir()
	s, err := connect.Open(t.Context(), connect.Pool{URL: "dir://" + folder, Host: "desk", Reader: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, put := s.PutIfAbsent(t.Context(), "loops/L/inbox/I", nil)
	_, swap := s.CompareAndSwap(t.Context(), "hosts/mill/wake", "", nil)
	for _, err := range []error{put, swap} {
		if err == nil || !strings.Contains(err.Error(), "joined as a reader") {
			t.Errorf("a reader writes: %v", err)
		}
	}
}

func TestPrintedLinesAreRead(t *testing.T) {
	want, err := connect.ParseLine("ralph+nats://10.0.0.5:4222/?fingerprint=AB&token=T")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{" ralph+nats://10.0.0.5:4222/?fingerprint=ab&token=T\n", "ralph pool join 'ralph+nats://10.0.0.5:4222/?token=T&fingerprint=ab'"} {
		if got, err := connect.ParseLine(line); err != nil || got != want {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
}

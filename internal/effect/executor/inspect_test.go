//go:build unix

package executor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/journal/event"
)

// seeing returns an executor in a repository whose progress counts.
func seeing(t *testing.T) *stage {
	t.Helper()
	s := bare(t)
	s.state.Rules.Breaker.NoProgress = 3
	git(t, s, "init", "-q")
	return s
}

// stuck makes git wait in the repository; the channel is closed when it does.
func stuck(t *testing.T, s *stage) <-chan struct{} {
	t.Helper()
	folder := filepath.Join(s.cfg.Project, "deep")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	// git reads the attributes of a tracked file whose contents it has to compare.
	write(t, folder, "file", "x")
	git(t, s, "add", "deep")
	git(t, s, "-c", "user.name=ada", "-c", "user.email=ada@mill", "commit", "-qm", "file")
	write(t, folder, "file", "y")
	pipe := filepath.Join(folder, ".gitattributes")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	waits := make(chan struct{})
	go func() {
		for t.Context().Err() == nil {
			// A reader that waits for its end lets it be opened without waiting.
			if fd, err := unix.Open(pipe, unix.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
				defer unix.Close(fd)
				close(waits)
				<-t.Context().Done()
				return
			}
			time.Sleep(time.Millisecond) // a pipe has no event for its reader
		}
	}()
	return waits
}

// An inspection that hangs ends when it is cancelled, before and after an iteration, and reports
// only what it has seen.
func TestHangingInspectionIsCancelled(t *testing.T) {
	t.Parallel()
	for _, d := range []event.Decided{begin, look} {
		s := seeing(t).up()
		waits := stuck(t, s)
		s.do(d)
		<-waits
		s.do(cancel)
		for done := false; !done; {
			switch e := s.next(); e.typ {
			case event.TypeIterationStarted, event.TypeIterationChecked:
				done = true
			case event.TypeRepoInspected, event.TypeRepoUnreadable, event.TypeEffectFailed:
				t.Errorf("%s: %s %s", d.Do, e.typ, e.data)
			}
		}
	}
}

func TestUnreadableRepositoryIsReported(t *testing.T) {
	t.Parallel()
	s := seeing(t).up()
	path := filepath.Join(s.cfg.Project, ".gitmodules")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range []event.Decided{begin, look} {
		reported := s.answer(d)
		var unseen []string
		for _, e := range reported {
			if e.typ == event.TypeRepoUnreadable {
				unseen = append(unseen, e.data)
			}
		}
		when := map[event.Effect]string{event.DoBegin: "begin", event.DoCheck: "end"}[d.Do]
		if len(unseen) != 1 || !strings.Contains(unseen[0], `"root":".","when":"`+when+`"`) || !strings.Contains(unseen[0], path+" is a named pipe") {
			t.Errorf("%s: %s: %q", d.Do, types(reported), unseen)
		}
	}
}

// No version control is no error.
func TestNoRepositoryIsNotUnseen(t *testing.T) {
	t.Parallel()
	s := bare(t)
	s.state.Rules.Breaker.NoProgress = 3
	if reported := types(s.up().answer(begin)); strings.Contains(reported, "repo.") {
		t.Error(reported)
	}
}

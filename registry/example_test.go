package registry_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/registry"
)

// A runner takes the loop's lock, then lists itself; any other process sees it in a survey.
func Example() {
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	home, loopDir := filepath.Join(dir, "home"), filepath.Join(dir, ".ralph", "fix-login")
	if err := os.MkdirAll(loopDir, 0o700); err != nil {
		log.Fatal(err)
	}

	lock, err := registration.Acquire(loopDir)
	if err != nil {
		log.Fatal(err)
	}
	err = registry.Put(home, registry.Entry{
		Name: registration.SlugName("Fix/Login"), Dir: loopDir, Project: dir, Agent: "pi", PID: os.Getpid(), Started: time.Now(),
	})
	if err != nil {
		log.Fatal(err)
	}

	_, err = registration.Acquire(loopDir)
	_, held := errors.AsType[*registration.HeldError](err)
	fmt.Println("a second runner is refused:", held)

	statuses, err := registry.Survey(home, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range statuses {
		fmt.Println(s.Name, "alive:", s.Live.Alive, "status:", s.Head.Status)
	}

	if err := lock.Release(); err != nil {
		log.Fatal(err)
	}
	live, err := registry.Probe(loopDir)
	fmt.Println("after its release, alive:", live.Alive, err)
	// Output:
	// a second runner is refused: true
	// fix-login alive: true status: starting
	// after its release, alive: false <nil>
}

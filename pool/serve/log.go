package serve

import (
	"fmt"
	"strings"
	"sync"
)

// A log passes on what a person has to know of the server, and ends it where NATS would go on
// without storing anything.
type log struct {
	print  func(string)
	once   sync.Once
	failed chan error
}

// fatal are what NATS says when it will not store anything any more.
var fatal = []string{"critical write error", "will be DISABLED", "disabling JetStream"}

func (l *log) fail(text string) { l.once.Do(func() { l.failed <- fmt.Errorf("%s", text) }) }

// Noticef is about starting and stopping, which is said otherwise.
func (l *log) Noticef(string, ...any) {}

// Debugf and Tracef are off.
func (l *log) Debugf(string, ...any) {}

// Tracef is off.
func (l *log) Tracef(string, ...any) {}

// Warnf prints.
func (l *log) Warnf(format string, v ...any) { l.Errorf(format, v...) }

// Errorf prints, and may end the server.
func (l *log) Errorf(format string, v ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, v...))
	l.print(text)
	for _, sign := range fatal {
		if strings.Contains(text, sign) {
			l.fail(text)
		}
	}
}

// Fatalf ends the server.
func (l *log) Fatalf(format string, v ...any) { l.fail(strings.TrimSpace(fmt.Sprintf(format, v...))) }

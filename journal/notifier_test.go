package journal

import (
	"testing"
	"time"
)

func openedNotifier(t *testing.T) *notifier {
	t.Helper()
	folder, err := osFS{}.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	b, err := openNotifier(folder)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// notifiedBytes is 1 once followers were notified, and 0 before.
func notifiedBytes(t *testing.T, b *notifier) int64 {
	t.Helper()
	info, err := b.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestFastNotifierWritesAtOnce(t *testing.T) {
	b := openedNotifier(t)
	defer b.stop()
	b.notify()
	if notifiedBytes(t, b) != 1 {
		t.Error("followers were not notified")
	}
}

func TestNotifierWaitsAMillisecond(t *testing.T) {
	b := openedNotifier(t)
	ahead := int64(time.Minute) // long enough to stay recent
	b.last.Store(ahead)
	b.notify()
	if b.last.Load() != ahead {
		t.Error("two notifications within a millisecond")
	}
	b.stop() // which writes what is pending
	if b.last.Load() == ahead {
		t.Error("no notification for what was appended right after one")
	}
}

func TestSlowNotifierUsesGoroutine(t *testing.T) {
	b := openedNotifier(t)
	b.slow.Store(true)
	b.notify()
	b.stop()
	if b.last.Load() < 0 {
		t.Error("followers were not notified")
	}
}

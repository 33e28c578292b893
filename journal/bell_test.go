package journal

import (
	"testing"
	"time"
)

func hungBell(t *testing.T) *bell {
	t.Helper()
	folder, err := osFS{}.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	b, err := hangBell(folder)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rungBytes is 1 once the bell was rung, and 0 before.
func rungBytes(t *testing.T, b *bell) int64 {
	t.Helper()
	info, err := b.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestALightBellHasRungWhenRingReturns(t *testing.T) {
	b := hungBell(t)
	defer b.stop()
	b.ring()
	if rungBytes(t, b) != 1 {
		t.Error("nobody has heard it")
	}
}

func TestABellThatRangJustNowRingsAMillisecondLater(t *testing.T) {
	b := hungBell(t)
	ahead := int64(time.Minute) // so that it is just now for long enough
	b.last.Store(ahead)
	b.ring()
	if b.last.Load() != ahead {
		t.Error("it rang twice within a millisecond")
	}
	b.stop() // which rings what has not been rung yet
	if b.last.Load() == ahead {
		t.Error("what was appended right behind a ring was told to nobody")
	}
}

func TestAHeavyBellIsRungByTheOtherThread(t *testing.T) {
	b := hungBell(t)
	b.heavy.Store(true)
	b.ring()
	b.stop()
	if b.last.Load() < 0 {
		t.Error("nobody has rung it")
	}
}

package app

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// A trimmer gives memory back to the system that a call needed for a large
// file, or a load for a long session. By itself Go's runtime keeps it for
// minutes, and an agent sits idle in an editor most of its life. The zero
// value is ready.
type trimmer struct {
	mu    sync.Mutex
	timer *time.Timer // guarded by mu; nil before the first use
}

const (
	// trimAfter is the pause that is waited for, so that calls in a row use
	// the same memory.
	trimAfter = 250 * time.Millisecond
	// trimFrom is the size of a heap that is worth a collection.
	trimFrom = 12 << 20
)

// soon has the memory looked at when nothing has ended for a while.
func (t *trimmer) soon() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil {
		t.timer = time.AfterFunc(trimAfter, trim)
		return
	}
	t.timer.Reset(trimAfter)
}

// trim collects garbage and hands free memory over. It looks at the size of
// the heap only: what the last collection found alive may be a file of a call
// that has ended since.
func trim() {
	if heapTaken() >= trimFrom {
		debug.FreeOSMemory()
	}
}

// heapTaken is how much memory of the system the heap has, used or not.
func heapTaken() uint64 {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(s)
	var sum uint64
	for _, x := range s {
		sum += x.Value.Uint64()
	}
	return sum
}

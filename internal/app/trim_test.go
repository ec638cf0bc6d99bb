package app

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spend takes memory from the system and lets go of it.
func spend(n int) {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	runtime.KeepAlive(b)
}

func TestTrimGivesBack(t *testing.T) {
	const much = 64 << 20
	trim()
	before := heapTaken()
	spend(much)
	require.Greater(t, heapTaken(), before+much/2)
	var tr trimmer
	tr.soon()
	tr.soon() // the second sets the clock back, no more
	require.Eventually(t, func() bool { return heapTaken() < before+much/4 }, 10*time.Second, 10*time.Millisecond)
}

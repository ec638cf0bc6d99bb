package fsbackend

import (
	"context"
	"slices"
	"sync"
)

// Locks are locks by file identity. All sessions of a process share one value
// (Options.Locks), and so all tools take turns on a file. The zero value is
// ready. It does not reach other processes: against those there are versions.
type Locks struct {
	mu   sync.Mutex
	held map[Key]*turn // guarded by mu
}

// A turn is the right to one key. The channel holds one token; receivers wait
// in the order in which they came.
type turn struct {
	token chan struct{}
	users int // holders and waiters; guarded by Locks.mu
}

// Lock waits until the caller has every key, or the context ends, which is
// then the error and nothing is held. Keys may repeat; none at all is fine.
// Everybody takes them in one order, so that two callers cannot wait for each
// other; hence a caller must not ask for more while it holds some. For one
// key, callers are served in the order of their calls. unlock may be called
// more than once.
func (l *Locks) Lock(ctx context.Context, keys ...Key) (unlock func(), err error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for i, k := range keys {
		if err := l.lock(ctx, k); err != nil {
			l.unlock(keys[:i])
			return nil, err
		}
	}
	return sync.OnceFunc(func() { l.unlock(keys) }), nil
}

func (l *Locks) lock(ctx context.Context, k Key) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	if l.held == nil {
		l.held = map[Key]*turn{}
	}
	t := l.held[k]
	if t == nil {
		t = &turn{token: make(chan struct{}, 1)}
		t.token <- struct{}{}
		l.held[k] = t
	}
	t.users++
	l.mu.Unlock()
	select {
	case <-t.token:
		return nil
	case <-ctx.Done():
		l.leave(k, t)
		return ctx.Err()
	}
}

// unlock gives back in reverse order.
func (l *Locks) unlock(keys []Key) {
	for _, k := range slices.Backward(keys) {
		l.mu.Lock()
		t := l.held[k]
		l.mu.Unlock()
		t.token <- struct{}{}
		l.leave(k, t)
	}
}

// leave forgets a key that nobody holds or waits for.
func (l *Locks) leave(k Key, t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(l.held, k)
	}
}

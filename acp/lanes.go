package acp

import (
	"context"
	"sync"
)

// lanes runs tasks: those with one key in the order they were given, those
// with different keys side by side.
type lanes struct {
	mu    sync.Mutex
	queue map[string][]func() // a key is there while its goroutine runs; guarded by mu
	idle  *sync.Cond          // a goroutine has ended
}

func newLanes() *lanes {
	l := &lanes{queue: map[string][]func(){}}
	l.idle = sync.NewCond(&l.mu)
	return l
}

// do adds a task and returns at once. The task must not panic.
func (l *lanes) do(key string, task func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tasks, running := l.queue[key]
	l.queue[key] = append(tasks, task)
	if !running {
		go l.run(key)
	}
}

func (l *lanes) run(key string) {
	for {
		l.mu.Lock()
		tasks := l.queue[key]
		if len(tasks) == 0 {
			delete(l.queue, key)
			l.idle.Broadcast()
			l.mu.Unlock()
			return
		}
		task := tasks[0]
		tasks[0] = nil
		l.queue[key] = tasks[1:]
		l.mu.Unlock()
		task()
	}
}

// settle waits until the tasks that the key has now are done, or ctx ends. It
// must not be called from a task of that key.
func (l *lanes) settle(ctx context.Context, key string) {
	done := make(chan struct{})
	l.do(key, func() { close(done) })
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// wait waits until no task is left, or ctx ends.
func (l *lanes) wait(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.idle.Broadcast()
	})
	defer stop()
	for len(l.queue) > 0 && ctx.Err() == nil {
		l.idle.Wait()
	}
}

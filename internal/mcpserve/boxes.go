package mcpserve

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// boxes keeps the tools of the folders in use: one box at a time, since what
// the tools know of files belongs to the folders. A box that is replaced is
// closed when its last call is over.
type boxes struct {
	open func(roots []string) (Toolbox, error)
	warn func(string)

	mu      sync.Mutex
	current *box // guarded by mu; nil before the first call and after close
}

type box struct {
	tools Toolbox
	roots []string
	uses  int // guarded by boxes.mu; the current one has one more
}

// use gives the box for the folders; done gives it back.
func (b *boxes) use(roots []string) (*box, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil || !slices.Equal(b.current.roots, roots) {
		tb, err := b.open(roots)
		if err != nil {
			return nil, err
		}
		if old := b.current; old != nil {
			if err := b.drop(old); err != nil {
				b.warn(fmt.Sprintf("the folder that was left: %v", err))
			}
		}
		b.current = &box{tools: tb, roots: slices.Clone(roots), uses: 1}
	}
	b.current.uses++
	return b.current, nil
}

func (b *boxes) done(x *box) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.drop(x); err != nil {
		b.warn(fmt.Sprintf("the folder that was left: %v", err))
	}
}

// drop takes one use away. b.mu is held.
func (b *boxes) drop(x *box) error {
	x.uses--
	if x.uses > 0 || x.tools.Close == nil {
		return nil
	}
	return x.tools.Close()
}

// close drops the current box. One that a call still uses stays open until
// that is over.
func (b *boxes) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil {
		return nil
	}
	x := b.current
	b.current = nil
	if err := b.drop(x); err != nil {
		return errors.Join(fmt.Errorf("close the tools: %w", err))
	}
	return nil
}

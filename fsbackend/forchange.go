package fsbackend

import "context"

// opChange is the operation of a read that serves a change.
const opChange = "change"

// A changeReader reads files that are to be changed.
type changeReader interface {
	// ReadForChange is Read, and passes where a write of the file would.
	ReadForChange(ctx context.Context, path string) (File, error)
}

// asReader is a gated backend that asks its gate about another operation.
type asReader interface {
	readAs(ctx context.Context, op, path string) (File, error)
}

// ReadForChange reads a file that is to be changed. Where a policy has other
// lists for reading than for writing, those for writing decide: who may change
// a file sees as much of it as the change takes. Without a policy it is Read.
func ReadForChange(ctx context.Context, b Backend, path string) (File, error) {
	if c, ok := b.(changeReader); ok {
		return c.ReadForChange(ctx, path)
	}
	return b.Read(ctx, path)
}

// ReadForChange reads under the policy's lists for writing.
func (r *Restricted) ReadForChange(ctx context.Context, path string) (File, error) {
	if err := r.pass(ctx, opChange, path); err != nil {
		return File{}, err
	}
	if b, ok := r.b.(asReader); ok && r.inside {
		return b.readAs(ctx, opChange, path)
	}
	return ReadForChange(ctx, r.b, path)
}

// ReadForChange keeps what was read, as Read does.
func (jd *Journaled) ReadForChange(ctx context.Context, path string) (File, error) {
	f, err := ReadForChange(ctx, jd.b, path)
	if err == nil {
		jd.seen(path, f)
	}
	return f, err
}

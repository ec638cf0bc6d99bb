package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall"

	"dsh-acp/fsbackend"
)

var errnos = map[string]syscall.Errno{
	"EACCES": syscall.EACCES, "EBUSY": syscall.EBUSY, "EDQUOT": syscall.EDQUOT, "EEXIST": syscall.EEXIST,
	"EFBIG": syscall.EFBIG, "EINTR": syscall.EINTR, "EIO": syscall.EIO, "EISDIR": syscall.EISDIR,
	"ELOOP": syscall.ELOOP, "EMFILE": syscall.EMFILE, "ENAMETOOLONG": syscall.ENAMETOOLONG, "ENFILE": syscall.ENFILE,
	"ENODEV": syscall.ENODEV, "ENOENT": syscall.ENOENT, "ENOMEM": syscall.ENOMEM, "ENOSPC": syscall.ENOSPC,
	"ENOTDIR": syscall.ENOTDIR, "ENOTEMPTY": syscall.ENOTEMPTY, "ENXIO": syscall.ENXIO, "EPERM": syscall.EPERM,
	"EPIPE": syscall.EPIPE, "EROFS": syscall.EROFS, "ESTALE": syscall.ESTALE, "ETXTBSY": syscall.ETXTBSY, "EXDEV": syscall.EXDEV,
}

// points are the moments of storage by the names of the cases.
var points = map[string]fsbackend.FaultPoint{
	"write": fsbackend.AtWrite, "before_write": fsbackend.AtBeforeWrite, "after_write": fsbackend.AtAfterWrite,
	"temp_write": fsbackend.AtTempWrite, "before_rename": fsbackend.AtBeforeRename, "rename": fsbackend.AtRename,
	"mkdir": fsbackend.AtMkdir, "sync": fsbackend.AtSync, "read": fsbackend.AtRead,
}

// arm makes the faults and hooks of the case.
func (w *world) arm(ctx context.Context) (*fsbackend.Faults, error) {
	set := fsbackend.NewFaults()
	for _, f := range append(append([]Fault{}, w.c.Hooks...), w.c.Faults...) {
		at, ok := points[f.At]
		if !ok {
			return nil, fmt.Errorf("this runner knows no moment %q", f.At)
		}
		armed := fsbackend.Fault{At: at, Nth: f.Nth, AfterBytes: f.AfterBytes}
		if f.Path != "" {
			armed.Path = join(w.work, f.Path)
		}
		if f.Errno != "" {
			errno, ok := errnos[f.Errno]
			if !ok {
				return nil, fmt.Errorf("this runner knows no error number %q", f.Errno)
			}
			armed.Err = errno
		}
		deeds, err := f.deeds()
		if err != nil {
			return nil, fmt.Errorf("hook at %s: %w", f.At, err)
		}
		if len(deeds) > 0 {
			armed.Do = func(string) {
				for _, d := range deeds {
					if err := w.external(ctx, d.Files, d.Shell); err != nil {
						panic(fmt.Sprintf("cases: hook at %s: %v", f.At, err))
					}
				}
			}
		}
		set.Add(armed)
	}
	return set, nil
}

// deeds reads what happens at the moment: files and a shell command beside
// at, or a step, or a list of steps under do.
func (f Fault) deeds() ([]Step, error) {
	var out []Step
	if f.Files != nil || f.Shell != "" {
		out = append(out, Step{Files: f.Files, Shell: f.Shell})
	}
	if f.Do == nil {
		return out, nil
	}
	var word string
	if json.Unmarshal(f.Do, &word) == nil {
		if word != "external" && len(out) == 0 {
			out = append(out, Step{Shell: word})
		}
		return out, nil
	}
	var list []Step
	if strict(f.Do, &list) == nil {
		return append(out, list...), nil
	}
	var one Step
	if err := strict(f.Do, &one); err != nil {
		return nil, err
	}
	return append(out, one), nil
}

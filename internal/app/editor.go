package app

import (
	"context"
	"errors"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/config"
)

// throughEditor puts the editor over the files of the session, as far as the
// settings and the client want it.
func (w *work) throughEditor(roots []string, limits fsbackend.Limits) (*fsbackend.Restricted, error) {
	var editor fsbackend.Editor
	always := w.cfg.EditorFiles == config.EditorFilesAlways
	switch {
	case w.cfg.EditorFiles == config.EditorFilesNever, w.setup.Editor == nil && !always:
		return w.disk, nil
	case w.setup.Editor == nil:
		editor = noEditor{}
	default:
		editor = w.setup.Editor(w.log.Header().ID)
	}
	client, err := fsbackend.NewClient(w.local, editor, fsbackend.ClientOptions{Folders: roots, Always: always})
	if err != nil {
		return nil, err
	}
	w.client = client
	return fsbackend.Restrict(client, limits), nil
}

// lookAgain has the next changes of files read them anew: time has passed, and
// the editor may have shown its user some of them meanwhile.
func (w *work) lookAgain() {
	if w.client != nil {
		w.client.LookAgain()
	}
}

// noEditor is that of a client which offers none, where the settings want
// files to be changed through it alone.
type noEditor struct{}

var errNoEditor = errors.New("the client does not offer to read and write files")

func (noEditor) ReadText(context.Context, string) (string, error) { return "", errNoEditor }
func (noEditor) WriteText(context.Context, string, string) error  { return errNoEditor }

package fsbackend

import "dsh-acp/internal/text"

func docOf(f File) (text.Doc, error) { return text.Doc{}, nil }

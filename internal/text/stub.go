package text

// Doc is replaced by the real one.
type Doc struct{}

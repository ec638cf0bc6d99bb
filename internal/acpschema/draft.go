package acpschema

// addDrafts adds what the stable schema lacks and agents offer all the same:
// session/fork, which takes what session/resume takes and is answered as
// session/new, with its capability. It goes when the schema has them.
func addDrafts(d *definitions) {
	d.requests["agent session/fork"] = "ResumeSessionRequest"
	d.results["agent session/fork"] = "NewSessionResponse"
	capabilities := d.raw["SessionCapabilities"].(map[string]any)
	capabilities["properties"].(map[string]any)["fork"] = map[string]any{"type": []any{"object", "null"}}
}

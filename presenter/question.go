package presenter

import (
	"encoding/json"
	"reflect"
	"slices"
)

// A Question is what a permission request tells beyond the call as the client
// holds it.
type Question struct {
	// Preview is the change as it would be made now, in the form of the meta
	// that its result would have. What holds no hunks is no preview, and the
	// question shows the content that the client was shown.
	Preview json.RawMessage
	// Note stands above the change; "" is none.
	Note string
	// Paths are the files that the call would touch. They are told if neither
	// the call nor the preview has locations.
	Paths []string
}

// PermissionCall returns the whole call for the question whether it may run.
// It reports false if no such call is open, or if it is not shown as a call.
//
// A client may take what the question shows over into the call that it holds,
// or not: the call's end tells both kinds of clients the same.
func (p *Presenter) PermissionCall(callID string, q Question) (PermissionCall, bool) {
	c := p.calls[callID]
	if c == nil || c.hidden {
		return PermissionCall{}, false
	}
	f := c.sent
	content, locations := p.canvas(c).preview(q.Preview)
	if content != nil {
		f.Content, f.Locations = content, locations
	}
	if q.Note != "" {
		f.Content = append([]ToolContent{textItem(q.Note)}, f.Content...)
	}
	if f.Locations == nil {
		for _, path := range q.Paths {
			f.Locations = append(f.Locations, Location{Path: absolute(p.cfg.Cwd, path)})
		}
		c.sent.Locations = f.Locations
	}
	c.asked = ToolCallFields{Content: f.Content, Locations: f.Locations}
	f.Content, f.Locations = slices.Clone(f.Content), slices.Clone(f.Locations)
	f.RawInput = json.RawMessage(slices.Clone(f.RawInput))
	return PermissionCall{ToolCallID: callID, Name: c.name, ToolCallFields: f, Meta: c.meta(nil)}, true
}

// preview draws the hunks of a change that is not made. It returns nil if the
// meta has none. Lines are those of the file as it is, since that is the one
// which an editor can show.
func (cv canvas) preview(meta json.RawMessage) ([]ToolContent, []Location) {
	diffs := DiffsFromMeta(meta)
	if len(diffs) == 0 {
		return nil, nil
	}
	var locations []Location
	for _, f := range diffs {
		locations = append(locations, Location{Path: f.Path, Line: f.OldStart})
	}
	return cv.blocks(diffs, OmittedFromMeta(meta)), cv.absolutes(locations)
}

// settle completes the last fields of a call that was asked about, so that
// nothing of a preview outlives the question: what the result leaves as it
// was is told again.
func (c *call) settle(f *ToolCallFields) {
	if c.asked.Content == nil && c.asked.Locations == nil {
		return
	}
	if f.Content == nil {
		f.Content = c.sent.Content
	}
	if !reflect.DeepEqual(f.Content, c.asked.Content) {
		c.sent.Content = nil
	}
	if f.Locations == nil && len(c.sent.Locations)+len(c.asked.Locations) > 0 {
		f.Locations = append([]Location{}, c.sent.Locations...)
	}
	if !reflect.DeepEqual(f.Locations, c.asked.Locations) {
		c.sent.Locations = nil
	}
}

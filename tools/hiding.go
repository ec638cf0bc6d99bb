package tools

import (
	"fmt"
	"slices"

	"dsh-acp/internal/msg"
)

// Hiding keeps tools that are offered from the model, so that there is one
// way to edit text. It has an effect only where apply_patch is offered: else
// the model could be left without any. The zero value hides nothing.
type Hiding struct {
	// EditTools hides the tools that replace a text by another.
	EditTools bool
	// Names are further tools to hide. apply_patch among them is ignored.
	Names []string
}

// editTools are the tools that apply_patch stands for. str_replace_editor is
// none of this program's, but models and old conversations know it.
var editTools = []string{"edit", "Edit", "fs_edit", "str_replace_editor"}

// Hide puts another hiding in force: for the next look at [Set.Specs], and for
// calls that are planned from now on.
func (s *Set) Hide(h Hiding) {
	h.Names = slices.Clone(h.Names)
	s.hiding.Store(&h)
}

// Hidden lists the tools that are offered but hidden, in the order of the
// offer.
func (s *Set) Hidden() []string {
	return slices.DeleteFunc(slices.Clone(s.offer), func(name string) bool { return !s.hides(name) })
}

// CanHide reports whether a hiding has any effect on this set.
func (s *Set) CanHide() bool { return slices.Contains(s.offer, applyPatch) }

// hides reports whether a name is hidden, offered or not.
func (s *Set) hides(name string) bool {
	h := s.hiding.Load()
	if h == nil || name == applyPatch || !s.CanHide() {
		return false
	}
	return h.EditTools && slices.Contains(editTools, name) || slices.Contains(h.Names, name)
}

// shownNames are the tools that the model is told of.
func (s *Set) shownNames() []string {
	return slices.DeleteFunc(slices.Clone(s.offer), s.hides)
}

// unavailable answers a call of a tool that the model was not told of.
// Conversations that began under other settings have such calls.
func (s *Set) unavailable(name string) msg.ToolResult {
	if s.hides(name) && slices.Contains(editTools, name) {
		return msg.Failed(msg.CodeUnknownTool, fmt.Sprintf("%s is not available: text is changed by %s, whose operations take any number of changes in any number of files in one call; "+
			`this one would be {"operations":[{"op":"replace_text","path":…,"search":…,"replace":…}]}; nothing was written`, name, applyPatch))
	}
	return msg.Failed(msg.CodeUnknownTool, fmt.Sprintf("there is no tool %q; the tools are %s", name, list(s.shownNames())))
}

// editor is the tool to recommend for the change of a part of a file, "" if
// none is offered.
func (e *env) editor() string {
	for _, name := range []string{applyPatch, "Edit", "edit", "fs_edit"} {
		if slices.Contains(e.Offer, name) {
			return name
		}
	}
	return ""
}

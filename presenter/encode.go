package presenter

import (
	"encoding/json"

	"dsh-acp/internal/msg"
)

// tagged encodes plain, an update without its methods, with the kind of u in front.
func tagged(u Update, plain any) ([]byte, error) {
	raw, err := msg.Marshal(plain)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(raw)+40), `{"sessionUpdate":"`...)
	out = append(out, u.sessionUpdate()...)
	out = append(out, '"')
	if len(raw) > len("{}") {
		out = append(out, ',')
	}
	return append(out, raw[1:]...), nil
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u UserMessageChunk) MarshalJSON() ([]byte, error) {
	type plain UserMessageChunk
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u AgentMessageChunk) MarshalJSON() ([]byte, error) {
	type plain AgentMessageChunk
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u AgentThoughtChunk) MarshalJSON() ([]byte, error) {
	type plain AgentThoughtChunk
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u ToolCallStart) MarshalJSON() ([]byte, error) {
	type plain ToolCallStart
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u ToolCallUpdate) MarshalJSON() ([]byte, error) {
	type plain ToolCallUpdate
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u PlanUpdate) MarshalJSON() ([]byte, error) {
	if u.Entries == nil {
		u.Entries = []PlanEntry{}
	}
	type plain PlanUpdate
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u AvailableCommands) MarshalJSON() ([]byte, error) {
	if u.Commands == nil {
		u.Commands = []Command{}
	}
	type plain AvailableCommands
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u CurrentMode) MarshalJSON() ([]byte, error) {
	type plain CurrentMode
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u ConfigOptions) MarshalJSON() ([]byte, error) {
	if u.Options == nil {
		u.Options = json.RawMessage("[]")
	}
	type plain ConfigOptions
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u SessionInfo) MarshalJSON() ([]byte, error) {
	type plain SessionInfo
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u UsageUpdate) MarshalJSON() ([]byte, error) {
	type plain UsageUpdate
	return tagged(u, plain(u))
}

// MarshalJSON encodes the update with its "sessionUpdate".
func (u CompactionUpdate) MarshalJSON() ([]byte, error) {
	type plain CompactionUpdate
	return tagged(u, plain(u))
}

package conformance

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzElide: a message stays JSON of the same shape, and eliding it again
// changes nothing.
func FuzzElide(f *testing.F) {
	f.Add(`{"params":{"update":{"sessionUpdate":"available_commands_update","availableCommands":[{"description":"say \"b\" \\","input":{"hint":"h"}}]}}}`)
	f.Add(`{"result":{"modes":{"description":["d",{"hint":""}],"hint":"\u0022"}}}`)
	f.Add(`{"params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"t"},"_meta":{"claudeCode":{"kind":"informational"}}}}}`)
	f.Add(`"description"`)
	f.Fuzz(func(t *testing.T, message string) {
		if !json.Valid([]byte(message)) {
			t.Skip("not JSON")
		}
		once, err := elide(json.RawMessage(message))
		require.NoError(t, err)
		require.True(t, json.Valid(once), "%s", once)
		twice, err := elide(once)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}

// FuzzPartials: each incomplete input is part of the next and of the whole,
// whatever the pieces.
func FuzzPartials(f *testing.F) {
	f.Add(`{"a":"x,y","b":[1,2],"c":{"d":1,"e":2}}`, 3, -1)
	f.Add(`{"a":"\",","b":2}`, 1, 7)
	f.Add(`{"é":"😀,","b":"\\"}`, 24, -1)
	f.Fuzz(func(t *testing.T, input string, n, cut int) {
		if n < 1 {
			n = 1
		}
		limit := &cut
		if cut < 0 {
			limit = nil
		}
		whole, _ := decodeAny(json.RawMessage(input)).(map[string]any)
		if whole == nil || !json.Valid([]byte(input)) {
			return // must not panic, and has no law
		}
		last := map[string]any{}
		for _, p := range partials(input, n, limit) {
			now := p.(map[string]any)
			require.True(t, coversKeys(now, last))
			require.True(t, coversKeys(whole, now))
			last = now
		}
	})
}

package app

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
)

func TestATitleFromTheModel(t *testing.T) {
	p := newPlace(t, say("hello"), say("again"))
	p.env["DSH_TITLES"] = "always"
	c, _ := p.agent()
	id := p.newSession(c)
	p.prompt(c, id, "hi there,\nhow are you?")
	var u acptest.Update
	_, err := c.Wait(func(m acptest.Message) bool {
		return json.Unmarshal(m.Params, &u) == nil && u.Update.Kind == "session_info_update" && u.Update.Title != "hi there,"
	})
	require.NoError(t, err)
	assert.Equal(t, u.Update.Title, p.list(c)[0].Title)
	p.prompt(c, id, "once more")
	assert.Len(t, p.model.Requests(), 3, "it is asked for once")
}

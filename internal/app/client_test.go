package app

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sdkClient is an editor on another implementation of the protocol.
type sdkClient struct {
	mu      sync.Mutex
	updates []acpsdk.SessionUpdate // guarded by mu
	asked   []acpsdk.RequestPermissionRequest
	runs    *terminalsOfClient // nil: the client has no terminals
}

var errNotOffered = errors.New("not offered by this client")

func (c *sdkClient) RequestPermission(_ context.Context, p acpsdk.RequestPermissionRequest) (acpsdk.RequestPermissionResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, p)
	return acpsdk.RequestPermissionResponse{Outcome: acpsdk.RequestPermissionOutcome{
		Selected: &acpsdk.RequestPermissionOutcomeSelected{OptionId: p.Options[0].OptionId, Outcome: "selected"},
	}}, nil
}

func (c *sdkClient) SessionUpdate(_ context.Context, p acpsdk.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, p.Update)
	return nil
}

func (c *sdkClient) take() []acpsdk.SessionUpdate {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.updates
	c.updates = nil
	return got
}

func (c *sdkClient) ReadTextFile(context.Context, acpsdk.ReadTextFileRequest) (acpsdk.ReadTextFileResponse, error) {
	return acpsdk.ReadTextFileResponse{}, errNotOffered
}

func (c *sdkClient) WriteTextFile(context.Context, acpsdk.WriteTextFileRequest) (acpsdk.WriteTextFileResponse, error) {
	return acpsdk.WriteTextFileResponse{}, errNotOffered
}

// TestAnotherImplementationsClient drives a session with the client of
// another library, from initialize to a replay by a second process.
func TestAnotherImplementationsClient(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", lines)
	p.plays(
		use("t1", "Edit", map[string]any{"file_path": file, "old_string": "a", "new_string": "<b> & c"}), say("done"))

	connect := func() (*sdkClient, *acpsdk.ClientSideConnection, func()) {
		in, out, stop := p.pipes()
		c := &sdkClient{}
		conn := acpsdk.NewClientSideConnection(c, in, out)
		init, err := conn.Initialize(t.Context(), acpsdk.InitializeRequest{ProtocolVersion: acpsdk.ProtocolVersionNumber})
		require.NoError(t, err)
		assert.EqualValues(t, 1, init.ProtocolVersion)
		assert.True(t, init.AgentCapabilities.LoadSession)
		require.NotNil(t, init.AgentInfo)
		assert.Equal(t, Name, init.AgentInfo.Name)
		require.Len(t, init.AuthMethods, 1)
		return c, conn, stop
	}
	c, conn, stop := connect()
	session, err := conn.NewSession(t.Context(), acpsdk.NewSessionRequest{Cwd: p.root, McpServers: []acpsdk.McpServer{}})
	require.NoError(t, err)
	require.NotNil(t, session.Modes)
	assert.Len(t, session.ConfigOptions, 5)
	_, err = conn.SetSessionMode(t.Context(), acpsdk.SetSessionModeRequest{SessionId: session.SessionId, ModeId: "default"})
	require.NoError(t, err)
	res, err := conn.Prompt(t.Context(), acpsdk.PromptRequest{SessionId: session.SessionId, Prompt: []acpsdk.ContentBlock{acpsdk.TextBlock("change it")}})
	require.NoError(t, err)
	assert.Equal(t, acpsdk.StopReasonEndTurn, res.StopReason)
	assert.Equal(t, strings.Replace(lines, "a", "<b> & c", 1), p.read("a.txt"))
	require.Len(t, c.asked, 1)
	assert.Len(t, c.asked[0].Options, 3)
	hunk := "1\n2\n3\n<b> & c\n5\n6\n7"
	assert.Contains(t, newTexts(c.take()), hunk)
	stop()

	c, conn, _ = connect()
	list, err := conn.ListSessions(t.Context(), acpsdk.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, list.Sessions, 1)
	_, err = conn.LoadSession(t.Context(), acpsdk.LoadSessionRequest{SessionId: list.Sessions[0].SessionId, Cwd: p.root, McpServers: []acpsdk.McpServer{}})
	require.NoError(t, err)
	assert.Contains(t, newTexts(c.take()), hunk, "the same hunk from the log")
}

// newTexts lists the new sides of all diff blocks.
func newTexts(updates []acpsdk.SessionUpdate) []string {
	var out []string
	for _, u := range updates {
		var content []acpsdk.ToolCallContent
		if u.ToolCallUpdate != nil {
			content = u.ToolCallUpdate.Content
		}
		for _, item := range content {
			if item.Diff != nil {
				out = append(out, item.Diff.NewText)
			}
		}
	}
	return out
}

package presenter

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dsh-acp/internal/msg"
)

func TestCompaction(t *testing.T) {
	wished := msg.Compacted{ID: "c", Summary: "S", Messages: 4}
	auto := msg.Compacted{ID: "c", Summary: "S", Messages: 1, Auto: true}
	takes, not := New(Config{Compaction: true}), New(Config{})

	assert.Equal(t, []Update{CompactionUpdate{ID: "c", Status: CompactionRunning}}, takes.Delta(msg.Compacting{ID: "c"}))
	assert.Equal(t, []Update{CompactionUpdate{ID: "c", Status: CompactionFailed, Error: "e"}}, takes.Delta(msg.Compacting{ID: "c", Failed: "e"}))
	assert.Equal(t, []Update{CompactionUpdate{ID: "c", Status: CompactionCancelled}}, takes.Delta(msg.Compacting{ID: "c", Cancelled: true}))
	assert.Empty(t, not.Delta(msg.Compacting{ID: "c"}))

	assert.Equal(t, []Update{CompactionUpdate{ID: "c", Status: CompactionCompleted, Summary: []ContentBlock{chunkText("S")}}}, takes.ReplayPayload(wished))
	for _, c := range []struct {
		p    msg.Compacted
		want string
	}{
		{wished, "For the model, this summary stands for 4 messages from here on:\n\nS\n"},
		{auto, "_The conversation was summed up to make room in the model's context window: a summary stands for one message from here on._\n"},
	} {
		assert.Equal(t, []Update{AgentMessageChunk{Content: chunkText(c.want), MessageID: "c"}}, not.ReplayPayload(c.p))
	}
}

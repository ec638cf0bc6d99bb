package presenter

import (
	"fmt"

	"dsh-acp/internal/msg"
)

// compacting shows a compaction that runs or came to nothing, to those who
// can take it back: a message could not be.
func (p *Presenter) compacting(d msg.Compacting) []Update {
	if !p.cfg.Compaction {
		return nil
	}
	u := CompactionUpdate{ID: d.ID, Status: CompactionRunning}
	switch {
	case d.Failed != "":
		u.Status, u.Error = CompactionFailed, d.Failed
	case d.Cancelled:
		u.Status = CompactionCancelled
	}
	return []Update{u}
}

// compacted tells that a summary has taken the place of the messages above.
func (p *Presenter) compacted(d msg.Compacted) []Update {
	if d.Usage != nil {
		p.cost += d.Usage.CostUSD
	}
	p.stream = stream{}
	if p.cfg.Compaction {
		return []Update{CompactionUpdate{
			ID: d.ID, Status: CompactionCompleted,
			Summary: []ContentBlock{{Block: msg.Text{Text: d.Summary}}},
		}}
	}
	if d.Auto {
		return message(d.ID, fmt.Sprintf("_The conversation was summed up to make room in the model's context window: "+
			"a summary stands for %s from here on._\n", messages(d.Messages)))
	}
	return message(d.ID, fmt.Sprintf("For the model, this summary stands for %s from here on:\n\n%s\n", messages(d.Messages), d.Summary))
}

func messages(n int) string {
	if n == 1 {
		return "one message"
	}
	return fmt.Sprintf("%d messages", n)
}

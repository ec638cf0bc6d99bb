package model

import (
	"strings"

	"dsh-acp/internal/msg"
)

// Facts are what is known of a model without asking its service.
type Facts struct {
	// Window is the context window in tokens, 0 if it is not known.
	Window int64
	// MaxOutput is the most tokens that one answer may have, 0 if not known.
	MaxOutput int64
	// Efforts are the thought levels that can be asked for, the lowest first;
	// nil: none that are known.
	Efforts []string
	// Thinking is how a level is asked for.
	Thinking Thinking
	// Price is per million tokens in US dollars; the zero Price is not known.
	Price Price
}

// A Price is what a million tokens cost, in US dollars.
type Price struct{ Input, Output, CachedRead, CachedWrite float64 }

// Thinking is how a model is asked to think at a level.
type Thinking int

// Ways of [Thinking].
const (
	ThinkEffort   Thinking = iota // by the name of the level alone
	ThinkAdaptive                 // and thinking is to be switched on
	ThinkBudget                   // by a number of tokens that it may take
)

// Levels of the families of models.
var (
	levels    = []string{"low", "medium", "high"}
	levelsMax = []string{"low", "medium", "high", "max"}
	levelsX   = []string{"low", "medium", "high", "xhigh", "max"}
	levelsGPT = []string{"minimal", "low", "medium", "high"}
)

// claude gives the prices of a model of that family: reading the cache costs a
// tenth of the input, writing it a quarter more than the input.
func claude(input, output float64) Price {
	return Price{Input: input, Output: output, CachedRead: input / 10, CachedWrite: input * 1.25}
}

// known lists models by the beginning of their names. The longest beginning
// that fits wins, so the order means nothing.
var known = map[string]Facts{
	"claude-":           {Window: 200_000, MaxOutput: 32_000},
	"claude-opus-5-5":   {Window: 1_000_000, MaxOutput: 128_000, Efforts: levelsX, Thinking: ThinkAdaptive, Price: claude(4, 20)},
	"claude-opus-5":     {Window: 1_000_000, MaxOutput: 128_000, Efforts: levelsX, Thinking: ThinkAdaptive, Price: claude(5, 25)},
	"claude-opus-4-8":   {Window: 1_000_000, MaxOutput: 128_000, Efforts: levelsX, Thinking: ThinkAdaptive, Price: claude(5, 25)},
	"claude-opus-4-7":   {Window: 1_000_000, MaxOutput: 128_000, Efforts: levelsX, Thinking: ThinkAdaptive, Price: claude(5, 25)},
	"claude-opus-4-6":   {Window: 1_000_000, MaxOutput: 128_000, Efforts: levelsMax, Thinking: ThinkAdaptive, Price: claude(5, 25)},
	"claude-opus-4-5":   {Window: 200_000, MaxOutput: 64_000, Efforts: levels, Price: claude(5, 25)},
	"claude-opus-4-1":   {Window: 200_000, MaxOutput: 32_000, Efforts: levels, Thinking: ThinkBudget, Price: claude(15, 75)},
	"claude-sonnet-5":   {Window: 1_000_000, MaxOutput: 128_000, Efforts: levelsMax, Thinking: ThinkAdaptive},
	"claude-sonnet-4-6": {Window: 1_000_000, MaxOutput: 64_000, Efforts: levelsMax, Thinking: ThinkAdaptive, Price: claude(3, 15)},
	"claude-sonnet-4-5": {Window: 200_000, MaxOutput: 64_000, Efforts: levels, Thinking: ThinkBudget, Price: claude(3, 15)},
	"claude-haiku-4-5":  {Window: 200_000, MaxOutput: 64_000, Efforts: levels, Thinking: ThinkBudget, Price: claude(1, 5)},
	"gpt-4.1":           {Window: 1_047_576, MaxOutput: 32_768, Price: Price{Input: 2, Output: 8, CachedRead: 0.5}},
	"gpt-4o":            {Window: 128_000, MaxOutput: 16_384, Price: Price{Input: 2.5, Output: 10, CachedRead: 1.25}},
	"gpt-5":             {Window: 400_000, MaxOutput: 128_000, Efforts: levelsGPT, Price: Price{Input: 1.25, Output: 10, CachedRead: 0.125}},
	"deepseek-":         {Window: 128_000, MaxOutput: 8_192},
}

// Lookup returns the facts of the model named id: those of the longest known
// name that id begins with, or zero Facts. A prefix before a slash, as
// gateways write it ("anthropic/claude-…"), is passed over.
func Lookup(id string) Facts {
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	var best string
	for name := range known {
		if len(name) > len(best) && strings.HasPrefix(id, name) {
			best = name
		}
	}
	return known[best]
}

// Cost returns u with the price of the message that model id gave; the price
// stays 0 where it is not known.
func Cost(id string, u msg.Usage) msg.Usage {
	p := Lookup(id).Price
	u.CostUSD = (float64(u.Input)*p.Input + float64(u.Output)*p.Output +
		float64(u.CachedRead)*p.CachedRead + float64(u.CachedWrite)*p.CachedWrite) / 1e6
	return u
}

package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"dsh-acp/internal/model"
)

// budgets are the tokens that a level stands for with models that take a
// number: an answer must still fit behind them.
var budgets = map[string]int64{"low": 4_096, "medium": 12_000, "high": 24_000}

// minBudget is the least that the service takes.
const minBudget = 1_024

// think asks for a thought level; "" leaves it to the model.
func think(out *sdk.MessageNewParams, level string, how model.Thinking) {
	budget := min(budgets[level], out.MaxTokens*3/4)
	switch {
	case level == "":
	case how == model.ThinkBudget && budget >= minBudget:
		out.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
	case how == model.ThinkBudget:
		// No room to think in, or no level that has a number.
	case how == model.ThinkAdaptive:
		out.Thinking = sdk.ThinkingConfigParamUnion{OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{
			Display: sdk.ThinkingConfigAdaptiveDisplaySummarized,
		}}
		fallthrough
	default:
		out.OutputConfig.Effort = sdk.OutputConfigEffort(level)
	}
}

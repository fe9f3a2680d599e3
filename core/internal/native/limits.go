package native

// Why a run ended without a finishing call.
const (
	WhyRounds  = "out of rounds"
	WhyStopped = "the model stopped without finishing"
	WhyRefused = "the model refused to go on"
)

const (
	defaultRounds = 80  // as limits.rounds of the config
	warnRounds    = 2   // one to put things in order, one to report
	maxNudges     = 3   // in a row: a model that does not call tools then never will
	maxText       = 400 // characters of a text step; the trace has the whole
	maxSummary    = 120 // characters of a tool step, one line of a timeline
	maxQuoted     = 200 // characters of arguments that could not be read
)

const cutWords = "Your answer was cut off at its length limit before a whole tool call arrived, so nothing of it was run. " +
	"Answer in smaller pieces: write a long file in several edits."

// personWords begin what the person said, so that the agent can tell it from Relo.
const personWords = "The person says: "

// What the agent is told of calls that an interruption hit.
const (
	interrupted = "This call was under way when the work was interrupted. Whether it had an effect is not known; look before you do it again."
	unanswered  = "No answer came. Go on with what you can find out yourself; if you cannot, finish as blocked and say what you would have asked."
)

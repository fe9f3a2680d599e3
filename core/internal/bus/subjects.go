package bus

// Subjects and streams. Every subject of Relo is made here.
const (
	// API is the prefix of the endpoints: relo.v1.<noun>.<verb>.
	API = "relo.v1."
	// eventsPrefix is followed by the job's id.
	eventsPrefix = "relo.v1.events."
	taskPrefix   = "relo.task."
	// controlPrefix carries signed orders of the orchestrator to one worker.
	controlPrefix = "relo.control."

	taskStream  = "RELO_TASKS"
	eventStream = "RELO_EVENTS"
)

// TaskSubject is the mailbox of a worker.
func TaskSubject(worker string) string { return taskPrefix + worker }

// EventSubject is where the news of a job is.
func EventSubject(job string) string { return eventsPrefix + job }

// ControlSubject is where a worker listens for orders.
func ControlSubject(worker string) string { return controlPrefix + worker }

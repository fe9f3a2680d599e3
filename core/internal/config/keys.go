package config

// rule says what may stand at a key. The loader, the schema and the settings page
// are all made from this one table.
type rule struct {
	doc    string
	kinds  []string // JSON types, the first one is the usual
	fields []field  // of an object with known keys
	each   *rule    // of a map's values or a list's items
	words  []string // of a string: the only allowed ones
	low    float64  // of a number, when high > 0
	high   float64
	byDflt any    // the default, as JSON decodes it; nil: none
	mean   string // which meaning is checked: see meanings in check.go
}

// field is one known key of an object. A project's file may set it when project
// says so; with trust only after the person approved the content.
type field struct {
	name    string
	rule    *rule
	project scope
}

type scope int

const (
	never scope = iota // only the person
	may
	trust
)

func text(doc string) *rule { return &rule{doc: doc, kinds: []string{"string"}} }

func word(doc, dflt string, words ...string) *rule {
	return &rule{doc: doc, kinds: []string{"string"}, words: words, byDflt: dflt}
}

func flag(doc string, dflt any) *rule {
	return &rule{doc: doc, kinds: []string{"boolean"}, byDflt: dflt}
}

func whole(doc string, low, high float64, dflt any) *rule {
	return &rule{doc: doc, kinds: []string{"integer"}, low: low, high: high, byDflt: dflt}
}

func list(doc string, each *rule) *rule {
	return &rule{doc: doc, kinds: []string{"array"}, each: each}
}

func dict(doc string, each *rule) *rule {
	return &rule{doc: doc, kinds: []string{"object"}, each: each}
}

func object(doc string, fields ...field) *rule {
	return &rule{doc: doc, kinds: []string{"object"}, fields: fields}
}

func (r *rule) as(mean string) *rule { r.mean = mean; return r }

func (r *rule) or(kind string) *rule { r.kinds = append(r.kinds, kind); return r }

func (r *rule) with(dflt any) *rule { r.byDflt = dflt; return r }

func key(name string, r *rule) field { return field{name: name, rule: r} }

func model(doc string) *rule { return text(doc) }

func chain(doc string) *rule { return list(doc, model("A model, provider/id.")) }

func money(doc string) *rule {
	return &rule{doc: doc, kinds: []string{"number"}, high: 1e6}
}

// keys is the whole of relo.json.
func keys() *rule {
	return object("Relo's configuration.",
		key("$schema", text("The address of this schema, for editors.")),
		key("providers", dict("Places that serve models, by a name of your choice.", providerKeys())),
		field{"ladder", list("Models from the weakest to the strongest.", object("A rung.",
			key("model", chain("A model, or a chain of which the next is tried when one fails.").or("string")),
			key("difficulty", word("Which tasks begin here.", "", "easy", "normal", "hard")),
		)), may},
		field{"primary", model("The model that plans; the top rung unless the ladder names it."), may},
		field{"routes", object("Chains for special work.",
			key("vision", chain("Models that look at pictures for others.")),
			key("planning", chain("Models that plan; empty: primary.")),
			key("review", chain("Models that review; empty: the ladder.")),
		), may},
		key("engine", text("Who works on tasks: native, opencode, codex, claude or acp:<name>.").with("native")),
		key("engines", dict("Where engines' programs lie.", object("An engine.", key("path", text("Empty: found on PATH."))))),
		key("acp", dict("Agents that speak ACP, by name.", object("An agent.", key("command", list("Program and arguments.", text("")))))),
		key("mcp", dict("Your own tool servers, by name.", object("A server: url or command.",
			key("url", text("Of a server over HTTP.").as("url")),
			key("headers", dict("Sent with every request; a value may be env:NAME or file:PATH.", text(""))),
			key("command", list("Program and arguments of a server over stdio.", text(""))),
			key("env", dict("Environment of the program.", text(""))),
		))),
		key("workers", object("Workers of this machine.",
			key("local", whole("How many tasks run at once.", 0, 64, 2.0)),
			key("labels", list("What this machine offers.", text(""))),
			key("leaseSeconds", whole("After so long without a sign a worker has lost its task.", 5, 600, 20.0)),
		)),
		field{"review", object("Reviews.", key("auto", flag("A review of every task by another model.", true))), may},
		key("budget", object("In USD.",
			key("perJob", money("A job stops at this; null: no limit.").or("null").with(5.0)),
			key("perDay", money("All jobs of a day together; null: no limit.").or("null")),
			key("unknownPrice", word("Models without a known price.", "ask", "ask", "allow", "deny")),
		)),
		field{"limits", limitKeys(), may},
		field{"pictures", pictureKeys(), may},
		field{"previews", list("Servers to look at.", object("A preview.",
			key("name", text("How tasks name it.")),
			key("command", list("Program and arguments; {port} is replaced.", text(""))),
			key("ready", text("The path that answers when it is ready.")),
			key("url", text("Of a server that runs already.").as("url")),
		)), trust},
		field{"worktree", object("How an attempt's folder is prepared.",
			key("copy", list("Ignored files to copy in, as globs.", text(""))),
			key("setup", text("A command that is run first.")),
		), trust},
		key("sandbox", object("How agents are held.",
			key("mode", word("required refuses to run without one.", "auto", "auto", "required", "off")),
			key("network", flag("true, false, or the hosts that may be reached.", false).or("array").of(text("A host."))),
		)),
		key("bus", object("The bus.",
			key("url", text("Of a NATS cluster; empty: embedded.").as("busurl")),
			key("creds", text("A file with its credentials.")),
			key("listen", text("Where the embedded one listens.").with("127.0.0.1:0").as("listen")),
		)),
		key("keepDays", whole("How long ended jobs are kept.", 1, 3650, 14.0)),
	)
}

func (r *rule) of(each *rule) *rule { r.each = each; return r }

func providerKeys() *rule {
	return object("A provider.",
		key("api", word("The wire, or a preset over it.", "", APIs()...)),
		key("url", text("Base address; presets have their own.").as("url")),
		key("key", text("Where the key is kept: env:NAME, file:PATH, keyring:NAME or cmd:COMMAND.").as("key")),
		key("private", flag("Text and pictures of private tasks may go here.", nil)),
		key("headers", dict("Sent with every request; a value may be env:NAME or file:PATH.", text(""))),
		key("discover", flag("Ask the provider for its models.", true)),
		key("caFile", text("Certificates to trust beside the system's.")),
		key("insecure", flag("Allow plain http to any address.", false)),
		key("region", text("Of AWS, for bedrock; empty: AWS_REGION, or the profile's.").as("region")),
		key("profile", text("Of AWS's shared config, for bedrock; empty: AWS's own order of credentials.")),
		key("models", dict("What you know of its models, by id.", object("A model.",
			key("vision", flag("Whether it reads pictures; absent: found out.", nil)),
			key("context", whole("Tokens.", 1, 1e8, nil)),
			key("maxOutput", whole("Tokens.", 1, 1e8, nil)),
			key("price", object("USD for a million tokens.",
				key("input", money("").or("null")), key("output", money("").or("null")), key("cached", money("").or("null")),
			)),
			key("tools", flag("Whether it calls tools.", nil)),
		))),
	)
}

func limitKeys() *rule {
	return object("Limits; a project can only lower them.",
		key("attempts", whole("Of a task.", 1, 20, 3.0)),
		key("rounds", whole("Model calls of one attempt.", 1, 1000, 80.0)),
		key("taskMinutes", whole("Of one attempt.", 1, 1440, 30.0)),
		key("tasks", whole("Of a job.", 1, 1000, 60.0)),
	)
}

func pictureKeys() *rule {
	return object("Pictures.",
		key("maxEdge", whole("Longest edge that is sent, in pixels.", 256, 2576, 1568.0)),
		key("keep", whole("How many of the last turns keep their pictures.", 0, 100, 3.0)),
		key("settleDoubt", flag("Find out whether a model sees when nobody knows.", true)),
		key("never", list("Globs of pictures that no model is shown; a project can only add.", text(""))),
	)
}

// field finds a known key.
func (r *rule) field(name string) (field, bool) {
	for _, f := range r.fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

func (r *rule) names() []string {
	list := make([]string, 0, len(r.fields))
	for _, f := range r.fields {
		if f.name != "$schema" {
			list = append(list, f.name)
		}
	}
	return list
}

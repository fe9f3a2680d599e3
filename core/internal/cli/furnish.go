package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// The groups of commands, the daily ones first.
const (
	groupWork  = "work"
	groupLook  = "look"
	groupSteer = "steer"
	groupSetUp = "setup"
)

var groups = []cobra.Group{
	{ID: groupWork, Title: "Every day:"}, {ID: groupLook, Title: "Look:"}, {ID: groupSteer, Title: "Steer:"}, {ID: groupSetUp, Title: "Set up:"},
}

// about is what a command has beside its own words: where it is listed, two
// examples, and what completes its arguments.
type about struct {
	group    string
	examples [2]string
	complete completion
}

var abouts = map[string]about{
	"run":                {groupWork, [2]string{`relo run "Make the login page match ref/login.png" --image ref/login.png`, "git diff | relo run - --repo . --budget 1 --json"}, nothing},
	"watch":              {groupWork, [2]string{"relo watch", "relo watch 01a22de0 --json | jq -r .kind"}, jobs},
	"jobs":               {groupWork, [2]string{"relo jobs", "relo jobs --json | jq -r '.jobs[].id'"}, nothing},
	"apply":              {groupWork, [2]string{"relo apply @last --dry-run", "relo apply @last --undo"}, jobs},
	"diff":               {groupWork, [2]string{"relo diff", "relo diff @last --stat"}, tasks},
	"demo":               {groupWork, [2]string{"relo demo", "relo demo --dir /tmp/demo"}, nothing},
	"show":               {groupLook, [2]string{"relo show", "relo show 01a22de0 --exit-status"}, jobs},
	"why":                {groupLook, [2]string{"relo why", "relo why @last/login-form"}, tasks},
	"logs":               {groupLook, [2]string{"relo logs @last/login-form --attempt 2", "relo logs --follow"}, tasks},
	"pictures":           {groupLook, [2]string{"relo pictures", "relo pictures @last --out shown"}, tasks},
	"costs":              {groupLook, [2]string{"relo costs --days 30", "relo costs @last"}, jobs},
	"models":             {groupLook, [2]string{"relo models", "relo models guess gpt-4o llava:13b"}, nothing},
	"image":              {groupLook, [2]string{"relo image shots/login.png", "relo image big.png --region 0,0,800,600 --out sent"}, files},
	"mcp":                {groupLook, [2]string{"claude mcp add relo -- relo mcp", "relo mcp --root ~/project --private"}, nothing},
	"approve":            {groupSteer, [2]string{"relo approve @last", "relo approve @last --edit"}, jobs},
	"say":                {groupSteer, [2]string{`relo say @last "use the existing Field component"`, "relo say @last/login-form - < review.txt"}, tasks},
	"pause":              {groupSteer, [2]string{"relo pause @last", "relo pause 01a22de0"}, jobs},
	"resume":             {groupSteer, [2]string{"relo resume @last", "relo resume @last --budget 5"}, jobs},
	"retry":              {groupSteer, [2]string{"relo retry @last", "relo retry @last/login-form --model anthropic/claude-opus-5 --anew"}, tasks},
	"cancel":             {groupSteer, [2]string{"relo cancel @last", `relo cancel @last/login-form --reason "not needed"`}, tasks},
	"discard":            {groupSteer, [2]string{"relo discard 01a22de0", "relo discard 01a22de0 --force"}, jobs},
	"export":             {group: groupLook, complete: jobs},
	"providers":          {group: groupSetUp},
	"config":             {group: groupSetUp, examples: [2]string{"relo config show --origin", "relo config set budget.perJob 3"}},
	"doctor":             {group: groupSetUp, examples: [2]string{"relo doctor", "relo doctor --json | jq '.checks[] | select(.state != \"ok\")'"}},
	"daemon":             {group: groupSetUp},
	"serve":              {group: groupSetUp, examples: [2]string{"relo serve", "relo serve --json"}},
	"trust":              {group: groupSetUp},
	"completion":         {groupSetUp, [2]string{"source <(relo completion bash)", "relo completion fish > ~/.config/fish/completions/relo.fish"}, shells},
	"version":            {group: groupSetUp, examples: [2]string{"relo version", "relo version --json"}},
	"models guess":       {examples: [2]string{"relo models guess gpt-4o", "relo models guess < ids.txt"}},
	"models list":        {examples: [2]string{"relo models list --all --unknown", "relo models list --sees --provider here"}},
	"models why":         {examples: [2]string{"relo models why here/qwen3-vl:8b", "relo models why far/a far/b --json"}, complete: anyModels},
	"models probe":       {examples: [2]string{"relo models probe here/qwen3-vl:8b", "relo models probe --ladder"}, complete: anyModels},
	"models refresh":     {examples: [2]string{"relo models refresh", "relo models refresh --catalog=false"}},
	"models forget":      {examples: [2]string{"relo models forget", "relo models forget far/plan"}, complete: anyModels},
	"providers test":     {examples: [2]string{"relo providers test", "relo providers test here --picture"}, complete: providers},
	"providers remove":   {complete: providers},
	"providers discover": {examples: [2]string{"relo providers discover", "relo providers discover here --json"}, complete: providers},
	"config set":         {examples: [2]string{"relo config set budget.perJob 3", "relo config set providers.here.url http://127.0.0.1:11434"}},
	"config show":        {examples: [2]string{"relo config show", "relo config show --origin"}},
	"config schema":      {examples: [2]string{"relo config schema > relo.schema.json", "relo config schema | jq .properties"}},
}

// furnish gives commands their groups, examples, completions and help.
func (s *shell) furnish(root *cobra.Command) {
	for i := range groups {
		root.AddGroup(&groups[i])
	}
	root.SetHelpCommandGroupID(groupSetUp)
	full := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if s.brief && c.Runnable() {
			c.Print(briefHelp(c))
			return
		}
		full(c, args)
	})
	each(root, func(c *cobra.Command) {
		a := abouts[strings.TrimPrefix(c.CommandPath(), "relo ")]
		if c.Parent() == root && a.group != "" {
			c.GroupID = a.group
		}
		if c.Example == "" && a.examples[0] != "" {
			c.Example = "  " + strings.Join(a.examples[:], "\n  ")
		}
		if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 {
			c.ValidArgsFunction = s.completer(a.complete)
		}
		if c.Flags().Lookup("model") != nil {
			_ = c.RegisterFlagCompletionFunc("model", s.completer(models)) // it fails only for a flag that is not there
		}
		for flag, words := range map[string][]string{"approve": {approveNever, approvePlan}, "progress": {progressAuto, progressTTY, progressPlain, progressNone}} {
			if c.Flags().Lookup(flag) != nil {
				_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
			}
		}
	})
}

// each calls f with every command of a tree.
func each(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		each(sub, f)
	}
}

// briefHelp is the help of -h: what it does, how it is called, two examples.
func briefHelp(c *cobra.Command) string {
	var b strings.Builder
	b.WriteString(c.Short + "\n\n  " + c.UseLine() + "\n")
	if c.Example != "" {
		b.WriteString("\n" + c.Example + "\n")
	}
	b.WriteString("\n" + c.CommandPath() + " --help says more\n")
	return b.String()
}

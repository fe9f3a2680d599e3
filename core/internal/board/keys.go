package board

import (
	"slices"

	"github.com/relo-dev/relo/core/internal/job"
)

// Verb is what a key asks of whoever shows the board.
type Verb string

// The verbs. The empty one asks for nothing but another frame.
const (
	Pause  Verb = "pause"
	Resume Verb = "resume"
	SayTo  Verb = "say"   // Text to Task, or to the job when there is none
	Look   Verb = "look"  // what did Task change? Show answers
	Quit   Verb = "quit"  // end the view
	Leave  Verb = "leave" // Ctrl-C
)

// Order is a verb with what it acts on.
type Order struct {
	Verb Verb
	Task string
	Text string
}

// The names of keys that are not characters.
const (
	Up       = "up"
	Down     = "down"
	Home     = "home"
	End      = "end"
	PageUp   = "pgup"
	PageDown = "pgdown"
	Enter    = "enter"
	Esc      = "esc"
	Back     = "backspace"
	CtrlC    = "ctrl+c"
)

// Key takes one key, or a pasted text while something is typed. rows is the
// height of the screen, for turning pages.
func (b *Board) Key(key string, rows int) Order {
	if key == CtrlC {
		return Order{Verb: Leave}
	}
	if b.typing {
		return b.typeKey(key)
	}
	b.words = ""
	switch key {
	case "q":
		return Order{Verb: Quit}
	case "?":
		b.help = !b.help
	case "p":
		return b.pause()
	case "s":
		b.help, b.typing, b.typed = false, true, nil
		if rows := b.rows(); b.selected == "" && len(rows) > 0 {
			if t := rows[b.focus(rows)].task; t.Question != "" {
				b.selected = t.ID // what is said now is the answer
			}
		}
	case "o", Enter:
		return b.toggle()
	case Esc:
		b.escape()
	default:
		b.move(key, max(1, rows-pageKeep))
	}
	return Order{}
}

func (b *Board) escape() {
	switch {
	case b.help:
		b.help = false
	case b.open:
		b.open = false
	default:
		b.selected = ""
	}
}

func (b *Board) pause() Order {
	switch b.Job.Status { //nolint:exhaustive // the other states have nothing to pause
	case job.Paused, job.StoppedAtBudget:
		return Order{Verb: Resume}
	case job.Planning, job.Running:
		return Order{Verb: Pause}
	}
	b.Tell("there is nothing to pause")
	return Order{}
}

// toggle opens the selected task, or closes it.
func (b *Board) toggle() Order {
	b.help = false
	if b.open {
		b.open = false
		return Order{}
	}
	rows := b.rows()
	if len(rows) == 0 {
		return Order{}
	}
	b.selected = rows[b.focus(rows)].task.ID
	b.open, b.scroll = true, 0
	return Order{Verb: Look, Task: b.selected}
}

// move changes the selection, or scrolls the open task.
func (b *Board) move(key string, page int) {
	step := map[string]int{Up: -1, "k": -1, Down: 1, "j": 1, PageUp: -page, PageDown: page, " ": page, Home: -maxRows, End: maxRows}[key]
	if step == 0 {
		return
	}
	if b.open {
		b.scroll = max(0, b.scroll+step) // the frame holds it to what there is
		return
	}
	rows := b.rows()
	if len(rows) == 0 {
		return
	}
	at := b.focus(rows)
	if b.selected != "" {
		at = max(0, min(at+step, len(rows)-1))
	}
	b.selected = rows[at].task.ID
}

// maxRows is more rows than any view has.
const maxRows = 1 << 20

// typeKey takes a key of a line that is being typed.
func (b *Board) typeKey(key string) Order {
	switch key {
	case Esc:
		b.typing = false
	case Back:
		if n := len(b.typed); n > 0 {
			b.typed = b.typed[:n-1]
		}
	case Enter:
		b.typing = false
		if text := Flat(string(b.typed), 0); text != "" {
			return Order{Verb: SayTo, Task: b.selected, Text: text}
		}
	case Up, Down, Home, End, PageUp, PageDown:
	default:
		if text := []rune(Flat(key, 0)); len(text) > 0 || key == " " {
			if key == " " {
				text = []rune{' '}
			}
			b.typed = append(b.typed, text...)
			b.typed = slices.Clip(b.typed[:min(len(b.typed), maxTyped)])
		}
	}
	return Order{}
}

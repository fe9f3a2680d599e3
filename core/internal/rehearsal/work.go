package rehearsal

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// matchCard is the task that needs eyes. Nothing in it knows what the reference
// looks like: colour, place and size are measured on the pixels that arrive.
var matchCard = []step{
	func(*scene) double.Reply {
		return do("I look at the reference and read what the card is drawn from.", look(Reference), read("card.conf"))
	},
	func(s *scene) double.Reply {
		want, err := s.measure(Reference)
		if err != nil {
			return blocked(err.Error())
		}
		now, err := readCard(s.file("card.conf"))
		if err != nil {
			return blocked(err.Error())
		}
		if now.Button == want {
			return do("card.conf says what the reference shows already; I draw the card to see.", bash(drawCommand))
		}
		return do(fmt.Sprintf("On the pixels of %s the button is %s. card.conf says %s. I change that.", Reference, want, now.Button),
			edit("card.conf", now.Button.lines(), want.lines()))
	},
	func(*scene) double.Reply {
		return do("I draw the card anew and run the check.", bash(drawCommand))
	},
	func(*scene) double.Reply {
		return do("I look at the result beside the reference.", look(Reference, Result))
	},
	func(s *scene) double.Reply {
		b, differs, err := s.compare()
		switch {
		case err != nil:
			return blocked(err.Error())
		case differs != "":
			return blocked(fmt.Sprintf("%s does not match %s: %s.", Result, Reference, differs))
		}
		return done(fmt.Sprintf("The button of the card is now %s, as measured on the reference. The drawn card and the reference agree in every pixel, and the check passes.", b),
			prompt.Seen{Path: Result, Verdict: "matches " + Reference + ": not one pixel differs"})
	},
}

const drawCommand = "sh render.sh " + Result + " && sh check.sh"

// measure finds the button on a picture that the newest answer asked for.
func (s *scene) measure(name string) (button, error) {
	p, err := s.picture(name)
	if err != nil {
		return button{}, err
	}
	img, err := decode(p)
	if err != nil {
		return button{}, err
	}
	return findButton(img)
}

// compare holds the result against the reference, both as they arrived, and
// measures the result's button. differs is empty when every pixel agrees.
func (s *scene) compare() (b button, differs string, err error) {
	if b, err = s.measure(Result); err != nil {
		return b, "", err
	}
	result, err := s.picture(Result)
	if err != nil {
		return b, "", err
	}
	reference, err := s.picture(Reference)
	if err != nil {
		return b, "", err
	}
	got, err := decode(result)
	if err != nil {
		return b, "", err
	}
	want, err := decode(reference)
	if err != nil {
		return b, "", err
	}
	return b, unlike(got, want), nil
}

//go:embed usage.txt
var usagePage string

// usageInHaste forgets that AGENTS.md wants each page listed, and runs no check.
var usageInHaste = []step{
	func(*scene) double.Reply { return do("I read what the project says of itself.", read("README.md")) },
	func(*scene) double.Reply { return do("I write the page.", write("docs/usage.md", usagePage)) },
	func(*scene) double.Reply { return done("docs/usage.md says how to draw, change and check the card.") },
}

var usageWithCare = []step{
	func(*scene) double.Reply {
		return do("I read what the project says of itself, and how it keeps its pages.", read("README.md"), read("docs/index.md"), read("check.sh"))
	},
	func(*scene) double.Reply { return do("I write the page.", write("docs/usage.md", usagePage)) },
	func(s *scene) double.Reply {
		index := s.file("docs/index.md")
		return do("Each page is listed in docs/index.md, so this one too.",
			write("docs/index.md", strings.TrimRight(index, "\n")+"\n- [How to use it](usage.md)\n"))
	},
	func(*scene) double.Reply { return do("I run the check.", bash("sh check.sh")) },
	func(s *scene) double.Reply {
		return done("docs/usage.md says how to draw, change and check the card, and docs/index.md lists it. " + said(s.output()))
	},
}

//go:embed fits.txt
var fitsScript string

var fitsTest = []step{
	func(*scene) double.Reply {
		return do("I read how the card is drawn and checked.", read("card.conf"), read("render.sh"), read("check.sh"))
	},
	func(*scene) double.Reply { return do("I write the test.", write("tests/fits.sh", fitsScript)) },
	func(*scene) double.Reply {
		return do("It must pass on the card as it is, and fail on one with a button that is too wide.", bash(
			"sh tests/fits.sh && sed 's/^button_width.*/button_width = 500/' card.conf >wide.conf || exit 1\n"+
				"sh tests/fits.sh wide.conf; code=$?; rm wide.conf\n"+
				"[ $code -eq 1 ] && sh check.sh"))
	},
	func(s *scene) double.Reply {
		return done("tests/fits.sh passes on card.conf and fails on a copy with a button of 500 pixels. " + said(s.output()))
	},
}

// changelog takes what it says of the card from the file as it was merged.
var changelog = []step{
	func(*scene) double.Reply {
		return do("I read the changelog, and the card as it was merged.", read("CHANGELOG.md"), read("card.conf"))
	},
	func(s *scene) double.Reply {
		now, err := readCard(s.file("card.conf"))
		if err != nil {
			return blocked(err.Error())
		}
		head, list, ok := strings.Cut(s.file("CHANGELOG.md"), "\n- ")
		if !ok {
			return blocked("CHANGELOG.md has no list to add to.")
		}
		news := fmt.Sprintf("\n- The button of the login card is %d×%d pixels in %s.\n- A page says how to use the project: docs/usage.md.\n"+
			"- tests/fits.sh tests that the button fits on the card.", now.Button.Width, now.Button.Height, now.Button.Color)
		return do("I add what is new.", write("CHANGELOG.md", head+news+"\n- "+list))
	},
	func(*scene) double.Reply { return do("I run all checks.", bash("sh check.sh && sh tests/fits.sh")) },
	func(s *scene) double.Reply {
		return done("CHANGELOG.md says what is new, with the numbers of card.conf as merged. " + said(s.output()))
	},
}

// said quotes a command's output in one line.
func said(output string) string {
	return "The checks say: " + strings.Join(strings.Fields(output), " ")
}

package rehearsal

import (
	"bytes"
	"encoding/json"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
)

// settle writes the demo's project into a folder of the test.
func settle(t *testing.T) (dir string) {
	t.Helper()
	files, err := Project()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, data := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
	return dir
}

func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// shells are those of this machine that must draw the same card; sh is always asked for.
func shells() []string {
	all := []string{"sh"}
	for _, name := range []string{"dash", "bash"} {
		if _, err := exec.LookPath(name); err == nil {
			all = append(all, name)
		}
	}
	return all
}

func run(t *testing.T, dir, shell string, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shell, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestEveryShellDrawsTheCardToTheByte(t *testing.T) {
	files, err := Project()
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells() {
		t.Run(shell, func(t *testing.T) {
			dir := settle(t)
			if out, err := run(t, dir, shell, "render.sh", "out/drawn.bmp"); err != nil || out != "" {
				t.Fatal(out, err)
			}
			if got := get(t, dir, "out/drawn.bmp"); got != string(files[Result]) {
				t.Errorf("the drawn card (%d bytes) is not the one in the project (%d bytes)", len(got), len(files[Result]))
			}
			if out, err := run(t, dir, shell, "check.sh"); err != nil || out != "check: all is well\n" {
				t.Error(out, err)
			}
		})
	}
}

// A row of 119 pixels ends in three bytes that are none.
func TestACardOfAnotherWidthIsDrawnToTheByte(t *testing.T) {
	dir := settle(t)
	conf := strings.ReplaceAll(get(t, dir, "card.conf"), "width = 120", "width = 119")
	put(t, filepath.Join(dir, "card.conf"), []byte(conf))
	if out, err := run(t, dir, "sh", "render.sh"); err != nil {
		t.Fatal(out, err)
	}
	c, err := readCard(conf)
	if err != nil {
		t.Fatal(err)
	}
	if get(t, dir, Result) != string(bmp(c.draw())) {
		t.Error("the shell and the package draw a card of 119 pixels differently")
	}
}

func TestTheCardMatchesTheReferenceOnlyAfterTheEdit(t *testing.T) {
	files, err := Project()
	if err != nil {
		t.Fatal(err)
	}
	reference, format, err := image.Decode(bytes.NewReader(files[Reference]))
	if err != nil || format != "png" {
		t.Fatal(format, err)
	}
	c, err := readCard(string(files["card.conf"]))
	if err != nil {
		t.Fatal(err)
	}
	if unlike(c.draw(), reference) == "" {
		t.Error("the card needs no edit")
	}
	if b, err := findButton(c.draw()); err != nil || b != c.Button {
		t.Errorf("measured %v, drawn %v: %v", b, c.Button, err)
	}
	if c.Button, err = findButton(reference); err != nil {
		t.Fatal(err)
	}
	if words := unlike(c.draw(), reference); words != "" {
		t.Error("with the measured button: " + words)
	}
	if !strings.Contains(string(files["card.conf"]), "\n"+readBack(t, files).lines()) {
		t.Error("the button's lines stand apart in card.conf, so one edit cannot change them")
	}
}

func readBack(t *testing.T, files map[string][]byte) button {
	t.Helper()
	c, err := readCard(string(files["card.conf"]))
	if err != nil {
		t.Fatal(err)
	}
	return c.Button
}

func TestWhatIsNoCardIsNotMeasured(t *testing.T) {
	noise := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range noise.Pix {
		noise.Pix[i] = byte(i * i >> 3)
		if i%4 == 3 {
			noise.Pix[i] = 255
		}
	}
	for what, img := range map[string]image.Image{"noise": noise, "one colour": image.NewRGBA(image.Rect(0, 0, 8, 8))} {
		if b, err := findButton(img); err == nil {
			t.Errorf("a button was found on %s: %v", what, b)
		}
	}
}

func TestThePlanKeepsTheRules(t *testing.T) {
	files, err := Project()
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(plan())
	if err != nil {
		t.Fatal(err)
	}
	got, faults := prompt.DecodePlan(args)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var tasks []job.PlannedTask
	free, eyes := 0, 0
	for _, x := range got.Tasks {
		tasks = append(tasks, job.PlannedTask{
			ID: x.ID, Title: x.Title, Instructions: x.Instructions, Difficulty: job.Difficulty(x.Difficulty), Images: x.Images, DependsOn: x.DependsOn,
		})
		if len(x.DependsOn) == 0 {
			free++
		}
		if x.Vision && x.Difficulty == "easy" && len(x.Images) > 0 {
			eyes++
		}
	}
	faults = job.CheckPlan(tasks, job.PlanRules{MaxTasks: 60, Image: func(name string) (job.Image, bool) {
		_, ok := files[name]
		return job.Image{Path: name}, ok
	}})
	if len(faults) > 0 || len(tasks) != 4 || free != 3 || eyes != 1 {
		t.Errorf("%d tasks, %d that wait for nobody, %d easy ones with eyes: %v", len(tasks), free, eyes, faults)
	}
}

package app

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/relo-dev/relo/core/internal/bus"
	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/native"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/toolbox"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/picture"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

// The joints: who answers which need.
var (
	_ orchestrator.Repos    = (*repos)(nil)
	_ orchestrator.Trees    = (*trees)(nil)
	_ orchestrator.Shop     = shop{}
	_ orchestrator.Pictures = pictures{}
	_ orchestrator.Lanes    = lanes{}
	_ orchestrator.Mailbox  = mailbox{}
)

// shop opens toolboxes.
type shop struct{}

func (shop) Open(dir, temp, attempt string, readOnly bool) (orchestrator.Box, error) {
	return toolbox.New(toolbox.Options{Dir: dir, TempDir: temp, Attempt: attempt, ReadOnly: readOnly})
}

func (shop) Sweep(attempt string) { toolbox.KillMarked(attempt) }

// pictures prepares files of one attempt's workspace.
type pictures struct{ p *picture.Preparer }

// PictureChild is the command that makes a process of this program a child that
// prepares pictures.
const PictureChild = "picture-child"

// Darkroom makes pictures ready for one process; everything in the process shares
// its children.
type Darkroom struct {
	children *picture.Children
	rooms    *showing.Rooms
}

// NewDarkroom opens a darkroom. It starts nothing before a picture needs it.
func NewDarkroom(e Env) *Darkroom {
	if e.Program == "" {
		return &Darkroom{rooms: showing.NewRooms()}
	}
	program := sameProgram(e.Program) // asked now: another file may lie there later
	return &Darkroom{rooms: showing.NewRooms(), children: picture.NewChildren(func() (*exec.Cmd, error) {
		// Killed by its owner, whose deadline is of one picture. No variable of the
		// environment is its business.
		cmd := exec.Command(program, PictureChild) //nolint:noctx // this program itself
		cmd.Env, cmd.Dir = []string{}, "/"
		return cmd, nil
	})}
}

// sameProgram is a name of a running program's own file that holds when another
// version was put in its place meanwhile; a child of that one might not understand it.
func sameProgram(path string) string {
	const running = "/proc/self/exe"
	if own, err := os.Readlink(running); err == nil && own == path {
		return running
	}
	return path
}

// Preparer is a picture.Preparer with the darkroom's children.
func (d *Darkroom) Preparer(o picture.Options) *picture.Preparer {
	o.Children = d.children
	return picture.New(o)
}

// Close ends the children.
func (d *Darkroom) Close() error {
	if d.children != nil {
		d.children.Close()
	}
	return nil
}

func (d *Darkroom) open(never []string, tracked func(name string) bool) orchestrator.Pictures {
	return pictures{d.Preparer(picture.Options{Never: never, Tracked: tracked})}
}

// pictureError gives a refusal's code to the conductor, which does not know the
// package that made it.
type pictureError struct{ refusal *picture.Error }

func (e pictureError) Error() string { return e.refusal.Message }
func (e pictureError) Unwrap() error { return e.refusal }

// PictureCode is the code of contracts §6.
func (e pictureError) PictureCode() string { return string(e.refusal.Code) }

func (x pictures) Prepare(ctx context.Context, dir, name string, region *vision.Region, maxEdge int) (vision.Picture, vision.Meta, error) {
	roots, err := picture.OpenRoots(dir)
	if err != nil {
		return vision.Picture{}, vision.Meta{}, err
	}
	attachments, err := picture.OpenRoots(filepath.Join(dir, filepath.FromSlash(job.AttachmentDir)))
	if err == nil { // not there when the job has none
		roots = append(roots, attachments...)
	}
	p, meta, err := x.p.Prepare(ctx, roots, name, picture.Params{Region: region, MaxEdge: maxEdge})
	_ = roots.Close() // opened for reading only
	return p, meta, codedPicture(err)
}

// attachment makes a picture in memory ready for the planner.
func (d *Darkroom) attachment(data []byte, name string, maxEdge int, never []string) (vision.Picture, vision.Meta, error) {
	ctx, cancel := context.WithTimeout(context.Background(), attachmentTime)
	defer cancel()
	return d.Preparer(picture.Options{Never: never}).PrepareBytes(ctx, data, name, picture.Params{MaxEdge: maxEdge})
}

// Fit makes a picture of a request fit; errors are in words for an agent.
func (d *Darkroom) Fit(ctx context.Context, data []byte, name string, f vision.Fit) (vision.Picture, error) {
	ctx, cancel := context.WithTimeout(ctx, attachmentTime)
	defer cancel()
	p, _, err := d.Preparer(picture.Options{}).Fit(ctx, data, name, f)
	return p, codedPicture(err)
}

// attachmentTime bounds the preparation of one attachment.
const attachmentTime = 30 * time.Second

// lanes joins the conductor's needs to the bus.
type lanes struct {
	*bus.Conn
	server *bus.Server
}

func (l lanes) Order(worker string, data []byte) error { return l.Conn.Order(l.server, worker, data) }

// mailbox joins a worker's needs to the bus.
type mailbox struct{ conn *bus.Conn }

func (m mailbox) Tasks(ctx context.Context, worker string, f func(data []byte) bool) error {
	return m.conn.Mailbox(ctx, worker, f)
}

func (m mailbox) Orders(worker string, f func(data []byte)) (func(), error) {
	return m.conn.Orders(worker, f)
}

func engines() orchestrator.Engines {
	e := native.New()
	return orchestrator.Engines{e.Name(): engine.Engine(e)}
}

package record

import "fmt"

// Damage tells apart how a journal was damaged.
type Damage string

// The kinds of damage.
const (
	// Torn: the end is missing, what is there is whole. The job goes on from its
	// last whole event. What was confirmed was on the disk, so an end goes
	// missing only when files are cut, lost or put back from a backup.
	Torn Damage = "torn"
	// Flipped: something in the middle is not what was written. Nothing from
	// there on is believed, and the job is only read.
	Flipped Damage = "flipped"
	// Mended: something that is made from the events was damaged and was made
	// from them again; nothing is lost.
	Mended Damage = "mended"
)

// DamageError says where a journal is damaged. Seq is the last whole event of a
// torn one and the first that is not believed of a flipped one. Without a Job
// it is about the record as a whole.
type DamageError struct {
	Job   string
	Seq   int64
	Kind  Damage
	Words string // what was lost and what happens now, for people
}

// Error is the words, with the job before them.
func (e *DamageError) Error() string {
	if e.Job == "" {
		return e.Words
	}
	return fmt.Sprintf("job %s is damaged: %s", e.Job, e.Words)
}

// CorruptError says that the record's file itself is damaged, in a way that no
// part of it is believed.
type CorruptError struct {
	File   string
	Backup string // the newest backup beside it; empty: there is none
	Err    error
}

// Error says what to do.
func (e *CorruptError) Error() string {
	words := fmt.Sprintf("the record %s is damaged (%v). Stop Relo and move it away, with the files %s-wal and %s-shm if they are there; ", e.File, e.Err, e.File, e.File)
	if e.Backup == "" {
		return words + "there is no backup: Relo starts with an empty record then, and branches relo/… in your repositories stay as they are"
	}
	return words + fmt.Sprintf("then copy the backup %s to %s. What came after the backup is lost; branches relo/… in your repositories stay as they are", e.Backup, e.File)
}

// Unwrap gives SQLite's own words.
func (e *CorruptError) Unwrap() error { return e.Err }

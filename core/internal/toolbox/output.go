package toolbox

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// spool keeps the head and the tail of what is written to it.
type spool struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // at most twice tailOutput, so that it is not moved on each write
	total int64
}

// Write never fails: a full spool forgets the middle.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	s.total += int64(n)
	if room := headOutput - len(s.head); room > 0 {
		k := min(room, len(p))
		s.head = append(s.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > tailOutput {
		p, s.tail = p[len(p)-tailOutput:], s.tail[:0]
	}
	s.tail = append(s.tail, p...)
	if len(s.tail) > 2*tailOutput {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-tailOutput:]...)
	}
	return n, nil
}

// String is what was kept, cleaned, with what was cut said in its place. It ends
// in a newline unless nothing was written.
func (s *spool) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	head, tail := s.head, s.tail[max(0, len(s.tail)-tailOutput):]
	text := ""
	if gone := s.total - int64(len(head)) - int64(len(tail)); gone > 0 {
		head, tail, gone = wholeLines(head, tail, gone)
		text = clean(head) + fmt.Sprintf("\n[… %d bytes of output left out here …]\n", gone) + clean(tail)
	} else {
		text = clean(append(bytes.Clone(head), tail...))
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// wholeLines moves the cut to the ends of lines where they are near, so that no
// character or escape is cut in two.
func wholeLines(head, tail []byte, gone int64) (h, t []byte, g int64) {
	const near = 4 << 10
	if i := bytes.LastIndexByte(head, '\n'); i >= len(head)-near && i >= 0 {
		gone += int64(len(head) - i - 1)
		head = head[:i]
		gone++ // the newline itself is said by the mark
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < near {
		gone += int64(i + 1)
		tail = tail[i+1:]
	}
	return head, tail, gone
}

// escapes are what a terminal would obey: CSI, OSC and its kin up to their end,
// and two-byte escapes. A cut sequence goes to the end of what it could be.
var escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?`)

// clean leaves words: no terminal escapes, no control characters but newline and
// tab, nothing that turns the direction of text or is not seen, valid UTF-8. Of
// a line that was drawn over (progress bars) the last state stays.
func clean(raw []byte) string {
	s := strings.ToValidUTF8(string(raw), "\uFFFD")
	s = escapes.ReplaceAllString(s, "")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.Contains(s, "\r") {
		lines := strings.Split(s, "\n")
		for i, line := range lines {
			line = strings.TrimRight(line, "\r")
			lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
		}
		s = strings.Join(lines, "\n")
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Bidi_Control) && (r < 0xE0000 || r > 0xE007F) {
			return r
		}
		return -1
	}, s)
}

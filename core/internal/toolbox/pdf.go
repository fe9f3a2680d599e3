package toolbox

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relo-dev/relo/core/internal/tool"
)

// readPDF gives the text of a PDF when it can be taken without a PDF program:
// Flate streams, simple fonts, and fonts that say which characters they show
// (ToUnicode), which is what browsers, offices and TeX write. Else it says so.
func readPDF(name string, data []byte, a readArgs) tool.Result {
	doc := openPDF(data)
	text, pages := "", 0
	if !bytes.Contains(data, []byte("/Encrypt")) {
		text, pages = doc.text()
	}
	if !legible(text) {
		return tool.Result{Text: fmt.Sprintf("%s is a PDF (%d bytes) whose text cannot be taken directly: it is scanned, encrypted or unusually made. "+
			"Through bash, when poppler-utils is installed: pdftotext -layout FILE - gives its text, pdftoppm -r 100 -png FILE PREFIX makes a picture of each page.",
			name, len(data))}
	}
	return tool.Result{Text: fmt.Sprintf("(text of %s, %d pages; layout and pictures are lost)\n", name, pages) + lines(name, text, a)}
}

// legible reports whether there are words, and most of them could be read.
func legible(text string) bool {
	letters, lost := 0, 0
	for _, r := range text {
		switch {
		case r == utf8.RuneError:
			lost++
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			letters++
		}
	}
	return letters > 0 && lost*3 < letters
}

// object is one numbered object: its value, and its stream when it has one.
type object struct {
	value  any
	stream []byte // as it lies in the file
}

// pdf is a document as a table of objects. The cross-reference table is not
// believed: objects are found by looking, so a damaged file is read as well.
type pdf struct {
	objects map[int]object
	visits  int // of nodes of the page tree: one that holds itself has no end
	known   map[reference]*font
	budget  int // bytes that may still be inflated
}

var objectStart = regexp.MustCompile(`(\d{1,7})[ \t\r\n]+\d{1,5}[ \t\r\n]+obj\b`)

func openPDF(data []byte) *pdf {
	d := &pdf{objects: map[int]object{}, known: map[reference]*font{}, budget: maxInflatedAll}
	at := 0
	for len(d.objects) < maxObjects {
		m := objectStart.FindSubmatchIndex(data[at:])
		if m == nil {
			break
		}
		number, err := strconv.Atoi(string(data[at+m[2] : at+m[3]]))
		if err != nil {
			break
		}
		l := lexer{data: data, at: at + m[1]}
		o := object{value: l.value(0)}
		at = max(l.at, at+m[1])
		if dict, ok := o.value.(dictionary); ok {
			o.stream, at = streamAt(data, at, dict)
		}
		d.objects[number] = o // a later one of the same number is the newer
	}
	d.unpack()
	return d
}

// streamAt takes the stream that follows a dictionary, if one does, and returns
// where to go on.
func streamAt(data []byte, at int, dict dictionary) (stream []byte, next int) {
	rest := bytes.TrimLeft(data[at:], " \t\r\n")
	body, found := bytes.CutPrefix(rest, []byte("stream"))
	if !found {
		return nil, at
	}
	body = bytes.TrimPrefix(bytes.TrimPrefix(body, []byte("\r")), []byte("\n"))
	start := len(data) - len(body)
	end := bytes.Index(body, []byte("endstream"))
	if n, ok := whole(dict["Length"]); ok && n <= len(body) && bytes.HasPrefix(bytes.TrimLeft(body[n:], "\r\n \t"), []byte("endstream")) {
		end = n
	}
	if end < 0 {
		end = len(body)
	}
	return body[:end], start + end
}

// unpack reads the objects that lie in object streams (PDF 1.5).
func (d *pdf) unpack() {
	for _, number := range d.numbers() {
		dict, ok := d.objects[number].value.(dictionary)
		if !ok || dict["Type"] != name("ObjStm") {
			continue
		}
		body := d.inflate(number)
		first, ok := whole(dict["First"])
		if !ok {
			continue
		}
		head := lexer{data: body}
		for len(d.objects) < maxObjects && head.at < first {
			inner, ok1 := whole(head.value(0))
			offset, ok2 := whole(head.value(0))
			if !ok1 || !ok2 || first+offset >= len(body) {
				break
			}
			if _, there := d.objects[inner]; !there {
				l := lexer{data: body, at: first + offset}
				d.objects[inner] = object{value: l.value(0)}
			}
		}
	}
}

// numbers lists the objects in order, so that the same file gives the same text.
func (d *pdf) numbers() []int { return slices.Sorted(maps.Keys(d.objects)) }

// whole reads a count or an offset; what is larger than any file here is none.
func whole(v any) (int, bool) {
	n, ok := v.(float64)
	if !ok || !(n >= 0 && n <= maxInflated+maxText) {
		return 0, false
	}
	return int(n), true
}

// inflate gives the bytes of an object's stream, bounded; what comes before a
// fault is kept. Filters other than Flate give nothing.
func (d *pdf) inflate(number int) []byte {
	o := d.objects[number]
	dict, _ := o.value.(dictionary)
	filter := d.resolve(dict["Filter"])
	if list, ok := filter.([]any); ok && len(list) == 1 {
		filter = d.resolve(list[0])
	}
	switch filter {
	case nil:
		return o.stream
	case name("FlateDecode"), name("Fl"):
		r, err := zlib.NewReader(bytes.NewReader(o.stream))
		if err != nil {
			return nil
		}
		out, _ := io.ReadAll(io.LimitReader(r, int64(min(maxInflated, d.budget)))) // a cut stream still has its beginning
		d.budget -= len(out)
		return out
	}
	return nil
}

// resolve follows references to a value.
func (d *pdf) resolve(v any) any {
	for range maxNesting {
		r, ok := v.(reference)
		if !ok {
			return v
		}
		v = d.objects[int(r)].value
	}
	return nil
}

func (d *pdf) dict(v any) dictionary {
	out, _ := d.resolve(v).(dictionary)
	return out
}

// text gives the text of all pages in their order.
func (d *pdf) text() (text string, pages int) {
	var out strings.Builder
	for _, number := range d.numbers() {
		if dict, ok := d.objects[number].value.(dictionary); ok && dict["Type"] == name("Catalog") {
			pages = d.page(&out, d.dict(dict["Pages"]), nil, 0, 0)
			break
		}
	}
	return out.String(), pages
}

// page writes a page, or all below a node of the tree; resources are inherited.
func (d *pdf) page(out *strings.Builder, node, resources dictionary, pages, depth int) int {
	if d.visits++; node == nil || d.visits > 4*maxPages || depth > maxNesting || pages >= maxPages || out.Len() > maxPDFText {
		return pages
	}
	if own := d.dict(node["Resources"]); own != nil {
		resources = own
	}
	if kids, ok := d.resolve(node["Kids"]).([]any); ok {
		for _, kid := range kids {
			pages = d.page(out, d.dict(kid), resources, pages, depth+1)
		}
		return pages
	}
	if out.Len() > 0 {
		out.WriteString("\n")
	}
	w := writer{out: out, fresh: true, fonts: d.fonts(resources)}
	var content []byte
	contents, isList := d.resolve(node["Contents"]).([]any)
	if !isList {
		contents = []any{node["Contents"]}
	}
	for _, c := range contents {
		if r, ok := c.(reference); ok && len(content) < maxInflated {
			content = append(append(content, d.inflate(int(r))...), '\n')
		}
	}
	w.run(content)
	return pages + 1
}

// fonts reads how each font of a page turns codes into characters.
func (d *pdf) fonts(resources dictionary) map[name]*font {
	fonts := map[name]*font{}
	for n, v := range d.dict(resources["Font"]) {
		at, isReference := v.(reference)
		if f, there := d.known[at]; there && isReference {
			fonts[n] = f
			continue
		}
		dict := d.dict(v)
		f := &font{wide: d.resolve(dict["Subtype"]) == name("Type0")}
		if r, ok := dict["ToUnicode"].(reference); ok {
			f.learn(d.inflate(int(r)))
		}
		fonts[n] = f
		if isReference {
			d.known[at] = f
		}
	}
	return fonts
}

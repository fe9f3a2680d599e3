package toolbox

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// stream is an object with a Flate stream.
func stream(t testing.TB, dict, content string) string {
	t.Helper()
	var buf bytes.Buffer
	w := zlib.NewWriter(&buf)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("<<%s/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", dict, buf.Len(), buf.String())
}

const toUnicode = `1 begincodespacerange <0000> <FFFF> endcodespacerange
2 beginbfchar <0001> <0048> <0002> <00660069> endbfchar
2 beginbfrange <0010> <0012> <0061> <0020> <0021> [<4E2D> <6587>] endbfrange`

// samplePDF has two pages: a simple font, and a font of two-byte codes whose
// objects lie in an object stream.
func samplePDF(t testing.TB) []byte {
	t.Helper()
	objects := map[int]string{
		1: "<</Type/Catalog/Pages 2 0 R>>",
		2: "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>>>",
		3: "<</Type/Page/Parent 2 0 R/Contents 7 0 R>>",
		4: "<</Type/Page/Parent 2 0 R/Contents[8 0 R]>>",
		7: stream(t, "", "BT /F1 12 Tf 72 700 Td (Hello \\(PDF\\) caf\\351) Tj 0 -14 Td [(W) 20 (orld) -300 (wide)] TJ T* (\\223quoted\\224) ' ET"),
		8: stream(t, "", "BT /F2 12 Tf 1 0 0 1 72 700 Tm <00010002> Tj 1 0 0 1 90 700 Tm <001000110012> Tj 1 0 0 1 72 600 Tm <00200021> Tj ET"),
		9: stream(t, "", toUnicode),
	}
	inner := "5 0 6 35 "
	objects[10] = stream(t, fmt.Sprintf("/Type/ObjStm/N 2/First %d", len(inner)),
		inner+fmt.Sprintf("%-35s", "<</Type/Font/Subtype/Type1>>")+"<</Type/Font/Subtype/Type0/ToUnicode 9 0 R>>")
	out := "%PDF-1.5\n"
	for i := range 11 {
		if o, there := objects[i]; there {
			out += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i, o)
		}
	}
	return []byte(out + "trailer\n<</Root 1 0 R>>\n%%EOF\n")
}

func TestAPDFGivesItsText(t *testing.T) {
	text, pages := openPDF(samplePDF(t)).text()
	want := "Hello (PDF) café\nWorld wide\n“quoted”\n\nHfi abc\n中文\n"
	if text != want || pages != 2 {
		t.Errorf("got %d pages, %q, want %q", pages, text, want)
	}
	b := open(t, Options{}, map[string]string{"spec.pdf": string(samplePDF(t))})
	got := call(t, b, "read", `{"path":"spec.pdf","offset":2,"limit":1}`)
	if got.IsError || !strings.Contains(got.Text, "2 pages") || !strings.Contains(got.Text, "World wide\n") || strings.Contains(got.Text, "Hello") {
		t.Errorf("read = %q", got.Text)
	}
}

func TestAPDFWithoutTextSaysHowToGetIt(t *testing.T) {
	for why, data := range map[string]string{
		"nothing in it": "%PDF-1.4\n", "encrypted": strings.Replace(string(samplePDF(t)), "/Root 1 0 R", "/Root 1 0 R/Encrypt 11 0 R", 1),
		"codes without characters": strings.Replace(string(samplePDF(t)), "3 0 R 4 0 R", "4 0 R", 1) + "9 0 obj\n<<>>\nendobj\n",
	} {
		b := open(t, Options{}, map[string]string{"scan.pdf": data})
		if got := call(t, b, "read", `{"path":"scan.pdf"}`); !strings.Contains(got.Text, "pdftotext") {
			t.Errorf("%s: read = %q", why, got.Text)
		}
	}
}

func FuzzPDFNeverPanicsAndIsBounded(f *testing.F) {
	f.Add(samplePDF(f))
	f.Add([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R 1 0 R]>>endobj"))
	f.Add([]byte("%PDF-1.4\n1 0 obj[[[[[[<<<<(((\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, pages := openPDF(data).text()
		if len(text) > 2*maxPDFText || pages > maxPages {
			t.Fatalf("%d bytes, %d pages", len(text), pages)
		}
	})
}

package toolbox

import (
	"fmt"

	"github.com/relo-dev/relo/core/internal/tool"
)

func readPDF(name string, data []byte, _ readArgs) tool.Result {
	return tool.Result{Text: fmt.Sprintf("%s is a PDF (%d bytes). Its text can be had through bash: pdftotext -layout %q - (from poppler-utils), when it is installed.", name, len(data), name)}
}

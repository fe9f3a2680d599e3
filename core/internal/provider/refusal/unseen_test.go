package refusal

import (
	"strings"
	"testing"
)

// unseen are refusals written down after the shapes were, to see how they do on
// words that nobody had in mind.
var unseen = []struct {
	want  Class
	words string
}{
	{Blind, "Sorry, acme-large is unable to accept image attachments at this time."},
	{Blind, "Model does not have image input capability"},
	{Blind, "This LLM has no visual capabilities"},
	{Blind, "unsupported_modality: image"},
	{Blind, "vision capability disabled for deployment gpt-35"},
	{Blind, "Provider acme does not currently allow image parts in requests"},
	{Blind, "Message content blocks of type image_url are not available with this model"},
	{Blind, "Expected string content; image parts are not supported by the chat template"},
	{Blind, "the chat template does not support multimodal content"},
	{Blind, "model_not_support_image"},
	{Blind, "Cannot send pictures to a model without vision"},
	{Blind, "Image understanding is not available for the selected model"},
	{Blind, "llama runner: this model isn't multimodal"},
	{Blind, "Your model doesn’t support vision. Choose a model with vision."},
	{Blind, "当前选择的模型没有视觉能力，请移除图片后重试"},
	{Blind, "不支持的消息类型 image_url：该模型为纯文本模型"},
	{Blind, "所选模型不具备图像理解能力"},
	{Blind, "Modell acme kann keine Bilder verarbeiten"},
	{Blind, "Bilder sind bei diesem Modell nicht erlaubt"},
	{Blind, "La vision n'est pas disponible pour ce modèle"},
	{Blind, "Este modelo solo admite texto; no se puede procesar la imagen"},
	{Blind, "Entrada de imagem não disponível para o modelo"},
	{Blind, "選択したモデルは画像を処理できません"},
	{Blind, "선택한 모델은 비전을 지원하지 않습니다"},
	{Blind, "Данная модель работает только с текстом и не поддерживает картинки"},
	{Size, "Image size 7.2MB exceeds limit of 5MB"},
	{Size, "The total size of images in this request is too large"},
	{Size, "Each picture must be smaller than 20 megapixels: picture 3 exceeds that"},
	{Unreadable, "We were unable to load the image you sent"},
	{Unreadable, "image: unknown format"},
	{Unreadable, "broken image data (truncated PNG)"},
	{Shape, "image_url is a required field: image_url must be a string"},
	{Shape, "Tool results may not contain images with this provider"},
	{Other, "acme-vision-2 is not available in your region"},
	{Other, "The model `gpt-4-vision-preview` has been deprecated and is not supported"},
	{Other, "You do not have access to the vision model acme"},
	{Other, "Reasoning effort is not supported when images are sent together with tools"},
	{Other, "Could not download the picture: connection refused"},
	{Other, "video input not supported"},
	{Other, "Upload more than one photo is not supported"},
	{Other, "Images of real people are not allowed by our usage policies"},
	{Other, "bad request"},
	{Other, "Unsupported parameter: 'max_tokens' is not supported with this model"},
	{Other, "messages: roles must alternate"},
	{Other, "图片链接无法访问，请检查下载地址"},
	{Other, "一次不支持多张图片"},
}

func TestRefusalsThatNobodyHadInMind(t *testing.T) {
	t.Parallel()
	right := 0
	for _, c := range unseen {
		got := Read(Refusal{Status: 400, Words: c.words})
		if got.Class == c.want {
			right++
			continue
		}
		t.Logf("%q is read as %q by %q, want %q", c.words, got.Class, got.Phrase, c.want)
		if got.Class == Blind {
			t.Errorf("a false memory: %q by %q", c.words, got.Phrase)
		}
	}
	t.Logf("%d of %d right", right, len(unseen))
	if share := float64(right) / float64(len(unseen)); share < 0.9 {
		t.Errorf("%.3f", share)
	}
}

// hostile are pieces that make much work when they are repeated.
var hostile = []string{"image not ", "not image_url ", "图片不", "{\"a\":", "no model ", "'text', ", "\\u", "bild nicht, "}

// A hostile body must not hold up the turn: what stands behind the bound is not read.
func TestNothingIsReadBehindTheBound(t *testing.T) {
	t.Parallel()
	const blind = " This model does not support image input"
	if got := Read(Refusal{Status: 400, Words: strings.Repeat("x", maxSaid-len(blind)) + blind}); got.Class != Blind {
		t.Errorf("within the bound it is read as %q", got.Class)
	}
	for _, piece := range append(hostile, "x") {
		if got := Read(Refusal{Status: 400, Words: strings.Repeat(piece, maxSaid/len(piece)+1) + blind}); got.Class == Blind && strings.Contains(got.Phrase, "support") {
			t.Errorf("%q: read behind the bound: %q", piece, got.Phrase)
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, piece := range hostile {
		words := strings.Repeat(piece, 1<<20/len(piece))
		b.Run(piece, func(b *testing.B) {
			for b.Loop() {
				Read(Refusal{Status: 400, Words: words})
			}
		})
	}
}

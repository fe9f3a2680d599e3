package refusal

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// clauses are refusals in words that no row has, by class. %s is the model's id.
var clauses = map[Class][]string{
	Blind: {
		"The model %s does not support image inputs",
		"%s doesn't accept images.",
		"Images are not supported by %s",
		"Image content is not supported for this model.",
		"This model can't process images; remove them and try again",
		"The selected model cannot handle image input",
		"Vision is not enabled for %s",
		"Multimodal input is not available on this deployment",
		"multimodal messages are not supported",
		"Unsupported input modality: image",
		"Unsupported content part type: image_url",
		"%s is a text-only model",
		"This endpoint only accepts text",
		"the model supports text input only",
		"Only text content is supported by this model",
		"You need a vision model to send pictures: %s has no vision support",
		"Please switch to a vision-capable model",
		"%s is not a vision model",
		"image_url content is not allowed for model %s",
		"The requested model lacks vision capabilities.",
		"Model %s is incapable of understanding images",
		"Visual input is currently not supported",
		"Received an image but the model was loaded without vision support",
		"non-multimodal model cannot take image_url parts",
		"Input images are unsupported with %s",
		"messages[0].content[1].type: unknown variant `image`, expected `text`",
		"Invalid value: 'image_url'. Supported values are: 'text'.",
		"Input should be 'text' for content part image_url",
		"%s has no image understanding: images not accepted",
		"There are no providers that support image input for %s",
		"no available channel supports images for %s",
		"sending images isn't supported here",
		"该模型不支持图片输入",
		"模型 %s 不支持图像输入，请更换模型",
		"此模型不支持视觉功能",
		"当前模型无法处理图片",
		"%s 仅支持文本输入，不能接收图片",
		"该接口暂不支持多模态消息",
		"目前模型不支援圖片輸入",
		"Das Modell %s unterstützt keine Bilder",
		"Bildeingaben werden von diesem Modell nicht unterstützt",
		"Dieses Modell akzeptiert keine Bildeingabe.",
		"Le modèle %s ne prend pas en charge les images",
		"Les images ne sont pas acceptées par ce modèle",
		"Ce modèle n'est pas compatible avec la vision",
		"El modelo %s no admite imágenes",
		"Este modelo no soporta entrada de imágenes",
		"Las imágenes no son compatibles con este modelo: no se admiten imágenes",
		"O modelo %s não suporta imagens",
		"Este modelo não aceita entrada de imagem",
		"このモデルは画像入力をサポートしていません",
		"モデル %s は画像に対応していません",
		"画像入力は利用できません",
		"이 모델은 이미지 입력을 지원하지 않습니다",
		"%s 모델은 이미지를 처리할 수 없습니다",
		"Модель %s не поддерживает изображения",
		"Изображения не поддерживаются этой моделью",
		"Эта модель не принимает картинки",
		"Il modello %s non supporta le immagini",
	},
	Size: {
		"Image is too large: 21 MB, the limit is 20 MB",
		"The image exceeds the maximum allowed size of 5242880 bytes",
		"Too many images in the request: 30, maximum is 16",
		"At most 5 images may be provided in one request",
		"image dimensions must be at least 28 pixels",
		"The size of the image must be below 10 MB",
		"图片大小超过限制",
		"图片数量过多，最多 5 张",
		"画像サイズが大きすぎます",
		"이미지 크기가 너무 큽니다",
		"Das Bild ist zu groß",
		"L'image est trop grande",
		"La imagen excede el tamaño máximo",
		"A imagem é muito grande",
	},
	Unreadable: {
		"Failed to decode image",
		"cannot identify image file <_io.BytesIO object at 0x7f>",
		"Invalid image data",
		"The provided image is corrupt",
		"Unsupported image format: image/tiff",
		"Image format not supported by the API",
		"could not parse the image",
		"图片格式不支持",
		"无法解析图片",
		"画像形式がサポートされていません",
		"지원하지 않는 이미지 형식입니다",
		"Das Bildformat wird nicht unterstützt",
		"Formato de imagen no soportado",
		"Format d'image non pris en charge",
		"Формат изображения не поддерживается",
	},
	Shape: {
		"Images are not supported in tool messages",
		"image_url must be an object",
		"Image content is not allowed for role 'tool'",
		"content type image_url is not valid in a system message",
		"unknown variant `image`, expected one of `text`, `image_url`",
		"messages.1.content.0.image_url: Extra inputs are not permitted",
		"Invalid value: 'image_url'. Supported values are: 'text' and 'refusal'.",
		"Input should be one of 'text', 'image' but got image_url; expected one of 'text', 'image'",
	},
	Other: {
		"The model %s does not exist",
		"No endpoints found for %s.",
		"multiple images are not supported",
		"Only one image per message: more than one image is not supported",
		"animated images are not accepted",
		"Failed to fetch image from URL: 403",
		"image URLs over http are not supported, remote images cannot be downloaded",
		"Image generation is not supported by %s",
		"This model does not support tools",
		"tools are not supported together with images",
		"Your request was rejected by our safety policy: image not allowed",
		"Vision is not available on your plan",
		"max_tokens is too large: 400000",
		"response_format json_schema is not supported",
		"This model does not support system messages",
		"temperature is not supported with this model",
		"image detail 'original' is not supported",
		"Invalid API key",
		"file uploads are not supported by this model",
		"prompt is too long: 250000 tokens > 200000 maximum",
		"不支持该参数",
		"不支持同时上传多张图片",
		"模型 %s 不存在",
		"图片下载失败",
		"Fehler: mehrere Bilder werden nicht unterstützt",
		"Il n'est pas possible d'envoyer plusieurs images",
		"複数の画像はサポートされていません",
		"여러 이미지는 지원하지 않습니다",
		"Несколько изображений не поддерживаются",
		"Audio input is not supported",
		"streaming is not supported for %s",
		"aspect ratio of the image is not supported",
		"Transparent images are not supported",
	},
}

// ids are models as they are called; two of them have sight in their name.
var ids = []string{"acme-7b", "deepseek-ai/DeepSeek-V3.1", "meta/llama-3.2-90b-vision-instruct", "glm-5.2", "qwen3-vl-235b", "openai/gpt-oss-120b", "mimo-v2-pro"}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// wrappers are the bodies in which gateways pass a provider's words on.
var wrappers = []func(string) string{
	func(s string) string { return s },
	func(s string) string {
		return `{"error":{"message":` + quote(s) + `,"type":"invalid_request_error","param":null,"code":null}}`
	},
	func(s string) string {
		return `{"type":"error","error":{"type":"invalid_request_error","message":` + quote(s) + `},"request_id":"req_011CZx7"}`
	},
	func(s string) string { return `{"detail":` + quote(s) + `}` },
	func(s string) string {
		return `{"detail":[{"type":"value_error","loc":["body","messages",0,"content"],"msg":` + quote(s) + `}]}`
	},
	func(s string) string {
		return `litellm.BadRequestError: OpenAIException - ` + s + "\nReceived Model Group=m\nAvailable Model Group Fallbacks=None"
	},
	func(s string) string {
		return `litellm.BadRequestError: OpenAIException - {"error":{"message":` + quote(s) + `,"code":400}}`
	},
	func(s string) string {
		return `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":` + quote(`{"error":{"message":`+quote(s)+`}}`) + `}}}`
	},
	func(s string) string { return `{"error":` + quote(s) + `}` },
	func(s string) string {
		return `{"code":"InvalidParameter","message":` + quote(s) + `,"request_id":"9f-1"}`
	},
	func(s string) string {
		return "Error code: 400 - {'error': {'message': '" + strings.ReplaceAll(s, "'", `\'`) + "', 'type': 'BadRequestError', 'param': None, 'code': 400}}"
	},
	func(s string) string {
		return `[{"error":{"code":400,"message":` + quote(s) + `,"status":"INVALID_ARGUMENT"}}]`
	},
	func(s string) string { return `{"object":"error","message":` + quote(s+" (request id: 2026113013) ") },
}

var casings = []func(string) string{func(s string) string { return s }, strings.ToLower, strings.ToUpper, func(s string) string { return "400 " + s }}

// drawn are paraphrases: every clause in several wrappers, casings and with several ids.
func drawn() []struct {
	want  Class
	words string
	model string
} {
	r := rand.New(rand.NewPCG(4, 1))
	var all []struct {
		want  Class
		words string
		model string
	}
	for _, class := range []Class{Blind, Size, Unreadable, Shape, Other} {
		for _, clause := range clauses[class] {
			for i := range wrappers {
				model := ids[r.IntN(len(ids))]
				words := clause
				if strings.Contains(clause, "%s") {
					words = fmt.Sprintf(clause, model)
				}
				words = wrappers[i](casings[r.IntN(len(casings))](words))
				if r.IntN(2) == 0 {
					model = "" // not everybody who asks knows it
				}
				all = append(all, struct {
					want  Class
					words string
					model string
				}{class, words, model})
			}
		}
	}
	return all
}

func TestParaphrasesAreReadAsTheirClass(t *testing.T) {
	t.Parallel()
	all := drawn()
	right, missed := 0, map[string]int{}
	for _, p := range all {
		got := Read(Refusal{Status: 400, Words: p.words, Model: p.model})
		if got.Class == p.want {
			right++
			continue
		}
		missed[fmt.Sprintf("%q read as %q by %q, want %q", p.words, got.Class, got.Phrase, p.want)]++
		if got.Class == Blind {
			t.Errorf("a false memory: %q is read as blind by %q", p.words, got.Phrase)
		}
	}
	share := float64(right) / float64(len(all))
	t.Logf("%d of %d paraphrases right (%.1f %%)", right, len(all), 100*share)
	if share < 0.95 || len(all) < 200 {
		t.Errorf("%.3f of %d", share, len(all))
	}
	for m := range missed {
		t.Log(m)
	}
}

package probe

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/relo-dev/relo/core/internal/provider"
)

// heard is what an answer comes to.
type heard uint8

const (
	nothing heard = iota // no word
	right
	wrong   // another, several, or none at all
	noImage // no picture came, or it cannot see
)

// thoughts are what some local models think aloud in their answer; without its end,
// all that follows is thought.
var thoughts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<(think|thinking|thought|reasoning)>.*?(?:</(?:think|thinking|thought|reasoning)>|$)`)
})

// answer is the text of a response, without thoughts.
func answer(r provider.Response) string {
	var b strings.Builder
	for _, p := range r.Message.Parts {
		if p.Kind == provider.PartText {
			b.WriteString(p.Text)
		}
	}
	text := b.String()
	if _, after, found := strings.Cut(text, "</think>"); found && !strings.Contains(text, "<think>") {
		text = after // a template that opens the thought itself
	}
	return strings.TrimSpace(thoughts().ReplaceAllString(text, " "))
}

// blindWords find an answer that says that no picture came or that it cannot see
// one. "I see no digit in it" is not among them: that is a look.
var blindWords = sync.OnceValue(func() *regexp.Regexp {
	const en = `(?:image|picture|photo|attachment|visual)s?`
	return regexp.MustCompile(`(?i)` + strings.Join([]string{
		`(?:can(?:no|['’]?)t|can not|unable to|not able to|do(?:es)?n['’]?t have the (?:ability|capability) to|not (?:have|possess) the (?:ability|capability) to|incapable of|not capable of)\s+(?:\w+\s+){0,3}?(?:see|view|access|open|receive|perceive|process|analy[sz]e|interpret|display|look at|viewing|seeing|processing|analy[sz]ing)\w*\s+(?:or \w+\s+)?(?:(?:the|this|any|your|an?|that|it|these|those|actual|uploaded|attached)\s+){0,3}` + en,
		`(?:do|did|does|could|can)(?:\s+not|n['’]?t)\s+(?:\w+\s+)?(?:see|have|receive|detect|find|get|perceive|observe)\s+(?:(?:an?|any|the|this|that|your|actual|attached|uploaded|such|access|to)\s+){0,3}` + en + `(?:\s+(?:attached|here|in (?:your|this|the|our) (?:message|conversation|chat|prompt)|provided|uploaded|to)|\s*[.,!;—–-]|\s*$|\s+(?:you|that|was|yet))`,
		`\bno (?:\w+ )?` + en + `(?:\s+(?:was|were|is|has|have|had|came|here|attached|provided|uploaded|included|visible|available|present|in (?:your|this|the|our) (?:message|conversation|chat|prompt))|\s*[.,!;]|\s*$)`,
		en + `\s+(?:was|were|is|has|did|does|seems?)(?:\s+not|n['’]?t)\s+(?:\w+\s+){0,2}?(?:attach|provid|upload|inclu|come|came|load|visible|available|present|receiv|share|display)`,
		`(?:text[- ]only|text[- ]based|language)\s+(?:AI\s+|language\s+)?(?:model|assistant|AI)\b.{0,60}(?:can|not|no|unable|without)`,
		`please\s+(?:\w+\s+)?(?:upload|attach|share|provide|send|re-?upload|describe)\s+(?:\w+\s+){0,3}?` + en,
		`\b(?:i (?:have|has) no|without|lack) (?:vision|visual|eyes|the ability to see)`,
		`(?:没有|沒有|未|没|沒)(?:能|有)?(?:看到|看见|看見|收到|检测到|接收到|附上|上传|提供)[^。]{0,8}[图圖]|(?:看不到|看不见|看不見|无法(?:直接)?(?:查看|看到|识别|读取|访问|分析|处理)|不能(?:查看|看到|直接)|無法(?:查看|看到|識別|讀取))[^。]{0,8}(?:图|圖|影像)|(?:没有|沒有)(?:任何)?(?:图片|图像|圖片)|请(?:您)?(?:重新)?(?:上传|提供|发送)[^。]{0,6}[图圖]|(?:图片|图像|圖片)[^。]{0,6}(?:没有|未|沒有)(?:成功)?(?:上传|显示|加载)|(?:文本|语言)模型[^。]{0,12}(?:无法|不能|没有)`,
		`画像[^。]{0,14}(?:見え(?:ません|ない)|見ることができ(?:ません|ない)|確認でき(?:ません|ない)|添付されて(?:い|お)(?:ません|ない|りません)|表示されて(?:い|お)(?:ません|ない|りません)|ありません|認識でき(?:ません|ない)|閲覧でき(?:ません|ない)|見られ(?:ません|ない))`,
		`(?:이미지|사진|그림).{0,14}(?:볼 ?수 ?없|보이지 ?않|확인할 ?수 ?없|첨부되지 ?않|없습니다|인식할 ?수 ?없|제공되지 ?않)`,
		`(?:не вижу|не могу (?:увидеть|видеть|просм|посмотр|откры|проанализ)\p{L}*|не получил\p{L}*|нет)\s+(?:\p{L}+\s+){0,2}?(?:изображени|картин|фото)|(?:изображени|картинк)\p{L}*\s+(?:не|отсутству)`,
		`(?:sehe|erhalte|habe|finde|erkenne|bekommen)\s+(?:\p{L}+\s+){0,3}?kein\p{L}*\s+(?:\p{L}+\s+)?bild|kein bild\b|(?:kann|können)\s+(?:\p{L}+\s+){0,3}?bilder?\s+(?:\p{L}+\s+){0,3}?(?:nicht|sehen)|(?:kann|können)\s+(?:\p{L}+\s+){0,2}?keine\s+bilder|bild\s+(?:\p{L}+\s+){0,2}?nicht\s+(?:sehen|anzeigen|erkennen|öffnen)`,
		`aucune\s+(?:image|photo)|pas d['’]image|(?:ne|n['’])\s?(?:vois|peux|reçois|ai|parviens|suis)\s+(?:\p{L}+\s+){0,4}?(?:d['’]|les |l['’]|aux |cette |votre )?images?\b`,
		`ninguna\s+imagen|no\s+(?:veo|puedo\s+(?:ver|acceder|visualizar|analizar)|hay|he recibido|recibí|tengo)\s+(?:\p{L}+\s+){0,4}?(?:im[aá]gen(?:es)?|foto)|imagen\s+(?:\p{L}+\s+)?no\s+(?:se|est[aá]|fue|ha)`,
		`nenhuma\s+imagem|não\s+(?:vejo|consigo\s+(?:ver|acessar|visualizar|analisar)|posso\s+(?:ver|visualizar)|há|recebi|tenho)\s+(?:\p{L}+\s+){0,4}?(?:imagem|imagens|foto)|imagem\s+não\s+foi`,
		`nessuna\s+immagine|non\s+(?:vedo|posso\s+(?:vedere|visualizzare|accedere)|riesco\s+a\s+\p{L}+|ho\s+ricevuto|c['’]è)\s+(?:\p{L}+\s+){0,4}?(?:immagin|foto)`,
	}, "|"))
})

// saysBlind reports an answer of one who got no picture.
func saysBlind(said string) bool { return blindWords().MatchString(said) }

// hearColour reads an answer to the question for a colour.
func hearColour(said, drawn string) heard {
	switch named := colourNames(said); {
	case strings.TrimSpace(said) == "":
		return nothing
	case saysBlind(said):
		return noImage // also with a colour behind it: that is a guess
	case len(named) == 1 && named[0] == drawn:
		return right
	}
	return wrong
}

// hearDigit reads an answer to the question for a digit.
func hearDigit(said string, drawn int) heard {
	switch named := digitNames(said); {
	case strings.TrimSpace(said) == "":
		return nothing
	case saysBlind(said):
		return noImage
	case len(named) == 1 && named[0] == drawn:
		return right
	}
	return wrong
}

// letters splits a text into its words, in lower case.
func letters(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
}

// add puts a value into a list once.
func add[T comparable](all []T, v T) []T {
	if slices.Contains(all, v) {
		return all
	}
	return append(all, v)
}

package refusal

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// The pieces of the English shapes.
const (
	// seeing names pictures or the sense for them.
	seeing = `(?:image[_ -]urls?|input[_ ]images?|images?\(s\)|images?|pictures?|photos?|screenshots?|vision|visual|multi-?modal(?:ity|ities)?|modalit(?:y|ies)|mmproj|non-text)`
	// never is a negation.
	never = `(?:\bnot\b|n't\b|\bcannot\b|\bnever\b|\bunable\b|\bincapable\b|\black(?:s|ing)?\b|\bno\b|\b(?:does|do|can|is|are)nt\b|\bnone\b|\bneither\b)`
	// takes is what an endpoint does with its input.
	takes = `(?:support\w*|accept\w*|allow\w*|permit\w*|enabled?|available|handl(?:e|es|ing)|take|takes|understand\w*|capable|compatible|implement\w*|ingest|configured|possible|equipped)`
	// taken is the same said of a picture.
	taken = `(?:supported|accepted|allowed|permitted|enabled|available|implemented|possible|handled|understood|compatible|configured|activated)`
	// place is where a picture stood that may not stand there.
	place = `(?:\btool[ _-](?:messages?|results?|roles?|responses?|outputs?|calls?)\b|'tool'|\b(?:system|assistant|developer|function)[ _-](?:messages?|prompts?|roles?|instructions?|turns?|responses?|outputs?|content|call_output)\b|\brole:? '?(?:tool|system|assistant|developer|function)\b|'(?:system|assistant|developer)'|\bonly (?:allowed |permitted |supported )?(?:in|for|inside) '?user)`
)

// shape is a general form of a refusal's sentence. It is looked for in each sentence
// by itself, so that a negation does not reach into the next one.
type shape struct {
	class Class
	all   string // all of these, separated by " & ", must be found; the first is the phrase
	not   string // none of these may be
}

// aside speaks of a property of a picture, or of something beside it, and so not of
// the model's sight: its format, its address, its being made, rules of behaviour, an
// account. It ends the search for blindness in that sentence.
const aside = `\bformats?\b|\bmime\b|\bmedia[ _-]?types?\b|\b(?:image|picture|file)[ _-]types?\b|\btypes? of (?:image|picture|file)|\bfiles?\b|\bextensions?\b|` +
	`\bsizes?\b|\bdimensions?\b|\bresolutions?\b|\bpixels?\b|\bbytes\b|\btoo (?:large|big|small|many|long)\b|\bexceed\w*|\bmultiple\b|\bmore than\b|\bat most\b|\banimat\w*|` +
	`\b(?:gif|webp|svg|tiff|bmp|heic|avif|jpe?g|png)s?\b|\baspect\b|\bdownload\w*|\bfetch\w*|\burls?\b|\bremote\b|\blinks?\b|\bbase64\b|\bdecod\w*|\bcorrupt\w*|` +
	`\b(?:image|picture|video)[ -](?:generat|edit|creat|output)\w*|\b(?:generat|edit|creat|output|draw|return|produc)\w* (?:an? |of )?(?:image|picture)|\bdetail\b|\btransparen\w*|\balpha\b|` +
	`\bpolic(?:y|ies)\b|\bsafety\b|\bmoderat\w*|\bflagged\b|\bviolat\w*|\binappropriate\b|\bprohibited\b|\bsensitive\b|\bcopyright\w*|\bharmful\b|` +
	`\bplan\b|\btier\b|\bquota\b|\bbilling\b|\bcredits?\b|\bsubscri\w*|\baccount\b|\borgani[sz]ation\b|\bregion\b|\bapi key\b|\btemporar\w*|\boverload\w*|\btimed? ?out\b|` +
	`\btool use\b|\btools\b|\bfunction calling\b|\bjson mode\b|\bresponse_format\b|\blogprobs\b|\bstreaming\b|\bcaching\b|` +
	`格式|(?:图片|图像|圖片|圖像|文件|媒体)的?(?:类型|類型)|(?:类型|類型)的?(?:图片|图像|圖片|圖像|文件)|大小|尺寸|过大|過大|超过|超過|数量|多张|多張|动图|動圖|下载|下載|链接|連結|鏈接|文件|檔案|像素|分辨率|解析度|宽高比|比例|解码|解析|损坏|敏感|违规|违反|审核|套餐|余额|额度|` +
	`(?:图片|图像|圖片|圖像)(?:生成|编辑|編輯)|生成(?:图片|图像)|` +
	`形式|フォーマット|サイズ|枚数|複数|アニメ|ダウンロード|ファイル|ピクセル|解像度|拡張子|画像(?:の)?生成|` +
	`형식|포맷|크기|용량|개수|여러|애니|다운로드|파일|픽셀|해상도|확장자|이미지 ?생성|` +
	`формат|размер|слишком|количеств|нескольк|анимаци|анимирован|скача|загруз|файл|пиксел|разрешени|генераци|тип(?:а|ы)? (?:изображ|файл)|` +
	`größe|mehrere|anzahl|animiert|herunterlad|herunterge|datei|bildgenerier|bilderzeug|seitenverh|` +
	`taille|plusieurs|animée?s?\b|télécharg|fichier|résolution|génération d|` +
	`formato|tamañ|tamanho|múltipl|varias im|várias im|animad[oa]|descarg|baixar|archivo|arquivo|píxel|resolución|resolução|generación de|geração de|relación de aspecto|proporç`

// shapesRaw are looked for class by class, in this order within a class.
var shapesRaw = []shape{
	{class: Shape, all: seeing + ` & ` + place + ` & ` + never + `|\bonly\b|unsupported|invalid`},
	{class: Shape, all: `extra inputs are not permitted|unknown field|unrecognized (?:key|field)|additional properties|unexpected (?:field|property|key) & image`},
	{class: Shape, all: `image[_-]urls?(?:\.url|\[url\])?'?:? ?(?:field |value )?(?:must|should|is required|required|expected|is missing|has an? invalid|cannot be empty)`},
	{class: Shape, all: `图片?[^。]{0,12}(?:只能|仅)[^。]{0,8}(?:user|用户)(?:消息|角色) `},

	{class: Unreadable, all: `(?:decod|pars|load|open|identify|read|process)\w* (?:the |this |your |an? |one |\d+ |input |provided |uploaded |attached |base64 |of )*(?:image|picture)(?: data| file| bytes)?\b & ` + never + `|fail|error|could`, not: `(?:image|picture)[ _-](?:input|content|part|block|url|and)|\burls?\b|\bdownload`},
	{class: Unreadable, all: `\b(?:invalid|corrupt\w*|broken|truncated|malformed|unreadable|damaged) (?:image|picture)|(?:image|picture)(?: data| file)? (?:is|was|appears|seems)(?: to be)? (?:invalid|corrupt\w*|broken|truncated|malformed|damaged|empty|not (?:a )?valid)|not an? valid (?:image|picture)`, not: `image[_-]url`},
	{class: Unreadable, all: `(?:image|picture|media|mime)[ _-]?(?:file )?(?:format|type|encoding)s? & ` + never + `|unsupported|invalid|unknown|must be|should be|only`},
	{class: Unreadable, all: `unsupported (?:image|picture|media|mime|file)[ _-]?(?:format|type)|unsupported (?:input )?(?:image|picture)(?:$|[.,:;'!])`},
	{class: Unreadable, all: `\b(?:the|this|your|that|provided|uploaded|attached|supplied|given) (?:\w+ )?(?:image|picture|photo) (?:is|was|could|can|cannot|does|has|appears|seems)\b & ` + never + `|invalid|corrupt|unsupported`, not: `\bmodel\b|` + aside},
	{class: Unreadable, all: `(?:无法|未能|不能|失败)[^。]{0,6}(?:解析|解码|读取|打开)[^。]{0,8}[图圖]|(?:图片|图像|圖片|圖像)[^。]{0,10}(?:损坏|損壞|无效|無效|解析失败|解码失败)|(?:图片|图像|圖片|圖像)[^。]{0,6}(?:格式|类型)|(?:格式|类型)的?(?:图片|图像)`},
	{class: Unreadable, all: `画像(?:の)?(?:形式|フォーマット|種類)|画像[^。]{0,10}(?:壊れ|破損|無効|デコード|読み込)|이미지 ?(?:형식|포맷|유형)|이미지.{0,12}(?:손상|잘못|디코딩)`},
	{class: Unreadable, all: `формат\w* изображ|изображени.{0,20}(?:поврежд|некоррект)|bildformat|bilddatei|bild.{0,30}(?:beschädigt|ungültig)|format (?:d'|de l')images?|image.{0,20}(?:corrompue|invalide|endommag)|formato (?:de (?:la )?|da )(?:imagen|imagem)|imag[en][nm]?\w*.{0,20}(?:dañada|corrupta|corrompida|inválida)`},

	{class: Other, all: `(?:multiple|several|more than one|two|animated) (?:images?|pictures?|photos?)|(?:download|fetch|retriev|access)\w* (?:the |this |your |an? |remote )*(?:images?|pictures?)|(?:image|picture)s? (?:generation|editing|output)`},

	{class: Size, all: `\b(?:images?|pictures?|photos?|media)\b.{0,60}(?:too (?:large|big|small|many|long|tall|wide)|exceed\w*|larger than|bigger than|smaller than|maximum|minimum|over the limit|out of (?:range|bounds))`, not: `context|token`},
	{class: Size, all: `too many (?:\w+ )?(?:images?|pictures?|photos?|media)|(?:exceed\w*|maximum|at most|more than|up to|limit\w*)\b.{0,30}\b[1-9]\d* (?:images?|pictures?|photos?)`},
	{class: Size, all: `(?:image|picture) (?:file )?(?:size|dimensions?|width|height|resolution)|(?:size|dimensions?|width|height|resolution) of (?:the |an? |your |each )?(?:image|picture) & must|exceed|limit|larger|smaller|at (?:least|most)|too|maximum|minimum|between|below|above`},
	{class: Size, all: `(?:request|payload|body) (?:entity |body )?(?:is )?too large`},
	{class: Size, all: `(?:图片|图像|圖片|圖像)[^。]{0,14}(?:过大|過大|太大|过小|太小|超过|超過|超出|过多|太多|上限)|(?:图片|图像|圖片|圖像)(?:的)?(?:尺寸|大小|数量|分辨率)|画像[^。]{0,14}(?:大きすぎ|小さすぎ|サイズ|枚数|上限|超え|多すぎ)|이미지.{0,14}(?:너무|크기|초과|개수|용량)`},
	{class: Size, all: `изображени.{0,30}(?:слишком|превыша|размер)|слишком много изображ|bild\w*.{0,40}(?:zu (?:groß|klein|viele)|überschreit|größer als)|zu viele bilder|image.{0,40}(?:trop (?:grand|petit|lourd|volumin)|dépass)|trop d'images|im[aá]gen.{0,40}(?:demasiado|excede|supera)|demasiadas imágenes|imagem.{0,40}(?:muito grande|grande demais|excede|ultrapassa)|imagens demais`},

	{class: Blind, all: never + `.{0,40}\b` + takes + `\b.{0,60}\b` + seeing + `\b`, not: aside},
	{class: Blind, all: `\b` + seeing + `\b.{0,80}` + never + `.{0,25}\b` + taken + `\b`, not: aside},
	{class: Blind, all: `unsupported.{0,60}\b` + seeing + `\b|\b` + seeing + `\b.{0,60}\b(?:unsupported|disabled|unavailable|disallowed)\b`, not: aside},
	{class: Blind, all: never + `.{0,20}\b(?:process|read|view|see|recogni[sz]e|interpret|receive|analy[sz]e|work with|deal with)\w* (?:any |with )?(?:images|pictures|photos|visual|image (?:input|content)|multi-?modal) & \b(?:model|endpoint|deployment|server|llm|engine|backend|provider)s?\b`, not: aside},
	{class: Blind, all: never + `.{0,10}\bha(?:ve|s)(?: any| the)? (?:vision|visual|image|multi-?modal)|\bno (?:image|vision|visual|multi-?modal)[ -](?:input )?(?:support|capabilit|abilit)\w*|\black\w* (?:vision|visual|image|multi-?modal)|\bwithout (?:vision|visual|multi-?modal)`, not: aside},
	{class: Blind, all: never + ` (?:an? )?(?:\w+ )?(?:vision|visual|multi-?modal)\b|\bnon-?(?:vision|multi-?modal|visual)\b|\bnot (?:image|vision)[ -](?:capable|enabled)`, not: aside},
	{class: Blind, all: `\bonly (?:be )?(?:supports?|accepts?|takes?|allows?|handles?|processe?s?|understands?|works? with) (?:plain )?'?text\b`, not: `text'? (?:files?|output|responses?|completions?|format)`},
	{class: Blind, all: `\b(?:supports?|accepts?|takes?|allows?|handles?) (?:plain )?'?text'?(?:[ -](?:input|content|messages?|prompts?|parts?|modality)s?)?,? only\b|\bonly (?:plain )?'?text'? (?:input|content|messages?|modality|modalities|parts?|is|are)\b.{0,30}(?:supported|accepted|allowed|permitted)|\btext[ -]only (?:\w+ )?(?:model|endpoint|deployment|input|llm)|\b(?:is|are|model) text[ -]only\b`, not: `\boutput\b|\bresponse\b`},
	{class: Blind, all: `\bonly (?:supported|available|accepted|allowed|enabled) (?:by|for|on|with|in)\b.{0,30}\bmodels?\b & ` + seeing, not: aside},
	{class: Blind, all: `\b(?:requires?|needs?|use|choose|select|pick|switch to|try)\b (?:an? |another )?(?:different )?(?:vision|multi-?modal|image)[ -]?(?:capable |enabled |supporting |language )?models?\b`, not: aside},
}

// compiled is a shape ready to look.
type compiled struct {
	class Class
	all   []*regexp.Regexp
	not   *regexp.Regexp
}

// shapes are compiled when the first refusal is read: most runs never see one.
var shapes = sync.OnceValue(func() []compiled {
	var out []compiled
	for _, raw := range append(shapesRaw, tongues()...) {
		c := compiled{class: raw.class}
		for part := range strings.SplitSeq(raw.all, " & ") {
			c.all = append(c.all, regexp.MustCompile(part))
		}
		if raw.not != "" {
			c.not = regexp.MustCompile(raw.not)
		}
		out = append(out, c)
	}
	return out
})

// shaped looks for the general shapes of a class, sentence by sentence.
func shaped(class Class, s said) (found, bool) {
	if class == Shape || class == Blind {
		if f, ok := choice(class, s); ok {
			return f, true
		}
	}
	sentences := s.sentences()
	for _, c := range shapes() {
		if c.class != class {
			continue
		}
		for _, at := range sentences {
			if f, ok := c.find(s.bare[at[0]:at[1]]); ok {
				start := utf8.RuneCountInString(s.bare[:at[0]])
				return found{from: start + f.from, to: start + f.to}, true
			}
		}
	}
	return found{}, false
}

// find gives the phrase in a sentence, in runes.
func (c compiled) find(sentence string) (found, bool) {
	if c.not != nil && c.not.MatchString(sentence) {
		return found{}, false
	}
	from, to := len(sentence), 0
	for _, re := range c.all {
		at := re.FindStringIndex(sentence)
		if at == nil {
			return found{}, false
		}
		from, to = min(from, at[0]), max(to, at[1])
	}
	return found{from: utf8.RuneCountInString(sentence[:from]), to: utf8.RuneCountInString(sentence[:to])}, true
}

var sentenceEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n+|[。！？；]|[.!?;](?:\s|$)| \(|\)(?:\s|$)|', '`)
})

// sentences are the bytes of each sentence in bare.
func (s said) sentences() [][2]int {
	var out [][2]int
	at := 0
	for _, end := range sentenceEnd().FindAllStringIndex(s.bare, -1) {
		out = append(out, [2]int{at, end[0]})
		at = end[1]
	}
	return append(out, [2]int{at, len(s.bare)})
}

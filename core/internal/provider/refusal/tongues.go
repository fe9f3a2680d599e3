package refusal

// tongue is a language: its words for pictures and sight, and for "not supported".
// A sentence with both, and without an aside, says that the model cannot see.
type tongue struct {
	lang   string
	seeing string
	never  string
}

// tonguesRaw are the languages of proxies and gateways beside English.
var tonguesRaw = []tongue{
	{
		"zh", `图片|图像|圖片|圖像|图象|照片|视觉|視覺|多模态|多模態|识图|看图|image_url|image`,
		`不支持|不支援|无法|無法|不能|未启用|未啟用|未开启|没有|沒有|不具备|不具備|不接受|不可用|不允许|(?:仅|只|僅)(?:支持|支援|接受|能处理)(?:纯)?(?:文本|文字)|纯文本模型|文本模型`,
	},
	{
		"ja", `画像|イメージ|写真|ビジョン|視覚|マルチモーダル`,
		`サポートして(?:い|お)(?:ません|りません|ない)|サポートされて(?:い|お)(?:ません|りません|ない)|対応して(?:い|お)(?:ません|りません|ない)|非対応|未対応|できません|できない|受け付け(?:て)?(?:い|おり)?ません|使用できません|利用できません|使えません|(?:テキスト|文字)のみ`,
	},
	{
		"ko", `이미지|사진|비전|시각|멀티모달`,
		`지원하지 ?않|지원되지 ?않|지원 ?안|미지원|처리할 ?수 ?없|사용할 ?수 ?없|이해할 ?수 ?없|허용되지 ?않|받을 ?수 ?없|텍스트만|비활성`,
	},
	{
		"ru", `изображени|картинк|фото|зрени|мультимодаль|визуальн|vision`,
		`не поддержива|не принима|не умеет|не може[тм]|недоступ|не включ|отключен|только (?:с )?текст|не понима|не обрабатыва|не вид[ия]т|не разреш|неподдержива`,
	},
	{
		"de", `\bbild(?:er|ern|es|eingaben?|eingabe|inhalte?|verarbeitung|verständnis)?\b|\bfotos?\b|\bvision\b|\bmultimodal\w*|\bvisuell\w*|\bbilder`,
		`(?:unterstütz|akzeptier|versteh|verarbeit|erlaub|aktivier|verfügbar|möglich|zugelassen|zulässig|nimmt|annehm).{0,60}\b(?:nicht|kein\w*)\b|\b(?:nicht|kein\w*)\b.{0,60}(?:unterstütz|akzeptier|versteh|verarbeit|erlaub|aktivier|verfügbar|möglich|zugelassen|zulässig)|\bnur text|ausschließlich text|kein (?:multimodales|sehendes)|\bkein vision`,
	},
	{
		"fr", `\bimages?\b|\bphotos?\b|\bvision\b|\bmultimodal\w*|\bvisuel\w*`,
		`(?:\bne\b|\bn'|\bn’).{0,60}(?:en charge|support|accept|autoris|compatible|activ|disponible|gère|trait|compren|permet|possible)|(?:non|pas) (?:prise?s? en charge|supporté|autorisé|accepté|activé|disponible|compatible)|(?:uniquement|seulement|que) (?:du |le |en )?texte|(?:ne|n') ?(?:est|sont) pas (?:un modèle )?|\baucune?\b.{0,30}(?:support|accept|prise)`,
	},
	{
		"es", `\bim[aá]gen(?:es)?\b|\bfotos?\b|\bvisión\b|\bvision\b|\bmultimodal\w*|\bvisual\w*`,
		`\bno\b.{0,60}(?:admit|soport|acept|compatible|permit|habilit|activad|disponible|procesa|entiend|pued)|\b(?:solo|sólo|únicamente|solamente)\b (?:admite |acepta |soporta |se admite )?(?:entrada de )?texto|\bsin (?:soporte|visión)|\bno es (?:un modelo )?multimodal`,
	},
	{
		"pt", `\bimage(?:m|ns)\b|\bfotos?\b|\bvisão\b|\bmultimodal\w*|\bvisua(?:l|is)\b`,
		`\b(?:não|nao)\b.{0,60}(?:suporta|aceit|compatív|permit|habilitad|ativad|disponív|process|entend|pode|oferece)|\b(?:apenas|somente|só)\b (?:aceita |suporta )?(?:entrada de )?texto|\bsem (?:suporte|visão)`,
	},
	{
		"it", `\bimmagin[ei]\b|\bfoto\b|\bvisione\b|\bmultimodal\w*|\bvisiv\w*`,
		`\bnon\b.{0,60}(?:support|accett|compatibili|abilitat|disponibil|consent|elabor|gestisc|pu[òo])|\b(?:solo|soltanto|unicamente) (?:il )?testo`,
	},
}

// tongues gives the languages as shapes of blindness.
func tongues() []shape {
	var out []shape
	for _, t := range tonguesRaw {
		out = append(out, shape{class: Blind, all: t.never + " & " + t.seeing, not: aside})
	}
	return out
}

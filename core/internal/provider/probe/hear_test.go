package probe

import (
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
)

func TestAColourIsReadInManyWords(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"red": "Red|red.|**Red**|The picture is filled with a solid red colour.|crimson|Scarlet|Rot|ein rotes Bild|rouge|rojo|La imagen es roja|rosso|vermelho|" +
			"红色|紅色|这张图片是红色的|赤|赤色です|レッド|빨간색|빨강|красный|Картинка красного цвета|dark red|<think>is it blue? no</think>Red",
		"orange": "orange|Orange!|naranja|arancione|laranja|橙色|橘色|オレンジ|주황색|оранжевый",
		"yellow": "yellow|gelb|jaune|amarillo|giallo|amarelo|黄色|黃色|黄色です|イエロー|노란색|жёлтый|желтый",
		"green":  "Green|grün|Gruen|vert|verde|绿色|綠色|緑|グリーン|초록색|녹색|зелёный|зеленый",
		"blue":   "Blue|royal blue|blau|bleu|azul|blu|azzurro|蓝色|藍色|青|青色|ブルー|파란색|синий|голубой",
		"purple": "purple|Violet|violett|lila|pourpre|morado|púrpura|roxo|viola|紫色|紫|パープル|보라색|фиолетовый",
		"pink":   "Pink|hot pink|magenta|rosa|rose|rosado|粉色|粉红色|粉紅色|ピンク|분홍색|розовый",
		"black":  "Black|schwarz|noir|negro|nero|preto|黑色|黒|ブラック|검은색|검정|чёрный|черный",
	}
	for colour, list := range tests {
		for said := range strings.SplitSeq(list, "|") {
			plain := answer(provider.Response{Message: provider.Message{Parts: []provider.Part{provider.Text(said)}}})
			if got := hearColour(plain, colour); got != right {
				t.Errorf("%q of a %s picture is heard as %d: %v", said, colour, got, colourNames(plain))
			}
			for _, c := range colours {
				if c.name != colour && hearColour(plain, c.name) != wrong {
					t.Errorf("%q of a %s picture is right too", said, c.name)
				}
			}
		}
	}
	for _, hedge := range []string{
		"red or blue", "It could be red, green, blue or yellow", "红色或蓝色", "赤か青", "rouge ou bleu", "colour", "ok", "#dc1414", "white", "gray", "reddish", "I'm not sure.",
		"red, orange, yellow, green, blue, purple, pink, black",
	} {
		for _, c := range colours {
			if got := hearColour(hedge, c.name); got != wrong {
				t.Errorf("the hedge %q of a %s picture is heard as %d", hedge, c.name, got)
			}
		}
	}
}

func TestADigitIsReadInManyWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		drawn int
		said  string
	}{
		{7, "7|7.|**7**|The digit is 7.|seven|Seven!|The one digit is seven|sieben|sept|siete|sette|sete|семь|七|数字是七|７|٧|৭|7️⃣|칠|일곱|The 64×64 picture shows a 7|It is 7, in words: seven|『7』です"},
		{0, "0|zero|Zéro|cero|ноль|零|ゼロ|〇|٠|O"},
		{1, "1|one|eins|un|uno|um|один|一|१|l"},
		{2, "2|two|zwei|deux|dos|due|dois|два|二|२|이"},
		{3, "3|three|drei|trois|tres|tre|três|три|三|𝟛"},
		{4, "4|four|vier|quatre|cuatro|quattro|четыре|四|၄"},
		{5, "5|five|fünf|cinq|cinco|cinque|пять|五"},
		{6, "6|six|sechs|seis|sei|шесть|六"},
		{8, "8|eight|acht|huit|ocho|otto|oito|восемь|八"},
		{9, "9|nine|neun|neuf|nueve|nove|девять|九|구"},
	}
	for _, c := range tests {
		for said := range strings.SplitSeq(c.said, "|") {
			if got := hearDigit(said, c.drawn); got != right {
				t.Errorf("%q of %d is heard as %d: %v", said, c.drawn, got, digitNames(said))
			}
			if hearDigit(said, (c.drawn+1)%10) != wrong {
				t.Errorf("%q is right of %d too", said, (c.drawn+1)%10)
			}
		}
	}
	for _, hedge := range []string{"7 or 1", "0123456789", "0 1 2 3 4 5 6 7 8 9", "six or eight", "a digit", "ok", "null", "77", "I'm not sure"} {
		for n := range 10 {
			if got := hearDigit(hedge, n); got != wrong {
				t.Errorf("the hedge %q of %d is heard as %d", hedge, n, got)
			}
		}
	}
}

// blindAnswers are answers of models that got no picture.
var blindAnswers = []string{
	"I don't see any image attached to your message.", "I can't see images.", "I cannot view the picture you mention.", "I'm unable to see or view images directly.",
	"I am a text-based AI and cannot see pictures.", "There is no image attached.", "No image was provided.", "No picture", "no image", "Please upload the image.",
	"I don’t have the ability to see images, but I would guess red", "Sorry, I can't access the image.", "The image did not come through.", "It seems the image wasn't attached.",
	"As a language model, I have no way to look at it and cannot say.", "I did not receive an image.", "Could you please share the picture?", "I don't have access to images.",
	"我看不到图片。", "没有看到图片", "抱歉，我无法查看图片", "请上传图片", "您没有上传图片", "图片未成功加载", "我是文本模型，无法看到",
	"画像が見えません", "画像が添付されていません", "画像を確認できません", "이미지를 볼 수 없습니다", "이미지가 첨부되지 않았습니다", "이미지가 없습니다",
	"Я не вижу изображения", "Я не могу просматривать изображения", "Изображение не прикреплено", "Нет изображения",
	"Ich sehe kein Bild.", "Ich kann keine Bilder sehen.", "Es wurde kein Bild angehängt.", "Ich kann das Bild nicht sehen.",
	"Je ne vois pas d'image.", "Aucune image n'est jointe.", "Je ne peux pas voir les images.",
	"No veo ninguna imagen.", "No puedo ver imágenes.", "No hay ninguna imagen adjunta.", "Não vejo nenhuma imagem.", "Não consigo ver imagens.", "Nessuna immagine allegata.", "Non vedo alcuna immagine.", "Non posso vedere immagini.",
}

func TestAnAnswerWithoutAPictureIsKnown(t *testing.T) {
	t.Parallel()
	for _, said := range blindAnswers {
		if hearColour(said, "red") != noImage || hearDigit(said, 7) != noImage {
			t.Errorf("%q is heard as %d, %d", said, hearColour(said, "red"), hearDigit(said, 7))
		}
	}
	for _, look := range []string{
		"I don't see a digit in this picture.", "There is no digit in the image, only a colour.", "I see no digits.", "I don't see digits in the image.", "The picture is blank.", "Blue. I can't see any other details in it.",
		"图片中没有数字", "画像に数字はありますが読めません", "Im Bild ist keine Ziffer.", "Non c'è nessuna cifra", "I can't tell.",
	} {
		if saysBlind(look) {
			t.Errorf("%q is a look, and is heard as none", look)
		}
	}
}

func TestSilenceIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, parts := range [][]provider.Part{
		nil,
		{provider.Text("  \n")},
		{{Kind: provider.PartReasoning, Text: "it is red"}},
		{provider.Text("<think>it is red, I believe")},
		{provider.Text("<think>it is red</think>\n")},
		{provider.Text("it must be red</think>")},
	} {
		said := answer(provider.Response{Message: provider.Message{Parts: parts}})
		if hearColour(said, "red") != nothing || hearDigit(said, 1) != nothing {
			t.Errorf("%+v is an answer: %q", parts, said)
		}
	}
}

package probe

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// colourWords are what the colours are called: whole words, stems of words with a *
// behind them, and signs of scripts that put no space between words with a ~ before
// them. The names of colours that are never drawn are here too, so that an answer
// that names several is known for one.
var colourWords = map[string]string{
	"red": "red reds crimson scarlet ruby maroon carmine vermilion vermillion cherry rot rote roter rotes roten scharlachrot rouge rouges roja rojo rojos rossa rosso vermelha vermelho " +
		"красн* алый алая алое ~红 ~紅 ~赤 ~レッド ~빨강 ~빨간 ~적색 ~레드 ~붉은",
	"orange": "orange tangerine amber apricot naranja anaranjado anaranjada arancione arancio laranja alaranjado оранжев* ~橙 ~橘 ~オレンジ ~주황 ~오렌지",
	"yellow": "yellow gold golden lemon gelb gelbe gelber gelbes jaune jaunes amarilla amarillo gialla giallo amarela amarelo жёлт* желт* ~黄 ~黃 ~イエロー ~노랑 ~노란 ~황색 ~옐로",
	"green":  "green lime emerald forest grün grüne grüner grünes gruen vert verte verts verde зелен* зелён* ~绿 ~綠 ~緑 ~グリーン ~みどり ~초록 ~녹색 ~그린",
	"blue": "blue navy azure cobalt ultramarine sapphire royal blau blaue blauer blaues bleu bleue bleus azul azules blu azzurro azzurra " +
		"синий синя* сине* синь голуб* ~蓝 ~藍 ~青 ~ブルー ~파랑 ~파란 ~청색 ~블루",
	"purple": "purple violet indigo lilac lavender plum mauve lila violett purpur violette pourpre morada morado púrpura violeta viola porpora roxa roxo фиолетов* пурпурн* лилов* сиренев* ~紫 ~パープル ~보라 ~자주 ~퍼플",
	"pink":   "pink magenta fuchsia rosa rose rosado rosada rosen розов* ~粉红 ~粉紅 ~粉色 ~粉 ~桃色 ~ピンク ~분홍 ~핑크",
	"black":  "black ebony jet schwarz schwarze schwarzer schwarzes noir noire negra negro nera nero preta preto чёрн* черн* ~黑 ~黒 ~ブラック ~검정 ~검은 ~흑색 ~블랙",
	"other": "white grey gray brown cyan teal turquoise aqua beige silver olive tan cream ivory weiß grau braun türkis blanc blanche gris marron blanco blanca marrón bianco grigio marrone branco cinza marrom " +
		"бел* сер* коричнев* бирюзов* ~白 ~灰 ~棕 ~褐 ~茶色 ~水色 ~흰 ~하양 ~회색 ~갈색 ~하늘색",
}

// naming is the table in the order in which signs are looked for: the longest first,
// since the pink of Chinese has its red within.
type naming struct {
	words map[string]string
	stems map[string]string
	signs []sign
}

type sign struct{ text, name string }

var namings = sync.OnceValue(func() naming {
	n := naming{words: map[string]string{}, stems: map[string]string{}}
	for name, list := range colourWords {
		for word := range strings.FieldsSeq(list) {
			if s, ok := strings.CutPrefix(word, "~"); ok {
				n.signs = append(n.signs, sign{s, name})
			} else if s, ok := strings.CutSuffix(word, "*"); ok {
				n.stems[s] = name
			} else {
				n.words[word] = name
			}
		}
	}
	slices.SortFunc(n.signs, func(a, b sign) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text))
	})
	return n
})

// colourNames gives the colours that a text names, each once.
func colourNames(said string) []string {
	n := namings()
	var named []string
	for _, word := range letters(said) {
		if name, ok := n.words[word]; ok {
			named = add(named, name)
			continue
		}
		for stem, name := range n.stems {
			if strings.HasPrefix(word, stem) {
				named = add(named, name)
			}
		}
	}
	for _, s := range n.signs {
		if strings.Contains(said, s.text) {
			named = add(named, s.name)
			said = strings.ReplaceAll(said, s.text, " ")
		}
	}
	return named
}

// digitWords are the digits in words. One of them in English, French and Portuguese
// is an article too, so it counts only when no other is named.
var digitWords = []string{
	"zero zéro cero ноль нуль ゼロ 零 〇",
	"one eins un uno um один 一 壱",
	"two zwei deux dos due dois два 二",
	"three drei trois tres tre três три 三",
	"four vier quatre cuatro quattro quatro четыре 四",
	"five fünf cinq cinco cinque пять 五",
	"six sechs seis sei шесть 六",
	"seven sieben sept siete sette sete семь 七",
	"eight acht huit ocho otto oito восемь 八",
	"nine neun neuf nueve nove девять 九",
}

// alone are signs that mean a digit only when they are the whole answer.
var alone = map[string]int{
	"o": 0, "l": 1, "i": 1, "영": 0, "공": 0, "일": 1, "이": 2, "삼": 3, "사": 4, "오": 5, "육": 6, "칠": 7, "팔": 8, "구": 9,
	"하나": 1, "둘": 2, "셋": 3, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9,
}

// digitNames gives the digits that a text names, each once. A number of several
// digits (the size of the picture) is none; words count when there is no digit.
func digitNames(said string) []int {
	var named []int
	runes := []rune(said)
	for i := 0; i < len(runes); {
		from := i
		for i < len(runes) && unicode.IsDigit(runes[i]) {
			i++
		}
		if i-from == 1 {
			named = add(named, value(runes[from]))
		}
		if i == from {
			i++
		}
	}
	if len(named) > 0 {
		return named
	}
	words := letters(said)
	if len(words) == 1 {
		if n, ok := alone[words[0]]; ok {
			return []int{n}
		}
	}
	for n, list := range digitWords {
		for word := range strings.FieldsSeq(list) {
			if slices.Contains(words, word) || isHan(word) && strings.Contains(said, word) {
				named = add(named, n)
			}
		}
	}
	if len(named) > 1 {
		named = slices.DeleteFunc(named, func(n int) bool { return n == 1 })
	}
	return named
}

func isHan(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return !unicode.Is(unicode.Han, r) && r != '〇' }) < 0
}

// value is a decimal digit of any script: their ranges begin with its zero.
func value(r rune) int {
	for _, in := range unicode.Digit.R16 {
		if r >= rune(in.Lo) && r <= rune(in.Hi) {
			return int(r-rune(in.Lo)) % 10
		}
	}
	for _, in := range unicode.Digit.R32 {
		if lo, hi := int64(in.Lo), int64(in.Hi); int64(r) >= lo && int64(r) <= hi {
			return int((int64(r) - lo) % 10)
		}
	}
	return -1
}

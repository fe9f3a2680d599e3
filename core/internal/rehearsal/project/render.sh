#!/bin/sh
# Draws the login card as a 24-bit BMP: sh render.sh [FILE] [CONF]
# A shell is all it needs. A row is a text of octal escapes that printf turns
# into bytes; the five sorts of rows are made once and printed as often as needed.
set -eu
out=${1:-out/card.bmp}
conf=${2:-card.conf}

while IFS=' =' read -r key value; do
  case $key in
    width) width=$value ;;
    height) height=$value ;;
    page_color) page=$value ;;
    card_color) card=$value ;;
    title_color) title=$value ;;
    field_color) field=$value ;;
    button_color) button=$value ;;
    button_left) left=$value ;;
    button_top) top=$value ;;
    button_width) wide=$value ;;
    button_height) high=$value ;;
  esac
done <"$conf"

# bytes NUMBER COUNT: the number as COUNT bytes, the lowest first.
bytes() {
  n=$1 i=0
  while [ "$i" -lt "$2" ]; do
    printf '\\%03o' $((n % 256))
    n=$((n / 256)) i=$((i + 1))
  done
}

# ink #RRGGBB: one pixel; BMP wants blue, green, red.
ink() {
  hex=${1#?}
  green=${hex#??}
  printf '\\%03o\\%03o\\%03o' "0x${hex#????}" "0x${green%??}" "0x${hex%????}"
}

# span INK COUNT: adds pixels to the row.
span() {
  i=0
  while [ "$i" -lt "$2" ]; do
    row=$row$1 i=$((i + 1))
  done
}

# stripe INK LEFT WIDTH: a row through the card, with a stripe on it.
edge=15
stripe() {
  row=
  span "$page" "$edge"
  span "$card" $(($2 - edge))
  span "$1" "$3"
  span "$card" $((width - edge - $2 - $3))
  span "$page" "$edge"
  row=$row$pad
}

page=$(ink "$page") card=$(ink "$card") title=$(ink "$title") field=$(ink "$field") button=$(ink "$button")
padding=$(((4 - width * 3 % 4) % 4)) # a row of a BMP is a multiple of four bytes
pad=$(bytes 0 "$padding")
size=$(((width * 3 + padding) * height))

row= && span "$page" "$width" && page_row=$row$pad
stripe "$card" "$edge" 0 && card_row=$row
stripe "$title" 25 40 && title_row=$row
stripe "$field" 25 $((width - 50)) && field_row=$row
stripe "$button" "$left" "$wide" && button_row=$row

{
  printf "BM$(bytes $((54 + size)) 4)$(bytes 0 4)$(bytes 54 4)"
  printf "$(bytes 40 4)$(bytes "$width" 4)$(bytes "$height" 4)$(bytes 1 2)$(bytes 24 2)"
  printf "$(bytes 0 4)$(bytes "$size" 4)$(bytes 2835 4)$(bytes 2835 4)$(bytes 0 8)"
  y=$((height - 1)) # a BMP begins with its lowest row
  while [ "$y" -ge 0 ]; do
    if [ "$y" -lt 8 ] || [ "$y" -ge $((height - 8)) ]; then
      printf "$page_row"
    elif [ "$y" -ge "$top" ] && [ "$y" -lt $((top + high)) ]; then
      printf "$button_row"
    elif [ "$y" -ge 16 ] && [ "$y" -lt 22 ]; then
      printf "$title_row"
    elif [ "$y" -ge 28 ] && [ "$y" -lt 36 ] || [ "$y" -ge 42 ] && [ "$y" -lt 50 ]; then
      printf "$field_row"
    else
      printf "$card_row"
    fi
    y=$((y - 1))
  done
} >"$out"

#!/bin/sh
# Checks what this project demands. It says every fault, and exits with 1 when there is one.
set -u
bad=0
fault() {
  printf 'check: %s\n' "$1"
  bad=1
}

for key in width height button_left button_top button_width button_height; do
  value=$(sed -n "s/^$key = //p" card.conf)
  case $value in
    '' | *[!0-9]*) fault "card.conf: $key is '$value', not a number" ;;
  esac
done
for key in page_color card_color title_color field_color button_color; do
  value=$(sed -n "s/^$key = //p" card.conf)
  case $value in
    '#'[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]) ;;
    *) fault "card.conf: $key is '$value', not a colour such as #94a3b8" ;;
  esac
done

index=$(cat docs/index.md)
for page in docs/*.md; do
  name=${page#docs/}
  [ "$name" = index.md ] && continue
  case $(sed -n 1p "$page") in
    '# '*) ;;
    *) fault "$page does not begin with a title" ;;
  esac
  case $index in
    *"($name)"*) ;;
    *) fault "$page is not listed in docs/index.md" ;;
  esac
done

[ "$bad" -eq 0 ] && printf 'check: all is well\n'
exit "$bad"

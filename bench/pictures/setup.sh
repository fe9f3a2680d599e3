#!/usr/bin/env bash
# Puts in place what the picture benchmark needs beside Go, and says what: sharp from
# npm under tmp/, ImageMagick, Tesseract and Chromium from Debian's packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
SHARP=0.35.5
home=tmp/bench-pictures
mkdir -p "$home"
if ! grep -qs "\"version\": \"$SHARP\"" "$home/node_modules/sharp/package.json"; then
	echo "bench-pictures: installing sharp $SHARP from npm into $home" >&2
	echo '{"private": true}' >"$home/package.json"
	npm install --prefix "$home" --no-audit --no-fund --silent "sharp@$SHARP" >&2
fi
missing=()
convert=$(command -v convert-im6.q16 || command -v magick || command -v convert || true)
[ -n "$convert" ] && "$convert" -version 2>/dev/null | grep -q ImageMagick || missing+=(imagemagick)
command -v tesseract >/dev/null || missing+=(tesseract-ocr)
command -v chromium >/dev/null || missing+=(chromium)
if [ ${#missing[@]} -gt 0 ]; then
	echo "bench-pictures: installing ${missing[*]} with apt-get" >&2
	if ! { apt-get install -y --no-install-recommends "${missing[@]}" || { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; }; } >&2; then
		echo "bench-pictures: ${missing[*]} could not be installed; put them in place and run again" >&2
		exit 1
	fi
fi

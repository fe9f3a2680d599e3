// The photos of the corpus and the files of other sorts, drawn with sharp.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chance } from './words.mjs'

/** Writes all photos into dir. */
export async function photos(dir, sharp) {
  const small = sharp(await photo(sharp, 4000, 3000, { seed: 11, strength: 26, soft: 8 }), { raw: { width: 4000, height: 3000, channels: 3 } })
  const jpeg = { quality: 90, chromaSubsampling: '4:2:0' }
  await Promise.all([
    small.clone().jpeg(jpeg).toFile(join(dir, 'photo-12mp.jpg')),
    small.clone().jpeg({ ...jpeg, progressive: true }).toFile(join(dir, 'progressive-12mp.jpg')),
    small.clone().png().toFile(join(dir, 'photo-12mp.png')),
    small.clone().webp({ quality: 85 }).toFile(join(dir, 'photo-12mp.webp')),
    small.clone().resize({ width: 3264, height: 2448 }).toColourspace('rgb16').png().toFile(join(dir, 'deep-8mp.png')),
  ])
  const [width, height] = [6928, 5196] // 35,997,888 pixels
  await sharp(await photo(sharp, width, height, { seed: 12, strength: 84, soft: 10 }), { raw: { width, height, channels: 3 } }).jpeg(jpeg).toFile(join(dir, 'photo-36mp.jpg'))
}

/**
 * Pixels that cost what a photo costs: detail of the same strength in every octave, as in nature, down to where the lens
 * makes it soft (in pixels), edges, and the noise of a sensor. What is left of the first photo fits into a PNG that may be
 * sent; of the second it does not.
 */
export async function photo(sharp, width, height, { seed, strength, soft }) {
  const r = chance(seed)
  const sum = new Float32Array(width * height * 3)
  for (let step = Math.ceil(width / 3); step >= 2; step = Math.floor(step / 2)) {
    const weight = strength * Math.min(1, step / soft)
    const w = Math.ceil(width / step) + 1, h = Math.ceil(height / step) + 1
    const grid = Buffer.alloc(w * h * 3)
    const colour = step > 16 ? 0.5 : 0.12 // fine detail is mostly grey
    for (let i = 0; i < grid.length; i += 3) {
      const v = r()
      for (let c = 0; c < 3; c++) grid[i + c] = 255 * (v * (1 - colour) + r() * colour)
    }
    const octave = await sharp(grid, { raw: { width: w, height: h, channels: 3 } }).resize(width, height, { fit: 'fill', kernel: 'cubic' }).raw().toBuffer()
    for (let i = 0; i < sum.length; i++) sum[i] += (octave[i] / 255 - 0.5) * weight
  }
  const scene = await sharp(Buffer.from(shapes(r, width, height))).removeAlpha().raw().toBuffer()
  const out = Buffer.alloc(sum.length)
  for (let i = 0; i < sum.length; i += 3) {
    const noise = (r() + r() + r() - 1.5) * 9
    for (let c = 0; c < 3; c++) out[i + c] = Math.max(0, Math.min(255, scene[i + c] + sum[i + c] + noise))
  }
  return out
}

function shapes(r, width, height) {
  const hue = () => `hsl(${Math.floor(r() * 360)} ${20 + Math.floor(r() * 45)}% ${25 + Math.floor(r() * 45)}%)`
  const things = Array.from({ length: 90 }, () => {
    const x = r() * width, y = height * (0.35 + r() * 0.65), s = width * (0.01 + r() * 0.09)
    return r() < 0.5 ? `<ellipse cx="${x}" cy="${y}" rx="${s}" ry="${s * (0.4 + r())}" fill="${hue()}"/>`
      : `<polygon points="${x},${y} ${x + s},${y - s * r()} ${x + s * 1.4},${y + s} ${x - s * r()},${y + s * 0.8}" fill="${hue()}"/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="#6d94c4"/><stop offset=".45" stop-color="#dfe3e2"/>
<stop offset=".46" stop-color="#5b6b43"/><stop offset="1" stop-color="#2e3323"/></linearGradient></defs><rect width="100%" height="100%" fill="url(#s)"/>${things.join('')}</svg>`
}

/** Writes pages of other sorts into dir, from the PNGs that lie there. */
export async function sorts(dir, sharp) {
  const page = () => sharp(join(dir, 'docs-4k.png'))
  await page().png({ palette: true }).toFile(join(dir, 'palette-4k.png'))
  await page().png({ progressive: true }).toFile(join(dir, 'interlaced-4k.png'))
  await page().webp({ lossless: true }).toFile(join(dir, 'docs-4k.webp'))
  await sharp(join(dir, 'editor-1440p.png')).gif().toFile(join(dir, 'editor-1440p.gif'))
  const { data, info } = await page().removeAlpha().raw().toBuffer({ resolveWithObject: true })
  writeFileSync(join(dir, 'docs-4k.bmp'), bitmap(data, info.width, info.height))
}

/** A 24-bit BMP; no module here writes one. */
function bitmap(rgb, width, height) {
  const row = Math.ceil((width * 3) / 4) * 4, head = 54
  const out = Buffer.alloc(head + row * height)
  out.write('BM')
  out.writeUInt32LE(out.length, 2)
  out.writeUInt32LE(head, 10)
  out.writeUInt32LE(40, 14)
  out.writeInt32LE(width, 18)
  out.writeInt32LE(height, 22)
  out.writeUInt16LE(1, 26)
  out.writeUInt16LE(24, 28)
  for (let y = 0; y < height; y++) {
    for (let x = 0, to = head + (height - 1 - y) * row, from = y * width * 3; x < width; x++, to += 3, from += 3) {
      out[to] = rgb[from + 2]
      out[to + 1] = rgb[from + 1]
      out[to + 2] = rgb[from]
    }
  }
  return out
}

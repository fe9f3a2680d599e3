// Makes the corpus of the picture benchmark, once, under tmp/bench-pictures/corpus:
// pages that Chromium draws, and photos of noise in octaves, shapes and sensor noise.
// Nothing of it is random from run to run but what another Chromium draws.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pages } from './pages.mjs'
import { photos, sorts } from './photos.mjs'

const here = import.meta.dirname

/** The pictures of the geometric mean, in the order of the table. */
export const mean = [
  ['page 1920×1080, PNG', 'dashboard-1080p.png'],
  ['page 2560×1440, PNG', 'editor-1440p.png'],
  ['page 3840×2160, PNG', 'docs-4k.png'],
  ['page 1280×12000, PNG', 'article-1280x12000.png'],
  ['photo 12 MP, JPEG', 'photo-12mp.jpg'],
  ['photo 36 MP, JPEG', 'photo-36mp.jpg'],
  ['photo 12 MP, PNG', 'photo-12mp.png'],
  ['page 36 MP, PNG', 'wall-36mp.png'],
]

/** Pictures of other sorts, beside the mean. */
export const beside = [
  ['palette PNG 4K', 'palette-4k.png'],
  ['16-bit PNG 8 MP', 'deep-8mp.png'],
  ['interlaced PNG 4K', 'interlaced-4k.png'],
  ['WebP lossy 12 MP', 'photo-12mp.webp'],
  ['WebP lossless 4K', 'docs-4k.webp'],
  ['GIF 2560×1440', 'editor-1440p.gif'],
  ['BMP 4K', 'docs-4k.bmp'],
  ['progressive JPEG 12 MP', 'progressive-12mp.jpg'],
]

export const call = ['docs-4k.png', 'editor-4k.png', 'photo-12mp.jpg', 'editor-1440p.png']

/** Makes what is missing in dir; sharp is the module. Gives the known text of the text pages. */
export async function corpus(dir, sharp, say) {
  mkdirSync(dir, { recursive: true })
  const all = pages()
  let drawn = false
  for (const [name, page] of Object.entries(all)) drawn = shoot(dir, name, page, say) || drawn
  const stamp = createHash('sha256')
  for (const f of ['photos.mjs', 'words.mjs']) stamp.update(readFileSync(join(here, f)))
  const want = stamp.digest('hex'), mark = join(dir, 'photos-made-from')
  if (drawn || !existsSync(mark) || readFileSync(mark, 'utf8') !== want) {
    rmSync(mark, { force: true })
    say('making photos and files of other sorts, once (a minute on two cores)')
    await photos(dir, sharp)
    await sorts(dir, sharp)
    writeFileSync(mark, want)
  }
  return Object.fromEntries(Object.entries(all).filter(([, p]) => p.lines).map(([name, p]) => [name, p.lines.join('\n')]))
}

/** Has Chromium draw a page, unless it was drawn from the same text before. */
function shoot(dir, name, { width, height, scale = 1, html }, say) {
  const page = join(dir, name + '.html'), shot = join(dir, name + '.png')
  if (existsSync(shot) && existsSync(page) && readFileSync(page, 'utf8') === html) return false
  say(`drawing ${name}.png`)
  rmSync(shot, { force: true })
  writeFileSync(page, html)
  execFileSync('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-lcd-text', `--force-device-scale-factor=${scale}`,
    `--window-size=${width},${height}`, `--screenshot=${shot}`, 'file://' + page], { stdio: 'ignore', timeout: 120_000 })
  if (!existsSync(shot)) throw new Error(`Chromium drew no ${shot}`)
  return true
}

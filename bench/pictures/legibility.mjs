// How much of a known text Tesseract still reads after a page was made smaller.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

// Tesseract wants letters some twenty pixels high; both sides are enlarged alike.
const enlarge = 3

/** Reads a picture; the same bytes are read once and kept in dir. */
async function read(sharp, file, dir) {
  mkdirSync(dir, { recursive: true })
  const kept = join(dir, createHash('sha256').update(readFileSync(file)).digest('hex') + `-${enlarge}.txt`)
  if (!existsSync(kept)) {
    const { width } = await sharp(file).metadata()
    const large = file + '.large.png'
    await sharp(file).resize({ width: width * enlarge, kernel: 'cubic' }).png({ compressionLevel: 1 }).toFile(large)
    const { stdout } = await run('tesseract', [large, '-', '--psm', '6', '-l', 'eng'], { env: { ...process.env, OMP_THREAD_LIMIT: '1' }, maxBuffer: 1 << 24 })
    writeFileSync(kept, stdout)
  }
  return readFileSync(kept, 'utf8')
}

/** 1 − edit distance / length, over letters and single spaces. */
export async function accuracy(sharp, file, truth, dir) {
  const plain = (s) => s.replace(/\s+/g, ' ').trim()
  const want = plain(truth), got = plain(await read(sharp, file, dir))
  return Math.max(0, 1 - distance(want, got) / want.length)
}

function distance(a, b) {
  let row = Uint32Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = new Uint32Array(b.length + 1)
    next[0] = i
    for (let k = 1; k <= b.length; k++) {
      next[k] = Math.min(row[k] + 1, next[k - 1] + 1, row[k - 1] + (a.charCodeAt(i - 1) === b.charCodeAt(k - 1) ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}

// The picture benchmark: Relo beside sharp, plain Go and ImageMagick in one alternating
// run. Prints the tables of docs/performance.md to standard output, and how it goes to
// standard error. `make bench-pictures` calls it; README.md says what can be left out.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { beside, call, corpus, mean } from './corpus.mjs'
import { accuracy } from './legibility.mjs'
import { Peer, median, whole } from './peer.mjs'
import { tables } from './report.mjs'

const root = resolve(import.meta.dirname, '../..')
const home = join(root, 'tmp/bench-pictures')
const pictures = join(home, 'corpus'), work = join(home, 'work')
const relo = join(root, 'bin/relo'), server = join(root, 'tmp/picturebench')
const sharp = createRequire(join(home, 'package.json'))('sharp')

const rounds = Number(process.env.ROUNDS) || 5
const parts = (process.env.PARTS || 'times,call,cold,whole,memory,pixels,text').split(',')
const files = new RegExp(process.env.FILES || '.')
const edge = 1568
const at = (name) => join(pictures, name)
const say = (words) => process.stderr.write(`bench-pictures: ${words}\n`)

const newRelo = () => new Peer(server, [], { RELO_PICTURE_BENCH: relo })
const newSharp = () => new Peer(process.execPath, [join(import.meta.dirname, 'sharp-worker.mjs'), home])

/** What sharp must make so that both make the same: Relo's kind and quality. */
function kindOf(sent) {
  const note = (sent.notes ?? []).find((n) => n.startsWith('jpeg-quality-'))
  return { mediaType: sent.mediaType, quality: note ? Number(note.slice('jpeg-quality-'.length)) : 90 }
}

const cameIn = (name) => 'image/' + name.split('.').pop().replace('jpg', 'jpeg')

/** Takes turns: every side once a round, first in this order, then in the other; a warm-up before. */
async function alternate(sides) {
  const took = Object.fromEntries(Object.keys(sides).map((k) => [k, []]))
  for (let round = -1; round < rounds; round++) {
    const names = Object.keys(sides)
    if (round % 2) names.reverse()
    for (const name of names) {
      const { run, seldom } = sides[name]
      if (seldom && (round < 0 || round % 2)) continue
      const said = await run()
      if (round >= 0) took[name].push(said.error ? { ms: NaN, cpu: NaN } : said)
    }
  }
  const medians = (field) => Object.fromEntries(Object.entries(took).map(([k, v]) => [k, median(v.map((said) => said[field]))]))
  return { ...medians('ms'), cpu: medians('cpu') }
}

async function times(a, b, list) {
  const rows = []
  for (const [title, name] of list.filter(([, name]) => files.test(name))) {
    const question = { op: 'prepare', paths: [at(name)], edge }
    const first = await a.ask(question)
    if (first.error) {
      rows.push({ title, name, error: first.error })
      continue
    }
    const kinds = [kindOf(first.sent[0])]
    let same
    const sides = {
      relo: { run: () => a.ask(question) },
      sharp: { run: async () => { const said = await b.ask({ ...question, kinds }); same = said.sent?.[0] ?? same; return said } },
      plain: { run: () => a.ask({ ...question, op: 'plain' }), seldom: true },
    }
    if (cameIn(name) !== kinds[0].mediaType) sides.own = { run: () => b.ask(question) }
    const ms = await alternate(sides)
    ms.own ??= ms.sharp
    rows.push({ title, name, ms, sent: first.sent[0], sharpSent: same })
    say(`${title}: Relo ${ms.relo.toFixed(1)} ms, sharp ${ms.sharp.toFixed(1)} ms, its own kind ${ms.own.toFixed(1)} ms, plain Go ${ms.plain.toFixed(0)} ms; computing ${ms.cpu.relo.toFixed(0)} and ${ms.cpu.sharp.toFixed(0)} ms; ` +
      `sent ${first.sent[0].mediaType} of ${first.sent[0].bytes} bytes, sharp ${same?.bytes}`)
  }
  return rows
}

async function fourAtOnce(a, b) {
  const question = { op: 'prepare', paths: call.map(at), edge }
  const kinds = (await a.ask(question)).sent.map(kindOf)
  const ms = await alternate({
    relo: { run: () => a.ask(question) },
    sharp: { run: () => b.ask({ ...question, kinds }) },
    plain: { run: () => a.ask({ ...question, op: 'plain' }), seldom: true },
    plainAtOnce: { run: () => a.ask({ ...question, op: 'plain-at-once' }), seldom: true },
  })
  say(`4 pictures: Relo ${ms.relo.toFixed(0)} ms, sharp ${ms.sharp.toFixed(0)} ms, plain Go ${ms.plain.toFixed(0)} and ${ms.plainAtOnce.toFixed(0)} ms`)
  return ms
}

/** One question to a process that nobody asked before. */
async function fresh(make, question, then) {
  const peer = make()
  const before = (await peer.ask({ op: 'memory' })).kib // it has started
  const said = await peer.ask(question)
  const more = then && await peer.ask(then)
  await peer.close()
  if (said.error) throw new Error(said.error)
  return { ...said, ...more, before }
}

async function cold(name) {
  const question = { op: 'prepare', paths: [at(name)], edge }
  const kinds = [kindOf((await fresh(newRelo, question)).sent[0])]
  const ms = await alternate({
    relo: { run: () => fresh(newRelo, question) },
    sharp: { run: () => fresh(newSharp, { ...question, kinds }) },
  })
  say(`first call, ${name}: Relo ${ms.relo.toFixed(0)} ms, sharp ${ms.sharp.toFixed(0)} ms`)
  return ms
}

async function memory(name) {
  const question = { op: 'prepare', paths: [at(name)], edge }
  const ours = await fresh(newRelo, question, { op: 'memory' })
  const theirs = await fresh(newSharp, { ...question, kinds: [kindOf(ours.sent[0])] }, { op: 'memory' })
  say(`peak, ${name}: Relo ${ours.kib >> 10} MiB (${ours.before >> 10} before), sharp ${theirs.kib >> 10} MiB (${theirs.before >> 10} before)`)
  const mib = (said) => ({ peak: said.kib / 1024, more: (said.kib - said.before) / 1024 })
  return { relo: mib(ours), sharp: mib(theirs) }
}

function imageMagick() {
  for (const program of ['convert-im6.q16', 'magick', 'convert']) {
    try {
      const version = /ImageMagick (\S+)/.exec(execFileSync(program, ['-version'], { encoding: 'utf8' }))?.[1]
      if (version) return { program, version }
    } catch { /* the next name */ }
  }
  throw new Error('ImageMagick is not there; setup.sh installs it')
}

async function wholeProcess(magick, name, quality) {
  const [ours, out] = [join(work, 'out'), join(work, name + '.out')]
  const env = { HOME: work, RELO_HOME: join(work, 'relo') }
  const kind = quality ? 'jpeg' : 'png'
  const ms = await alternate({
    relo: { run: () => whole(relo, ['image', '--root', pictures, '--out', ours, name], env) },
    magick: { run: () => whole(magick.program, [at(name), '-filter', 'Catrom', '-resize', `${edge}x${edge}>`, ...(quality ? ['-quality', String(quality)] : []), `${kind}:${out}`]) },
  })
  say(`whole process, ${name}: Relo ${ms.relo.toFixed(0)} ms, ImageMagick ${ms.magick.toFixed(0)} ms`)
  return ms
}

async function legibility(a, b, texts) {
  const rows = []
  const tests = Object.entries(texts).flatMap(([name, truth]) => [1568, 1024].map((size) => ({ name, truth, size })))
  const shots = []
  for (const t of tests) {
    for (const [side, peer] of [['relo', a], ['sharp', b]]) {
      const out = join(work, `${t.name}-${t.size}-${side}.png`)
      const said = await peer.ask({ op: 'prepare', paths: [at(t.name + '.png')], edge: t.size, out, kernel: 'lanczos3', kinds: [{ mediaType: 'image/png' }] })
      if (said.error) throw new Error(said.error)
      shots.push({ ...t, side, out })
    }
  }
  const read = async (s) => { s.accuracy = await accuracy(sharp, s.out, s.truth, join(home, 'read')) }
  for (let i = 0; i < shots.length; i += 2) await Promise.all(shots.slice(i, i + 2).map(read))
  for (let i = 0; i < shots.length; i += 2) {
    rows.push({ name: shots[i].name, size: shots[i].size, relo: shots[i].accuracy, sharp: shots[i + 1].accuracy })
    say(`read of ${shots[i].name} at ${shots[i].size}: Relo ${(shots[i].accuracy * 100).toFixed(1)} %, lanczos3 ${(shots[i + 1].accuracy * 100).toFixed(1)} %`)
  }
  return rows
}

function versions(magick) {
  const first = (command, args, pattern) => pattern.exec(execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))?.[1] ?? 'unknown'
  return {
    Go: first('go', ['version'], /go version go(\S+)/), Node: process.versions.node, sharp: sharp.versions.sharp, libvips: sharp.versions.vips,
    ImageMagick: magick.version, Tesseract: first('tesseract', ['--version'], /tesseract (\S+)/), Chromium: first('chromium', ['--version'], /Chromium (\S+)/),
  }
}

async function main() {
  const began = Date.now()
  const texts = await corpus(pictures, sharp, say)
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  if (loadavg()[0] > 1) say(`the machine is at work (load ${loadavg()[0].toFixed(1)}): ratios will wobble; run it again when it rests`)
  const magick = imageMagick()
  const a = newRelo(), b = newSharp()
  const got = { rounds, versions: versions(magick) }
  const does = (part) => parts.includes(part)
  if (does('times')) got.mean = await times(a, b, mean)
  if (does('times')) got.beside = await times(a, b, beside)
  if (does('call')) got.call = await fourAtOnce(a, b)
  if (does('pixels')) {
    for (const row of got.mean ?? []) {
      const said = await a.ask({ op: 'psnr', paths: [at(row.name)], edge })
      row.db = said.db
      say(`pixels, ${row.title}: ${said.error ?? said.db.toFixed(1) + ' dB'}`)
    }
  }
  if (does('text')) got.text = await legibility(a, b, texts)
  await Promise.all([a.close(), b.close()])
  const each = async (names, f) => { const all = {}; for (const n of names) all[n] = await f(n); return all }
  if (does('cold')) got.cold = await each(['editor-1440p.png', 'photo-12mp.jpg'], cold)
  if (does('memory')) got.memory = await each(['photo-36mp.jpg', 'wall-36mp.png'], memory)
  if (does('whole')) {
    const kind = (name) => got.mean?.find((r) => r.name === name)?.sent?.mediaType === 'image/jpeg' ? 90 : 0
    got.whole = await each(['docs-4k.png', 'photo-12mp.jpg', 'photo-36mp.jpg'], (name) => wholeProcess(magick, name, kind(name)))
  }
  const text = tables(got)
  process.stdout.write(text)
  if (process.env.WRITE) paste(text)
  say(`took ${((Date.now() - began) / 1000).toFixed(0)} s`)
}

function paste(text) {
  const page = join(root, 'docs/performance.md')
  const marks = /(<!-- bench-pictures: begin -->\n)[^]*(<!-- bench-pictures: end -->)/
  const old = readFileSync(page, 'utf8')
  if (!marks.test(old)) throw new Error('docs/performance.md has no place for the tables')
  writeFileSync(page, old.replace(marks, (_, begin, end) => begin + text + end))
}

await main()

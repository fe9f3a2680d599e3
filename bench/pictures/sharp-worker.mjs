// The sharp side of the picture benchmark: one process that stays, a question and an
// answer a line. Files are read before the clock starts: bytes in, base64 ready.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'

const sharp = createRequire(resolve(process.argv[2], 'package.json'))('sharp')
// sharp's own default is one thread where libc is glibc and jemalloc is not there; here
// it gets every core, as Relo does, unless the run asks otherwise.
sharp.concurrency(Number(process.env.SHARP_CONCURRENCY) || availableParallelism())

/** kind is what Relo sent: {mediaType, quality}; without it sharp chooses by what came in. */
async function one(bytes, { edge, kernel = 'cubic' }, kind) {
  let s = sharp(bytes).resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true, kernel })
  if (kind?.mediaType === 'image/png') s = s.png()
  if (kind?.mediaType === 'image/jpeg') s = s.jpeg({ quality: kind.quality })
  const { data, info } = await s.toBuffer({ resolveWithObject: true })
  return { base64: data.toString('base64').length, mediaType: 'image/' + info.format, bytes: data.length, width: info.width, height: info.height, data }
}

async function answer(ask) {
  if (ask.op === 'memory') return { kib: Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) }
  const files = ask.paths.map((p) => readFileSync(p))
  const used = process.cpuUsage()
  const start = process.hrtime.bigint()
  const sent = await Promise.all(files.map((bytes, i) => one(bytes, ask, ask.kinds?.[i])))
  const ms = Number(process.hrtime.bigint() - start) / 1e6
  const { user, system } = process.cpuUsage(used)
  if (ask.out) writeFileSync(ask.out, sent[0].data)
  return { ms, cpu: (user + system) / 1000, sent: sent.map(({ data, ...rest }) => rest) }
}

for await (const line of createInterface({ input: process.stdin })) {
  let said
  try {
    said = await answer(JSON.parse(line))
  } catch (e) {
    said = { error: String(e.message).split('\n')[0] }
  }
  process.stdout.write(JSON.stringify(said) + '\n')
}

// The tables of docs/performance.md, from what run.mjs measured.
import { availableParallelism } from 'node:os'
import { geometric } from './peer.mjs'

const ratio = (a, b) => Number.isFinite(a / b) ? (a / b).toFixed(a / b < 10 ? 2 : 1) : '–'
const table = (head, rows) => [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows.map((r) => `| ${r.join(' | ')} |`)].join('\n') + '\n'

function sentAs({ sent }) {
  const quality = (sent.notes ?? []).find((n) => n.startsWith('jpeg-quality-'))
  return sent.mediaType === 'image/png' ? 'PNG' : `JPEG${quality ? ' q' + quality.slice('jpeg-quality-'.length) : ''}`
}

const cells = (r) => [ratio(r.ms.relo, r.ms.sharp), ratio(r.ms.cpu.relo, r.ms.cpu.sharp), ratio(r.ms.relo, r.ms.own), ratio(r.ms.relo, r.ms.plain), ratio(r.sent.bytes, r.sharpSent?.bytes)]

function files(rows) {
  const out = rows.map((r) => r.error ? [r.title, '–', '–', '–', '–', '–', '–', r.error] : [r.title, ...cells(r), r.db ? r.db.toFixed(1) : '–', sentAs(r)])
  const good = rows.filter((r) => r.ms && Number.isFinite(r.ms.sharp))
  if (good.length > 1) {
    const over = (f) => geometric(good.map(f)).toFixed(2)
    out.push([`**geometric mean of ${good.length}**`, `**${over((r) => r.ms.relo / r.ms.sharp)}**`, over((r) => r.ms.cpu.relo / r.ms.cpu.sharp), `**${over((r) => r.ms.relo / r.ms.own)}**`,
      over((r) => r.ms.relo / r.ms.plain), over((r) => r.sent.bytes / r.sharpSent.bytes), '', ''])
  }
  return out
}

function whatElse(got) {
  const rows = []
  if (got.call) {
    rows.push(['a call with 4 pictures: Relo / sharp', ratio(got.call.relo, got.call.sharp), '≤ 0.80'],
      ['… / plain Go, one after another', ratio(got.call.relo, got.call.plain), '≤ 0.10'],
      ['… / plain Go, all at once', ratio(got.call.relo, got.call.plainAtOnce), ''])
  }
  for (const [name, ms] of Object.entries(got.cold ?? {})) rows.push([`first call of a fresh process, \`${name}\`: Relo / sharp`, ratio(ms.relo, ms.sharp), ''])
  const aims = { 'docs-4k.png': '≥ 7', 'photo-12mp.jpg': '≥ 10', 'photo-36mp.jpg': '≥ 10' }
  for (const [name, ms] of Object.entries(got.whole ?? {})) rows.push([`whole process, \`${name}\`: ImageMagick / Relo`, ratio(ms.magick, ms.relo), aims[name]])
  for (const [name, mib] of Object.entries(got.memory ?? {})) {
    rows.push([`peak memory, \`${name}\`: Relo with its child / sharp (${mib.relo.peak.toFixed(0)} / ${mib.sharp.peak.toFixed(0)} MiB)`, ratio(mib.relo.peak, mib.sharp.peak), '≤ 0.5'],
      [`… above the idle process (${mib.relo.more.toFixed(0)} / ${mib.sharp.more.toFixed(0)} MiB)`, ratio(mib.relo.more, mib.sharp.more), ''])
  }
  return rows
}

/** All tables, as Markdown. */
export function tables(got) {
  const said = Object.entries(got.versions).map(([k, v]) => `${k} ${v}`).join(', ')
  let text = `${said}; ${availableParallelism()} cores, ${process.platform}/${process.arch}; ${new Date().toISOString().slice(0, 10)}; median of ${got.rounds} alternating rounds after a warm-up.\n\n`
  const head = ['Picture', 'Relo / sharp, same kind out', 'its computing', '/ sharp, its own kind out', '/ plain Go', 'bytes / sharp', 'PSNR, dB', 'Sent']
  if (got.mean?.length) text += table(head, files(got.mean)) + '\n'
  if (got.beside?.length) {
    text += 'Other sorts, not in the mean:\n\n' + table(['Picture', ...head.slice(1, 6), 'Sent'], got.beside.map((r) => r.error ? [r.title, '–', '–', '–', '–', '–', r.error] : [r.title, ...cells(r), sentAs(r)])) + '\n'
  }
  const rest = whatElse(got)
  if (rest.length) text += table(['Measured', 'Ratio', 'Aim'], rest) + '\n'
  if (got.text) {
    const percent = (v) => (v * 100).toFixed(1) + ' %'
    text += 'Letters that Tesseract still reads on a page of text in 9 to 16 CSS pixels, made smaller:\n\n' +
      table(['Page', 'Longest edge', 'Relo', 'sharp, lanczos3'], got.text.map((r) => [`\`${r.name}\``, r.size, percent(r.relo), percent(r.sharp)])) + '\n'
  }
  return text
}
